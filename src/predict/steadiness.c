#include "predict/steadiness.h"

#include <math.h>

#include "base/stats.h"
#include "predict/measured_steps.h"

struct steadiness steadiness_of(struct arena *arena, const struct profile *profile)
{
    enum { FEWEST = 4 };
    const double little = 0.05;
    struct measured_steps steps = measured_steps_of(arena, profile);
    size_t n = steps.n, half = n / 2;
    if (n < FEWEST || !(profile->stage[STAGE_STEP].stats.max > 0))
        return (struct steadiness){0};
    struct steadiness s = {.known = true, .n = n, .step_s = steps.mean_s};
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
