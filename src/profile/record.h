/*
 * One rank's record (docs/formats.md, "The worker's record") as it stands in the file, each value
 * checked by itself. What ranks must have in common is for profile_from_records.
 */
#ifndef FORETRAIN_PROFILE_RECORD_H
#define FORETRAIN_PROFILE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

/* Negative numbers: not known. */
struct record_bucket {
    int index;
    const char *module; /* as written in the record; "" where it says nothing */
    double bytes, wire_bytes;
    double ready_s, done_s;
    double span_s, transfer_s; /* as in struct bucket */
};

struct record_collective {
    const char *op, *place, *group; /* group: of the processes, or NULL */
    double bytes, span_s, transfer_s;
};

struct record_iteration {
    int i;
    int line;                /* of the file */
    double time_s[N_STAGES]; /* by stage; STAGE_LOADER_INTERVAL is never known here */
    double micro_batches, samples, bytes_sent;
    bool edge, profiled, counted;
    bool overlaps;                /* its stages add up to more than the step, by over 1 % of it */
    struct record_bucket *bucket; /* [n_buckets] */
    size_t n_buckets;
    struct record_collective *collective; /* [n_collectives] */
    size_t n_collectives;
};

struct record_operator {
    int index, count;
    const char *name;
    double mean_s, sd_s;
    double *sample_s; /* [n_samples], or NULL */
    size_t n_samples;
};

struct record {
    const char *file;
    const char *device_type, *host, *framework, *backend, *date, *device_name; /* or NULL */
    int rank, world_size, first, last;
    double batch; /* negative: not known */

    struct record_iteration *iteration; /* [n_iterations], in the file's order */
    size_t n_iterations, iteration_capacity;

    int loader_workers; /* the fewest of its loaders; -1: none seen */
    bool workers_differ;
    double *interval_s; /* [n_intervals]: a worker's time for a batch over the number of workers */
    size_t n_intervals, interval_capacity;

    struct record_operator *forward_op, *backward_op;
    size_t n_forward_ops, n_backward_ops;
    double *profiled_step_s; /* [n_profiled_steps] */
    size_t n_profiled_steps;

    struct profile_rounds rounds;

    double read_bytes;           /* per iteration; negative: not known */
    bool tcp_info;               /* bytes_sent are the kernel's counts */
    const char *interface;       /* or NULL */
    double interface_sent_bytes; /* per iteration */

    struct profile_layer *layer; /* [n_layers] */
    size_t n_layers;
    const char *loss, *optimizer; /* or NULL */
    double n_parameters;
    struct dtype_sizes parameter_bytes, model_gradient_bytes;

    const char **note_line; /* [n_notes] */
    size_t n_notes, note_capacity;

    struct profile_unknown *unknown; /* [n_unknown]: its profile need not have these */
    size_t n_unknown;

    const char *error_text; /* the worker refused or failed; NULL: it did not */
    bool ended;             /* the last line is there */
    int n_lines;
};

/*
 * Reads a record from text in memory; `file` is for messages. Fails at the line and column of a
 * value that is missing, negative or no number. Lines of an unknown kind are left out. A last line
 * that is cut off is left out too: the record is then not `ended`.
 */
bool record_parse(struct arena *arena, const char *text, size_t length, const char *file,
                  struct record *record, struct error *e);

bool record_read(struct arena *arena, const char *path, struct record *record, struct error *e);

/* The profile of the ranks' records; profile_from_records says what is checked. */
bool record_merge(struct arena *arena, struct record *record, size_t n, struct profile *profile,
                  struct error *e);

#endif
