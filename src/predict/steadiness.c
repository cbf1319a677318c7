#include "predict/steadiness.h"

#include <math.h>

#include "base/stats.h"

static void mean_over_devices(const struct samples *step, size_t n_devices, size_t n, double *mean)
{
    for (size_t k = 0; k < n; k++) {
        double sum_s = 0;
        for (size_t d = 0; d < n_devices; d++)
            sum_s += step->value[d * n + k];
        mean[k] = sum_s / (double)n_devices;
    }
}

struct steadiness steadiness_of(struct arena *arena, const struct profile *profile)
{
    enum { FEWEST = 4 };
    const double little = 0.05;
    const struct samples *step = &profile->stage[STAGE_STEP];
    size_t n_devices = (size_t)profile_sampled(profile);
    size_t n = step->value ? step->stats.n / n_devices : 0, half = n / 2;
    if (n < FEWEST || step->stats.n % n_devices != 0 || !(step->stats.max > 0))
        return (struct steadiness){0};
    struct steadiness s = {.known = true, .n = n, .step_s = ARENA_ARRAY(arena, n, double)};
    mean_over_devices(step, n_devices, n, s.step_s);
    struct stats first = stats_of(s.step_s, half), second = stats_of(s.step_s + half, n - half);
    double error_s = hypot(first.sd / sqrt((double)first.n), second.sd / sqrt((double)second.n));
    s.mean_s = stats_of(s.step_s, n).mean;
    s.first_s = first.mean;
    s.second_s = second.mean;
    if (first.mean > 0) {
        s.change = second.mean / first.mean - 1;
        s.noise = 2 * error_s / first.mean;
    }
    s.steady = fabs(s.change) <= fmax(little, s.noise);
    return s;
}
