#include "report/svg.h"

#include <math.h>
#include <stdarg.h>

#include "report/html.h"

void svg_open(struct text *out, double height, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_format(out, "<svg role=\"img\" width=\"100%%\" height=\"%.6g\" aria-label=\"", height);
    html_format_list(out, format, args);
    text_add(out, "\">\n");
    va_end(args);
}

void svg_close(struct text *out)
{
    text_add(out, "</svg>\n");
}

static void end_with_tip(struct text *out, const char *name, const char *tip)
{
    if (!tip) {
        text_add(out, "/>\n");
        return;
    }
    text_add(out, "><title>");
    html_add(out, tip);
    text_format(out, "</title></%s>\n", name);
}

void svg_box(struct text *out, const char *class_name, struct svg_box box, const char *tip)
{
    text_format(out, "<rect class=\"%s\" x=\"%.3f%%\" y=\"%.6g\" width=\"%.3f%%\" height=\"%.6g\"",
                class_name, box.x, box.y, fmax(0, box.width), fmax(0, box.height));
    end_with_tip(out, "rect", tip);
}

void svg_line(struct text *out, const char *class_name, double x1, double y1, double x2, double y2)
{
    text_format(out, "<line class=\"%s\" x1=\"%.3f%%\" y1=\"%.6g\" x2=\"%.3f%%\" y2=\"%.6g\"/>\n",
                class_name, x1, y1, x2, y2);
}

void svg_dot(struct text *out, const char *class_name, double x, double y, double radius,
             const char *tip)
{
    text_format(out, "<circle class=\"%s\" cx=\"%.3f%%\" cy=\"%.6g\" r=\"%.6g\"", class_name, x, y,
                radius);
    end_with_tip(out, "circle", tip);
}

/* A path knows no percent: it gets a picture of its own that is stretched. */
void svg_curve(struct text *out, const char *class_name, const double *xy, size_t n, double height)
{
    text_format(out,
                "<svg width=\"100%%\" height=\"%.6g\" viewBox=\"0 0 100 %.6g\" "
                "preserveAspectRatio=\"none\"><path class=\"%s\" d=\"",
                height, height, class_name);
    for (size_t i = 0; i < n; i++)
        text_format(out, "%s%.3f %.6g", i ? "L" : "M", xy[2 * i], xy[2 * i + 1]);
    text_add(out, "\"/></svg>\n");
}

void svg_label(struct text *out, const char *class_name, double x, double y, const char *anchor,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_format(out, "<text class=\"%s\" x=\"%.3f%%\" y=\"%.6g\" text-anchor=\"%s\">", class_name,
                x, y, anchor);
    html_format_list(out, format, args);
    text_add(out, "</text>\n");
    va_end(args);
}

double svg_tick(double range, int most)
{
    if (!(range > 0) || !isfinite(range))
        return 0;
    double least = range / most, power = pow(10, floor(log10(least)));
    double times = least / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}
