#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct stats stats_of(const double *value, size_t n)
{
    struct stats s = {.n = n};
    if (n == 0)
        return s;
    s.min = s.max = value[0];
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += value[i];
        s.min = fmin(s.min, value[i]);
        s.max = fmax(s.max, value[i]);
    }
    s.mean = sum / (double)n;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (value[i] - s.mean) * (value[i] - s.mean);
    s.sd = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    return s;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_quantile(const double *value, size_t n, double q)
{
    if (n == 0)
        return 0;
    double *sorted = memory_resize(NULL, n, sizeof *sorted);
    memcpy(sorted, value, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    double part = at - (double)below;
    double result =
        below + 1 < n ? sorted[below] * (1 - part) + sorted[below + 1] * part : sorted[n - 1];
    free(sorted);
    return result;
}
