/* Stages of a step come together from the profile's samples, iteration by iteration. */
#include "predict/type_steps.h"

#include <math.h>

#include "predict/message.h"

static double mean_of(const struct profile *p, enum stage stage)
{
    return p->stage[stage].known ? p->stage[stage].stats.mean : 0;
}

double type_loading_s(const struct profile *p)
{
    return p->stage[STAGE_LOADER_INTERVAL].known
               ? p->micro_batches * mean_of(p, STAGE_LOADER_INTERVAL)
               : mean_of(p, STAGE_WAIT);
}

static bool has_ready_times(const struct profile *p)
{
    for (size_t b = 0; b < p->n_buckets; b++) {
        if (!p->bucket[b].ready.known || !(p->bucket[b].bytes >= 0))
            return false;
    }
    return p->n_buckets > 0 && p->stage[STAGE_BACKWARD_COMPUTE].known;
}

static bool same_buckets(const struct profile *p, const struct ring_buckets *buckets)
{
    const double close = 0.01;
    bool same = p->n_buckets == buckets->n;
    for (size_t b = 0; same && b < buckets->n; b++)
        same = fabs(p->bucket[b].wire_bytes - buckets->bytes[b]) <= close * buckets->bytes[b];
    return same;
}

const char *ring_buckets_find(struct arena *arena, const struct profile *profile, int n_types,
                              struct ring_buckets *buckets)
{
    *buckets = (struct ring_buckets){0};
    for (int t = 0; t < n_types && !buckets->from; t++)
        buckets->from = has_ready_times(&profile[t]) ? &profile[t] : NULL;
    if (!buckets->from)
        return "no profile holds buckets with ready_s, and backward_compute_s";
    buckets->n = buckets->from->n_buckets;
    buckets->bytes = ARENA_ARRAY(arena, buckets->n, double);
    for (size_t b = 0; b < buckets->n; b++)
        buckets->bytes[b] = buckets->from->bucket[b].wire_bytes;
    for (int t = 0; t < n_types; t++) {
        if (has_ready_times(&profile[t]) && !same_buckets(&profile[t], buckets))
            return "the types' buckets are not the same";
    }
    return NULL;
}

/* Where all of a step's times come from: one iteration of one device, or the means. */
struct source {
    const struct profile *p;
    const struct ring_buckets *buckets;
    bool mean;
    size_t k; /* of the samples, device by device */
    double fetch_s;
    struct ft_timeline_type loses; /* message_lost_s and byte_lost_s only */
    const double *lost_s; /* [n_buckets + 1], what messages cost computing until each bucket is
                             ready, and until backward ends; or NULL */
};

static double value_of(const struct source *s, const struct samples *samples)
{
    if (!samples->known)
        return 0;
    return s->mean ? samples->stats.mean : samples->value[s->k];
}

static double stage_of(const struct source *s, enum stage stage)
{
    return value_of(s, &s->p->stage[stage]);
}

/* A device that has no buckets of its own, being alone, is as far with them as another type's. */
static double ready_of(const struct source *s, size_t b, double backward_s)
{
    if (has_ready_times(s->p))
        return fmin(value_of(s, &s->p->bucket[b].ready), backward_s);
    const struct profile *other = s->buckets->from;
    double whole_s = other->stage[STAGE_BACKWARD_COMPUTE].stats.mean;
    return whole_s > 0 ? backward_s * fmin(1, other->bucket[b].ready.stats.mean / whole_s) : 0;
}

/* Of the micro-batch that is all-reduced. */
static double backward_of(const struct source *s)
{
    if (has_ready_times(s->p))
        return stage_of(s, STAGE_BACKWARD_COMPUTE);
    return fmax(0, stage_of(s, STAGE_BACKWARD) - stage_of(s, STAGE_BACKWARD_UNSYNCED));
}

/* Computing alone: the whole ring's messages cost it something else. */
static void take_out_losses(const struct source *s, struct ft_timeline_type *step, double *ready_s)
{
    size_t n = s->buckets->n;
    if (!s->lost_s)
        return;
    step->backward_s = fmax(0, step->backward_s - s->lost_s[n]);
    for (size_t b = 0; b < n; b++)
        ready_s[b] = fmin(step->backward_s, fmax(0, ready_s[b] - s->lost_s[b]));
    step->message_lost_s = s->loses.message_lost_s;
    step->byte_lost_s = s->loses.byte_lost_s;
}

static struct ft_timeline_type step_of(struct arena *arena, const struct source *s)
{
    const struct profile *p = s->p;
    bool inside = p->loader_workers == 0;
    double interval_s = type_loading_s(p);
    double *ready_s = ARENA_ARRAY(arena, s->buckets->n, double);
    struct ft_timeline_type step = {
        .load_s = inside ? stage_of(s, STAGE_WAIT) : interval_s,
        .load_inside = inside,
        .forward_s = stage_of(s, STAGE_FORWARD) + stage_of(s, STAGE_BACKWARD_UNSYNCED),
        .backward_s = backward_of(s),
        .ready_s = ready_s,
        .optimizer_s = stage_of(s, STAGE_OPTIMIZER),
        .rest_s = stage_of(s, STAGE_REST) + stage_of(s, STAGE_COPY) + (inside ? 0 : s->fetch_s),
        .busy_Bps = INFINITY,
        .idle_Bps = INFINITY};
    for (size_t b = 0; b < s->buckets->n; b++)
        ready_s[b] = ready_of(s, b, step.backward_s);
    take_out_losses(s, &step, ready_s);
    return step;
}

/* Every stage of a step has a sample for each device and iteration. */
static bool is_sampled(const struct profile *p)
{
    static const enum stage stage[] = {STAGE_WAIT,      STAGE_COPY, STAGE_FORWARD,
                                       STAGE_OPTIMIZER, STAGE_REST, STAGE_BACKWARD_UNSYNCED};
    size_t n = p->stage[STAGE_FORWARD].stats.n;
    bool all = p->stage[STAGE_FORWARD].value && n % (size_t)profile_sampled(p) == 0;
    for (size_t s = 0; s < sizeof stage / sizeof *stage; s++) {
        const struct samples *samples = &p->stage[stage[s]];
        all = all && (!samples->known || (samples->value && samples->stats.n == n));
    }
    const struct samples *backward =
        &p->stage[has_ready_times(p) ? STAGE_BACKWARD_COMPUTE : STAGE_BACKWARD];
    all = all && backward->value && backward->stats.n == n;
    for (size_t b = 0; all && has_ready_times(p) && b < p->n_buckets; b++)
        all = p->bucket[b].ready.value && p->bucket[b].ready.stats.n == n;
    return all;
}

static struct ft_timeline_samples the_mean(const struct type_steps *steps)
{
    return (struct ft_timeline_samples){.step = &steps->mean, .n_iterations = 1, .n_together = 1};
}

static struct ft_timeline_samples all_samples(struct arena *arena, struct source s)
{
    size_t n = s.p->stage[STAGE_FORWARD].stats.n, n_devices = (size_t)profile_sampled(s.p);
    size_t n_iterations = n / n_devices;
    struct ft_timeline_type *step = ARENA_ARRAY(arena, n, struct ft_timeline_type);
    s.mean = false;
    for (s.k = 0; s.k < n; s.k++)
        step[s.k % n_iterations * n_devices + s.k / n_iterations] = step_of(arena, &s);
    struct ft_timeline_samples samples = {
        .step = step, .n_iterations = n_iterations, .n_together = n_devices};
    return samples;
}

/* A mini-batch for each of a step's micro-batches. */
static void add_loads(struct arena *arena, const struct profile *p,
                      struct ft_timeline_samples *samples)
{
    const struct samples *interval = &p->stage[STAGE_LOADER_INTERVAL];
    if (p->loader_workers <= 0 || !interval->value)
        return;
    double *load_s = ARENA_ARRAY(arena, interval->stats.n, double);
    for (size_t k = 0; k < interval->stats.n; k++)
        load_s[k] = p->micro_batches * interval->value[k];
    samples->load_s = load_s;
    samples->n_loads = interval->stats.n;
}

static bool is_done_sampled(const struct profile *p)
{
    size_t n = p->bucket[0].done.stats.n;
    bool all = true;
    for (size_t b = 0; b < p->n_buckets; b++)
        all = all && p->bucket[b].done.value && p->bucket[b].done.stats.n == n;
    return all;
}

/* Of each bucket and all before it, when the last was done: the mean of it. */
static void last_done(const struct profile *p, double *done_s)
{
    size_t n = p->bucket[0].done.stats.n;
    for (size_t k = 0; k < n; k++) {
        double last_s = 0;
        for (size_t b = 0; b < p->n_buckets; b++) {
            last_s = fmax(last_s, p->bucket[b].done.value[k]);
            done_s[b] += last_s / (double)n;
        }
    }
}

/* Buckets end one after the other in the timeline, whichever ended first. */
static const double *done_times(struct arena *arena, const struct profile *p)
{
    double *done_s = ARENA_ARRAY(arena, p->n_buckets, double), last_s = 0;
    for (size_t b = 0; b < p->n_buckets; b++) {
        if (!p->bucket[b].done.known)
            return NULL;
    }
    if (!has_ready_times(p))
        return NULL;
    if (is_done_sampled(p)) {
        last_done(p, done_s);
        return done_s;
    }
    for (size_t b = 0; b < p->n_buckets; b++)
        last_s = done_s[b] = fmax(last_s, p->bucket[b].done.stats.mean);
    return done_s;
}

/* A round of large messages costs more computing than one of small ones: by so much a byte. */
static void find_losses(const struct profile_rounds *rounds, struct source *s)
{
    double more_bytes = rounds->large_message_bytes - rounds->message_bytes;
    s->loses.message_lost_s = rounds->lost_s;
    if (more_bytes > 0)
        s->loses.byte_lost_s = fmax(0, rounds->large_lost_s - rounds->lost_s) / more_bytes;
}

/* What was lost in the sub-system by when, while its buckets were on their way one after the other,
 * evenly. */
static double *own_losses(struct arena *arena, const struct source *s, const double *done_s)
{
    const struct profile *p = s->p;
    double until_s = 0;
    double *lost_s = ARENA_ARRAY(arena, p->n_buckets + 1, double);
    for (size_t b = 0; b < p->n_buckets; b++) {
        double from_s = fmax(until_s, p->bucket[b].ready.stats.mean);
        until_s = fmax(from_s, done_s[b]);
        double share =
            messages_lost_share(&s->loses, s->buckets->bytes[b], p->n_devices, until_s - from_s);
        for (size_t k = b + 1; k <= p->n_buckets; k++) {
            double at_s = k < p->n_buckets ? p->bucket[k].ready.stats.mean
                                           : p->stage[STAGE_BACKWARD_COMPUTE].stats.mean;
            lost_s[k] += share * fmax(0, fmin(at_s, until_s) - from_s);
        }
    }
    return lost_s;
}

static const char *what_lacks(const struct profile *p)
{
    if (!has_ready_times(p) && p->ring_devices > 1)
        return "buckets with ready_s, or backward_compute_s";
    if (!has_ready_times(p) && !p->stage[STAGE_BACKWARD].known)
        return "backward_s";
    if (!p->stage[STAGE_OPTIMIZER].known)
        return "optimizer_s";
    if (p->loader_workers == 0 && !p->stage[STAGE_WAIT].known)
        return "wait_s";
    return NULL;
}

const char *type_steps_make(struct arena *arena, const struct profile *p,
                            const struct ring_buckets *buckets, struct type_steps *steps)
{
    const double prefetch_factor = 2; /* PyTorch's default, for each worker */
    const char *lacks = what_lacks(p);
    if (lacks)
        return arena_format(arena, "the profile %s lacks %s", p->file ? p->file : "", lacks);
    struct source s = {
        .p = p, .buckets = buckets, .mean = true, .fetch_s = p->stage[STAGE_WAIT].stats.min};
    const double *done_s = done_times(arena, p);
    if (p->rounds.message_bytes > 0 && done_s && !p->one_ring && p->n_devices > 1) {
        find_losses(&p->rounds, &s);
        s.lost_s = own_losses(arena, &s, done_s);
    }
    *steps = (struct type_steps){.mean = step_of(arena, &s),
                                 .sampled = is_sampled(p),
                                 .done_s = done_s,
                                 .n_prefetched = fmax(1, prefetch_factor * p->loader_workers)};
    steps->samples = steps->sampled ? all_samples(arena, s) : the_mean(steps);
    add_loads(arena, p, &steps->samples);
    return NULL;
}
