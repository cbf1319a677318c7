/* What must be known about the links of the collective. */
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
             "they were measured, so they may be faster, and the step shorter.",
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

void forecast_warn_links(struct arena *arena, const struct job *job, const struct forecast *f,
                         struct warnings *warnings)
{
    warn_of_lower_bounds(f, warnings);
    warn_of_shared(arena, job, f, warnings);
}
