/*
 * Steps of all devices, one after the other, until they repeat: forward, backward with its buckets'
 * all-reduces beside it, optimizer, the next step. Between two steps of a device's rate the ring is
 * exact; devices that compute slow it down as a whole (docs/model.md, "The timeline").
 */
#include "foretrain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/refuse.h"
#include "predict/ring_paths.h"
#include "predict/timeline_inputs.h"

/* When a device that communicates slower while it computes stops to. */
struct computing {
    double until_s;
    size_t position;
};

/*
 * From its time on, until the next of them, the ring's own clock shows `clock_s` and runs with
 * `speed` seconds a second.
 */
struct pace {
    double from_s, clock_s, speed;
};

struct run {
    const struct ft_timeline *in;
    double *marked_s;        /* [n_devices], begin_s of an earlier step */
    double *begin_s, *end_s; /* [n_devices], of this step: forward begins, the ring has let it go */
    double *enter_s, *cost_s; /* [n_devices], of a bucket; enter_s by the ring's clock */
    struct computing *slowed; /* [n_slowed], latest first */
    struct pace *pace;        /* [n_paces], latest first */
    size_t n_slowed, n_paces;
};

static double later_of(double a, double b)
{
    return a > b ? a : b;
}

static const struct ft_timeline_type *type_at(const struct run *r, size_t i)
{
    return &r->in->type[r->in->type_of[i]];
}

/* Seconds of one chunk of a bucket over the link from position i, below a ceiling. */
static double chunk_cost_s(const struct run *r, size_t i, double bucket_bytes, double ceiling_Bps)
{
    const struct ft_link *link = &r->in->link[i];
    double rate_Bps = link->bandwidth_Bps < ceiling_Bps ? link->bandwidth_Bps : ceiling_Bps;
    return link->latency_s + bucket_bytes / (double)r->in->n_devices / rate_Bps;
}

static double computing_until_s(const struct run *r, size_t i)
{
    const struct ft_timeline_type *type = type_at(r, i);
    return r->begin_s[i] + type->forward_s + type->backward_s;
}

static int latest_first(const void *a, const void *b)
{
    const struct computing *x = a, *y = b;
    if (x->until_s != y->until_s)
        return x->until_s < y->until_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

static void find_slowed(struct run *r)
{
    r->n_slowed = 0;
    for (size_t i = 0; i < r->in->n_devices; i++) {
        const struct ft_timeline_type *type = type_at(r, i);
        bool slowed =
            type->busy_Bps < type->idle_Bps && type->busy_Bps < r->in->link[i].bandwidth_Bps;
        if (slowed)
            r->slowed[r->n_slowed++] = (struct computing){computing_until_s(r, i), i};
    }
    qsort(r->slowed, r->n_slowed, sizeof *r->slowed, latest_first);
}

static void add_pace(struct run *r, double from_s, double speed)
{
    double clock_s = from_s;
    if (r->n_paces > 0) {
        const struct pace *after = &r->pace[r->n_paces - 1];
        clock_s = after->clock_s - (after->from_s - from_s) * speed;
    }
    r->pace[r->n_paces++] = (struct pace){from_s, clock_s, speed};
}

/*
 * The ring's clock runs with the time once nobody computes; before that slower, by as much as the
 * slowest of those that still compute takes longer a round than the slowest when nobody does.
 */
static void find_paces(struct run *r, double bucket_bytes, double idle_s)
{
    double slowest_s = idle_s;
    r->n_paces = 0;
    for (size_t s = 0; s < r->n_slowed; s++) {
        const struct computing *c = &r->slowed[s];
        double busy_Bps = type_at(r, c->position)->busy_Bps;
        double cost_s = chunk_cost_s(r, c->position, bucket_bytes, busy_Bps);
        if (cost_s > slowest_s) {
            add_pace(r, c->until_s, idle_s / slowest_s);
            slowest_s = cost_s;
        }
    }
    add_pace(r, 0, slowest_s > 0 ? idle_s / slowest_s : 1);
}

/* The first pace, latest first, that has begun at `value`. */
static const struct pace *pace_at(const struct run *r, double value, bool by_clock)
{
    size_t low = 0, high = r->n_paces - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double from = by_clock ? r->pace[middle].clock_s : r->pace[middle].from_s;
        if (from <= value)
            high = middle;
        else
            low = middle + 1;
    }
    return &r->pace[low];
}

static double clock_at(const struct run *r, double time_s)
{
    const struct pace *p = pace_at(r, time_s, false);
    return p->clock_s + (time_s - p->from_s) * p->speed;
}

static double time_at(const struct run *r, double clock_s)
{
    const struct pace *p = pace_at(r, clock_s, true);
    return p->from_s + (clock_s - p->clock_s) / p->speed;
}

/* A device enters when its gradients are ready and it has left the bucket before. */
static void enter(struct run *r, size_t bucket)
{
    for (size_t i = 0; i < r->in->n_devices; i++) {
        const struct ft_timeline_type *type = type_at(r, i);
        double ready_s = r->begin_s[i] + type->forward_s + type->ready_s[bucket];
        r->enter_s[i] = bucket == 0 ? ready_s : later_of(ready_s, r->end_s[i]);
    }
}

/* What a bucket's chunks cost when nobody computes; the slowest of them. */
static double cost_links(struct run *r, size_t bucket)
{
    double slowest_s = 0;
    for (size_t i = 0; i < r->in->n_devices; i++) {
        double idle_Bps = type_at(r, i)->idle_Bps;
        r->cost_s[i] = chunk_cost_s(r, i, r->in->bucket_bytes[bucket], idle_Bps);
        slowest_s = later_of(slowest_s, r->cost_s[i]);
    }
    return slowest_s;
}

static bool all_reduce(struct run *r, size_t bucket)
{
    size_t n = r->in->n_devices;
    find_paces(r, r->in->bucket_bytes[bucket], cost_links(r, bucket));
    enter(r, bucket);
    for (size_t i = 0; i < n; i++)
        r->enter_s[i] = clock_at(r, r->enter_s[i]);
    struct ring_paths ring = {.stay_s = r->cost_s,
                              .pass_s = r->cost_s,
                              .start_s = r->enter_s,
                              .n_devices = n,
                              .n_rounds = 2 * ((double)n - 1)};
    if (!ring_paths_end(ring, r->end_s))
        return false;
    for (size_t i = 0; i < n; i++)
        r->end_s[i] = time_at(r, r->end_s[i]);
    return true;
}

/* When the next step's forward begins, were all mini-batches there. */
static double next_begin_s(const struct run *r, size_t i)
{
    const struct ft_timeline_type *type = type_at(r, i);
    double computed_s = computing_until_s(r, i);
    bool in_ring = r->in->n_devices > 1 && r->in->n_buckets > 0;
    double done_s = in_ring ? later_of(computed_s, r->end_s[i]) : computed_s;
    double load_s = type->load_inside ? type->load_s : 0;
    return done_s + type->optimizer_s + type->rest_s + load_s;
}

/* To the next step. Times are counted from the first to begin it: how much later that is. */
static double go_on(struct run *r)
{
    double first_s = INFINITY;
    for (size_t i = 0; i < r->in->n_devices; i++) {
        r->begin_s[i] = next_begin_s(r, i);
        first_s = r->begin_s[i] < first_s ? r->begin_s[i] : first_s;
    }
    for (size_t i = 0; i < r->in->n_devices; i++)
        r->begin_s[i] -= first_s;
    return first_s;
}

static bool take_step(struct run *r)
{
    if (r->in->n_devices > 1)
        find_slowed(r);
    for (size_t b = 0; r->in->n_devices > 1 && b < r->in->n_buckets; b++) {
        if (!all_reduce(r, b))
            return false;
    }
    return true;
}

static void mark(struct run *r)
{
    memcpy(r->marked_s, r->begin_s, r->in->n_devices * sizeof *r->begin_s);
}

/* By how much devices begin later than when they were marked, each counted from the first. */
static void since_mark(const struct run *r, double *least_s, double *most_s)
{
    *least_s = INFINITY;
    *most_s = -INFINITY;
    for (size_t i = 0; i < r->in->n_devices; i++) {
        double later_s = r->begin_s[i] - r->marked_s[i];
        *least_s = later_s < *least_s ? later_s : *least_s;
        *most_s = later_of(*most_s, later_s);
    }
}

enum { MOST_STEPS = 128 };
static const double SETTLED = 1e-9;

/*
 * Steps repeat once all devices are as far on from an earlier step: one step later, or several that
 * take turns. The earlier one is marked at every power of two (Brent, 1980). Until then the most
 * that any device took is a bound from above on what steps will take.
 */
static bool run_steps(struct run *r, struct ft_timeline_step *step)
{
    size_t marked = 0;
    double elapsed_s = 0, least_s, most_s;
    mark(r);
    for (size_t k = 1;; k++) {
        if (!take_step(r))
            return false;
        elapsed_s += go_on(r);
        since_mark(r, &least_s, &most_s);
        double mean_s = (elapsed_s + most_s) / (double)(k - marked);
        bool settled = most_s - least_s <= SETTLED * mean_s;
        *step = (struct ft_timeline_step){mean_s, k, settled};
        if (settled || k == MOST_STEPS)
            return true;
        if (k >= 2 * marked) {
            mark(r);
            marked = k;
            elapsed_s = 0;
        }
    }
}

/*
 * No device takes mini-batches faster than its loader makes them beside the steps. All wait for the
 * slowest such loader, or it keeps up with all of them (docs/model.md, "The timeline").
 */
static double slowest_loader_s(const struct run *r)
{
    double slowest_s = 0;
    for (size_t i = 0; i < r->in->n_devices; i++) {
        const struct ft_timeline_type *type = type_at(r, i);
        slowest_s = later_of(slowest_s, type->load_inside ? 0 : type->load_s);
    }
    return slowest_s;
}

static void free_run(struct run *r)
{
    free(r->marked_s);
    free(r->begin_s);
    free(r->end_s);
    free(r->enter_s);
    free(r->cost_s);
    free(r->slowed);
    free(r->pace);
}

static bool make_run(struct run *r, const struct ft_timeline *in)
{
    size_t n = in->n_devices;
    *r = (struct run){.in = in,
                      .marked_s = calloc(n, sizeof *r->marked_s),
                      .begin_s = calloc(n, sizeof *r->begin_s),
                      .end_s = calloc(n, sizeof *r->end_s),
                      .enter_s = calloc(n, sizeof *r->enter_s),
                      .cost_s = calloc(n, sizeof *r->cost_s),
                      .slowed = calloc(n, sizeof *r->slowed),
                      .pace = calloc(n + 1, sizeof *r->pace)};
    return r->marked_s && r->begin_s && r->end_s && r->enter_s && r->cost_s && r->slowed && r->pace;
}

bool ft_timeline_step(const struct ft_timeline *timeline, struct ft_timeline_step *step,
                      char *message)
{
    if (!timeline_inputs_check(timeline, MOST_STEPS, message))
        return false;
    struct run r;
    struct ft_timeline_step found;
    bool ok = make_run(&r, timeline) && run_steps(&r, &found);
    double loader_s = slowest_loader_s(&r);
    free_run(&r);
    if (!ok)
        return refuse(message, "there is no memory for %zu devices", timeline->n_devices);
    found.step_s = later_of(found.step_s, loader_s);
    *step = found;
    return true;
}
