/*
 * foretrain: how long a training takes on a cluster of different devices, from small measurements.
 *
 * The C library: forecasts from numbers in memory. It reads no files, prints nothing, keeps no
 * state and may be called from any thread. All quantities are SI: seconds, bytes, bytes per second.
 */
#ifndef FORETRAIN_H
#define FORETRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FT_VERSION "0.1.0"

#if defined(__GNUC__)
#define FT_API __attribute__((visibility("default")))
#else
#define FT_API
#endif

/* What was measured of one device type (method: docs/model.md, "Symbols"). */
struct ft_device_type {
    double
        load_s; /* L: interval at which the loader can deliver a mini-batch, plus the copy; >= 0 */
    double forward_s;        /* F: forward, all operators of one step; >= 0 */
    double first_backward_s; /* B1: the first backward operator; >= 0 */
};

/* A ring of devices of those types. */
struct ft_ring {
    size_t n_devices;            /* N >= 1 */
    const int *type;             /* [n_devices], index of the type of the device at each position */
    const double *bandwidth_Bps; /* [n_devices], from position i to i+1 (mod n_devices); > 0. May be
                                    NULL for N = 1 */
    double payload_bytes;        /* S: bytes of gradients that are all-reduced per step; >= 0 */
};

/* The closed form's forecast of one device. */
struct ft_device_forecast {
    double load_s;   /* L(i) */
    double ring_s;   /* T_ring(i) = 2 (N-1) (S/N) / B(i,i+1) */
    double device_s; /* T_dev(i) = F(i) + B1(i) + T_ring(i) */
    double step_s;   /* T(i) = max(T_dev(i), L(i)) */
};

struct ft_step_forecast {
    double step_s;     /* T_step = max over i of T(i) */
    size_t deciding;   /* the first position with T(i) = T_step */
    bool load_decides; /* L(deciding) > T_dev(deciding) */
};

enum { FT_MESSAGE_SIZE = 256 };

/*
 * Step time by the closed form (docs/model.md, "The closed form").
 *
 *   type     [n_types]
 *   device   [ring->n_devices], out; may be NULL
 *   step     out
 *   message  [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * Returns false, leaving the outputs untouched, when a value is negative, not finite or out of
 * range. O(N).
 */
FT_API bool ft_closed_form(const struct ft_device_type *type, size_t n_types,
                           const struct ft_ring *ring, struct ft_device_forecast *device,
                           struct ft_step_forecast *step, char *message);

/*
 * The same for any collective: `collective_s` [n_devices], >= 0, what it takes each device, stands
 * in T_ring's place. `type_of` [n_devices] as of ft_ring.
 */
FT_API bool ft_closed_form_with(const struct ft_device_type *type, size_t n_types,
                                const int *type_of, size_t n_devices, const double *collective_s,
                                struct ft_device_forecast *device, struct ft_step_forecast *step,
                                char *message);

/*
 * When each device of a ring is done with a collective whose rounds pass one chunk over every link.
 *
 *   chunk_cost_s  [n_devices], seconds of one chunk over the link from position i to i+1
 *                 (mod n_devices); >= 0
 *   start_s       [n_devices], when the device at position i can begin; >= 0
 *   n_rounds      2 (n_devices - 1) for an all-reduce, n_devices - 1 for a reduce-scatter or an
 *                 all-gather; at least n_devices - 1, at most 2^52
 *   end_s         [n_devices], out; overlaps neither input
 *   message       [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * Exactly what this gives, without walking its rounds (docs/model.md, "The ring, exactly"):
 *
 *   ready(i, 0) = start_s[i]
 *   ready(i, r+1) = max over j in {i, i-1} of ready(j, r) + chunk_cost_s[j]
 *   end_s[i] = ready(i, n_rounds)
 *
 * Returns false, leaving end_s untouched, when a value is negative or not finite, n_rounds too
 * small, or memory is short. O(n log n); uses up to 40 bytes a device while it runs.
 */
FT_API bool ft_ring_rounds(const double *chunk_cost_s, const double *start_s, size_t n_devices,
                           size_t n_rounds, double *end_s, char *message);

/* What a message of some size took on a link. */
struct ft_message {
    double bytes, time_s;
};

/* A link as a message sees it. */
struct ft_link {
    double bandwidth_Bps;           /* > 0; with a curve, of the longest messages */
    double latency_s;               /* >= 0 */
    const struct ft_message *curve; /* [n_curve], bytes > 0 rise, time_s > 0 do not fall: a message
                                       takes what they say, and other sizes what lies between
                                       (docs/model.md, "Bandwidth by size"). NULL with 0:
                                       latency_s + bytes / bandwidth_Bps */
    size_t n_curve;
};

/*
 * When each device of a ring is done with the all-reduce of `payload_bytes`.
 *
 *   link        [n_devices], from the device at position i to the one at i+1 (mod n_devices)
 *   start_s     [n_devices], when the device at position i can begin; >= 0
 *   n_segments  1: chunks of payload_bytes / n_devices are sent whole, one in flight; a round costs
 *               latency + wire. 2 to 2^20: each chunk is sent in so many parts of which two are in
 *               flight, and its two halves, reduce-scatter and all-gather, come one after the other
 *               on each device: gloo, with ft_gloo_segments
 *   end_s       [n_devices], out; overlaps no input
 *   message     [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * Exact for both (docs/model.md, "The ring, exactly"), while bandwidths stay as they are. Returns
 * false, leaving end_s untouched, when a value is out of range or memory is short. O(n log n); uses
 * up to 72 bytes a device while it runs.
 */
FT_API bool ft_ring_all_reduce(const struct ft_link *link, const double *start_s, size_t n_devices,
                               double payload_bytes, size_t n_segments, double *end_s,
                               char *message);

/* How gradients are all-reduced (docs/model.md, "Collectives"). */
enum ft_collective_kind {
    FT_RING,
    FT_TREE,             /* double binary, over hosts; a chain within each */
    FT_HIERARCHICAL,     /* rings within hosts, rings across them */
    FT_HALVING_DOUBLING, /* reduce-scatter by halves, all-gather by doubles */
    FT_PARAMETER_SERVER, /* each device is the server of its share of the gradients */
    FT_BRIDGE            /* rings within each vendor, an exchange between them, rings again */
};

/* Who sends to whom, by position. */
struct ft_pair {
    size_t from, to;
};

/* Devices that take part in one stage of a collective. */
struct ft_collective_stage {
    const char *what; /* "reduce-scatter", "exchange", ... */
    size_t n_groups, fewest_devices, most_devices;
    double payload_share; /* of the whole payload, what each group handles */
};

/* A collective made for a number of devices; it does not change. */
struct ft_collective;

/*
 * Makes a collective over `n_devices` in their order; ft_collective_free frees it.
 *
 *   host_of    [n_devices], 0 to n_devices - 1: devices with the same number share a host, and its
 *              port to other hosts; NULL: each is alone on its host
 *   vendor_of  [n_devices], likewise: which can form a ring of their own; NULL: all can. Only
 *              FT_BRIDGE looks at it
 *   message    [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * NULL where a value is out of range, memory is short, or the devices do not suit the kind: as many
 * on each host for FT_HIERARCHICAL, at most 1024 for FT_PARAMETER_SERVER. Messages: up to 4 a
 * device; n log n for FT_HALVING_DOUBLING, n (n - 1) for FT_PARAMETER_SERVER, and for FT_BRIDGE as
 * many a device as there are vendors; 64 bytes each.
 */
FT_API struct ft_collective *ft_collective_make(enum ft_collective_kind kind, size_t n_devices,
                                                const int *host_of, const int *vendor_of,
                                                char *message);

FT_API void ft_collective_free(struct ft_collective *collective);

/* "ring", "tree", "hierarchical", "halving-doubling", "parameter-server", "bridge". */
FT_API const char *ft_collective_name(enum ft_collective_kind kind);

/* The pairs that it sends over, [*n_pairs]: links are given in this order. */
FT_API const struct ft_pair *ft_collective_pairs(const struct ft_collective *collective,
                                                 size_t *n_pairs);

/* Its stages in their order, [*n_stages]. */
FT_API const struct ft_collective_stage *
ft_collective_stages(const struct ft_collective *collective, size_t *n_stages);

/*
 * When each device is done with the all-reduce of `payload_bytes`.
 *
 *   link     [n_pairs], of the collective's pairs
 *   start_s  [n_devices], when a device can begin: no message is sent before both its ends have
 *   end_s    [n_devices], out; overlaps no input
 *
 * Returns false, leaving end_s untouched, when a value is out of range or memory is short.
 * O(messages), and n log n for rings.
 */
FT_API bool ft_collective_all_reduce(const struct ft_collective *collective,
                                     const struct ft_link *link, const double *start_s,
                                     double payload_bytes, double *end_s, char *message);

struct ft_round {
    double cost_s;  /* of one chunk, each round */
    double drain_s; /* added once to n - 1 rounds: the last segment overlaps with no other */
};

/*
 * Cost of a round of chunks over equal links (docs/model.md, "The cost of a round"), with w =
 * chunk_bytes / bandwidth:
 *
 *   n_segments = 1   the chunk is sent whole, the next when it has arrived: cost = w + latency
 *   n_segments = m   in m parts of which two are in flight, so that latency hides behind the wire:
 *                    cost = max(w, m/2 (w/m + latency)), drain = min(w/m, latency)
 *
 * A link's curve says what takes the place of latency (a message of 0 bytes) and w (all beyond it).
 * Over unequal links the largest cost is an upper bound, but for the last segment: a link's latency
 * delays only what passes it. ft_ring_all_reduce is exact for both. Returns false, leaving the
 * output untouched, when a value is out of range.
 */
FT_API bool ft_round_cost(double chunk_bytes, struct ft_link link, size_t n_segments,
                          struct ft_round *cost, char *message);

/*
 * Segments into which gloo's ring cuts the chunk of each device: parts of at most 1 MiB, at least
 * two. 2 where the payload is not above 0 or there is no device.
 */
FT_API size_t ft_gloo_segments(double payload_bytes, size_t n_devices);

/* What the timeline knows of one device type; times of one step. */
struct ft_timeline_type {
    double load_s;         /* >= 0, as of ft_device_type */
    bool load_inside;      /* the step loads itself, before forward; else beside the step before */
    double forward_s;      /* >= 0 */
    double backward_s;     /* >= 0, all of it */
    const double *ready_s; /* [n_buckets], when a bucket's gradients are ready, from the begin of
                              backward; 0 to backward_s */
    double optimizer_s;    /* >= 0, after the last bucket */
    double rest_s;         /* >= 0, whatever else is in no other */
    double busy_Bps;       /* > 0: what such a device sends at the most while it computes */
    double idle_Bps;       /* >= busy_Bps: at the most while it does not; both may be INFINITY */
    double idle_round_s;   /* >= 0: what each message takes it beside bytes and latency */
    double busy_round_s;   /* >= idle_round_s: while it computes */
    double message_lost_s; /* >= 0: computing that each message of a ring costs it */
    double byte_lost_s;    /* >= 0: and each byte of them */
};

struct ft_timeline {
    const struct ft_timeline_type *type; /* [n_types] */
    size_t n_types;
    const int *type_of;         /* [n_devices], by position in the ring */
    const struct ft_link *link; /* [n_devices], to the next position; may be NULL for 1 device. With
                                   a collective: of its pairs */
    size_t n_devices;
    const double *bucket_bytes; /* [n_buckets], in the order in which they are all-reduced */
    size_t n_buckets;
    const struct ft_collective *collective; /* over n_devices; NULL: the ring */
};

struct ft_timeline_step {
    double step_s;  /* where several steps take turns, their mean */
    size_t n_steps; /* until steps repeated, or given up */
    bool
        settled; /* they did; else step_s is the mean of the device that the last 64 took longest */
};

/*
 * Step time of a ring that has found its rhythm (docs/model.md, "The timeline"): buckets one after
 * the other, in whole chunks, each device entering when its own gradients are ready. Exact where
 * no device sends slower for computing; else the ring is slowed as a whole.
 *
 *   step     out
 *   message  [FT_MESSAGE_SIZE], out on failure; may be NULL
 *
 * Returns false, leaving the output untouched, when a value is out of range or memory is short.
 * O(steps * buckets * n log n); uses up to 160 bytes a device while it runs, 176 where messages
 * cost computing.
 */
FT_API bool ft_timeline_step(const struct ft_timeline *timeline, struct ft_timeline_step *step,
                             char *message);

/* Steps that were measured of one device type. */
struct ft_timeline_samples {
    const struct ft_timeline_type *step; /* [n_iterations * n_together], iteration by iteration;
                                            the ceilings are those of the timeline's type */
    size_t n_iterations;                 /* at least 1 */
    size_t n_together;                   /* devices that were measured side by side; at least 1 */
    const double *load_s; /* [n_loads], intervals at which a loader beside the steps delivers; NULL
                             with 0: as the type's load_s, each time */
    size_t n_loads;
};

/*
 * Steps with times as they were measured: for each step the devices of a type, `n_together` at a
 * time by position, take those of an iteration drawn at random, so that what devices have in common
 * stays in common (docs/model.md, "Spread").
 *
 *   samples       [timeline->n_types]
 *   n_prefetched  mini-batches that loaders beside the steps make ahead; at least 1
 *   step_s        [n_steps], out: what each step took, the mean over devices
 *
 * The same seed gives the same steps. Fails as ft_timeline_step. O(n_steps * buckets * n log n).
 */
FT_API bool ft_timeline_spread(const struct ft_timeline *timeline,
                               const struct ft_timeline_samples *samples, double n_prefetched,
                               size_t n_steps, uint64_t seed, double *step_s, char *message);

/*
 * The steps of a ring of one type in the order in which they were measured, each device with the
 * times of one that was measured: what the timeline makes of a sub-system.
 *
 *   samples  [1]
 *   step_s   [samples->n_iterations], out
 *
 * Fails as ft_timeline_step, or where there is more than one type.
 */
FT_API bool ft_timeline_replay(const struct ft_timeline *timeline,
                               const struct ft_timeline_samples *samples, double *step_s,
                               char *message);

/* What a device sends at the most. */
struct ft_ceilings {
    double busy_Bps, idle_Bps; /* INFINITY: the link was the limit */
};

/*
 * The ceilings with which a sub-system's own buckets are done when they were (docs/model.md, "The
 * ceilings").
 *
 *   timeline  the sub-system's ring of one type, n_together devices; the type's ceilings are the
 *             highest that are found
 *   samples   [1], its steps in the order in which they were measured
 *   done_s    [n_buckets], when each bucket was done, from the begin of backward; the mean
 *
 * Fails as ft_timeline_step, or where there is no bucket or no ring.
 */
FT_API bool ft_timeline_fit(const struct ft_timeline *timeline,
                            const struct ft_timeline_samples *samples, const double *done_s,
                            struct ft_ceilings *ceilings, char *message);

/* How the training data goes over the devices of each type. */
struct ft_share {
    double n_devices; /* n_t */
    double batch;     /* b_t, samples or bytes per device and step; > 0 */
    double data;      /* D_t, in the unit of batch; 0 for all types: in proportion to the batch */
};

struct ft_epoch_forecast {
    double iterations;     /* I, of one epoch; whole */
    double last_share;     /* of the last one's samples that there are; above 0, up to 1 */
    double rounds;         /* total / sum of n_t D_t; 0 where no data per device was given */
    bool unbalanced;       /* the types' D_t/b_t differ by more than 1 %: some run out early */
    size_t last_to_finish; /* the type with the largest D_t/b_t */
};

/*
 * Iterations of one epoch (docs/model.md, "Iterations"): ceil(rounds * max D_t/b_t), or ceil(total
 * / sum n_t b_t) where no data per device is given. `total` is in the unit of batch and data. Fails
 * when a value is not above 0, not finite, or some types have data and others not.
 */
FT_API bool ft_epoch(const struct ft_share *share, size_t n_types, double total,
                     struct ft_epoch_forecast *epoch, char *message);

FT_API const char *ft_version(void);

#ifdef __cplusplus
}
#endif

#endif
