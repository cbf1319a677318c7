#include "report/plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/svg.h"

enum { HEIGHT = 300, TOP = 36, BOTTOM = 260, MOST_TICKS = 5, MOST_DRAWN = 50 };
static const double LEFT = 2, RIGHT = 98;

struct plot_scale plot_scale_of(const double *value, size_t n, bool from_zero)
{
    const double far_apart = 30;
    struct plot_scale scale = {.least = INFINITY, .most = -INFINITY, .unit = 1};
    for (size_t i = 0; i < n; i++) {
        if (isnan(value[i]))
            continue;
        scale.least = fmin(scale.least, value[i]);
        scale.most = fmax(scale.most, value[i]);
    }
    scale.logarithmic = scale.least > 0 && scale.most > far_apart * scale.least;
    if (!scale.logarithmic && from_zero)
        scale.least = fmin(0, scale.least);
    if (!(scale.most > scale.least))
        scale.most = isfinite(scale.least) ? scale.least + 1 : 1;
    return scale;
}

/* 0 to 1 */
static double place_on(const struct plot_scale *scale, double value)
{
    if (scale->logarithmic)
        return log(value / scale->least) / log(scale->most / scale->least);
    return (value - scale->least) / (scale->most - scale->least);
}

static double across(const struct plot *plot, double x)
{
    return LEFT + (RIGHT - LEFT) * place_on(&plot->x, x);
}

static double down(const struct plot *plot, double y)
{
    return BOTTOM - (BOTTOM - TOP) * place_on(&plot->y, y);
}

static double tick_of(const struct plot_scale *scale)
{
    return scale->unit * svg_tick((scale->most - scale->least) / scale->unit, MOST_TICKS);
}

/* The tick behind `at`. */
static double next_tick(const struct plot_scale *scale, double at)
{
    const double few = 1e3;
    if (!scale->logarithmic)
        return at + tick_of(scale);
    at /= scale->unit;
    double power = pow(10, floor(log10(at) + 1e-9)), times = at / power;
    bool many = scale->most >= few * scale->least;
    return scale->unit * power * (many ? 10 : times < 1.5 ? 2 : times < 4 ? 5 : 10);
}

static double first_tick(const struct plot_scale *scale)
{
    if (!scale->logarithmic)
        return tick_of(scale) * ceil(scale->least / tick_of(scale) - 1e-9) + 0.0;
    double tick = scale->unit * pow(10, floor(log10(scale->least / scale->unit)));
    while (tick < scale->least * (1 - 1e-9))
        tick = next_tick(scale, tick);
    return tick;
}

static void draw_x(const struct plot *plot)
{
    char text[UNITS_TEXT_SIZE];
    double at = first_tick(&plot->x), end = plot->x.most * (1 + 1e-9);
    for (int i = 0; i < MOST_DRAWN && at <= end; i++) {
        double x = across(plot, at);
        svg_line(plot->out, "grid", x, TOP, x, BOTTOM);
        svg_label(plot->out, "tick", x, BOTTOM + 14,
                  x < 6    ? "start"
                  : x > 94 ? "end"
                           : "middle",
                  "%s", plot->x.format(plot->x.self, at, text));
        at = next_tick(&plot->x, at);
    }
    svg_label(plot->out, "soft", RIGHT, BOTTOM + 32, "end", "%s", plot->x.name);
}

static void draw_y(const struct plot *plot)
{
    char text[UNITS_TEXT_SIZE];
    double at = first_tick(&plot->y), end = plot->y.most * (1 + 1e-9);
    for (int i = 0; i < MOST_DRAWN && at <= end; i++) {
        double y = down(plot, at);
        svg_line(plot->out, "grid", LEFT, y, RIGHT, y);
        svg_label(plot->out, "tick", 0, y - 3, "start", "%s",
                  plot->y.format(plot->y.self, at, text));
        at = next_tick(&plot->y, at);
    }
    svg_label(plot->out, "soft", 0, 11, "start", "%s", plot->y.name);
}

void plot_open(const struct plot *plot, const char *name)
{
    svg_open(plot->out, HEIGHT, "%s", name);
    draw_x(plot);
    draw_y(plot);
}

void plot_close(const struct plot *plot)
{
    svg_close(plot->out);
}

static size_t until_nan(const double *xy, size_t first, size_t n)
{
    while (first < n && !isnan(xy[2 * first + 1]))
        first++;
    return first;
}

void plot_curve(const struct plot *plot, const char *class_name, const double *xy, size_t n)
{
    double *placed = memory_resize(NULL, 2 * n, sizeof *placed);
    for (size_t i = 0; i < n; i++) {
        placed[2 * i] = across(plot, xy[2 * i]);
        placed[2 * i + 1] = down(plot, xy[2 * i + 1]);
    }
    for (size_t first = 0, end; first < n; first = end + 1) {
        end = until_nan(placed, first, n);
        if (end > first + 1)
            svg_curve(plot->out, class_name, placed + 2 * first, end - first, HEIGHT);
    }
    free(placed);
}

void plot_point(const struct plot *plot, const char *class_name, double x, double y,
                const char *tip)
{
    const double radius = 3.5;
    if (!isnan(y))
        svg_dot(plot->out, class_name, across(plot, x), down(plot, y), radius, tip);
}
