/*
 * The timeline of a job: each type's steps from its profile, its ceilings from its own sub-system,
 * then the whole ring with steps drawn at random (docs/model.md, "The timeline").
 */
#include <math.h>

#include "base/random.h"
#include "base/stats.h"
#include "base/units.h"
#include "predict/measured_ring.h"
#include "predict/measured_steps.h"
#include "predict/message.h"
#include "predict/other_collectives.h"
#include "predict/parts.h"
#include "predict/remedies.h"
#include "predict/type_steps.h"

enum { MOST_STEPS = 512, FEWEST_STEPS = 8, SEED = 1 };
static const double MOST_DRAWS = 4e6; /* steps times devices, or messages where they are more */
/*
 * By how much forecasts miss whole systems whose runs hardly vary, root mean square (docs/model.md,
 * "Spread"). No sub-system tells what is not modelled.
 */
static const double MODEL_ERROR = 0.02;

struct whole {
    struct arena *arena;
    const struct job *job;
    const struct profile *profile;
    struct ring_buckets buckets;
    struct type_steps *steps;            /* [n_types] */
    struct ft_timeline timeline;         /* of the whole ring */
    size_t n_hops;                       /* links of the timeline */
    struct ft_timeline_type *type;       /* [n_types], what timeline.type points to */
    struct ft_timeline_samples *samples; /* [n_types] */
    const double *residual_s; /* [n_residuals], of the sub-system where they vary most; mean 0 */
    size_t n_residuals;
    double residual_sd_s;
};

struct ft_link forecast_as_link(const struct link *link, double idle_Bps)
{
    const struct link_curve none = {NULL, 0}, *curve = link->curve ? link->curve : &none;
    double bandwidth_Bps = link->bandwidth_Bps;
    if (link->at_least && isfinite(idle_Bps))
        bandwidth_Bps = fmax(bandwidth_Bps, idle_Bps);
    return (struct ft_link){bandwidth_Bps, fmax(0, link->latency_s), curve->point, curve->n};
}

/* NULL, or why the timeline is not known. */
static const char *read_steps(struct whole *w)
{
    const struct job *job = w->job;
    const char *why_not = NULL;
    if (job->n_devices > 1)
        why_not = ring_buckets_find(w->arena, w->profile, job->n_types, &w->buckets);
    w->steps = ARENA_ARRAY(w->arena, (size_t)job->n_types, struct type_steps);
    for (int t = 0; t < job->n_types && !why_not; t++)
        why_not = type_steps_make(w->arena, &w->profile[t], &w->buckets, &w->steps[t]);
    return why_not;
}

static void make_ring(struct whole *w, const struct forecast *f)
{
    size_t n_types = (size_t)w->job->n_types, n = f->n_devices;
    int *type_of = ARENA_ARRAY(w->arena, n, int);
    w->type = ARENA_ARRAY(w->arena, n_types, struct ft_timeline_type);
    w->samples = ARENA_ARRAY(w->arena, n_types, struct ft_timeline_samples);
    for (size_t t = 0; t < n_types; t++) {
        w->type[t] = w->steps[t].mean;
        w->samples[t] = w->steps[t].samples;
    }
    w->n_hops = f->n_hops;
    for (size_t i = 0; i < n; i++)
        type_of[i] = job_device_type(w->job, job_ring_device(w->job, i));
    w->timeline = (struct ft_timeline){.type = w->type,
                                       .n_types = n_types,
                                       .type_of = type_of,
                                       .n_devices = n,
                                       .collective = f->collective,
                                       .bucket_bytes = w->buckets.bytes,
                                       .n_buckets = w->buckets.n};
}

/* The ring of a type's own sub-system, whatever the whole is all-reduced by. */
static struct ft_timeline own_timeline(struct whole *w, int t, const struct measured_ring *ring)
{
    struct ft_link *link = ARENA_ARRAY(w->arena, ring->n, struct ft_link);
    int *type_of = ARENA_ARRAY(w->arena, ring->n, int);
    for (size_t i = 0; i < ring->n; i++) {
        link[i] = forecast_as_link(&ring->link[i], w->type[t].idle_Bps);
        type_of[i] = 0;
    }
    struct ft_timeline own = w->timeline;
    own.type = &w->type[t];
    own.n_types = 1;
    own.type_of = type_of;
    own.link = link;
    own.n_devices = ring->n;
    own.collective = NULL;
    return own;
}

/* Of a ring's links, what a message takes the slowest. */
static double slowest_message_s(const struct ft_timeline *ring, double bytes)
{
    double slowest_s = 0;
    for (size_t i = 0; i < ring->n_devices; i++)
        slowest_s = fmax(slowest_s, message_s(&ring->link[i], bytes));
    return slowest_s;
}

/*
 * What a round costs beside its bytes and its link, which take the rest of what a small all-reduce
 * took.
 */
static void find_rounds(const struct profile_rounds *rounds, const struct ft_timeline *own,
                        struct type_forecast *type)
{
    if (!(rounds->message_bytes > 0))
        return;
    double link_s = slowest_message_s(own, rounds->message_bytes);
    type->idle_round_s = fmax(0, rounds->idle_s - link_s);
    type->busy_round_s = fmax(type->idle_round_s, rounds->busy_s - link_s);
}

static void set_sending(const struct type_forecast *forecast, struct ft_timeline_type *type)
{
    type->idle_round_s = forecast->idle_round_s;
    type->busy_round_s = forecast->busy_round_s;
    type->busy_Bps = forecast->ceilings.busy_Bps;
    type->idle_Bps = forecast->ceilings.idle_Bps;
}

/* Links of which only a lower bound is known do not say what is too fast to be felt. */
static void open_up(const struct measured_ring *ring, struct ft_timeline *own)
{
    const double far = 16;
    struct ft_link *link = (struct ft_link *)own->link;
    for (size_t i = 0; i < ring->n; i++)
        link[i].bandwidth_Bps *= ring->link[i].at_least ? far : 1;
}

/* What feeds a link so that a round takes this long; INFINITY: no slower than the link. */
static double rate_of_round(const struct ft_timeline *own, double bytes, double took_s,
                            double round_s)
{
    double fed_s = took_s - slowest_message_s(own, 0) - round_s;
    return took_s > slowest_message_s(own, bytes) && fed_s > 0 ? bytes / fed_s : INFINITY;
}

/* Training feeds its links no faster than rounds of large messages, which nothing else disturbs. */
static void find_highest(const struct profile_rounds *rounds, const struct ft_timeline *own,
                         struct type_forecast *type)
{
    double bytes = rounds->large_message_bytes;
    if (!(rounds->large_idle_s > 0))
        return;
    double idle_Bps = rate_of_round(own, bytes, rounds->large_idle_s, type->idle_round_s);
    double busy_Bps = rate_of_round(own, bytes, rounds->large_busy_s, type->busy_round_s);
    type->ceilings = (struct ft_ceilings){fmin(busy_Bps, idle_Bps), idle_Bps};
}

/* NULL, or why nothing says what a device of the type can send. */
static const char *find_ceilings(struct whole *w, const struct network *network, int t,
                                 struct type_forecast *type)
{
    struct measured_ring ring;
    const struct profile *p = &w->profile[t];
    if (w->buckets.n == 0 || p->n_devices < 2)
        return "one device: no ring";
    if (p->one_ring)
        return "measured in one mixed ring";
    if (!w->steps[t].done_s)
        return "the profile lacks done_s of its buckets";
    const char *why_not = measured_ring_find(w->arena, w->job, w->profile, network, t, &ring);
    if (why_not)
        return why_not;
    char message[FT_MESSAGE_SIZE];
    struct ft_timeline own = own_timeline(w, t, &ring);
    find_rounds(&p->rounds, &own, type);
    open_up(&ring, &own);
    find_highest(&p->rounds, &own, type);
    set_sending(type, &w->type[t]);
    if (ft_timeline_fit(&own, &w->samples[t], w->steps[t].done_s, &type->ceilings, message))
        return NULL;
    return arena_copy(w->arena, message);
}

/* The one mixed ring in which all types were measured, by means; 0: not known. */
static double mixed_step(struct whole *w, const struct network *network)
{
    struct measured_ring ring;
    if (measured_ring_find(w->arena, w->job, w->profile, network, 0, &ring))
        return 0;
    struct ft_timeline own = own_timeline(w, 0, &ring);
    int *type_of = ARENA_ARRAY(w->arena, ring.n, int);
    size_t i = 0;
    for (int t = ring.first; t <= ring.last; t++)
        for (int d = 0; d < w->profile[t].n_devices; d++)
            type_of[i++] = t;
    own.type = w->type;
    own.n_types = w->timeline.n_types;
    own.type_of = type_of;
    struct ft_timeline_step step;
    return ft_timeline_step(&own, &step, NULL) ? step.step_s : 0;
}

/* What a sub-system's steps took more or less than replayed: how communication varies. */
static void keep_residuals(struct whole *w, int t, const double *replayed_s)
{
    size_t n = w->samples[t].n_iterations;
    struct measured_steps measured = measured_steps_of(w->arena, &w->profile[t]);
    double *residual_s = measured.mean_s;
    if (measured.n != n || !w->steps[t].sampled)
        return;
    for (size_t j = 0; j < n; j++)
        residual_s[j] -= replayed_s[j];
    struct stats stats = stats_of(residual_s, n);
    if (stats.sd <= w->residual_sd_s)
        return;
    for (size_t j = 0; j < n; j++)
        residual_s[j] -= stats.mean;
    w->residual_s = residual_s;
    w->n_residuals = n;
    w->residual_sd_s = stats.sd;
}

/* Mean step of the type's own sub-system, replayed; 0: not known. */
static double replay_own(struct whole *w, const struct network *network, int t)
{
    struct measured_ring ring;
    size_t n = w->samples[t].n_iterations;
    double *step_s = ARENA_ARRAY(w->arena, n, double);
    if (measured_ring_find(w->arena, w->job, w->profile, network, t, &ring))
        return 0;
    struct ft_timeline own = own_timeline(w, t, &ring);
    if (!ft_timeline_replay(&own, &w->samples[t], step_s, NULL))
        return 0;
    keep_residuals(w, t, step_s);
    return stats_of(step_s, n).mean;
}

/* Each type's own sub-system: no step is shorter than what its loader takes beside it. */
static void forecast_own(struct whole *w, const struct network *network, struct forecast *f)
{
    double mixed_s = w->profile[0].one_ring ? mixed_step(w, network) : 0;
    for (int t = 0; t < f->n_types; t++) {
        const struct ft_timeline_type *type = &w->type[t];
        double beside_s = type->load_inside ? 0 : type->load_s;
        if (w->profile[t].one_ring)
            f->type[t].own_step_s = mixed_s;
        else if (!f->type[t].why_no_ceilings)
            f->type[t].own_step_s = fmax(beside_s, replay_own(w, network, t));
    }
}

/* A step of a sub-system as it is in the whole ring. */
static struct ft_timeline_type whole_step(struct ft_timeline_type step,
                                          const struct type_forecast *forecast, double least_load_s)
{
    forecast_set_whole(forecast, &step);
    step.load_s = fmax(step.load_s, least_load_s);
    return step;
}

static void widen_samples(struct arena *arena, struct ft_timeline_samples *samples,
                          const struct type_forecast *forecast, double least_load_s)
{
    size_t n = samples->n_iterations * samples->n_together;
    struct ft_timeline_type *step = ARENA_ARRAY(arena, n, struct ft_timeline_type);
    double *load_s = ARENA_ARRAY(arena, samples->n_loads, double);
    for (size_t k = 0; k < n; k++)
        step[k] = whole_step(samples->step[k], forecast, least_load_s);
    for (size_t k = 0; k < samples->n_loads; k++)
        load_s[k] = fmax(samples->load_s[k], least_load_s);
    samples->step = step;
    samples->load_s = samples->n_loads ? load_s : NULL;
}

/* In the whole ring nobody loads faster than the storage delivers to all, and collectives take more
 * rounds. */
static void go_over_to_whole(struct whole *w, struct forecast *f)
{
    for (int t = 0; t < f->n_types; t++) {
        struct type_forecast *type = &f->type[t];
        type->others_forward_s =
            other_collectives_longer_s(&w->profile[t], &w->timeline, w->n_hops, true);
        type->others_rest_s =
            other_collectives_longer_s(&w->profile[t], &w->timeline, w->n_hops, false);
        widen_samples(w->arena, &w->samples[t], type, f->storage_s);
    }
    for (int t = 0; t < f->n_types; t++)
        w->type[t] = whole_step(w->type[t], &f->type[t], f->storage_s);
}

void forecast_set_whole(const struct type_forecast *forecast, struct ft_timeline_type *type)
{
    set_sending(forecast, type);
    type->forward_s += forecast->others_forward_s;
    type->rest_s += forecast->others_rest_s;
}

/* Once it is known what devices send. */
static void take_links(struct whole *w, const struct forecast *f)
{
    if (w->timeline.n_devices < 2)
        return;
    struct ft_link *link = ARENA_ARRAY(w->arena, f->n_hops, struct ft_link);
    for (size_t h = 0; h < f->n_hops; h++)
        link[h] =
            forecast_as_link(&f->link[h], w->type[w->timeline.type_of[f->hop[h].from]].idle_Bps);
    w->timeline.link = link;
}

static void find_types(struct whole *w, const struct network *network, struct forecast *f)
{
    for (int t = 0; t < f->n_types; t++) {
        struct type_forecast *type = &f->type[t];
        const struct ft_timeline_type *mean = &w->type[t];
        type->backward_s = mean->backward_s;
        type->optimizer_s = mean->optimizer_s;
        type->rest_s = mean->rest_s;
        type->ceilings = (struct ft_ceilings){INFINITY, INFINITY};
        type->why_no_ceilings = find_ceilings(w, network, t, type);
        set_sending(type, &w->type[t]);
    }
}

/* By loaders beside the steps; where there are none it does not matter. */
static double fewest_prefetched(const struct whole *w)
{
    double fewest = INFINITY;
    for (int t = 0; t < w->job->n_types; t++) {
        if (!w->steps[t].mean.load_inside)
            fewest = fmin(fewest, w->steps[t].n_prefetched);
    }
    return isfinite(fewest) ? fewest : 1;
}

static size_t steps_to_draw(const struct whole *w)
{
    double n = MOST_DRAWS / (double)w->n_hops;
    return n >= MOST_STEPS ? MOST_STEPS : n <= FEWEST_STEPS ? FEWEST_STEPS : (size_t)n;
}

/* Steps vary as drawn, and by what was seen beside that. */
static void add_residuals(const struct whole *w, double *step_s, size_t n)
{
    struct random random = random_seed(SEED, UINT64_MAX);
    for (size_t k = 0; w->n_residuals > 0 && k < n; k++)
        step_s[k] = fmax(0, step_s[k] + w->residual_s[random_below(&random, w->n_residuals)]);
}

/* Of the type whose runs differ most. */
static double between_runs(const struct whole *w)
{
    double most = 0;
    for (int t = 0; t < w->job->n_types; t++)
        most = fmax(most, measured_steps_between_runs(measured_steps_of(w->arena, &w->profile[t])));
    return most;
}

/* Steps are those of another run than the sub-systems', and of more than the timeline models. */
static void vary_as_a_whole(double *step_s, size_t n, double deviation)
{
    struct random random = random_seed(SEED, UINT64_MAX - 1);
    for (size_t k = 0; k < n; k++)
        step_s[k] = fmax(0, step_s[k] * (1 + deviation * random_normal(&random)));
}

static void keep_ring(const struct whole *w, struct timeline_forecast *out)
{
    struct ft_timeline *ring = ARENA_NEW(w->arena, struct ft_timeline);
    *ring = w->timeline;
    out->ring = ring;
    out->samples = w->samples;
    out->n_prefetched = fewest_prefetched(w);
}

static bool draw_steps(struct whole *w, struct timeline_forecast *out, char *message)
{
    size_t n = steps_to_draw(w);
    double *step_s = ARENA_ARRAY(w->arena, n, double);
    if (!ft_timeline_spread(&w->timeline, w->samples, fewest_prefetched(w), n, SEED, step_s,
                            message))
        return false;
    add_residuals(w, step_s, n);
    out->n_steps = n;
    out->step_s.mean = stats_of(step_s, n).mean;
    out->step_deviation = stats_of(step_s, n).sd / out->step_s.mean;
    vary_as_a_whole(step_s, n, hypot(out->between_runs, out->model_error));
    out->step_s.low = stats_quantile(step_s, n, 0.1);
    out->step_s.high = stats_quantile(step_s, n, 0.9);
    return true;
}

/* Without samples there is nothing to draw. */
static bool take_mean_step(const struct whole *w, struct timeline_forecast *out, char *message)
{
    struct ft_timeline_step step;
    if (!ft_timeline_step(&w->timeline, &step, message))
        return false;
    out->step_s = (struct span){step.step_s, step.step_s, step.step_s};
    return true;
}

static bool has_samples(const struct whole *w)
{
    bool any = false;
    for (int t = 0; t < w->job->n_types; t++)
        any = any || w->steps[t].sampled || w->samples[t].n_loads > 0;
    return any;
}

static bool find_step(struct whole *w, struct timeline_forecast *out, char *message)
{
    out->between_runs = between_runs(w);
    out->model_error = MODEL_ERROR;
    if (!(has_samples(w) ? draw_steps(w, out, message) : take_mean_step(w, out, message)))
        return false;
    out->known = true;
    out->spread_known = true;
    for (int t = 0; t < w->job->n_types; t++)
        out->spread_known = out->spread_known && w->steps[t].sampled;
    if (!out->spread_known)
        out->step_s.low = out->step_s.high = out->step_s.mean;
    return true;
}

static size_t first_of_type(const struct whole *w, int t)
{
    size_t i = 0;
    while (w->timeline.type_of[i] != t)
        i++;
    return i;
}

/* The type that takes longest to load beside its steps. */
static int slowest_loader(const struct whole *w)
{
    int slowest = 0;
    double longest_s = 0;
    for (int t = 0; t < (int)w->timeline.n_types; t++) {
        const struct ft_timeline_type *type = &w->timeline.type[t];
        if (!type->load_inside && type->load_s > longest_s) {
            slowest = t;
            longest_s = type->load_s;
        }
    }
    return slowest;
}

/* The device whose hop is fed slowest when nobody computes. */
static size_t slowest_sender(const struct whole *w, const struct forecast *f)
{
    size_t slowest = 0;
    double least_Bps = INFINITY;
    for (size_t i = 0; i < w->timeline.n_devices; i++) {
        double idle_Bps = w->type[w->timeline.type_of[i]].idle_Bps;
        double rate_Bps = fmin(w->timeline.link[f->slowest_hop[i]].bandwidth_Bps, idle_Bps);
        if (rate_Bps < least_Bps) {
            least_Bps = rate_Bps;
            slowest = i;
        }
    }
    return slowest;
}

/* Decides: without what the step would be shortest. Large systems of many types take the closed
 * form's word. */
static void find_what_decides(struct whole *w, struct forecast *f)
{
    static const char *const stage[] = {"all-reduce", "computing", "loading"};
    const double most = 2e5;
    size_t n;
    if ((double)f->n_types * (double)f->n_hops > most)
        return;
    const struct remedy *remedy = remedies_find(w->arena, &w->timeline, &n);
    const struct remedy *best = remedies_best(remedy, n);
    if (!isfinite(best->step_s))
        return;
    f->deciding_stage = stage[best->kind];
    int type = best->type < 0 ? slowest_loader(w) : best->type;
    f->deciding = best->kind == REMEDY_ALL_REDUCE ? slowest_sender(w, f) : first_of_type(w, type);
    f->step_without_s = best->step_s;
}

/* A device that was never seen to send more than its link took may not fill a faster one. */
static void warn_of_untried_links(const struct whole *w, const struct forecast *f,
                                  const struct network *network, struct warnings *warnings)
{
    const double more = 1.05;
    for (int t = 0; t < f->n_types; t++) {
        struct measured_ring ring;
        char tried[UNITS_TEXT_SIZE];
        double tried_Bps = INFINITY, wanted_Bps = 0;
        if (f->type[t].why_no_ceilings || isfinite(f->type[t].ceilings.idle_Bps) ||
            measured_ring_find(w->arena, w->job, w->profile, network, t, &ring))
            continue;
        for (size_t i = 0; i < ring.n; i++)
            tried_Bps = fmin(tried_Bps, ring.link[i].bandwidth_Bps);
        for (size_t h = 0; h < f->n_hops; h++) {
            if (w->timeline.type_of[f->hop[h].from] == t)
                wanted_Bps = fmax(wanted_Bps, f->link[h].bandwidth_Bps);
        }
        if (wanted_Bps > more * tried_Bps)
            warn_of(warnings, f->type[t].name,
                    "its sub-system filled its link of %s; whether its devices fill faster ones is "
                    "not known.",
                    units_format(tried_Bps, DIMENSION_BANDWIDTH, tried));
    }
}

/* "broadcast of 53 kB, all_reduce", those that are known or the others; NULL: none. */
static const char *other_collectives(struct arena *arena, const struct profile *p, bool known)
{
    const char *text = NULL;
    for (size_t k = 0; k < p->n_collectives; k++) {
        const struct profile_collective *c = &p->collective[k];
        char bytes[UNITS_TEXT_SIZE];
        if (other_collective_known(c) == known)
            text = arena_format(arena, "%s%s%s%s%s", text ? text : "", text ? ", " : "", c->op,
                                c->bytes < 0 ? "" : " of ",
                                c->bytes < 0 ? "" : units_format(c->bytes, DIMENSION_BYTES, bytes));
    }
    return text;
}

static void warn_of_other_collectives(struct whole *w, const struct forecast *f,
                                      struct warnings *warnings)
{
    for (int t = 0; t < f->n_types; t++) {
        const struct profile *p = &w->profile[t];
        const char *forecast = other_collectives(w->arena, p, true);
        const char *kept = other_collectives(w->arena, p, false);
        double longer_s = f->type[t].others_forward_s + f->type[t].others_rest_s;
        char longer[UNITS_TEXT_SIZE];
        if (f->n_devices <= (size_t)p->ring_devices)
            continue;
        if (forecast)
            warn_of(warnings, f->type[t].name,
                    "the step's other collectives (%s), measured among %d devices, count %s longer "
                    "among all.",
                    forecast, p->ring_devices, units_format(longer_s, DIMENSION_TIME, longer));
        if (kept)
            warn_of(warnings, f->type[t].name,
                    "the step's other collectives (%s) count as long as they took among %d "
                    "devices.",
                    kept, p->ring_devices);
    }
}

static void warn_of_gaps(const struct forecast *f, struct warnings *warnings)
{
    for (int t = 0; t < f->n_types; t++) {
        if (f->type[t].why_no_ceilings && f->n_devices > 1)
            warn_of(warnings, f->type[t].name,
                    "how much a device sends while it computes is not known (%s): the links "
                    "count as filled.",
                    f->type[t].why_no_ceilings);
    }
    if (!f->timeline.spread_known)
        warn(warnings, "a profile has means without samples: there is no interval, and nothing is "
                       "added for waiting for the slowest of all devices.");
}

bool forecast_timeline(struct arena *arena, const struct job *job, const struct profile *profile,
                       const struct network *network, struct forecast *f, struct warnings *warnings,
                       struct error *e)
{
    struct whole w = {.arena = arena, .job = job, .profile = profile};
    char message[FT_MESSAGE_SIZE];
    f->timeline.why_not = read_steps(&w);
    if (f->timeline.why_not)
        return true;
    make_ring(&w, f);
    find_types(&w, network, f);
    take_links(&w, f);
    forecast_own(&w, network, f);
    go_over_to_whole(&w, f);
    if (!find_step(&w, &f->timeline, message)) {
        error_set(e, ERROR_INPUT, "%s: %s", job->file ? job->file : "job", message);
        return false;
    }
    keep_ring(&w, &f->timeline);
    find_what_decides(&w, f);
    warn_of_gaps(f, warnings);
    warn_of_other_collectives(&w, f, warnings);
    warn_of_untried_links(&w, f, network, warnings);
    return true;
}
