/* The forecast for fewer and for more devices at the same ratio. */
#include <math.h>

#include "report/page.h"

enum { HEIGHT = 190, LEFT = 4, RIGHT = 94, TOP = 16, BOTTOM = 160 };

struct curve {
    const char *title;
    double (*value)(const struct scaling_point *);
    double (*other)(const struct scaling_point *); /* the closed form's, or NULL */
    const char *(*text)(const struct page *, double);
};

static double step_of(const struct scaling_point *p)
{
    return p->step_s;
}

static double closed_form_of(const struct scaling_point *p)
{
    return p->closed_form_s;
}

static double total_of(const struct scaling_point *p)
{
    return p->total_s;
}

static double rate_of(const struct scaling_point *p)
{
    return p->samples_per_s;
}

static double largest(const struct scaling *s, double (*value)(const struct scaling_point *))
{
    double most = 0;
    for (size_t k = 0; value && k < s->n; k++)
        most = fmax(most, value(&s->point[k]));
    return most;
}

/* By the logarithm: factors are as far apart. */
static double x_of(const struct scaling *s, size_t k)
{
    double range = log(s->point[s->n - 1].factor / s->point[0].factor);
    return LEFT + (RIGHT - LEFT) * log(s->point[k].factor / s->point[0].factor) / range;
}

static double y_of(double value, double most)
{
    return BOTTOM - (BOTTOM - TOP) * value / most;
}

static void draw_line(const struct page *page, const char *class_name,
                      double (*value)(const struct scaling_point *), double most)
{
    const struct scaling *s = page->run->scaling;
    double *xy = ARENA_ARRAY(page->arena, 2 * s->n, double);
    for (size_t k = 0; k < s->n; k++) {
        xy[2 * k] = x_of(s, k);
        xy[2 * k + 1] = y_of(value(&s->point[k]), most);
    }
    svg_curve(page->out, class_name, xy, s->n, HEIGHT);
}

/* On the side where the curve is not. */
static const char *anchor(const struct scaling *s, const struct curve *c, size_t k)
{
    bool falls = c->value(&s->point[0]) > c->value(&s->point[s->n - 1]);
    return k == 0 ? "start" : k + 1 == s->n || !falls ? "end" : "start";
}

static void draw_points(const struct page *page, const struct curve *c, double most)
{
    const struct scaling *s = page->run->scaling;
    for (size_t k = 0; k < s->n; k++) {
        const struct scaling_point *p = &s->point[k];
        bool now = p->factor == 1;
        const char *text = c->text(page, c->value(p));
        double x = x_of(s, k), y = y_of(c->value(p), most);
        svg_dot(page->out, now ? "now" : "point", x, y, now ? 5 : 3.5,
                arena_format(page->arena, "%zu devices: %s", p->n_devices, text));
        if (k == 0 || k + 1 == s->n || now)
            svg_label(page->out, now ? "name" : "soft", x, y - 11, anchor(s, c, k), "%s", text);
        if (k == 0 || k + 1 == s->n || now || s->n <= 5)
            svg_label(page->out, "tick", x, BOTTOM + 16, "middle", "%s",
                      page_count(page, (double)p->n_devices));
    }
}

static void draw(const struct page *page, const struct curve *c)
{
    double most =
        1.15 * fmax(largest(page->run->scaling, c->value), largest(page->run->scaling, c->other));
    if (!(most > 0))
        return;
    html_element(page->out, "h3", NULL, "%s", c->title);
    text_add(page->out, "<figure>\n");
    svg_open(page->out, HEIGHT, "%s against the number of devices", c->title);
    svg_line(page->out, "axis", 0, BOTTOM, 100, BOTTOM);
    svg_line(page->out, "grid", 0, (TOP + BOTTOM) / 2.0, 100, (TOP + BOTTOM) / 2.0);
    if (c->other)
        draw_line(page, "curve closed", c->other, most);
    draw_line(page, "curve", c->value, most);
    draw_points(page, c, most);
    svg_close(page->out);
    text_add(page->out, "</figure>\n");
}

static void list(const struct page *page)
{
    static const char *const head[] = {"#Devices",          "#Factor", "#Step",  "#Closed form",
                                       "#Samples/s in all", "#Epoch",  "#Total", NULL};
    const struct scaling *s = page->run->scaling;
    html_table_open(page->out, "The same in numbers", head);
    for (const struct scaling_point *p = s->point; p < s->point + s->n; p++) {
        html_row_open(page->out);
        html_number(page->out, "%s", page_count(page, (double)p->n_devices));
        html_number(page->out, "%.3g", p->factor);
        html_number(page->out, "%s", page_time(page, p->step_s));
        html_number(page->out, "%s", page_time(page, p->closed_form_s));
        html_number(page->out, "%s", page_count(page, p->samples_per_s));
        html_number(page->out, "%s", p->epoch_known ? page_duration(page, p->epoch_s) : "-");
        html_number(page->out, "%s", p->epoch_known ? page_duration(page, p->total_s) : "-");
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

void page_scaling(const struct page *page)
{
    static const struct curve step = {"Step", step_of, closed_form_of, page_time};
    static const struct curve total = {"Whole training", total_of, NULL, page_duration};
    static const struct curve rate = {"Samples per second", rate_of, NULL, page_count};
    static const char *const key[] = {"key-mean", "forecast", "key-closed", "closed form", NULL};
    const struct scaling *s = page->run->scaling;
    page_section(page, "scaling", "Fewer and more devices");
    if (s->why_not) {
        page_say(page, "Not drawn: %s.", s->why_not);
    } else {
        page_say(page,
                 "The same job on a system of the same types at the same ratio, batch for each "
                 "device unchanged, so that the global batch grows. %s Nothing was measured for "
                 "these sizes.",
                 s->assumed);
        draw(page, &step);
        page_legend(page, key);
        draw(page, &rate);
        if (s->point[0].epoch_known)
            draw(page, &total);
        list(page);
    }
    page_section_end(page);
}
