/*
 * Forward, backward with its buckets' all-reduces beside it, optimizer, the next step. Between two
 * changes of a device's rate the ring is exact; devices that compute slow it down as a whole
 * (docs/model.md, "The timeline").
 */
#include "predict/timeline_walk.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "predict/message.h"
#include "predict/step_record.h"
#include "predict/timeline_pace.h"

/* One of the times of a bucket, on each device: the one at `member` in struct step_bucket. */
static void keep(const struct timeline_walk *w, size_t bucket, size_t member, const double *time_s)
{
    for (size_t i = 0; w->bucket && i < w->in->n_devices; i++) {
        struct step_bucket *kept = &w->bucket[i * w->in->n_buckets + bucket];
        *(double *)(void *)((char *)kept + member) = time_s[i];
    }
}

/* A device enters when its gradients are ready and it has left the bucket before. */
static void enter(struct timeline_walk *w, size_t bucket)
{
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->enter_s[i] =
            w->begin_s[i] + w->now[i]->forward_s + w->now[i]->ready_s[bucket] + w->late_s[i];
    keep(w, bucket, offsetof(struct step_bucket, ready_s), w->enter_s);
    for (size_t i = 0; bucket > 0 && i < w->in->n_devices; i++)
        w->enter_s[i] = later_of(w->enter_s[i], w->end_s[i]);
    keep(w, bucket, offsetof(struct step_bucket, enter_s), w->enter_s);
}

/* Nothing is sent before the next device has entered, too: it must have room for what comes. */
static void wait_for_receivers(struct timeline_walk *w)
{
    size_t n = w->in->n_devices;
    double first_s = w->enter_s[0];
    for (size_t i = 0; i < n; i++)
        w->enter_s[i] = later_of(w->enter_s[i], i + 1 < n ? w->enter_s[i + 1] : first_s);
}

/* How long each device sends a bucket's messages while all compute, or nobody does. */
static void cost_messages(struct timeline_walk *w, double bucket_bytes, bool busy,
                          double *sending_s)
{
    const struct ft_collective *collective = w->in->collective;
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->sender[i] = sender_of(timeline_type_at(w, i), busy);
    collective_cost(collective, w->in->link, bucket_bytes, w->sender, &w->work);
    collective_sending(collective, bucket_bytes, &w->work, sending_s);
}

/* What a bucket's chunks, or messages, cost when nobody computes. */
static struct round_costs cost_links(struct timeline_walk *w, size_t bucket)
{
    struct round_costs idle = {0};
    double bucket_bytes = w->in->bucket_bytes[bucket];
    if (w->in->collective) {
        if (w->n_slowed > 0)
            cost_messages(w, bucket_bytes, true, w->busy_s);
        cost_messages(w, bucket_bytes, false, w->cost_s);
    }
    for (size_t i = 0; i < w->in->n_devices; i++) {
        if (!w->in->collective) {
            timeline_cost_chunk(w, i, bucket_bytes / (double)w->in->n_devices, false, &w->cost_s[i],
                                &w->pass_s[i]);
            idle.sum_s += w->pass_s[i];
        }
        idle.slowest_s = later_of(idle.slowest_s, w->cost_s[i]);
    }
    return idle;
}

static bool run_ring(struct timeline_walk *w)
{
    struct ring_paths ring = {.stay_s = w->cost_s,
                              .pass_s = w->pass_s,
                              .start_s = w->enter_s,
                              .n_devices = w->in->n_devices,
                              .n_rounds = 2 * ((double)w->in->n_devices - 1)};
    return ring_paths_end(ring, w->end_s);
}

static bool run_collective(struct timeline_walk *w, double bucket_bytes)
{
    memcpy(w->end_s, w->enter_s, w->in->n_devices * sizeof *w->end_s);
    return collective_run(w->in->collective, bucket_bytes, &w->work, w->end_s);
}

/* From when its devices can send, to when each is done. */
static bool run_bucket(struct timeline_walk *w, size_t bucket, struct round_costs idle,
                       const double *start_s)
{
    size_t n = w->in->n_devices;
    double bucket_bytes = w->in->bucket_bytes[bucket];
    timeline_find_paces(w, bucket_bytes / (double)n, idle);
    for (size_t i = 0; i < n; i++)
        w->enter_s[i] = timeline_clock_at(w, start_s[i]);
    keep(w, bucket, offsetof(struct step_bucket, clock_s), w->enter_s);
    if (!(w->in->collective ? run_collective(w, bucket_bytes) : run_ring(w)))
        return false;
    for (size_t i = 0; i < n; i++)
        w->end_s[i] = timeline_time_at(w, w->end_s[i]);
    keep(w, bucket, offsetof(struct step_bucket, done_s), w->end_s);
    return true;
}

/* By how much computing that has `left_s` to go ends later for what `span_s` of messages cost it.
 */
static double lengthening_s(double share, double span_s, double left_s)
{
    if (!(left_s > 0) || !(span_s > 0))
        return 0;
    return left_s >= (1 - share) * span_s ? share * span_s : left_s * share / (1 - share);
}

static void lengthen_computing(struct timeline_walk *w, size_t bucket)
{
    double n = (double)w->in->n_devices, bucket_bytes = w->in->bucket_bytes[bucket];
    for (size_t i = 0; i < w->in->n_devices; i++) {
        double span_s = w->end_s[i] - w->start_s[i];
        double share = messages_lost_share(timeline_type_at(w, i), bucket_bytes, n, span_s);
        w->late_s[i] = w->late_before_s[i];
        w->late_s[i] +=
            lengthening_s(share, span_s, timeline_computes_until_s(w, i) - w->start_s[i]);
    }
    timeline_update_slowed(w);
}

/* A bucket's messages make devices compute for longer, and that makes its messages slower: once. */
static bool run_beside_computing(struct timeline_walk *w, size_t bucket, struct round_costs idle)
{
    size_t size = w->in->n_devices * sizeof *w->start_s;
    memcpy(w->start_s, w->enter_s, size);
    memcpy(w->late_before_s, w->late_s, size);
    if (!run_bucket(w, bucket, idle, w->start_s))
        return false;
    lengthen_computing(w, bucket);
    if (!run_bucket(w, bucket, idle, w->start_s))
        return false;
    lengthen_computing(w, bucket);
    return true;
}

static bool all_reduce(struct timeline_walk *w, size_t bucket)
{
    struct round_costs idle = cost_links(w, bucket);
    enter(w, bucket);
    if (!w->in->collective)
        wait_for_receivers(w);
    keep(w, bucket, offsetof(struct step_bucket, start_s), w->enter_s);
    return w->start_s ? run_beside_computing(w, bucket, idle)
                      : run_bucket(w, bucket, idle, w->enter_s);
}

/* When each device is done, as the worker counts it. */
static void add_done(struct timeline_walk *w, size_t bucket)
{
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->done_s[bucket] += w->end_s[i] - w->begin_s[i] - w->now[i]->forward_s;
}

/*
 * The loader's next mini-batch: begun when it is done with the one before, but no more than so many
 * ahead of the step.
 */
static double loaded_s(const struct timeline_walk *w, size_t i)
{
    double room_s = w->begin_s[i] - w->n_prefetched * w->load_s[i];
    return later_of(w->loaded_s[i], room_s) + w->load_s[i];
}

static double next_begin_s(const struct timeline_walk *w, size_t i)
{
    const struct ft_timeline_type *now = w->now[i];
    double computed_s = timeline_computes_until_s(w, i);
    bool in_ring = w->in->n_devices > 1 && w->in->n_buckets > 0;
    double done_s = in_ring ? later_of(computed_s, w->end_s[i]) : computed_s;
    double load_s = now->load_inside ? now->load_s : 0;
    double free_s = done_s + now->optimizer_s + now->rest_s + load_s;
    return w->load_s ? later_of(free_s, w->loaded_s[i]) : free_s;
}

static double go_on(struct timeline_walk *w)
{
    double first_s = INFINITY;
    for (size_t i = 0; i < w->in->n_devices; i++) {
        if (w->load_s)
            w->loaded_s[i] = loaded_s(w, i);
        w->begin_s[i] = next_begin_s(w, i);
        first_s = w->begin_s[i] < first_s ? w->begin_s[i] : first_s;
    }
    for (size_t i = 0; i < w->in->n_devices; i++) {
        w->begin_s[i] -= first_s;
        w->loaded_s[i] -= first_s;
    }
    return first_s;
}

void timeline_walk_restart(struct timeline_walk *w)
{
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->begin_s[i] = w->loaded_s[i] = 0;
}

void timeline_walk_take(struct timeline_walk *w, const struct ft_timeline_samples *samples,
                        size_t iteration)
{
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->now[i] = samples->step + iteration * samples->n_together + i % samples->n_together;
}

bool timeline_walk_step(struct timeline_walk *w, double *elapsed_s)
{
    size_t n_buckets = w->in->n_devices > 1 ? w->in->n_buckets : 0;
    memset(w->late_s, 0, w->in->n_devices * sizeof *w->late_s);
    if (n_buckets > 0)
        timeline_find_slowed(w);
    for (size_t b = 0; b < n_buckets; b++) {
        if (!all_reduce(w, b))
            return false;
        if (w->done_s)
            add_done(w, b);
    }
    *elapsed_s += go_on(w);
    return true;
}

void timeline_walk_free(struct timeline_walk *w)
{
    free(w->now);
    free(w->begin_s);
    free(w->end_s);
    free(w->late_s);
    free(w->start_s);
    free(w->late_before_s);
    free(w->loaded_s);
    free(w->enter_s);
    if (w->pass_s != w->cost_s)
        free(w->pass_s);
    free(w->cost_s);
    free(w->slowed);
    free(w->sorting);
    free(w->stop);
    free(w->pace);
    free(w->busy_s);
    free(w->sender);
    collective_work_free(&w->work);
}

static bool make_collective(struct timeline_walk *w)
{
    size_t n = w->in->n_devices;
    w->busy_s = calloc(n, sizeof *w->busy_s);
    w->sender = calloc(n, sizeof *w->sender);
    return collective_work_make(w->in->collective, &w->work) && w->busy_s && w->sender;
}

static bool messages_cost_computing(const struct ft_timeline *in)
{
    bool any = false;
    for (size_t t = 0; t < in->n_types; t++)
        any = any || in->type[t].message_lost_s > 0 || in->type[t].byte_lost_s > 0;
    return any && !in->collective;
}

static bool rounds_cost_something(const struct ft_timeline *in)
{
    bool any = false;
    for (size_t t = 0; t < in->n_types; t++)
        any = any || in->type[t].busy_round_s > 0;
    return any && !in->collective;
}

static bool make_lengthening(struct timeline_walk *w)
{
    w->start_s = calloc(w->in->n_devices, sizeof *w->start_s);
    w->late_before_s = calloc(w->in->n_devices, sizeof *w->late_before_s);
    return w->start_s && w->late_before_s;
}

bool timeline_walk_make(struct timeline_walk *walk, const struct ft_timeline *in)
{
    size_t n = in->n_devices, n_sorted = n < TIMELINE_MOST_SORTED ? n : TIMELINE_MOST_SORTED;
    struct timeline_walk w = {.in = in,
                              .now = calloc(n, sizeof *w.now),
                              .begin_s = calloc(n, sizeof *w.begin_s),
                              .end_s = calloc(n, sizeof *w.end_s),
                              .late_s = calloc(n, sizeof *w.late_s),
                              .loaded_s = calloc(n, sizeof *w.loaded_s),
                              .enter_s = calloc(n, sizeof *w.enter_s),
                              .cost_s = calloc(n, sizeof *w.cost_s),
                              .slowed = calloc(n, sizeof *w.slowed),
                              .sorting = calloc(n_sorted, sizeof *w.sorting),
                              .pace = calloc(n_sorted + 1, sizeof *w.pace)};
    *walk = w;
    if (in->collective && !make_collective(walk))
        return false;
    if (n > n_sorted)
        walk->stop = calloc(n_sorted, sizeof *w.stop);
    walk->pass_s = rounds_cost_something(in) ? calloc(n, sizeof *w.pass_s) : w.cost_s;
    if (messages_cost_computing(in) && !make_lengthening(walk))
        return false;
    for (size_t i = 0; w.now && i < n; i++)
        w.now[i] = timeline_type_at(&w, i);
    return w.now && w.begin_s && w.end_s && w.late_s && w.loaded_s && w.enter_s && w.cost_s &&
           walk->pass_s && w.slowed && w.sorting && w.pace && (walk->stop || n == n_sorted);
}
