/* A sweep as one page: a diagram for each quantity that varies, time against cost, and the best
 * systems in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/html.h"
#include "report/page_frame.h"
#include "report/plan_report.h"
#include "report/plot.h"

enum { MOST_CURVES = 6, MOST_POINTS = 2000, MOST_ROWS = 100 };

struct sweep_page {
    const struct sweep *sweep;
    const struct sweep_best *best;
    struct arena *arena;
    struct text *out;
};

static double time_of(const struct sweep_page *p, size_t system)
{
    const struct outcome *o = &p->sweep->outcome[system];
    return !o->any ? NAN : o->epoch_known ? o->total_s : o->step_s;
}

static const char *time_name(const struct sweep_page *p)
{
    return p->sweep->what_if->base.epoch_known ? "total time" : "step";
}

static const double MINUTE = 60, HOUR = 3600, DAY = 86400;

static char *format_time(const void *self, double value, char *text)
{
    (void)self;
    if (value >= DAY)
        snprintf(text, UNITS_TEXT_SIZE, "%.3g d", value / DAY);
    else if (value >= HOUR)
        snprintf(text, UNITS_TEXT_SIZE, "%.3g h", value / HOUR);
    else if (value >= MINUTE)
        snprintf(text, UNITS_TEXT_SIZE, "%.3g min", value / MINUTE);
    else
        units_format(value, DIMENSION_TIME, text);
    return text;
}

static struct plot_scale scale_of_time(const struct sweep_page *p, const double *value_s, size_t n)
{
    struct plot_scale scale = plot_scale_of(value_s, n, true);
    scale.unit = scale.most >= 2 * DAY      ? DAY
                 : scale.most >= 2 * HOUR   ? HOUR
                 : scale.most >= 2 * MINUTE ? MINUTE
                                            : 1;
    scale.name = time_name(p);
    scale.format = format_time;
    return scale;
}

static char *format_cost(const void *self, double value, char *text)
{
    const double few = 1000;
    (void)self;
    if (value >= few)
        return report_cost(value, text);
    snprintf(text, UNITS_TEXT_SIZE, "%.3g", value);
    return text;
}

static char *format_axis(const void *self, double value, char *text)
{
    if (value == 0)
        snprintf(text, UNITS_TEXT_SIZE, "0");
    else
        quantity_format(self, value, text);
    return text;
}

static struct plot_scale scale_of_axis(const struct sweep_axis *axis)
{
    struct plot_scale scale = plot_scale_of(axis->value, axis->n, false);
    const double bits = 8, hours = 3600;
    const char *unit = quantity_unit(&axis->quantity);
    scale.unit = strcmp(unit, "Bps") == 0 ? 1 / bits : strcmp(unit, "per_s") == 0 ? 1 / hours : 1;
    scale.name = axis->quantity.path;
    scale.format = format_axis;
    scale.self = &axis->quantity;
    return scale;
}

/* Systems that share an axis's value are so many numbers apart. */
static size_t stride_of(const struct sweep *sweep, size_t axis)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < sweep->n_axes; a++)
        stride *= sweep->axis[a].n;
    return stride;
}

/* The system with value `i` of an axis, and combination `c` of all others. */
static size_t system_at(const struct sweep *sweep, size_t axis, size_t i, size_t c)
{
    size_t stride = stride_of(sweep, axis);
    return (c / stride * sweep->axis[axis].n + i) * stride + c % stride;
}

static double fastest_at(const struct sweep_page *p, size_t axis, size_t i, size_t n_others)
{
    double fastest_s = NAN;
    for (size_t c = 0; c < n_others; c++)
        fastest_s = fmin(fastest_s, time_of(p, system_at(p->sweep, axis, i, c)));
    return fastest_s;
}

/* "a100.count 10, epochs 90": what tells a curve from others. */
static const char *curve_name(const struct sweep_page *p, size_t axis, size_t c)
{
    size_t system = system_at(p->sweep, axis, 0, c);
    const char *name = "";
    for (size_t a = 0; a < p->sweep->n_axes; a++) {
        const struct quantity *q = &p->sweep->axis[a].quantity;
        char value[UNITS_TEXT_SIZE];
        if (a == axis || p->sweep->axis[a].n == 1)
            continue;
        quantity_format(q, sweep_value(p->sweep, system, a), value);
        name = arena_format(p->arena, "%s%s%s %s", name, *name ? ", " : "", q->path, value);
    }
    return *name ? name : time_name(p);
}

static int by_x(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (p[0] > q[0]) - (p[0] < q[0]);
}

/* x and y of each of `n_curves` curves, one behind the other; x rises. */
static double *curves_of(const struct sweep_page *p, size_t axis, size_t n_curves, size_t n_others)
{
    const struct sweep_axis *x = &p->sweep->axis[axis];
    double *xy = ARENA_ARRAY(p->arena, 2 * n_curves * x->n, double);
    for (size_t c = 0; c < n_curves; c++) {
        for (size_t i = 0; i < x->n; i++) {
            double *point = xy + 2 * (c * x->n + i);
            point[0] = x->value[i];
            point[1] = n_curves == n_others ? time_of(p, system_at(p->sweep, axis, i, c))
                                            : fastest_at(p, axis, i, n_others);
        }
        qsort(xy + 2 * c * x->n, x->n, 2 * sizeof *xy, by_x);
    }
    return xy;
}

static struct plot_scale scale_of_times(const struct sweep_page *p, const double *xy, size_t n)
{
    double *y = ARENA_ARRAY(p->arena, n, double);
    for (size_t i = 0; i < n; i++)
        y[i] = xy[2 * i + 1];
    return scale_of_time(p, y, n);
}

static void add_legend(const struct sweep_page *p, size_t axis, size_t n_curves, bool fastest)
{
    text_add(p->out, "<p class=\"legend\">");
    for (size_t c = 0; c < n_curves; c++) {
        text_format(
            p->out,
            "<span><svg width=\"18\" height=\"12\" aria-hidden=\"true\"><line class=\"curve "
            "c%zu\" x1=\"0\" y1=\"6\" x2=\"18\" y2=\"6\"/></svg> ",
            c);
        html_add(p->out, fastest ? "the fastest, whatever else varies" : curve_name(p, axis, c));
        text_add(p->out, "</span> ");
    }
    text_add(p->out, "</p>\n");
}

static void add_axis_figure(const struct sweep_page *p, size_t axis)
{
    const struct sweep_axis *x = &p->sweep->axis[axis];
    size_t n_others = p->sweep->n_systems / x->n;
    size_t n_curves = n_others <= MOST_CURVES ? n_others : 1;
    double *xy = curves_of(p, axis, n_curves, n_others);
    struct plot plot = {p->out, scale_of_axis(x), scale_of_times(p, xy, n_curves * x->n)};
    html_element(p->out, "h3", NULL, "By %s", x->quantity.path);
    add_legend(p, axis, n_curves, n_curves != n_others);
    text_add(p->out, "<figure>\n");
    plot_open(&plot, arena_format(p->arena, "%s by %s", time_name(p), x->quantity.path));
    for (size_t c = 0; c < n_curves; c++) {
        const char *class_name = arena_format(p->arena, "curve c%zu", c);
        plot_curve(&plot, class_name, xy + 2 * c * x->n, x->n);
    }
    plot_close(&plot);
    text_add(p->out, "</figure>\n");
}

static const char *system_tip(const struct sweep_page *p, size_t system)
{
    char time[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];
    return arena_format(p->arena, "%s: %s, cost %s", sweep_name(p->arena, p->sweep, system),
                        units_format_duration(time_of(p, system), time),
                        report_cost(p->sweep->outcome[system].cost, cost));
}

/* All systems with a cost, or some of them evenly; their number. */
static size_t choose_points(const struct sweep_page *p, size_t *chosen)
{
    size_t n = 0, stride = (p->sweep->n_systems + MOST_POINTS - 1) / MOST_POINTS;
    for (size_t i = 0; i < p->sweep->n_systems; i += stride) {
        if (p->sweep->outcome[i].cost_known)
            chosen[n++] = i;
    }
    return n;
}

static struct plot cost_plot(const struct sweep_page *p, const size_t *system, size_t n)
{
    double *time_s = ARENA_ARRAY(p->arena, n, double), *cost = ARENA_ARRAY(p->arena, n, double);
    for (size_t i = 0; i < n; i++) {
        time_s[i] = time_of(p, system[i]);
        cost[i] = p->sweep->outcome[system[i]].cost;
    }
    struct plot plot = {p->out, scale_of_time(p, time_s, n), plot_scale_of(cost, n, true)};
    plot.y.name = "cost";
    plot.y.format = format_cost;
    return plot;
}

static void add_front(const struct sweep_page *p, const struct plot *plot)
{
    size_t n = p->best->n_front;
    double *xy = ARENA_ARRAY(p->arena, 2 * n, double);
    for (size_t k = 0; k < n; k++) {
        xy[2 * k] = time_of(p, p->best->front[k]);
        xy[2 * k + 1] = p->sweep->outcome[p->best->front[k]].cost;
    }
    plot_curve(plot, "curve", xy, n);
    for (size_t k = 0; k < n && k < MOST_POINTS; k++)
        plot_point(plot, "now", xy[2 * k], xy[2 * k + 1], system_tip(p, p->best->front[k]));
}

static void add_cost_figure(const struct sweep_page *p)
{
    size_t *point = ARENA_ARRAY(p->arena, MOST_POINTS + p->best->n_front, size_t);
    size_t n = choose_points(p, point), n_front = p->best->n_front;
    for (size_t k = 0; k < n_front; k++)
        point[n + k] = p->best->front[k];
    struct plot plot = cost_plot(p, point, n + n_front);
    text_add(p->out, "<figure>\n");
    plot_open(&plot, "Time against cost");
    for (size_t i = 0; i < n; i++)
        plot_point(&plot, "sample", time_of(p, point[i]), p->sweep->outcome[point[i]].cost, NULL);
    add_front(p, &plot);
    plot_close(&plot);
    text_add(p->out, "<figcaption>Each dot is a system; no other is both faster and cheaper than "
                     "those on the line.</figcaption></figure>\n");
}

static const char *const *table_head(const struct sweep_page *p)
{
    const struct sweep *sweep = p->sweep;
    const char **head = ARENA_ARRAY(p->arena, sweep->n_axes + 5, const char *);
    size_t n = 0;
    for (size_t a = 0; a < sweep->n_axes; a++)
        head[n++] = arena_format(p->arena, "#%s", sweep->axis[a].quantity.path);
    head[n++] = "#step";
    head[n++] = "#samples/s";
    head[n++] = "#total";
    head[n++] = "#cost";
    return head;
}

static void add_row(const struct sweep_page *p, size_t system)
{
    char text[UNITS_TEXT_SIZE];
    const struct outcome *o = &p->sweep->outcome[system];
    html_row_open(p->out);
    for (size_t a = 0; a < p->sweep->n_axes; a++)
        html_number(
            p->out, "%s",
            quantity_format(&p->sweep->axis[a].quantity, sweep_value(p->sweep, system, a), text));
    html_number(p->out, "%s", o->any ? units_format(o->step_s, DIMENSION_TIME, text) : "-");
    html_number(p->out, "%s", o->any ? units_format_count(rint(o->samples_per_s), text) : "-");
    html_number(p->out, "%s", o->epoch_known ? units_format_duration(o->total_s, text) : "-");
    html_number(p->out, "%s", o->cost_known ? report_cost(o->cost, text) : "-");
    html_row_close(p->out);
}

/* The front, or the first systems where there is no cost. */
static void add_table(const struct sweep_page *p)
{
    bool front = p->best->n_front > 0;
    size_t n = front ? p->best->n_front : p->sweep->n_systems;
    html_table_open(p->out, front ? "No other is both faster and cheaper" : "The systems",
                    table_head(p));
    for (size_t k = 0; k < n && k < MOST_ROWS; k++)
        add_row(p, front ? p->best->front[k] : k);
    html_table_close(p->out);
    if (n > MOST_ROWS)
        html_element(p->out, "p", "sub", "and %zu more: --csv has all", n - MOST_ROWS);
}

static void add_fact(const struct sweep_page *p, const char *what, size_t system)
{
    char text[UNITS_TEXT_SIZE];
    if (system == SWEEP_NONE)
        return;
    const struct outcome *o = &p->sweep->outcome[system];
    text_add(p->out, "<div>");
    html_element(p->out, "dt", NULL, "%s", what);
    text_add(p->out, "<dd>");
    html_add(p->out, units_format_duration(time_of(p, system), text));
    if (o->cost_known)
        html_element(p->out, "small", NULL, "cost %s", report_cost(o->cost, text));
    html_element(p->out, "small", NULL, "%s", sweep_name(p->arena, p->sweep, system));
    text_add(p->out, "</dd></div>\n");
}

static void add_head(const struct sweep_page *p)
{
    const struct what_if *w = p->sweep->what_if;
    char n[UNITS_TEXT_SIZE];
    html_element(p->out, "h1", NULL, "%s: what if", w->job.name);
    html_element(p->out, "p", "sub", "%s systems, each forecast by the %s; rings: %s.",
                 units_format_count((double)p->sweep->n_systems, n),
                 report_what_if_model(p->arena, w), report_what_if_links(w));
    text_add(p->out, "<dl class=\"facts\">\n");
    add_fact(p, "Fastest", p->best->fastest);
    add_fact(p, "Cheapest", p->best->cheapest);
    text_add(p->out, "</dl>\n");
}

static void add_body(const struct sweep_page *p)
{
    add_head(p);
    for (size_t a = 0; a < p->sweep->n_axes; a++) {
        if (p->sweep->axis[a].n > 1)
            add_axis_figure(p, a);
    }
    if (p->best->n_front > 0) {
        html_element(p->out, "h3", NULL, "Time against cost");
        add_cost_figure(p);
    }
    add_table(p);
}

void report_sweep_html(const struct sweep *sweep, const struct sweep_best *best, struct text *out)
{
    struct arena arena = {0};
    const struct sweep_page p = {sweep, best, &arena, out};
    page_open(out, arena_format(&arena, "%s: what if", sweep->what_if->job.name));
    add_body(&p);
    page_close(out);
    arena_free(&arena);
}
