/* Mini-batches by device type: the balanced step, or the most samples a second (docs/model.md,
 * "Batch split"). */
#ifndef FORETRAIN_PLAN_SPLIT_H
#define FORETRAIN_PLAN_SPLIT_H

#include "predict/batch_fit.h"
#include "predict/forecast.h"

/* Profiles of one device type, of different batches; the job's own batch is one of them or between
 * them. */
struct split_profiles {
    const struct profile *profile; /* [n] */
    size_t n;                      /* at least 1 */
};

struct split_wish {
    bool fastest;        /* the most samples a second; else the smallest step */
    double global_batch; /* samples of a step in all, for the smallest step; 0: as in the job */
};

/* Where the times of a batch are from. */
enum split_basis {
    SPLIT_MEASURED,     /* at this batch */
    SPLIT_FITTED,       /* between batches that were measured */
    SPLIT_EXTRAPOLATED, /* beyond them */
    SPLIT_ASSUMED,      /* measured at one batch: in proportion to the batch */
};

struct split_type {
    const char *name;
    int64_t count;
    double given, found;           /* mini-batch of a device */
    double most;                   /* no larger mini-batch counted; 0: no limit */
    bool most_given;               /* by the job: max_batch; else the largest that was measured */
    double given_alone_s, alone_s; /* what a device loads and computes for a step */
    double weight;                 /* of its gradients beside the mean that DDP takes */
    struct amount data;            /* of a device, in proportion; AMOUNT_NONE: the job gives none */
    bool assumed;                  /* nobody measured its profile */
    enum split_basis basis;
    double from, to;  /* batches that were measured, smallest and largest */
    double fit_error; /* relative; negative: not known */
};

/* All at mean times. */
struct split_value {
    double global_batch;
    double step_s;
    double samples_per_s;
};

struct split {
    bool fastest;
    size_t n_devices;
    struct split_type *type; /* [n_types] */
    int n_types;
    struct split_value given, found;
    struct forecast forecast; /* of the job as it is */
    bool exact; /* no other whole mini-batches are better; else the search was cut off */
    double most_samples_per_s; /* no mini-batches give more */
};

/*
 * Finds mini-batches for a job's device types by `model`.
 *
 *   profiles  [job->n_types]
 *   network   or NULL
 *
 * Fails as forecast_make; where no whole mini-batches within the limits make the global batch.
 * Exact where the search is not cut off.
 */
bool split_find(struct arena *arena, const struct job *job, const struct split_profiles *profiles,
                const struct network *network, enum forecast_model model,
                const struct split_wish *wish, struct split *split, struct error *e);

#endif
