/*
 * A device type's profile: what its sub-system took for each stage of a step, and how many bytes
 * each device sent.
 *
 * docs/formats.md, "The profile" (foretrain.profile/1). Read and written as JSON; samples of
 * operators go to a file beside it.
 */
#ifndef FORETRAIN_PROFILE_PROFILE_H
#define FORETRAIN_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/stats.h"

/* Stages of a step, each with a sample per device and counted iteration. */
enum stage {
    STAGE_LOADER_INTERVAL,  /* interval at which the loader can deliver a mini-batch */
    STAGE_WAIT,             /* the step waits for data */
    STAGE_COPY,             /* mini-batch to the device */
    STAGE_FORWARD,          /* F: forward and loss, all micro-batches */
    STAGE_FIRST_BACKWARD,   /* B1 */
    STAGE_BACKWARD,         /* all backward calls, with the communication that shows */
    STAGE_BACKWARD_COMPUTE, /* start of the synchronised backward to the last bucket's ready time */
    STAGE_BACKWARD_UNSYNCED, /* backward calls without all-reduce (accumulation) */
    STAGE_OPTIMIZER,
    STAGE_REST,
    STAGE_STEP,
    N_STAGES
};

/* Key of a stage in the file: "forward_s". */
const char *stage_key(enum stage stage);

struct samples {
    bool known;    /* false: the profile does not hold it */
    double *value; /* [n], device by device; NULL where only mean and sd are given */
    struct stats stats;
};

struct bucket {
    double bytes;               /* of gradients; negative: unknown */
    double wire_bytes;          /* handed to the collective; negative: unknown */
    struct samples ready, done; /* seconds since the start of the synchronised backward */
    struct samples span;        /* of its all-reduce, with the wait for other devices */
    struct samples transfer;    /* the least span of all devices, iteration by iteration */
};

struct profile_operator {
    int index;
    const char *name;
    struct stats time_s;   /* of one step; min = max = 0: not known */
    double *time_sample_s; /* [n_time_samples], or NULL; profile_read leaves them in their file */
    size_t n_time_samples;
};

struct profile_collective {
    const char *op, *place;
    double bytes; /* negative: unknown */
    double count_per_step;
    double span_s, transfer_s; /* means, as of buckets; negative: unknown */
};

/* Rounds of all-reduces of small and of large messages, means over devices: what one took while
 * nothing else ran and while the device computed, and how much computing it cost. */
struct profile_rounds {
    double message_bytes; /* what a device sends in one; 0: not measured */
    double idle_s, busy_s, lost_s;
    double large_message_bytes;                      /* 0: not measured */
    double large_idle_s, large_busy_s, large_lost_s; /* the first two 0: not measured */
};

/* Bytes by dtype ("float32"): item[n]. */
struct dtype_bytes {
    const char *dtype;
    double bytes;
};
struct dtype_sizes {
    struct dtype_bytes *item;
    size_t n;
};

struct profile_layer {
    const char *name, *kind, *activation;     /* activation may be NULL */
    const char *input_shapes, *output_shapes; /* as text: "16x3x32x32" */
    double n_parameters;
};

/* One fact that the measurement depended on, for going on: what changed is measured again. */
struct profile_input {
    const char *key, *value;
};

/* A value that whoever made the profile could not know, by its key, and why. */
struct profile_unknown {
    const char *what, *why;
};

struct batch_fit; /* predict/batch_fit.h */

struct profile {
    const char *file;            /* where it was read from, for messages */
    const struct batch_fit *fit; /* of its times to other batches; NULL: of this batch */
    const char *device_type;
    bool assumed;        /* basis: "assumed": numbers that nobody measured */
    const char *note;    /* or NULL */
    const char *started; /* when its training was started, or NULL */
    const char *date, *framework, *device_name, *backend;
    int n_devices;        /* n of the sub-system */
    int n_sampled;        /* of them, devices whose samples it holds; 0: all */
    const char **host;    /* [n_devices], may be NULL */
    bool shares_host;     /* two of its devices are on one host: the wire was not measured */
    bool one_ring;        /* measured as part of a mixed ring of `ring_devices` devices */
    int ring_devices;     /* = n_devices unless one_ring */
    int first, last;      /* counted window */
    size_t n_left_out;    /* iterations in the window left out, at the edges of passes */
    double batch;         /* samples a device takes per micro-batch; 0: unknown */
    double micro_batches; /* per step: 1 without accumulation */
    bool put_together;    /* of steps of another number of micro-batches */
    int loader_workers;   /* 0: loading is inside the step; -1: no loader was seen */
    struct samples stage[N_STAGES];
    double bytes_sent;      /* D: per device and step; 0 for a sub-system of one */
    bool bytes_measured;    /* by the kernel's counts; false: computed from the buckets */
    double gradient_bytes;  /* S from the buckets, per step */
    double interface_bytes; /* sent per step and device by the interface's counters; 0: none */
    double bytes_read;      /* from storage, per step and device; negative: unknown */
    double sample_bytes;    /* mean size of a drawn sample; 0: unknown */
    double profiler_ratio;  /* step with profiler over step without; 0: not profiled */
    struct bucket *bucket;  /* [n_buckets] */
    size_t n_buckets;
    struct profile_operator *forward_op, *backward_op;
    size_t n_forward_ops, n_backward_ops;
    struct profile_collective *collective;
    size_t n_collectives;
    struct profile_rounds rounds;
    struct profile_layer *layer;
    size_t n_layers;
    const char *loss, *optimizer; /* or NULL */
    double n_parameters;
    struct dtype_sizes parameter_bytes, model_gradient_bytes; /* the latter of those that train */
    const char **note_line; /* [n_notes]: what the worker said must be known */
    size_t n_notes;
    struct profile_unknown *unknown; /* [n_unknown] */
    size_t n_unknown;
    struct profile_input *input; /* [n_inputs] */
    size_t n_inputs;
    const char *samples_file; /* name of the file of bulky samples, in the same folder; or NULL */
};

/* Devices whose samples it holds, one after the other in each stage's samples. */
int profile_sampled(const struct profile *profile);

/* Why a value of that key is not known, or NULL where the profile does not say so. */
const char *profile_why_unknown(const struct profile *profile, const char *what);

/*
 * Reads and checks a profile; a person may have written it. Fails at the line and column of what is
 * wrong: missing or negative numbers, a mean that its samples do not have, a misspelled key,
 * another format. What is not given is as `struct profile` says for unknown.
 */
bool profile_read(struct arena *arena, const char *path, struct profile *profile, struct error *e);

/* The same from text in memory; `file` is for messages. */
bool profile_parse(struct arena *arena, const char *text, size_t length, const char *file,
                   struct profile *profile, struct error *e);

/* Writes `path` and, where operators have samples, `path` with ".samples.json" instead
 * of ".json". */
bool profile_write(const char *path, const struct profile *profile, struct error *e);

/* The profile as text, added to `out`; `samples_file` as in struct profile. */
struct text;
void profile_format(const struct profile *profile, const char *samples_file, struct text *out);

/*
 * Makes the profile of one device type from the records of its ranks (`record[n]`, paths of
 * rankN.jsonl, in any order; devices are numbered by rank). Counts the window first..last;
 * iterations marked edge are left out and counted. Fails when a record is incomplete, ranks
 * disagree, or no iteration is left.
 *
 * One mixed ring: the caller presets `profile->one_ring` and passes the records of the type's own
 * ranks; then the ranks need not be all of the world, whose size becomes `ring_devices`. A preset
 * `profile->n_devices` above 0 is the number of records that there must be; a preset `n_sampled`
 * says that they are of so many ranks of the world only. All else that
 * `*profile` held is replaced; `note`, `started`, `sample_bytes` and `input` are the caller's to
 * set afterwards.
 */
bool profile_from_records(struct arena *arena, const char *const *record, size_t n,
                          struct profile *profile, struct error *e);

/* All samples and their statistics times `factor`, at least 0. */
struct samples samples_times(struct arena *arena, const struct samples *samples, double factor);

/* Adds a line to the profile's notes, which stay as they are for others. */
void profile_add_note(struct arena *arena, struct profile *profile, const char *note);

#endif
