/* Steps of devices whose times spread as they were measured (docs/model.md, "Spread"). */
#include "foretrain.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "predict/refuse.h"
#include "predict/timeline_inputs.h"
#include "predict/timeline_walk.h"

/*
 * Steps are walked in chains, each with random numbers of its own. The first steps of a chain do
 * not count: all devices begin it at once.
 */
enum { CHAIN = 64, WARM_UP = 4 };

struct spread {
    const struct ft_timeline_samples *samples;
    struct timeline_walk walk;
    size_t *seen;                          /* [n_types], devices of the type so far in the ring */
    const struct ft_timeline_type **drawn; /* [n_types], the iteration that its devices take */
    struct random random;
};

static double draw_load(struct spread *s, const struct ft_timeline_samples *from, size_t t)
{
    const struct ft_timeline_type *type = &s->walk.in->type[t];
    if (type->load_inside)
        return 0;
    return from->n_loads ? from->load_s[random_below(&s->random, from->n_loads)] : type->load_s;
}

static void draw_step(struct spread *s)
{
    const struct ft_timeline *in = s->walk.in;
    for (size_t t = 0; t < in->n_types; t++)
        s->seen[t] = 0;
    for (size_t i = 0; i < in->n_devices; i++) {
        size_t t = (size_t)in->type_of[i];
        const struct ft_timeline_samples *from = &s->samples[t];
        size_t own = s->seen[t]++ % from->n_together;
        if (own == 0)
            s->drawn[t] =
                from->step + random_below(&s->random, from->n_iterations) * from->n_together;
        s->walk.now[i] = s->drawn[t] + own;
        s->walk.load_s[i] = draw_load(s, from, t);
    }
}

static double mean_begin_s(const struct timeline_walk *w)
{
    double sum_s = 0;
    for (size_t i = 0; i < w->in->n_devices; i++)
        sum_s += w->begin_s[i];
    return sum_s / (double)w->in->n_devices;
}

/* A step, the mean over devices. */
static bool mean_step(struct timeline_walk *w, double *step_s)
{
    double before_s = mean_begin_s(w), elapsed_s = 0;
    if (!timeline_walk_step(w, &elapsed_s))
        return false;
    *step_s = elapsed_s + mean_begin_s(w) - before_s;
    return true;
}

static bool walk_chain(struct spread *s, size_t n_steps, double *step_s)
{
    timeline_walk_restart(&s->walk);
    for (size_t k = 0; k < WARM_UP + n_steps; k++) {
        double taken_s;
        draw_step(s);
        if (!mean_step(&s->walk, &taken_s))
            return false;
        if (k >= WARM_UP)
            step_s[k - WARM_UP] = taken_s;
    }
    return true;
}

static bool spread_make(struct spread *s, const struct ft_timeline *timeline)
{
    s->seen = calloc(timeline->n_types, sizeof *s->seen);
    s->drawn = calloc(timeline->n_types, sizeof *s->drawn);
    bool ok = timeline_walk_make(&s->walk, timeline);
    s->walk.load_s = calloc(timeline->n_devices, sizeof *s->walk.load_s);
    return ok && s->seen && s->drawn && s->walk.load_s;
}

static void spread_free(struct spread *s)
{
    free(s->walk.load_s);
    timeline_walk_free(&s->walk);
    free(s->seen);
    free(s->drawn);
}

/* What all threads share. */
struct drawing {
    const struct ft_timeline *timeline;
    const struct ft_timeline_samples *samples;
    double n_prefetched;
    uint64_t seed;
    double *step_s; /* [n_steps] */
    size_t n_steps;
};

static bool walk_chain_of(struct spread *s, const struct drawing *d, size_t chain)
{
    size_t from = chain * CHAIN;
    s->random = random_seed(d->seed, chain);
    return walk_chain(s, d->n_steps - from < CHAIN ? d->n_steps - from : CHAIN, d->step_s + from);
}

/* Each chain is the same on whatever thread. */
static bool walk_chains(const struct drawing *d)
{
    size_t n_chains = (d->n_steps + CHAIN - 1) / CHAIN;
    bool all = true;
#pragma omp parallel reduction(&& : all)
    {
        struct spread s = {.samples = d->samples};
        bool ok = spread_make(&s, d->timeline);
        s.walk.n_prefetched = d->n_prefetched;
#pragma omp for schedule(dynamic)
        for (size_t chain = 0; chain < n_chains; chain++)
            ok = ok && walk_chain_of(&s, d, chain);
        spread_free(&s);
        all = all && ok;
    }
    return all;
}

bool ft_timeline_spread(const struct ft_timeline *timeline,
                        const struct ft_timeline_samples *samples, double n_prefetched,
                        size_t n_steps, uint64_t seed, double *step_s, char *message)
{
    if (!timeline_samples_check(timeline, samples, CHAIN + WARM_UP, message))
        return false;
    if (!(n_prefetched >= 1) || !isfinite(n_prefetched))
        return refuse(message, "n_prefetched must be at least 1 (got %g)", n_prefetched);
    struct drawing d = {timeline, samples, n_prefetched, seed, step_s, n_steps};
    return walk_chains(&d) ||
           refuse(message, "there is no memory for %zu devices", timeline->n_devices);
}

static bool replay(struct timeline_walk *w, const struct ft_timeline_samples *from, double *step_s)
{
    for (size_t j = 0; j < from->n_iterations; j++) {
        timeline_walk_take(w, from, j);
        if (!mean_step(w, &step_s[j]))
            return false;
    }
    return true;
}

bool ft_timeline_replay(const struct ft_timeline *timeline,
                        const struct ft_timeline_samples *samples, double *step_s, char *message)
{
    if (!timeline || timeline->n_types != 1)
        return refuse(message, "only a ring of one type is replayed");
    if (!timeline_samples_check(timeline, samples, CHAIN + WARM_UP, message))
        return false;
    struct timeline_walk w;
    bool ok = timeline_walk_make(&w, timeline) && replay(&w, samples, step_s);
    timeline_walk_free(&w);
    return ok || refuse(message, "there is no memory for %zu devices", timeline->n_devices);
}
