/* What must be known about the links of the collective. */
#include <math.h>

#include "base/units.h"
#include "predict/parts.h"

static void warn_of_lower_bounds(const struct forecast *f, struct warnings *warnings)
{
    size_t n = 0;
    for (size_t h = 0; h < f->n_hops; h++)
        n += f->link[h].at_least;
    if (n > 0)
        warn(warnings,
             "%zu of the %s's links have lower bounds only (measured>=): a CPU was the limit while "
             "they were measured. They count as no slower than what devices were seen to send in "
             "their sub-systems; they may be faster, and the step shorter.",
             n, f->collective_name);
}

static const char *name_of(struct arena *arena, const struct job *job, size_t position)
{
    return job_device_name(arena, job, job_ring_device(job, position));
}

static void warn_of_shared(struct arena *arena, const struct job *job, const struct forecast *f,
                           struct warnings *warnings)
{
    size_t n = 0, slowest = 0;
    char rate[UNITS_TEXT_SIZE];
    for (size_t h = 0; h < f->n_hops; h++) {
        if (!f->link[h].shared)
            continue;
        if (n++ == 0 || f->link[h].bandwidth_Bps < f->link[slowest].bandwidth_Bps)
            slowest = h;
    }
    if (n > 0)
        warn(warnings,
             "%zu of the ring's links share an uplink with others: they count with what was "
             "measured while all were busy, the slowest %s -> %s with %s.",
             n, name_of(arena, job, f->hop[slowest].from), name_of(arena, job, f->hop[slowest].to),
             units_format(f->link[slowest].bandwidth_Bps, DIMENSION_BANDWIDTH, rate));
}

static void warn_of_uplinks(struct arena *arena, const struct job *job, const struct forecast *f,
                            struct warnings *warnings)
{
    size_t n = 0, most = 0;
    for (size_t h = 0; h < f->n_hops; h++) {
        n += f->link[h].uplink_hops > 0;
        most = f->link[h].uplink_hops > f->link[most].uplink_hops ? h : most;
    }
    if (n > 0)
        warn(warnings,
             "%zu of the ring's links share their host's uplink with another, up to %zu of them as "
             "%s -> %s: each counts with its part of its bandwidth. `foretrain bandwidth "
             "--together` "
             "measures what they leave each other; `foretrain order` finds a ring that enters a "
             "host once.",
             n, f->link[most].uplink_hops, name_of(arena, job, f->hop[most].from),
             name_of(arena, job, f->hop[most].to));
}

/* What other links leave of a link is known for rings. */
static void warn_of_slowed(const struct forecast *f, struct warnings *warnings)
{
    size_t n = 0;
    for (size_t h = 0; h < f->n_hops; h++)
        n += f->link[h].both_ways_Bps > 0 || f->link[h].spread > 0 ||
             (f->collective && f->link[h].together_Bps > 0);
    if (n > 0 && f->collective)
        warn(warnings,
             "both_ways, spread and together of links count in rings only: here each link "
             "counts with its whole bandwidth.");
    else if (n > 0)
        warn(warnings,
             "%zu of the ring's links have both_ways or spread: they count with what is left where "
             "both directions are busy, and as the slowest of those that vary.",
             n);
}

static double smallest_message_bytes(const struct forecast *f)
{
    const struct ft_timeline *ring = f->timeline.ring;
    double least = f->payload_bytes;
    for (size_t b = 0; ring && b < ring->n_buckets; b++)
        least = fmin(least, ring->bucket_bytes[b]);
    return least / (double)f->n_devices;
}

/* Where a curve begins above what is sent, its line goes on below what was measured. */
static void warn_of_small_messages(const struct forecast *f, struct warnings *warnings)
{
    const double close = 1.01;
    double message_bytes = smallest_message_bytes(f);
    char first[UNITS_TEXT_SIZE], message[UNITS_TEXT_SIZE];
    for (size_t h = 0; h < f->n_hops; h++) {
        const struct link_curve *curve = f->link[h].curve;
        if (!curve || curve->point[0].bytes <= close * message_bytes)
            continue;
        warn(warnings,
             "a table of all_reduce_perf begins with messages of %s, and the %s's are down to "
             "%s: what they take is read off the line through the table's first two sizes.",
             units_format(curve->point[0].bytes, DIMENSION_BYTES, first), f->collective_name,
             units_format(message_bytes, DIMENSION_BYTES, message));
        return;
    }
}

void forecast_warn_links(struct arena *arena, const struct job *job, const struct forecast *f,
                         struct warnings *warnings)
{
    warn_of_lower_bounds(f, warnings);
    warn_of_shared(arena, job, f, warnings);
    warn_of_uplinks(arena, job, f, warnings);
    warn_of_slowed(f, warnings);
    warn_of_small_messages(f, warnings);
}
