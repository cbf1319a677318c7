#include "trace/trace_judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/stats.h"

const char *trace_verdict_text(enum trace_verdict verdict)
{
    static const char *const text[N_TRACE_VERDICTS] = {
        [STEP_CUT] = "not whole, or not followed by a whole one, where the trace is cut off",
        [STEP_SEVERAL] =
            "gradients are all-reduced in several passes of a step, which is not understood",
        [STEP_INCOMPLETE] = "without all that other steps have",
        [STEP_UNMATCHED] = "not telling when all of their all-reduces ran",
        [STEP_UNSTEADY] = "not steady yet",
        [STEP_OUTLIER] = "far from the others",
    };
    return text[verdict];
}

/* Most steps have the stage, this one has not. */
static void require_stage(const struct record_iteration *it, size_t n, enum stage stage,
                          enum trace_verdict *verdict)
{
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        n_known += it[i].time_s[stage] >= 0;
    for (size_t i = 0; i < n && 2 * n_known >= n; i++) {
        if (it[i].time_s[stage] < 0 && verdict[i] == STEP_COUNTS)
            verdict[i] = STEP_INCOMPLETE;
    }
}

static size_t usual_buckets(const struct record_iteration *it, size_t n)
{
    size_t usual = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++)
            same += it[k].n_buckets == it[i].n_buckets;
        if (same > most || (same == most && it[i].n_buckets > usual)) {
            most = same;
            usual = it[i].n_buckets;
        }
    }
    return usual;
}

static bool all_ran(const struct record_iteration *it)
{
    for (size_t b = 0; b < it->n_buckets; b++) {
        if (it->bucket[b].done_s < 0)
            return false;
    }
    return true;
}

/* Steps that still count, in their order; returns how many. */
static size_t counting(const struct record_iteration *it, size_t n,
                       const enum trace_verdict *verdict, double *step_s, size_t *index)
{
    size_t n_counting = 0;
    for (size_t i = 0; i < n; i++) {
        if (verdict[i] != STEP_COUNTS)
            continue;
        step_s[n_counting] = it[i].time_s[STAGE_STEP];
        index[n_counting++] = i;
    }
    return n_counting;
}

/* The first steps, as long as they are unlike the later half. */
static void leave_out_unsteady(const double *step_s, const size_t *index, size_t n,
                               enum trace_verdict *verdict)
{
    const double far = 0.15;
    if (n < 3)
        return;
    double later_s = stats_quantile(step_s + n / 2, n - n / 2, 0.5);
    for (size_t k = 0; k + 2 < n && fabs(step_s[k] - later_s) > far * later_s; k++)
        verdict[index[k]] = STEP_UNSTEADY;
}

/* Beyond a quarter of the median and five deviations, as the median deviation tells them. */
static void leave_out_outliers(const double *step_s, const size_t *index, size_t n,
                               enum trace_verdict *verdict, double *distance_s)
{
    const double far = 0.25, deviations = 5, of_normal = 1.4826;
    if (n < 4)
        return;
    double median_s = stats_quantile(step_s, n, 0.5);
    for (size_t k = 0; k < n; k++)
        distance_s[k] = fabs(step_s[k] - median_s);
    double bound_s =
        fmax(far * median_s, deviations * of_normal * stats_quantile(distance_s, n, 0.5));
    for (size_t k = 0; k < n; k++) {
        if (distance_s[k] > bound_s)
            verdict[index[k]] = STEP_OUTLIER;
    }
}

void trace_judge(const struct record_iteration *it, size_t n, bool runs_known,
                 enum trace_verdict *verdict)
{
    struct arena scratch = {0};
    double *step_s = ARENA_ARRAY(&scratch, n, double), *room = ARENA_ARRAY(&scratch, n, double);
    size_t *index = ARENA_ARRAY(&scratch, n, size_t);
    size_t usual = usual_buckets(it, n);
    for (size_t i = 0; i < n; i++) {
        if (verdict[i] != STEP_COUNTS)
            continue;
        bool matched = !runs_known || all_ran(&it[i]);
        verdict[i] = it[i].n_buckets != usual ? STEP_INCOMPLETE
                     : matched                ? STEP_COUNTS
                                              : STEP_UNMATCHED;
    }
    require_stage(it, n, STAGE_FORWARD, verdict);
    require_stage(it, n, STAGE_BACKWARD, verdict);
    require_stage(it, n, STAGE_BACKWARD_COMPUTE, verdict);
    require_stage(it, n, STAGE_OPTIMIZER, verdict);
    leave_out_unsteady(step_s, index, counting(it, n, verdict, step_s, index), verdict);
    leave_out_outliers(step_s, index, counting(it, n, verdict, step_s, index), verdict, room);
    arena_free(&scratch);
}
