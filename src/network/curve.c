#include "network/curve.h"

/* The last point that is not above `bytes`, which is at least the first. */
static size_t point_below(const struct ft_message *point, size_t n, double bytes)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (point[middle].bytes <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double on_line(struct ft_message a, struct ft_message b, double bytes)
{
    return a.time_s + (b.time_s - a.time_s) * ((bytes - a.bytes) / (b.bytes - a.bytes));
}

double curve_message_s(const struct ft_message *point, size_t n, double bytes)
{
    const struct ft_message *first = point, *last = point + n - 1;
    if (bytes >= last->bytes)
        return last->time_s * (bytes / last->bytes);
    if (bytes >= first->bytes) {
        const struct ft_message *below = point + point_below(point, n, bytes);
        return on_line(below[0], below[1], bytes);
    }
    double at_its_rate_s = first->time_s * (bytes / first->bytes);
    double line_s = n > 1 ? on_line(point[0], point[1], bytes) : at_its_rate_s;
    return line_s > at_its_rate_s ? line_s : at_its_rate_s;
}
