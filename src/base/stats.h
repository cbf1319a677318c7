/* Mean, deviation and order statistics of samples. */
#ifndef FORETRAIN_BASE_STATS_H
#define FORETRAIN_BASE_STATS_H

#include <stddef.h>

struct stats {
    size_t n;
    double mean;
    double sd; /* of the sample, n-1 in the denominator; 0 for n < 2 */
    double min;
    double max;
};

/* Of `value[n]`, summed in index order. All zero for n = 0. */
struct stats stats_of(const double *value, size_t n);

/* Quantile `q` in [0, 1] by linear interpolation of the sorted values; `value` is not changed. 0
 * for n = 0. */
double stats_quantile(const double *value, size_t n, double q);

#endif
