/*
 * Pictures inside an HTML page, drawn as wide as the page is: across in percent, down in pixels, so
 * that letters keep their size on a phone. Colours come from the page's style, by class.
 */
#ifndef FORETRAIN_REPORT_SVG_H
#define FORETRAIN_REPORT_SVG_H

#include "base/text.h"

struct svg_box {
    double x, y, width, height; /* percent, pixels, percent, pixels */
};

/* `name` is said where the picture cannot be seen. */
__attribute__((format(printf, 3, 4))) void svg_open(struct text *out, double height,
                                                    const char *format, ...);
void svg_close(struct text *out);

/* A rectangle; `tip` is shown when it is pointed at, NULL: none. */
void svg_box(struct text *out, const char *class_name, struct svg_box box, const char *tip);

void svg_line(struct text *out, const char *class_name, double x1, double y1, double x2, double y2);
void svg_dot(struct text *out, const char *class_name, double x, double y, double radius,
             const char *tip);

/* A curve through `n` points, x and y one after the other, over a picture of `height`; closed and
 * filled as its class says. */
void svg_curve(struct text *out, const char *class_name, const double *xy, size_t n, double height);

/* Text whose baseline is at y; `anchor` is "start", "middle" or "end" of it at x. */
__attribute__((format(printf, 6, 7))) void svg_label(struct text *out, const char *class_name,
                                                     double x, double y, const char *anchor,
                                                     const char *format, ...);

/* A tick distance of 1, 2 or 5 times a power of ten that gives at most `most` ticks up to `range`;
 * 0 where the range is not above 0. */
double svg_tick(double range, int most);

#endif
