#include "plan/batch_profile.h"

static struct samples scaled(const struct samples *samples, double factor)
{
    struct samples s = {.known = samples->known, .stats = samples->stats};
    s.stats.mean *= factor;
    s.stats.sd *= factor;
    s.stats.min *= factor;
    s.stats.max *= factor;
    return s;
}

/* What a step does once, however many samples it takes. */
static bool is_fixed(const struct profile *p, enum stage stage)
{
    bool waits_for_workers = stage == STAGE_WAIT && p->loader_workers != 0;
    return stage == STAGE_OPTIMIZER || stage == STAGE_REST || waits_for_workers;
}

static struct bucket *scale_buckets(struct arena *arena, const struct profile *p, double factor)
{
    struct bucket *bucket = ARENA_ARRAY(arena, p->n_buckets, struct bucket);
    for (size_t b = 0; b < p->n_buckets; b++) {
        bucket[b] = p->bucket[b];
        bucket[b].ready = scaled(&p->bucket[b].ready, factor);
        bucket[b].done = (struct samples){0};
    }
    return bucket;
}

struct profile batch_profile_scaled(struct arena *arena, const struct profile *measured,
                                    double batch)
{
    double factor = batch / measured->batch;
    struct profile p = *measured;
    if (batch == measured->batch)
        return p;
    p.batch = batch;
    for (int s = 0; s < N_STAGES; s++)
        p.stage[s] = scaled(&p.stage[s], is_fixed(measured, (enum stage)s) ? 1 : factor);
    p.stage[STAGE_STEP] = (struct samples){0};
    p.bucket = scale_buckets(arena, measured, factor);
    p.bytes_read = p.bytes_read < 0 ? p.bytes_read : p.bytes_read * factor;
    return p;
}
