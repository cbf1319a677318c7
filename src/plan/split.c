#include "plan/split.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "plan/batch_boxes.h"
#include "plan/batch_profile.h"
#include "plan/mean_ring.h"
#include "plan/ring_only.h"
#include "predict/parts.h"

static const int64_t MOST_BATCH = 10000000; /* as in the job file */

struct splitter {
    struct arena *arena;
    const struct job *job;
    const struct split_profiles *profiles;
    const struct network *network;
    enum forecast_model model;
    struct split *split;
    int *type_of;          /* [n_devices] */
    struct ft_link *link;  /* [n_devices] */
    int64_t *weight;       /* [n_types], samples of a step for each one of a mini-batch */
    int64_t *least, *most; /* [n_types] */
};

static size_t n_types(const struct splitter *s)
{
    return (size_t)s->job->n_types;
}

static bool profile_at(struct arena *arena, const struct split_profiles *p, double batch,
                       struct profile *profile, struct batch_fit *fit, struct error *e)
{
    *fit = (struct batch_fit){.measured = p->profile[0].batch == batch};
    if (p->n == 1) {
        *profile = batch_profile_scaled(arena, &p->profile[0], batch);
        return true;
    }
    return batch_profile(arena, p->profile, p->n, batch, profile, fit, e);
}

static bool profiles_at(struct splitter *s, struct arena *arena, const int64_t *batch,
                        struct profile *profile, struct error *e)
{
    struct batch_fit fit;
    for (size_t t = 0; t < n_types(s); t++) {
        if (!profile_at(arena, &s->profiles[t], (double)batch[t], &profile[t], &fit, e))
            return false;
    }
    return true;
}

static struct job job_at(const struct splitter *s, struct arena *arena, const int64_t *batch)
{
    struct job job = *s->job;
    job.type = ARENA_ARRAY(arena, n_types(s), struct job_device_type);
    memcpy(job.type, s->job->type, n_types(s) * sizeof *job.type);
    for (size_t t = 0; t < n_types(s); t++)
        job.type[t].batch = batch[t];
    return job;
}

/* Stages anew, and what the storage takes; ceilings and bytes as measured. */
static bool forecast_at(struct splitter *s, struct arena *arena, const struct job *job,
                        const struct profile *profile, struct forecast *f, struct error *e)
{
    struct warnings warnings = {.arena = arena};
    *f = s->split->forecast;
    f->type = ARENA_ARRAY(arena, n_types(s), struct type_forecast);
    for (int t = 0; t < job->n_types; t++) {
        f->type[t] = s->split->forecast.type[t];
        if (!forecast_stages(job, t, &profile[t], &f->type[t], e))
            return false;
    }
    return forecast_storage(job, profile, f, &warnings, e);
}

/* Where they have a greater one. */
static void take_mean(struct arena *arena, struct samples *samples, double mean)
{
    double to = fmax(0, mean);
    if (samples->known && to < samples->stats.mean)
        *samples = samples_times(arena, samples, to / samples->stats.mean);
}

/* What is all-reduced, where no stage tells it. */
static double synced_s(const struct profile *p)
{
    return p->stage[STAGE_BACKWARD].stats.mean - p->stage[STAGE_BACKWARD_UNSYNCED].stats.mean;
}

static void take_less_of_all(struct arena *arena, struct profile *least,
                             const struct profile *other)
{
    double least_synced_s = fmin(synced_s(least), synced_s(other));
    for (size_t k = 0; k < N_STAGES; k++)
        take_mean(arena, &least->stage[k], other->stage[k].stats.mean);
    take_mean(arena, &least->stage[STAGE_BACKWARD],
              least_synced_s + least->stage[STAGE_BACKWARD_UNSYNCED].stats.mean);
    for (size_t b = 0; b < least->n_buckets; b++)
        take_mean(arena, &least->bucket[b].ready, other->bucket[b].ready.stats.mean);
}

/* A profile's shortest wait is in proportion to its mean, and the nearest batch's. */
static void take_shortest_wait(const struct split_profiles *p, struct profile *least)
{
    struct stats *wait = &least->stage[STAGE_WAIT].stats;
    for (size_t i = 0; i < p->n; i++) {
        const struct stats *other = &p->profile[i].stage[STAGE_WAIT].stats;
        if (other->mean > 0)
            wait->min = fmin(wait->min, other->min / other->mean * wait->mean);
    }
}

static struct bucket *copy_buckets(struct arena *arena, const struct profile *p)
{
    struct bucket *bucket = ARENA_ARRAY(arena, p->n_buckets, struct bucket);
    for (size_t b = 0; b < p->n_buckets; b++)
        bucket[b] = p->bucket[b];
    return bucket;
}

/* Times are lines between the batches that were measured: the least are at one of them, or at an
 * end. */
static bool least_profile(struct arena *arena, const struct split_profiles *p, int64_t low,
                          int64_t high, struct profile *least, struct error *e)
{
    struct batch_fit fit;
    struct profile at_high;
    if (!profile_at(arena, p, (double)low, least, &fit, e) ||
        !profile_at(arena, p, (double)high, &at_high, &fit, e))
        return false;
    least->bucket = copy_buckets(arena, least);
    take_less_of_all(arena, least, &at_high);
    for (size_t i = 0; i < p->n; i++) {
        if (p->profile[i].batch > (double)low && p->profile[i].batch < (double)high)
            take_less_of_all(arena, least, &p->profile[i]);
    }
    take_shortest_wait(p, least);
    return true;
}

/* A device that was alone takes the shares of its backward pass after which buckets are ready from
 * another type: no line tells the least of these. */
static bool takes_shares(const struct splitter *s, const struct profile *profile)
{
    size_t n_alone = 0;
    for (size_t t = 0; t < n_types(s); t++)
        n_alone += !profile[t].stage[STAGE_BACKWARD_COMPUTE].known;
    return n_alone > 0 && n_alone < n_types(s);
}

static bool least_profiles(struct splitter *s, struct arena *arena, const int64_t *low,
                           const int64_t *high, struct profile *profile, struct error *e)
{
    for (size_t t = 0; t < n_types(s); t++) {
        if (!least_profile(arena, &s->profiles[t], low[t], high[t], &profile[t], e))
            return false;
    }
    for (size_t t = 0; takes_shares(s, profile) && t < n_types(s); t++) {
        for (size_t b = 0; s->profiles[t].n > 1 && b < profile[t].n_buckets; b++)
            take_mean(arena, &profile[t].bucket[b].ready, 0);
    }
    return true;
}

static bool ring_of(struct splitter *s, struct arena *arena, const int64_t *batch,
                    const struct profile *profile, struct mean_ring *ring, struct error *e)
{
    struct forecast f;
    struct job job = job_at(s, arena, batch);
    if (!forecast_at(s, arena, &job, profile, &f, e))
        return false;
    mean_ring_make(arena, &job, profile, &f, ring);
    return true;
}

static bool ring_at(struct splitter *s, struct arena *arena, const int64_t *batch,
                    struct mean_ring *ring, struct error *e)
{
    struct profile *profile = ARENA_ARRAY(arena, n_types(s), struct profile);
    return profiles_at(s, arena, batch, profile, e) && ring_of(s, arena, batch, profile, ring, e);
}

static double step_at(void *self, const int64_t *batch)
{
    struct splitter *s = self;
    struct arena scratch = {0};
    struct error none = {0};
    struct mean_ring ring;
    double step_s = ring_at(s, &scratch, batch, &ring, &none)
                        ? mean_ring_step_s(&ring, s->type_of, s->link)
                        : INFINITY;
    error_clear(&none);
    arena_free(&scratch);
    return step_s;
}

static double least_step(void *self, const int64_t *low, const int64_t *high)
{
    struct splitter *s = self;
    struct arena scratch = {0};
    struct error none = {0};
    struct mean_ring ring;
    struct profile *profile = ARENA_ARRAY(&scratch, n_types(s), struct profile);
    double step_s = least_profiles(s, &scratch, low, high, profile, &none) &&
                            ring_of(s, &scratch, low, profile, &ring, &none)
                        ? mean_ring_step_s(&ring, s->type_of, s->link)
                        : 0;
    error_clear(&none);
    arena_free(&scratch);
    return step_s;
}

static int64_t *own_batches(const struct splitter *s)
{
    int64_t *batch = ARENA_ARRAY(s->arena, n_types(s), int64_t);
    for (size_t t = 0; t < n_types(s); t++)
        batch[t] = s->job->type[t].batch;
    return batch;
}

static int64_t own_sum(const struct splitter *s)
{
    int64_t sum = 0;
    for (size_t t = 0; t < n_types(s); t++)
        sum += s->weight[t] * s->job->type[t].batch;
    return sum;
}

static void range_of_measured(const struct split_profiles *p, struct split_type *type)
{
    type->from = INFINITY;
    for (size_t i = 0; i < p->n; i++) {
        type->from = fmin(type->from, p->profile[i].batch);
        type->to = fmax(type->to, p->profile[i].batch);
    }
}

static bool has_times(const struct splitter *s, size_t t, int64_t batch)
{
    struct arena scratch = {0};
    struct profile profile;
    struct batch_fit fit;
    struct error none = {0};
    bool has = profile_at(&scratch, &s->profiles[t], (double)batch, &profile, &fit, &none);
    error_clear(&none);
    arena_free(&scratch);
    return has;
}

/* The last mini-batch from `known`, which has times, to `end` for which the fit gives them. */
static int64_t last_with_times(const struct splitter *s, size_t t, int64_t known, int64_t end)
{
    while (known != end) {
        int64_t rest = end - known, middle = known + rest / 2 + rest % 2;
        if (has_times(s, t, middle))
            known = middle;
        else
            end = middle + (rest > 0 ? -1 : 1);
    }
    return known;
}

/* Memory is known to suffice for what the job says, and for what was measured. */
static void find_limits(struct splitter *s, bool fastest)
{
    for (size_t t = 0; t < n_types(s); t++) {
        struct split_type *type = &s->split->type[t];
        int64_t given = s->job->type[t].max_batch;
        range_of_measured(&s->profiles[t], type);
        type->most_given = given > 0;
        type->most = given > 0 ? (double)given
                     : fastest ? fmax(type->to, (double)s->job->type[t].batch)
                               : 0;
        int64_t own = s->job->type[t].batch;
        s->most[t] = type->most > 0 ? (int64_t)type->most : MOST_BATCH;
        s->least[t] = last_with_times(s, t, own, 1);
        s->most[t] = s->most[t] > own ? last_with_times(s, t, own, s->most[t]) : s->most[t];
    }
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void refuse_sum(const struct splitter *s, double wanted, struct error *e)
{
    char text[UNITS_TEXT_SIZE], low_text[UNITS_TEXT_SIZE], high_text[UNITS_TEXT_SIZE];
    int64_t divisor = 0;
    double low = 0, high = 0;
    for (size_t t = 0; t < n_types(s); t++) {
        divisor = greatest_divisor(divisor, s->weight[t]);
        low += (double)s->weight[t] * (double)s->least[t];
        high += (double)s->weight[t] * (double)s->most[t];
    }
    error_set(e, ERROR_INPUT, "%s: no whole mini-batches make a global batch of %s",
              s->job->file ? s->job->file : "job", units_format_count(wanted, text));
    if (wanted < low || wanted > high)
        error_hint(e, "it can be from %s to %s", units_format_count(low, low_text),
                   units_format_count(high, high_text));
    else if (divisor > 1)
        error_hint(e, "a multiple of %lld can be", (long long)divisor);
}

static size_t tries_for(size_t n_devices)
{
    enum { FEWEST = 500, MOST = 20000 };
    size_t n = 200000 / n_devices;
    return n > MOST ? MOST : n < FEWEST ? FEWEST : n;
}

/* Else all times are in proportion, or stay: none falls. */
static bool has_fits(const struct splitter *s)
{
    for (size_t t = 0; t < n_types(s); t++) {
        if (s->profiles[t].n > 1)
            return true;
    }
    return false;
}

/* Starts from the job's own mini-batches where they are allowed. */
static bool search(struct splitter *s, const struct split_wish *wish, int64_t *batch,
                   struct error *e)
{
    int64_t own = own_sum(s);
    double wanted = wish->global_batch > 0 ? wish->global_batch : (double)own;
    struct batch_problem problem = {.n = n_types(s),
                                    .weight = s->weight,
                                    .least = s->least,
                                    .most = s->most,
                                    .sum = wish->fastest ? 0 : (int64_t)wanted,
                                    .step_s = step_at,
                                    .least_s = has_fits(s) ? least_step : NULL,
                                    .self = s,
                                    .most_tries = tries_for(s->job->n_devices)};
    bool allowed = problem.sum == 0 || problem.sum == own;
    for (size_t t = 0; t < n_types(s); t++) {
        batch[t] = s->job->type[t].batch;
        allowed = allowed && batch[t] <= s->most[t];
    }
    struct batch_answer answer = {
        .s_a_sample = allowed ? s->split->given.step_s / (double)own : INFINITY, .number = batch};
    batch_boxes_search(&problem, &answer);
    if (!answer.found) {
        refuse_sum(s, wanted, e);
        return false;
    }
    s->split->exact = answer.exact;
    s->split->most_samples_per_s = 1 / answer.bound;
    return true;
}

static bool one_unit(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].data.unit != job->type[0].data.unit)
            return false;
    }
    return job->type[0].data.unit != AMOUNT_NONE;
}

/* As much for all devices together as the job gives them, in proportion to the mini-batch. */
static struct amount move_data(const struct splitter *s, double step_samples)
{
    double all = 0;
    const struct job *job = s->job;
    if (!one_unit(job))
        return (struct amount){0};
    for (int t = 0; t < job->n_types; t++)
        all += (double)job->type[t].count * job->type[t].data.value;
    return (struct amount){all * step_samples / s->split->found.global_batch,
                           job->type[0].data.unit};
}

static enum split_basis basis_of(const struct split_profiles *p, const struct batch_fit *fit)
{
    return fit->measured       ? SPLIT_MEASURED
           : p->n == 1         ? SPLIT_ASSUMED
           : fit->extrapolated ? SPLIT_EXTRAPOLATED
                               : SPLIT_FITTED;
}

static bool describe_type(struct splitter *s, size_t t, int64_t batch, struct error *e)
{
    struct split_type *type = &s->split->type[t];
    struct batch_fit fit;
    struct profile profile;
    if (!profile_at(s->arena, &s->profiles[t], (double)batch, &profile, &fit, e))
        return false;
    double step_samples = (double)batch * profile.micro_batches;
    type->name = s->job->type[t].name;
    type->count = s->job->type[t].count;
    type->given = (double)s->job->type[t].batch;
    type->found = (double)batch;
    type->weight = step_samples * (double)s->job->n_devices / s->split->found.global_batch;
    type->data = move_data(s, step_samples);
    type->assumed = profile.assumed;
    type->basis = basis_of(&s->profiles[t], &fit);
    type->fit_error = fit.error_known ? fit.error : -1;
    return true;
}

static bool measure_value(struct splitter *s, const int64_t *batch, struct split_value *value,
                          struct mean_ring *ring, struct error *e)
{
    if (!ring_at(s, s->arena, batch, ring, e))
        return false;
    *value = (struct split_value){.step_s = mean_ring_step_s(ring, s->type_of, s->link)};
    for (size_t t = 0; t < n_types(s); t++)
        value->global_batch += (double)(s->weight[t] * batch[t]);
    value->samples_per_s = value->global_batch / value->step_s;
    return true;
}

static bool describe(struct splitter *s, const int64_t *batch, struct error *e)
{
    int64_t *own = own_batches(s);
    struct mean_ring given, found;
    if (!measure_value(s, own, &s->split->given, &given, e) ||
        !measure_value(s, batch, &s->split->found, &found, e))
        return false;
    for (size_t t = 0; t < n_types(s); t++) {
        s->split->type[t].given_alone_s = mean_ring_alone_s(&given, (int)t);
        s->split->type[t].alone_s = mean_ring_alone_s(&found, (int)t);
        if (!describe_type(s, t, batch[t], e))
            return false;
    }
    return true;
}

static void take_links(struct splitter *s)
{
    const struct job *job = s->job;
    s->type_of = ARENA_ARRAY(s->arena, job->n_devices, int);
    s->link = ARENA_ARRAY(s->arena, job->n_devices, struct ft_link);
    for (size_t i = 0; i < job->n_devices; i++) {
        s->type_of[i] = job_device_type(job, job_ring_device(job, i));
        const struct forecast *f = &s->split->forecast;
        s->link[i] = forecast_as_link(&f->link[i], f->type[s->type_of[i]].ceilings.idle_Bps);
    }
}

static bool start(struct splitter *s, struct error *e)
{
    const struct job *job = s->job;
    struct arena *arena = s->arena;
    struct profile *given = ARENA_ARRAY(arena, n_types(s), struct profile);
    if (!ring_only(job, e) || !profiles_at(s, arena, own_batches(s), given, e) ||
        !forecast_make(arena, job, given, s->network, s->model, &s->split->forecast, e))
        return false;
    s->split->type = ARENA_ARRAY(arena, n_types(s), struct split_type);
    s->weight = ARENA_ARRAY(arena, n_types(s), int64_t);
    s->least = ARENA_ARRAY(arena, n_types(s), int64_t);
    s->most = ARENA_ARRAY(arena, n_types(s), int64_t);
    for (size_t t = 0; t < n_types(s); t++)
        s->weight[t] = job->type[t].count * (int64_t)fmax(1, round(given[t].micro_batches));
    take_links(s);
    s->split->given.step_s = step_at(s, own_batches(s));
    return true;
}

bool split_find(struct arena *arena, const struct job *job, const struct split_profiles *profiles,
                const struct network *network, enum forecast_model model,
                const struct split_wish *wish, struct split *split, struct error *e)
{
    struct split made = {
        .fastest = wish->fastest, .n_devices = job->n_devices, .n_types = job->n_types};
    struct splitter s = {.arena = arena,
                         .job = job,
                         .profiles = profiles,
                         .network = network,
                         .model = model,
                         .split = &made};
    int64_t *batch = ARENA_ARRAY(arena, (size_t)job->n_types, int64_t);
    if (!start(&s, e))
        return false;
    find_limits(&s, wish->fastest);
    if (!search(&s, wish, batch, e) || !describe(&s, batch, e))
        return false;
    *split = made;
    return true;
}
