/* What must be known about the links of the ring. */
#include "base/units.h"
#include "predict/parts.h"

static void warn_of_lower_bounds(const struct forecast *f, struct warnings *warnings)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_devices; i++)
        n += f->link[i].at_least;
    if (n > 0)
        warn(warnings,
             "%zu of the ring's links have lower bounds only (measured>=): a CPU was the limit "
             "while "
             "they were measured, so they may be faster, and the step shorter.",
             n);
}

static const char *name_of(struct arena *arena, const struct job *job, size_t position)
{
    return job_device_name(arena, job, job_ring_device(job, position % job->n_devices));
}

static void warn_of_shared(struct arena *arena, const struct job *job, const struct forecast *f,
                           struct warnings *warnings)
{
    size_t n = 0, slowest = 0;
    char rate[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < f->n_devices; i++) {
        if (!f->link[i].shared)
            continue;
        if (n++ == 0 || f->link[i].bandwidth_Bps < f->link[slowest].bandwidth_Bps)
            slowest = i;
    }
    if (n > 0)
        warn(warnings,
             "%zu of the ring's links share an uplink with others: they count with what was "
             "measured while all were busy, the slowest %s -> %s with %s.",
             n, name_of(arena, job, slowest), name_of(arena, job, slowest + 1),
             units_format(f->link[slowest].bandwidth_Bps, DIMENSION_BANDWIDTH, rate));
}

static void warn_of_slowed(const struct forecast *f, struct warnings *warnings)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_devices; i++)
        n += f->link[i].slowed;
    if (n > 0)
        warn(warnings,
             "%zu of the ring's links count with less than their class's bandwidth: with what "
             "both_ways leaves where both directions are busy, and as the slowest of those whose "
             "spread is given.",
             n);
}

void forecast_warn_links(struct arena *arena, const struct job *job, const struct forecast *f,
                         struct warnings *warnings)
{
    warn_of_lower_bounds(f, warnings);
    warn_of_shared(arena, job, f, warnings);
    warn_of_slowed(f, warnings);
}
