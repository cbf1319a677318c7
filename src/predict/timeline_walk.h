/* Steps of all devices of a timeline, one after the other; what each of them takes may change from
 * step to step. */
#ifndef FORETRAIN_PREDICT_TIMELINE_WALK_H
#define FORETRAIN_PREDICT_TIMELINE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"
#include "predict/collective.h"
#include "predict/ring_paths.h"

struct sender;
struct step_bucket;
struct timeline_computing;
struct timeline_pace;
struct timeline_stop;

struct timeline_walk {
    const struct ft_timeline *in;
    /* [n_devices], the times of this step; ceilings are those of the device's type. */
    const struct ft_timeline_type **now;
    double *load_s; /* [n_devices], from this step's load to the next, beside the step; or NULL */
    double n_prefetched;     /* mini-batches that a loader beside the steps makes ahead */
    double *begin_s, *end_s; /* [n_devices], of this step: forward begins, the ring lets go */
    double *late_s;          /* [n_devices], how much messages have lengthened computing */
    double *loaded_s;        /* [n_devices], when the loader is done with this step's mini-batch */
    double *enter_s;         /* [n_devices], of a bucket, by the ring's clock */
    /* [n_devices], of a bucket's chunk when nobody computes: until a device can send the next, and
       until the next device can send this one; one and the same where rounds cost nothing: */
    double *cost_s, *pass_s;
    /* Where messages cost computing; else NULL: */
    double *start_s, *late_before_s; /* [n_devices], of a bucket */
    /* With a collective; cost_s is how long a device sends, busy_s how long while it computes: */
    struct collective_work work;
    double *busy_s;        /* [n_devices] */
    struct sender *sender; /* [n_devices] */
    double *done_s;        /* [n_buckets], sum over devices, since begin of backward; or NULL */
    struct step_bucket *bucket; /* [n_devices * n_buckets], out: when this step's were entered, sent
                                   and done; or NULL */
    struct timeline_computing *slowed;  /* [n_slowed]; up to TIMELINE_MOST_SORTED latest first */
    struct timeline_computing *sorting; /* as many, to sort them */
    struct timeline_stop *stop;         /* [TIMELINE_MOST_SORTED] where there are more; or NULL */
    struct timeline_pace *pace;         /* [n_paces], latest first */
    size_t n_slowed, n_paces;
};

__attribute__((unused)) static inline const struct ft_timeline_type *
timeline_type_at(const struct timeline_walk *w, size_t i)
{
    return &w->in->type[w->in->type_of[i]];
}

/* All devices begin at 0, with their types' times. False where memory is short; call
 * timeline_walk_free in any case. */
bool timeline_walk_make(struct timeline_walk *walk, const struct ft_timeline *in);

/* All devices begin at 0 again. */
void timeline_walk_restart(struct timeline_walk *walk);

/* The devices of a ring of one type take the times of an iteration, one measured device after the
 * other. */
void timeline_walk_take(struct timeline_walk *walk, const struct ft_timeline_samples *samples,
                        size_t iteration);

/*
 * One step with the times of `now`, and on to the next one's begin. Times are counted from the
 * first to begin it: how much later that is, is added to `elapsed_s`. False where memory is short.
 */
bool timeline_walk_step(struct timeline_walk *walk, double *elapsed_s);

/* Steps until they repeat, or so many; `marked_s` [n_devices] is for its use. False where memory is
 * short. */
enum { TIMELINE_MOST_STEPS = 128 };
bool timeline_walk_settle(struct timeline_walk *walk, double *marked_s,
                          struct ft_timeline_step *step);

void timeline_walk_free(struct timeline_walk *walk);

#endif
