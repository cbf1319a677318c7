#include "predict/scaling.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "predict/other_collectives.h"
#include "predict/parts.h"

enum { MOST_DEVICES = 100000, MOST_STEPS = 256, FEWEST_STEPS = 8, SEED = 1 };
static const double MOST_DRAWS = 4e5; /* steps times devices */

/* A system of `times` as many devices, counted in the smallest one of that ratio. */
struct scaled {
    struct arena *arena;
    const struct job *job;
    const struct profile *profile; /* [n_types] */
    const struct forecast *f;
    struct job_device_type *type; /* [n_types], with its own counts */
    size_t n_devices;
    int *type_of; /* [n_devices] */
    size_t *like; /* [n_devices], position in the job's ring whose link it has */
};

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t divisor_of_counts(const struct job *job)
{
    int64_t divisor = job->type[0].count;
    for (int t = 1; t < job->n_types; t++)
        divisor = common_divisor(job->type[t].count, divisor);
    return divisor;
}

static void put(struct scaled *s, size_t *at, int type, size_t like)
{
    s->type_of[*at] = type;
    s->like[*at] = like;
    ++*at;
}

/* Types in file order: each type's own links in turn, then the one to the next type. */
static void lay_out_blocks(struct scaled *s)
{
    size_t at = 0, first = 0;
    for (int t = 0; t < s->job->n_types; t++) {
        size_t before = (size_t)s->job->type[t].count, now = (size_t)s->type[t].count;
        for (size_t j = 0; j + 1 < now; j++)
            put(s, &at, t, first + j % (before - 1));
        put(s, &at, t, first + before - 1);
        first += before;
    }
}

/* An order of its own is repeated. */
static void lay_out_turns(struct scaled *s)
{
    for (size_t at = 0; at < s->n_devices;) {
        size_t i = at % s->f->n_devices;
        put(s, &at, job_device_type(s->job, job_ring_device(s->job, i)), i);
    }
}

static void lay_out(struct scaled *s)
{
    s->type_of = ARENA_ARRAY(s->arena, s->n_devices, int);
    s->like = ARENA_ARRAY(s->arena, s->n_devices, size_t);
    if (s->job->ring)
        lay_out_turns(s);
    else
        lay_out_blocks(s);
}

static bool closed_form(struct scaled *s, struct scaling_point *p)
{
    size_t n_types = (size_t)s->job->n_types;
    struct ft_device_type *type = ARENA_ARRAY(s->arena, n_types, struct ft_device_type);
    double *bandwidth_Bps = ARENA_ARRAY(s->arena, s->n_devices, double);
    for (size_t t = 0; t < n_types; t++)
        type[t] = forecast_device_type(&s->f->type[t]);
    for (size_t i = 0; i < s->n_devices; i++)
        bandwidth_Bps[i] =
            link_message_Bps(&s->f->link[s->like[i]], s->f->payload_bytes / (double)s->n_devices);
    struct ft_ring ring = {s->n_devices, s->type_of, bandwidth_Bps, s->f->payload_bytes};
    struct ft_step_forecast step;
    if (!ft_closed_form(type, n_types, &ring, NULL, &step, NULL))
        return false;
    p->closed_form_s = p->step_s = step.step_s;
    return true;
}

static size_t steps_to_draw(size_t n_devices)
{
    double n = MOST_DRAWS / (double)n_devices;
    return n >= MOST_STEPS ? MOST_STEPS : n <= FEWEST_STEPS ? FEWEST_STEPS : (size_t)n;
}

static void lengthen(struct ft_timeline_type *step, double forward_s, double rest_s)
{
    step->forward_s += forward_s;
    step->rest_s += rest_s;
}

/* Steps and samples hold what those take in the job's own system. */
static const struct ft_timeline_samples *take_other_collectives(struct scaled *s,
                                                                struct ft_timeline *ring)
{
    struct ft_timeline_type *type = ARENA_ARRAY(s->arena, ring->n_types, struct ft_timeline_type);
    struct ft_timeline_samples *samples =
        ARENA_ARRAY(s->arena, ring->n_types, struct ft_timeline_samples);
    for (size_t t = 0; t < ring->n_types; t++) {
        const struct type_forecast *base = &s->f->type[t];
        double forward_s = other_collectives_longer_s(&s->profile[t], ring, s->n_devices, true) -
                           base->others_forward_s;
        double rest_s = other_collectives_longer_s(&s->profile[t], ring, s->n_devices, false) -
                        base->others_rest_s;
        samples[t] = s->f->timeline.samples[t];
        size_t n = samples[t].n_iterations * samples[t].n_together;
        struct ft_timeline_type *step = ARENA_ARRAY(s->arena, n, struct ft_timeline_type);
        for (size_t k = 0; k < n; k++) {
            step[k] = samples[t].step[k];
            lengthen(&step[k], forward_s, rest_s);
        }
        samples[t].step = step;
        type[t] = ring->type[t];
        lengthen(&type[t], forward_s, rest_s);
    }
    ring->type = type;
    return samples;
}

static bool timeline(struct scaled *s, struct scaling_point *p)
{
    size_t n = steps_to_draw(s->n_devices);
    double *step_s = ARENA_ARRAY(s->arena, n, double);
    struct ft_link *link = ARENA_ARRAY(s->arena, s->n_devices, struct ft_link);
    struct ft_timeline ring = *s->f->timeline.ring;
    ring.n_devices = s->n_devices;
    ring.type_of = s->type_of;
    ring.link = s->n_devices > 1 ? link : NULL;
    for (size_t i = 0; i < s->n_devices; i++)
        link[i] = forecast_as_link(&s->f->link[s->like[i]], ring.type[s->type_of[i]].idle_Bps);
    const struct ft_timeline_samples *samples = take_other_collectives(s, &ring);
    if (!ft_timeline_spread(&ring, samples, s->f->timeline.n_prefetched, n, SEED, step_s, NULL))
        return false;
    p->step_s = stats_of(step_s, n).mean;
    return true;
}

/* Epoch and throughput as the forecast has them, with other counts and another step. */
static void set_epoch(struct scaled *s, struct scaling_point *p)
{
    struct job job = *s->job;
    struct forecast f = *s->f;
    struct warnings unsaid = {.arena = s->arena};
    struct error none = {0};
    size_t size = (size_t)f.n_types * sizeof *f.type;
    job.type = s->type;
    f.type = ARENA_ARRAY(s->arena, (size_t)f.n_types, struct type_forecast);
    memcpy(f.type, s->f->type, size);
    f.step_s = p->step_s;
    f.samples_per_s = 0;
    p->epoch_known = forecast_epoch(s->arena, &job, &f, &unsaid, &none) && f.epoch_known;
    p->epoch_s = f.epoch_s;
    p->total_s = f.total_s;
    p->samples_per_s = f.samples_per_s;
    error_clear(&none);
}

static bool scale(struct scaled *s, int64_t times, int64_t divisor, struct scaling_point *p)
{
    s->n_devices = 0;
    s->type = ARENA_ARRAY(s->arena, (size_t)s->job->n_types, struct job_device_type);
    for (int t = 0; t < s->job->n_types; t++) {
        s->type[t] = s->job->type[t];
        s->type[t].count = s->job->type[t].count / divisor * times;
        s->n_devices += (size_t)s->type[t].count;
    }
    *p = (struct scaling_point){.factor = (double)times / (double)divisor,
                                .n_devices = s->n_devices};
    if (s->n_devices > MOST_DEVICES)
        return false;
    lay_out(s);
    if (!closed_form(s, p) || (s->f->model == MODEL_TIMELINE && !timeline(s, p)))
        return false;
    if (times == divisor)
        p->step_s = s->f->step_s;
    set_epoch(s, p);
    return true;
}

/* Links of a type with itself, for systems with more of its devices. */
static const char *lacks(const struct job *job, const struct forecast *f)
{
    if (f->collective)
        return "the job's collective is not the ring";
    if (f->storage_s > 0)
        return "all devices share a storage, of which others would have another part";
    for (size_t i = 0; i < f->n_devices; i++) {
        if (f->link[i].both_ways_Bps > 0 || f->link[i].spread > 0)
            return "what its links carry depends on how many there are";
    }
    for (int t = 0; t < job->n_types && !job->ring; t++) {
        if (job->type[t].count < 2)
            return "a type has one device only, so that no link between two of them is known";
    }
    return NULL;
}

static const char *assumption(const struct job *job)
{
    if (job->ring)
        return "Larger rings repeat the order of the job's, with its links in turn.";
    if (job->network_file || job->n_links == 0)
        return "More devices of a type are linked as those that were measured, each link in turn.";
    return "Links are those of the job's classes.";
}

void scaling_make(struct arena *arena, const struct job *job, const struct profile *profile,
                  const struct forecast *forecast, struct scaling *scaling)
{
    static const double factor[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4};
    enum { N_FACTORS = sizeof factor / sizeof *factor };
    int64_t divisor = divisor_of_counts(job), last = 0;
    struct scaled s = {.arena = arena, .job = job, .profile = profile, .f = forecast};
    *scaling = (struct scaling){.why_not = lacks(job, forecast),
                                .assumed = assumption(job),
                                .point = ARENA_ARRAY(arena, N_FACTORS, struct scaling_point)};
    for (size_t k = 0; k < N_FACTORS && !scaling->why_not; k++) {
        int64_t times = llrint(factor[k] * (double)divisor);
        bool whole_turns = !job->ring || times % divisor == 0;
        if (times <= last || !whole_turns)
            continue;
        last = times;
        if (scale(&s, times, divisor, &scaling->point[scaling->n]))
            scaling->n++;
    }
    if (!scaling->why_not && scaling->n < 2)
        scaling->why_not = "larger systems have more than 100,000 devices";
}
