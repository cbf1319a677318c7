#include "predict/step_record.h"

#include <math.h>
#include <stdlib.h>

#include "predict/refuse.h"
#include "predict/timeline_inputs.h"
#include "predict/timeline_walk.h"

const struct step_device *step_record_device(const struct step_record *record, size_t step,
                                             size_t position)
{
    return &record->device[step * record->n_devices + position];
}

const struct step_bucket *step_record_buckets(const struct step_record *record, size_t step,
                                              size_t position)
{
    return record->bucket + (step * record->n_devices + position) * record->n_buckets;
}

/* A loader beside the steps begins with the next mini-batch when a step takes one. */
static void set_loads(struct timeline_walk *w)
{
    for (size_t i = 0; i < w->in->n_devices; i++)
        w->load_s[i] = w->now[i]->load_inside ? 0 : w->now[i]->load_s;
    w->n_prefetched = 0;
}

/* All that follows from when it began and its last bucket was done. */
static struct step_device device_of(const struct ft_timeline_type *now, double begin_s,
                                    double late_s, double done_s)
{
    struct step_device d = {.begin_s = begin_s};
    d.forward_end_s = begin_s + now->forward_s;
    d.backward_end_s = d.forward_end_s + now->backward_s + late_s;
    d.optimizer_s = fmax(d.backward_end_s, done_s);
    d.optimizer_end_s = d.optimizer_s + now->optimizer_s;
    d.rest_end_s = d.optimizer_end_s + now->rest_s;
    d.load_begin_s = now->load_inside ? d.rest_end_s : begin_s;
    d.load_end_s = d.load_begin_s + now->load_s;
    return d;
}

/* The walk counts each step from the first device's begin; `from_s` is when that was. */
static void keep_buckets(const struct timeline_walk *w, double from_s, struct step_bucket *bucket)
{
    size_t n_buckets = w->in->n_buckets;
    for (size_t i = 0; i < w->in->n_devices; i++) {
        for (size_t b = 0; b < n_buckets; b++) {
            struct step_bucket *k = &bucket[i * n_buckets + b];
            k->ready_s += from_s;
            k->enter_s += from_s;
            k->start_s += from_s;
            k->done_s += from_s;
        }
    }
}

static void set_all_there(struct step_bucket *bucket, size_t n_devices, size_t n_buckets)
{
    for (size_t b = 0; b < n_buckets; b++) {
        double last_s = -INFINITY;
        for (size_t i = 0; i < n_devices; i++)
            last_s = fmax(last_s, bucket[i * n_buckets + b].start_s);
        for (size_t i = 0; i < n_devices; i++)
            bucket[i * n_buckets + b].all_s = last_s;
    }
}

static bool keep_step(struct timeline_walk *w, struct step_record *r, size_t step,
                      double *elapsed_s)
{
    size_t n = r->n_devices;
    double from_s = *elapsed_s;
    struct step_device *device = &r->device[step * n];
    w->bucket = r->bucket + step * n * r->n_buckets;
    for (size_t i = 0; i < n; i++)
        device[i].begin_s = from_s + w->begin_s[i];
    if (!timeline_walk_step(w, elapsed_s))
        return false;
    for (size_t i = 0; i < n; i++) {
        double done_s = r->n_buckets > 0 ? from_s + w->end_s[i] : 0;
        device[i] = device_of(w->now[i], device[i].begin_s, w->late_s[i], done_s);
        device[i].end_s = *elapsed_s + w->begin_s[i];
    }
    if (r->n_buckets > 0)
        keep_buckets(w, from_s, w->bucket);
    set_all_there(w->bucket, n, r->n_buckets);
    return true;
}

static double mean_step(const struct step_record *r)
{
    double sum_s = 0;
    for (size_t k = 0; k < r->n_steps * r->n_devices; k++)
        sum_s += r->device[k].end_s - r->device[k].begin_s;
    return sum_s / (double)(r->n_steps * r->n_devices);
}

static bool walk(struct timeline_walk *w, double *marked_s, struct step_record *r)
{
    double elapsed_s = 0;
    struct ft_timeline_step settled;
    set_loads(w);
    if (!timeline_walk_settle(w, marked_s, &settled))
        return false;
    for (size_t k = 0; k < r->n_steps; k++) {
        if (!keep_step(w, r, k, &elapsed_s))
            return false;
    }
    r->step_s = mean_step(r);
    return true;
}

bool step_record_make(struct arena *arena, const struct ft_timeline *timeline, size_t n_steps,
                      struct step_record *record, char *message)
{
    if (!timeline_inputs_check(timeline, TIMELINE_MOST_STEPS + (int)n_steps, message))
        return false;
    size_t n = timeline->n_devices, n_buckets = n > 1 ? timeline->n_buckets : 0;
    struct step_record r = {.n_steps = n_steps,
                            .n_devices = n,
                            .n_buckets = n_buckets,
                            .device = ARENA_ARRAY(arena, n_steps * n, struct step_device),
                            .bucket =
                                ARENA_ARRAY(arena, n_steps * n * n_buckets, struct step_bucket)};
    struct timeline_walk w;
    bool ok = timeline_walk_make(&w, timeline);
    double *marked_s = calloc(n, sizeof *marked_s);
    w.load_s = calloc(n, sizeof *w.load_s);
    ok = ok && w.load_s && marked_s && walk(&w, marked_s, &r);
    free(w.load_s);
    free(marked_s);
    timeline_walk_free(&w);
    if (!ok)
        return refuse(message, "there is no memory for %zu devices", n);
    *record = r;
    return true;
}

/* How long, after `from_s`, buckets are on their way; they come one after the other. */
static double sending_after(const struct step_bucket *bucket, size_t n, double from_s)
{
    double sum_s = 0;
    for (size_t b = 0; b < n; b++)
        sum_s += fmax(0, bucket[b].done_s - fmax(from_s, bucket[b].all_s));
    return sum_s;
}

/* What is left of a difference of times, but for their rounding. */
static double above_rounding(double seconds, double at_s)
{
    return seconds > 1e-12 * at_s ? seconds : 0;
}

static void add_parts(const struct step_record *r, size_t step, size_t i, struct step_parts *sum)
{
    const struct step_device *d = step_record_device(r, step, i);
    double sends_s =
        sending_after(step_record_buckets(r, step, i), r->n_buckets, d->backward_end_s);
    sum->forward_s += d->forward_end_s - d->begin_s;
    sum->backward_s += d->backward_end_s - d->forward_end_s;
    sum->sends_s += sends_s;
    sum->waits_s += above_rounding(d->optimizer_s - d->backward_end_s - sends_s, d->end_s);
    sum->rest_s += d->rest_end_s - d->optimizer_s;
    sum->loads_s += above_rounding(d->end_s - d->rest_end_s, d->end_s);
}

struct step_parts step_record_parts(const struct step_record *record, const int *of_type, int type)
{
    struct step_parts sum = {0};
    size_t n = 0;
    for (size_t k = 0; k < record->n_steps; k++) {
        for (size_t i = 0; i < record->n_devices; i++) {
            if (of_type[i] != type)
                continue;
            add_parts(record, k, i, &sum);
            n++;
        }
    }
    double share = n ? 1 / (double)n : 0;
    return (struct step_parts){sum.forward_s * share, sum.backward_s * share, sum.sends_s * share,
                               sum.waits_s * share,   sum.rest_s * share,     sum.loads_s * share};
}
