/* What a device can send, from when its sub-system's buckets were done (docs/model.md, "The
 * ceilings"). */
#include "foretrain.h"

#include <math.h>
#include <stdlib.h>

#include "predict/refuse.h"
#include "predict/timeline_inputs.h"
#include "predict/timeline_walk.h"

/* Iterations that are walked, evenly out of those that there are: a mean needs no more. */
enum { MOST_ITERATIONS = 48 };

struct fit {
    struct ft_timeline_type type; /* the timeline's, with the ceilings that are tried */
    struct ft_timeline timeline;
    const struct ft_timeline_samples *samples;
    struct timeline_walk walk;
    double *done_s, *target_s; /* [n_buckets] */
    double limit_Bps;          /* the slowest link; above it a ceiling is not felt */
    struct ft_ceilings most;   /* no higher than these */
};

struct point {
    double busy_Bps, idle_Bps, error;
};

/* The buckets' times, summed over devices and steps, are in done_s then. */
static bool walk_samples(struct fit *f, size_t *n_steps)
{
    const struct ft_timeline_samples *from = f->samples;
    size_t stride = (from->n_iterations + MOST_ITERATIONS - 1) / MOST_ITERATIONS;
    double elapsed_s = 0;
    *n_steps = 0;
    for (size_t b = 0; b < f->timeline.n_buckets; b++)
        f->done_s[b] = 0;
    timeline_walk_restart(&f->walk);
    for (size_t j = 0; j < from->n_iterations; j += stride) {
        timeline_walk_take(&f->walk, from, j);
        if (!timeline_walk_step(&f->walk, &elapsed_s))
            return false;
        ++*n_steps;
    }
    return true;
}

/*
 * The end of the last bucket decides the step and counts most; the others tell what was sent beside
 * computing from what was sent after it.
 */
static double squared_error(const struct fit *f, size_t n_steps)
{
    size_t n = f->timeline.n_buckets;
    double times = (double)(n_steps * f->timeline.n_devices), error = 0;
    for (size_t b = 0; b < n; b++) {
        double off_s = f->done_s[b] / times - f->target_s[b];
        error += (b + 1 == n ? 1 : 0.25) * off_s * off_s;
    }
    return error;
}

static bool try_point(struct fit *f, double busy_Bps, double idle_Bps, struct point *point)
{
    size_t n_steps = 0;
    f->type.busy_Bps = busy_Bps;
    f->type.idle_Bps = idle_Bps;
    *point = (struct point){.busy_Bps = busy_Bps, .idle_Bps = idle_Bps};
    if (!walk_samples(f, &n_steps))
        return false;
    point->error = squared_error(f, n_steps);
    return true;
}

/* Lower ceilings only where they tell something: a thousandth of the last bucket's end. */
static bool is_better(const struct fit *f, const struct point *a, const struct point *b)
{
    double last_s = f->target_s[f->timeline.n_buckets - 1];
    return sqrt(a->error) < sqrt(b->error) - 1e-3 * last_s;
}

static const double RATIO = 1.4142135623730951, GOLDEN = 0.6180339887498949;
static const double LEAST_BUSY = 1.0 / 16; /* of idle: less is not told from nothing */
enum { COARSE = 26, BUSY_CUTS = 12, IDLE_CUTS = 8 };

typedef bool try_ceiling(struct fit *f, double ceiling_Bps, double idle_Bps, struct point *point);

/*
 * By golden section, on a logarithmic scale: the best of `best`, found at `best_Bps`, and what
 * `probe` finds from `low` to `high`. A best at `top` gives way only to one that is_better.
 */
struct section {
    try_ceiling *probe;
    double idle_Bps, low, high, top, best_Bps;
    int n_cuts;
};

static double inner(double low, double high, double share)
{
    return low * pow(high / low, share);
}

static bool search(struct fit *f, struct section s, struct point *best)
{
    double at[] = {inner(s.low, s.high, 1 - GOLDEN), inner(s.low, s.high, GOLDEN)};
    struct point p[2];
    if (!s.probe(f, at[0], s.idle_Bps, &p[0]) || !s.probe(f, at[1], s.idle_Bps, &p[1]))
        return false;
    for (int k = 1;; k++) {
        int kept = p[1].error <= p[0].error, fresh = !kept;
        if (s.best_Bps < s.top ? p[kept].error < best->error : is_better(f, &p[kept], best)) {
            *best = p[kept];
            s.best_Bps = at[kept];
        }
        if (k == s.n_cuts)
            return true;
        *(kept ? &s.low : &s.high) = at[fresh];
        at[fresh] = at[kept];
        p[fresh] = p[kept];
        at[kept] = inner(s.low, s.high, kept ? GOLDEN : 1 - GOLDEN);
        if (!s.probe(f, at[kept], s.idle_Bps, &p[kept]))
            return false;
    }
}

/* The best busy ceiling for an idle one: what buckets take falls with it. */
static bool find_busy(struct fit *f, double idle_Bps, struct point *best)
{
    double most_Bps = fmin(idle_Bps, f->most.busy_Bps);
    struct section s = {.probe = try_point,
                        .idle_Bps = idle_Bps,
                        .low = most_Bps * LEAST_BUSY,
                        .high = most_Bps,
                        .top = most_Bps,
                        .best_Bps = most_Bps,
                        .n_cuts = BUSY_CUTS};
    return try_point(f, most_Bps, idle_Bps, best) && search(f, s, best);
}

static bool try_idle(struct fit *f, double ceiling_Bps, double idle_Bps, struct point *point)
{
    (void)idle_Bps;
    return find_busy(f, ceiling_Bps, point);
}

/* Idle ceilings below the slowest link, from high to low, each with its best busy one. */
static bool search_coarsely(struct fit *f, struct point *best)
{
    struct point p;
    if (!find_busy(f, f->most.idle_Bps, best))
        return false;
    for (int i = 1; i < COARSE; i++) {
        if (!find_busy(f, f->most.idle_Bps * pow(RATIO, -i), &p))
            return false;
        if (is_better(f, &p, best))
            *best = p;
    }
    return true;
}

/* Between the best idle ceiling's neighbours. */
static bool search_finely(struct fit *f, struct point *best)
{
    struct section s = {.probe = try_idle,
                        .low = best->idle_Bps / RATIO,
                        .high = fmin(f->most.idle_Bps, best->idle_Bps * RATIO),
                        .top = f->most.idle_Bps,
                        .best_Bps = best->idle_Bps,
                        .n_cuts = IDLE_CUTS};
    return search(f, s, best);
}

/* Buckets end one after the other in the timeline, whichever ended first. */
static void set_targets(struct fit *f, const double *done_s)
{
    double until_s = 0;
    for (size_t b = 0; b < f->timeline.n_buckets; b++) {
        until_s = fmax(until_s, done_s[b]);
        f->target_s[b] = until_s;
    }
    f->limit_Bps = INFINITY;
    for (size_t i = 0; i < f->timeline.n_devices; i++)
        f->limit_Bps = fmin(f->limit_Bps, f->timeline.link[i].bandwidth_Bps);
    f->most.idle_Bps = fmin(f->limit_Bps, f->type.idle_Bps);
    f->most.busy_Bps = f->type.busy_Bps;
}

static bool check(const struct ft_timeline *timeline, const struct ft_timeline_samples *samples,
                  const double *done_s, char *message)
{
    const char *what = "ceilings need a ring of one type, and a bucket";
    if (!timeline || timeline->n_types != 1 || timeline->collective)
        return refuse(message, "%s", what);
    if (!timeline_samples_check(timeline, samples, MOST_ITERATIONS, message))
        return false;
    if (timeline->n_devices < 2 || timeline->n_buckets == 0)
        return refuse(message, "%s", what);
    for (size_t b = 0; b < timeline->n_buckets; b++) {
        if (!is_amount(done_s[b]))
            return refuse(message, "done_s of bucket %zu must be finite and not negative (got %g)",
                          b, done_s[b]);
    }
    return true;
}

/* Near the link's rate: what a round costs may have been taken for it, unless that was measured. */
static double unless_at(const struct fit *f, double ceiling_Bps)
{
    double near = f->type.busy_round_s > 0 ? 1 : 0.85;
    return ceiling_Bps < near * f->limit_Bps ? ceiling_Bps : INFINITY;
}

bool ft_timeline_fit(const struct ft_timeline *timeline, const struct ft_timeline_samples *samples,
                     const double *done_s, struct ft_ceilings *ceilings, char *message)
{
    if (!check(timeline, samples, done_s, message))
        return false;
    struct fit f = {.type = timeline->type[0],
                    .timeline = *timeline,
                    .samples = samples,
                    .done_s = calloc(2 * timeline->n_buckets, sizeof *f.done_s)};
    struct point best;
    f.timeline.type = &f.type;
    f.target_s = f.done_s + timeline->n_buckets;
    bool ok = timeline_walk_make(&f.walk, &f.timeline) && f.done_s;
    if (ok) {
        set_targets(&f, done_s);
        f.walk.done_s = f.done_s;
        ok = search_coarsely(&f, &best) && search_finely(&f, &best);
    }
    timeline_walk_free(&f.walk);
    free(f.done_s);
    if (!ok)
        return refuse(message, "there is no memory for %zu devices", timeline->n_devices);
    *ceilings = (struct ft_ceilings){unless_at(&f, best.busy_Bps), unless_at(&f, best.idle_Bps)};
    return true;
}
