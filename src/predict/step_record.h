/*
 * What every device of a ring does when, in steps of mean times that have found their rhythm:
 * docs/model.md, "The timeline". For pictures, traces and explanations.
 */
#ifndef FORETRAIN_PREDICT_STEP_RECORD_H
#define FORETRAIN_PREDICT_STEP_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "foretrain.h"

/* A bucket on one device. */
struct step_bucket {
    double ready_s; /* its gradients are ready, or would be but for the bucket before */
    double enter_s; /* the device is done with the bucket before, too */
    double start_s; /* it can send: the next device has entered as well */
    double all_s;   /* the last of all devices can; until then the ring waits for it */
    double done_s;  /* it holds the sum */
    double clock_s; /* start_s by the ring's own clock (docs/model.md, "The timeline") */
};

/* A device in one step, in the order in which it happens. */
struct step_device {
    double begin_s; /* forward begins */
    double forward_end_s;
    double backward_end_s;
    double optimizer_s;     /* begins: backward is over and the last bucket done */
    double optimizer_end_s; /* rest begins */
    double rest_end_s;      /* rest is over */
    double load_begin_s;    /* the next mini-batch is loaded: beside the step, or after rest */
    double load_end_s;
    double end_s; /* the next step's forward begins */
};

/* Times are seconds since the first device began the first of the steps. */
struct step_record {
    size_t n_steps, n_devices, n_buckets; /* n_buckets: 0 for one device */
    double step_s;                        /* mean over devices and steps */
    struct step_device *device;           /* [n_steps * n_devices], step by step, by position */
    struct step_bucket *bucket;           /* [n_steps * n_devices * n_buckets] */
};

/* Of the device at a position, and its buckets [n_buckets]. */
const struct step_device *step_record_device(const struct step_record *record, size_t step,
                                             size_t position);
const struct step_bucket *step_record_buckets(const struct step_record *record, size_t step,
                                              size_t position);

/*
 * Walks a ring until its steps repeat (at most 128), then keeps `n_steps` of them, at least 1.
 *
 *   message  [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * Fails as ft_timeline_step, leaving the record untouched. Keeps 72 bytes a device and step, and 40
 * a bucket of it.
 */
bool step_record_make(struct arena *arena, const struct ft_timeline *timeline, size_t n_steps,
                      struct step_record *record, char *message);

/* Where a device's step goes; they add up to it. */
struct step_parts {
    double forward_s, backward_s;
    double sends_s; /* after backward, a bucket is on its way and all devices are there */
    double waits_s; /* after backward, for those that are not there yet */
    double rest_s;  /* optimizer and rest */
    double loads_s; /* loading inside the step, or waiting for a loader beside it */
};

/* The mean over those devices for which `of_type[position]` is `type`, and over all steps. */
struct step_parts step_record_parts(const struct step_record *record, const int *of_type, int type);

#endif
