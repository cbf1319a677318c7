/* A diagram of curves and points inside a page; both scales may be logarithmic. */
#ifndef FORETRAIN_REPORT_PLOT_H
#define FORETRAIN_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Writes a value for people into `text`, which has UNITS_TEXT_SIZE bytes and is returned. */
typedef char *plot_format(const void *self, double value, char *text);

struct plot_scale {
    double least, most;
    double unit; /* ticks are round in it */
    bool logarithmic;
    const char *name;
    plot_format *format;
    const void *self; /* for it */
};

struct plot {
    struct text *out;
    struct plot_scale x, y;
};

/* A scale over `value[n]`, NaN left out; logarithmic where they lie far apart, else from 0 on where
 * asked. Its unit is 1. */
struct plot_scale plot_scale_of(const double *value, size_t n, bool from_zero);

/* Opens the picture and draws both scales; `name` is said where it cannot be seen. */
void plot_open(const struct plot *plot, const char *name);
void plot_close(const struct plot *plot);

/* `n` points, x and y one after the other; a NaN in y interrupts the curve. */
void plot_curve(const struct plot *plot, const char *class_name, const double *xy, size_t n);

/* A dot with what is said when it is pointed at; NULL: nothing. */
void plot_point(const struct plot *plot, const char *class_name, double x, double y,
                const char *tip);

#endif
