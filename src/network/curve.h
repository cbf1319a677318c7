/* Bandwidth and latency by size: what messages of some sizes took, and what others take. */
#ifndef FORETRAIN_NETWORK_CURVE_H
#define FORETRAIN_NETWORK_CURVE_H

#include <stddef.h>

#include "foretrain.h"

struct link_curve {
    const struct ft_message *point; /* [n], bytes > 0 rise, time_s > 0 do not fall */
    size_t n;                       /* at least 1 */
};

/*
 * Seconds of a message of `bytes` >= 0: along the lines between the points; below the first along
 * the line through the first two, but no faster than the first; beyond the last at its rate
 * (docs/model.md, "Bandwidth by size"). Never falls with the size. O(log n).
 */
double curve_message_s(const struct ft_message *point, size_t n, double bytes);

#endif
