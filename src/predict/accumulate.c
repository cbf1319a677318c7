#include "predict/accumulate.h"

#include <math.h>

static double mean_of(const struct profile *p, enum stage stage)
{
    return p->stage[stage].known ? p->stage[stage].stats.mean : 0;
}

/* Which stage tells what backward calls take that no all-reduce follows, and of how many it is. */
static enum stage unsynced_calls(const struct profile *p, double *n)
{
    bool accumulates = p->micro_batches > 1;
    *n = accumulates ? p->micro_batches - 1 : 1;
    if (accumulates)
        return STAGE_BACKWARD_UNSYNCED;
    bool alone = p->ring_devices < 2 && !p->stage[STAGE_BACKWARD_COMPUTE].known;
    return alone ? STAGE_BACKWARD : STAGE_BACKWARD_COMPUTE;
}

/* A stage takes `to_s` instead of its mean; what took nothing goes on so. */
static void stretch(struct arena *arena, struct profile *p, enum stage stage, double to_s)
{
    double from_s = mean_of(p, stage);
    if (from_s > 0)
        p->stage[stage] = samples_times(arena, &p->stage[stage], fmax(0, to_s) / from_s);
}

/* What the step takes more with `made`'s stages. */
static double difference_s(const struct profile *made, const struct profile *from)
{
    static const enum stage stage[] = {STAGE_FORWARD, STAGE_WAIT, STAGE_COPY, STAGE_BACKWARD};
    double sum_s = 0;
    for (size_t i = 0; i < sizeof stage / sizeof *stage; i++)
        sum_s += mean_of(made, stage[i]) - mean_of(from, stage[i]);
    return sum_s;
}

static struct profile put_together(struct arena *arena, const struct profile *p, double n,
                                   enum stage calls, double n_calls)
{
    struct profile made = *p;
    double ratio = n / p->micro_batches, call_s = mean_of(p, calls) / n_calls;
    stretch(arena, &made, STAGE_FORWARD, ratio * mean_of(p, STAGE_FORWARD));
    stretch(arena, &made, STAGE_WAIT, ratio * mean_of(p, STAGE_WAIT));
    stretch(arena, &made, STAGE_COPY, ratio * mean_of(p, STAGE_COPY));
    stretch(arena, &made, STAGE_BACKWARD,
            mean_of(p, STAGE_BACKWARD) + (n - p->micro_batches) * call_s);
    stretch(arena, &made, STAGE_STEP, mean_of(p, STAGE_STEP) + difference_s(&made, p));
    made.stage[STAGE_BACKWARD_UNSYNCED] = samples_times(arena, &p->stage[calls], (n - 1) / n_calls);
    made.micro_batches = n;
    made.put_together = true;
    if (made.bytes_read > 0)
        made.bytes_read *= ratio;
    return made;
}

bool accumulate_profile(struct arena *arena, const struct profile *profile, double micro_batches,
                        struct profile *out, struct error *e)
{
    double n_calls = 0;
    enum stage calls = unsynced_calls(profile, &n_calls);
    if (micro_batches == profile->micro_batches) {
        *out = *profile;
        return true;
    }
    if (!profile->stage[calls].known) {
        error_set(e, ERROR_INPUT,
                  "profile %s does not hold %s, of which a step of %g micro-batches would be put "
                  "together",
                  profile->file, stage_key(calls), micro_batches);
        return false;
    }
    *out = put_together(arena, profile, micro_batches, calls, n_calls);
    profile_add_note(arena, out,
                     arena_format(arena,
                                  "a step of %g micro-batches is put together from one of %g",
                                  micro_batches, profile->micro_batches));
    return true;
}
