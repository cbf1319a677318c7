#include "predict/measured_steps.h"

#include <math.h>

#include "base/stats.h"

struct measured_steps measured_steps_of(struct arena *arena, const struct profile *p)
{
    const struct samples *step = &p->stage[STAGE_STEP];
    size_t n_devices = (size_t)profile_sampled(p);
    struct measured_steps steps = {0};
    if (!step->value || step->stats.n % n_devices != 0)
        return steps;
    steps.n = step->stats.n / n_devices;
    steps.mean_s = ARENA_ARRAY(arena, steps.n, double);
    for (size_t j = 0; j < steps.n; j++) {
        double sum_s = 0;
        for (size_t d = 0; d < n_devices; d++)
            sum_s += step->value[d * steps.n + j];
        steps.mean_s[j] = sum_s / (double)n_devices;
    }
    return steps;
}

double measured_steps_between_runs(struct measured_steps steps)
{
    enum { MOST_PARTS = 16 };
    double part_s[MOST_PARTS];
    size_t n_parts = (size_t)sqrt((double)steps.n);
    if (n_parts > MOST_PARTS)
        n_parts = MOST_PARTS;
    if (n_parts < 2)
        return 0;
    for (size_t b = 0; b < n_parts; b++) {
        size_t from = b * steps.n / n_parts, to = (b + 1) * steps.n / n_parts;
        part_s[b] = stats_of(steps.mean_s + from, to - from).mean;
    }
    struct stats stats = stats_of(part_s, n_parts);
    return stats.mean > 0 ? stats.sd / stats.mean : 0;
}
