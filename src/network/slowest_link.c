/*
 * The expected largest of independent normals, by integrating how likely it is that all lie below:
 * E[max] = a + integral from a on of 1 - product of P(c_i <= t), where none of it lies below a.
 * Links that are alike count as a power, so that a class of links costs as much as one.
 */
#include "network/slowest_link.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

/* Links that are alike. */
struct alike {
    double cost, spread, n;
};

static int compare(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? 1 : -1;
    return (x->spread > y->spread) - (x->spread < y->spread);
}

static size_t group(const struct link *link, size_t n, struct alike *group)
{
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++)
        group[i] = (struct alike){1 / link[i].bandwidth_Bps, link[i].spread, 1};
    qsort(group, n, sizeof *group, compare);
    for (size_t i = 0; i < n; i++) {
        if (n_groups > 0 && compare(&group[i], &group[n_groups - 1]) == 0)
            group[n_groups - 1].n++;
        else
            group[n_groups++] = group[i];
    }
    return n_groups;
}

/* How likely all are at most `cost`. */
static double all_below(const struct alike *group, size_t n, double cost)
{
    double log_share = 0;
    for (size_t i = 0; i < n && log_share > -INFINITY; i++) {
        double off = cost / group[i].cost - 1;
        if (group[i].spread > 0)
            log_share += group[i].n * log(0.5 * erfc(-off / group[i].spread / sqrt(2)));
        else if (off < 0)
            log_share = -INFINITY;
    }
    return exp(log_share);
}

static double expected_largest(const struct alike *group, size_t n)
{
    enum { PARTS = 1000 };
    const double deviations = 8; /* beyond them lies less than 1e-15 */
    double from = 0, to = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        from = fmax(from, group[i].cost * (1 - deviations * group[i].spread));
        to = fmax(to, group[i].cost * (1 + deviations * group[i].spread));
    }
    double part = (to - from) / PARTS;
    for (int k = 0; k < PARTS; k++)
        sum += 1 - all_below(group, n, from + (k + 0.5) * part);
    return from + sum * part;
}

void slowest_link_expect(struct link *link, size_t n)
{
    double largest = 0;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, 1 / link[i].bandwidth_Bps);
        any = any || link[i].spread > 0;
    }
    if (!any)
        return;
    struct alike *alike = memory_resize(NULL, n, sizeof *alike);
    double factor = expected_largest(alike, group(link, n, alike)) / largest;
    for (size_t i = 0; i < n; i++) {
        if (link[i].spread > 0)
            link[i].bandwidth_Bps /= factor;
    }
    free(alike);
}
