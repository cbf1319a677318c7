/*
 * The forecast of a job: from the job, the profiles of its device types and the network, to step,
 * epoch and total time.
 */
#ifndef FORETRAIN_PREDICT_FORECAST_H
#define FORETRAIN_PREDICT_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "foretrain.h"
#include "job/job.h"
#include "network/network.h"
#include "profile/profile.h"

enum forecast_model { MODEL_TIMELINE, MODEL_CLOSED_FORM };

/* "timeline", "closed-form". */
const char *forecast_model_name(enum forecast_model model);

/* A mean, and between what a share of 10 and of 90 % lie below; low = high = mean where the
 * spread is not known. */
struct span {
    double mean, low, high;
};

/* What the timeline says of the whole. */
struct timeline_forecast {
    bool known;
    const char *why_not;
    bool spread_known;     /* every type has the samples of its steps */
    struct span step_s;    /* of single steps */
    size_t n_steps;        /* that were drawn */
    double step_deviation; /* of single steps within a run, relative standard deviation */
    double between_runs;   /* of the mean step of one run and another, likewise */
    double model_error;    /* of the timeline itself, likewise */
    /* What was walked, for what else can be asked of it; NULL where not known: */
    const struct ft_timeline *ring;            /* mean times, with ceilings */
    const struct ft_timeline_samples *samples; /* [n_types] */
    double n_prefetched;
};

/* One device type in the forecast. */
struct type_forecast {
    const char *name;
    int64_t count;
    bool assumed;                /* its profile was not measured */
    const struct batch_fit *fit; /* of its times to other batches; NULL: measured with this one */
    double batch;                /* samples per device and step: batch times micro-batches */
    double load_s, forward_s, unsynced_s,
        first_backward_s; /* L; F without unsynced backward; accumulation's backward; B1 */
    /* For the timeline; known where that is: */
    double backward_s, optimizer_s, rest_s;
    double idle_round_s, busy_round_s; /* as of ft_timeline_type; 0 where not measured */
    /* How much longer the step's other collectives take among all: */
    double others_forward_s, others_rest_s;
    struct ft_ceilings ceilings; /* INFINITY: none known, or the link was the limit */
    const char *why_no_ceilings; /* NULL: they were fitted */
    double own_step_s;           /* of the type's own sub-system, by the timeline; 0: not known */
    double ring_s;               /* the largest T_ring of its devices */
    double step_s;               /* the largest T(i) of its devices */
    double samples_per_s; /* of one device: its share of an epoch over the epoch's time; batch over
                             step where the epoch is not known */
    double bytes_sent;    /* D as measured */
    double payload_bytes; /* S from this sub-system: D n / (2(n-1)); 0 for a sub-system of one */
    int ring_devices;     /* n: devices of the ring in which D was measured */
    size_t slowest;       /* ring position of its slowest device */
    bool loading_in_step; /* num_workers = 0 */
    /* The sub-system forecast from its own profile, beside its measured step: */
    bool self_known;
    double self_forecast_s, self_measured_s, self_error; /* relative: forecast / measured - 1 */
    struct link self_link;                               /* the slowest of its ring */
    const char *self_why_not;                            /* where not known */
};

struct forecast {
    const char *name;          /* of the job */
    enum forecast_model model; /* by which step_s and all that follows are */
    size_t n_devices;
    double payload_bytes; /* S: mean over the sub-systems */
    double step_s;
    struct ft_step_forecast closed_form;
    struct timeline_forecast timeline;
    size_t deciding;       /* ring position */
    double step_without_s; /* timeline: the step were it not for what decides */
    const char *deciding_device,
        *deciding_next;         /* names: the device that decides, and the one it sends to */
    const char *deciding_stage; /* "loading", "all-reduce" or "computing"; deciding_next is NULL in
                                   a ring of one */
    struct link deciding_link;
    bool epoch_known; /* false: why_no_epoch says what is missing */
    const char *why_no_epoch;
    struct ft_epoch_forecast epoch;
    double evaluation_s, checkpoint_s; /* of each epoch, in epoch_s; 0: not given */
    double epochs, epoch_s, total_s;
    struct span epoch_span_s, total_span_s; /* of the means over an epoch, and over all */
    double samples_per_s;                   /* of the whole system; 0 where samples are not known */
    double total_samples;                   /* per epoch; 0 unknown */
    double used_samples; /* of them in an epoch: less where the last batch is dropped */
    double storage_s; /* that the storage takes to deliver what all devices load for a step; 0: its
                         bandwidth is not given */
    double sample_bytes;        /* the size by which bytes and samples meet; 0 unknown */
    const char *sample_basis;   /* where that size is from: "given", "size / samples", "mean of the
                                   profiles"; NULL where unknown */
    struct type_forecast *type; /* [n_types] */
    int n_types;
    struct ft_device_forecast *device;       /* [n_devices], ring order */
    const char *collective_name;             /* of the job's all-reduces */
    const struct ft_collective *collective;  /* NULL: the ring, or one device */
    const struct ft_collective_stage *stage; /* [n_stages], of one all-reduce */
    size_t n_stages;
    const struct ft_pair *hop; /* [n_hops], positions: what it sends over; of the ring i to i+1 */
    struct link *link;         /* [n_hops] */
    size_t n_hops;
    size_t *slowest_hop;             /* [n_devices], the slowest that each sends over */
    size_t n_links[LINK_FILLED + 1]; /* of each source */
    const char **warning;            /* [n_warnings], whole sentences */
    size_t n_warnings;
};

/*
 * Forecasts a job by `model`, and by the closed form beside it. Where the profiles do not hold what
 * the timeline needs, the forecast is the closed form's, and `timeline.why_not` says why.
 *
 *   profile  [job->n_types], in the order of the job's types
 *   network  or NULL where the job's classes say all
 *
 * Fails naming the type and the value that is missing or does not fit (sub-systems whose S differ
 * by more than 1 %, a profile of another batch, unknown bytes, a link without a value, a training
 * set whose size does not come to samples). Where the job gives no size of the training set there
 * is a step and no epoch: `why_no_epoch`. O(n_devices log n_devices).
 */
bool forecast_make(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, enum forecast_model model,
                   struct forecast *forecast, struct error *e);

#endif
