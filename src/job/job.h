/*
 * The job file: what to train, with which data, on how many of which devices, joined how, in which
 * ring order.
 *
 * docs/formats.md, "The job file", is the schema. Reading checks everything that needs no other
 * file and no host; all errors of a file are reported together. Everything is SI inside; strings
 * live in the arena.
 */
#ifndef FORETRAIN_JOB_JOB_H
#define FORETRAIN_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "foretrain.h"

/* An amount of data: bytes or samples; UNIT_NONE: not given. */
enum amount_unit { AMOUNT_NONE, AMOUNT_BYTES, AMOUNT_SAMPLES };
struct amount {
    double value;
    enum amount_unit unit;
};

enum model_kind { MODEL_NONE, MODEL_SCRIPT, MODEL_COMMAND, MODEL_ENTRY, MODEL_LAYERS };

struct job_model {
    enum model_kind kind;
    const char *script; /* absolute or relative to the job's folder, as written */
    const char **args;  /* [n_args], placeholders not filled in; a command: with its program */
    size_t n_args;
    bool spawns_ranks;      /* the script starts its own ranks: one process a host */
    const char *entry_file; /* "model.py" of "model.py:build" */
    const char *entry_function;
    const char *json;   /* entry: its keyword args as a JSON object, "{}" without; layers:
                           {"input","layers","loss","optimizer"}; else NULL */
    struct place place; /* of script, command, entry or layers */
    struct place args_place;
};

struct job_data {
    const char *path;    /* folder of the training set, or NULL */
    const char *list;    /* file with one path a line, or NULL */
    struct amount size;  /* of the whole set; AMOUNT_NONE: not given */
    double n_samples;    /* 0: not given */
    double sample_bytes; /* 0: not given */
    uint64_t seed;
    int workers;        /* loader workers of the built-in loop */
    bool warm_cache;    /* cache: warm */
    struct place place; /* of path or list */
};

struct job_training {
    double epochs; /* whole number >= 1 */
    enum ft_collective_kind collective;
    int first, last;                   /* counted window, from 1, both included */
    int n_profiled;                    /* iterations under the profiler after the window */
    double evaluation_s, checkpoint_s; /* of each epoch; 0: not given */
    bool drops_last;                   /* last_batch: drop, the samples that do not fill a step */
};

/* What all devices load their training data from. */
struct job_storage {
    double bandwidth_Bps; /* 0: not given */
};

struct job_variable {
    const char *name, *value;
};

/* What a device costs while it is taken, in any currency; not given: {false, 0}. */
struct price {
    bool given;
    double per_s;
};

/* One entry of a host list: `name` is what ssh and iperf3 take; `n_devices` its slots. The numbers
 * that count devices are 0 for hosts of a sub-system. */
struct job_host {
    const char *name;
    int n_devices;        /* slots, as listed; the last ones may stay unused */
    int n_used;           /* slots that hold a device of the type */
    int first_slot;       /* the first of them, counting devices of earlier types on that host */
    int n_on_host;        /* devices of all types on that host */
    int64_t first_device; /* index, within the type, of the first of them */
};

/* What a job asks of Slurm, each as salloc's option of that name takes it; NULL: not given. */
struct job_slurm {
    const char *partition, *account, *qos, *constraint, *reservation, *gres;
};

struct job_device_type {
    const char *name;
    int64_t count;      /* n_t */
    struct amount data; /* D_t, AMOUNT_NONE: not given (then proportional to batch) */
    int64_t batch;      /* b_t, samples */
    int64_t *batches;   /* [n_batches], those that are measured; none: `batch` */
    size_t n_batches;
    int64_t micro_batches; /* of a step, to be forecast; 0: as measured */
    int64_t max_batch;     /* the largest that fits into a device's memory; 0: not given */
    struct price price;    /* of one device */
    struct job_host
        *host; /* [n_hosts], as listed; their slots add up to at least `count`, or there are none */
    size_t n_hosts;
    int subsystem_devices;           /* n: 2 unless given; 1: compute only */
    struct job_host *subsystem_host; /* [n_subsystem_hosts], subsystem: {hosts: ...}; none: the
                                        first of `host` */
    size_t n_subsystem_hosts;
    bool allow_full;
    const char *device;   /* torch device kind: "cpu", "cuda" (hip too), "mlu", "npu", "xpu" */
    const char *backend;  /* "gloo", "nccl", ...; never NULL: by device where not given */
    const char *python;   /* or NULL */
    const char **profile; /* [n_profiles], paths of profiles given instead of measured, each of
                             another batch; or NULL */
    size_t n_profiles;
    const char *
        *cpus; /* [n_cpus] CPU lists ("0", "2-3"), rank r of the sub-system uses [r % n_cpus] */
    size_t n_cpus;
    struct job_variable *env; /* [n_env] */
    size_t n_env;
    struct job_slurm slurm; /* before the launcher's */
    struct place place;     /* of the type's name, for later errors */
    struct place hosts_place, subsystem_place, data_place, profile_place,
        slurm_place; /* line 0: not given */
};

enum link_where { LINK_ANYWHERE, LINK_WITHIN_HOST, LINK_ACROSS_HOSTS };

/* A class of links between two device types (unordered unless `directed`). */
struct job_link {
    int from_type, to_type;
    enum link_where where;
    bool directed;          /* from/to instead of between */
    double bandwidth_Bps;   /* 0: nccl_tests says it */
    double latency_s;       /* 0: not given */
    double both_ways_Bps;   /* of the two directions together; 0: they do not share */
    double spread;          /* relative deviation of its rate from time to time; 0: not given */
    const char *nccl_tests; /* file with a table of all_reduce_perf, or NULL */
    struct place place;
};

/* What `nvidia-smi topo -m` calls a way between two devices of a host, and what such a way is. */
struct job_path_class {
    const char *name;                /* "NV2", "PIX", "PXB", "PHB", "NODE", "SYS" */
    double bandwidth_Bps, latency_s; /* as of job_link */
    const char *nccl_tests;
    struct place place;
};

/* The links within the hosts of a type, or of all types. */
struct job_topology {
    const char *file;
    const char *type;             /* or NULL: of those without one of their own */
    struct job_path_class *class; /* [n_classes] */
    size_t n_classes;
    struct place place;
};

/* One file of network.measured; `from` and `to`: hosts of the one link that it is of, or NULL. */
struct job_network_file {
    const char *path, *from, *to;
    struct place place;
};

enum launcher_kind { LAUNCHER_LOCAL, LAUNCHER_SSH, LAUNCHER_SLURM };

/* Whether the hosts see our files at the same paths. */
enum launcher_files { FILES_AS_FOUND, FILES_SHARED, FILES_COPIED };

struct job_launcher {
    enum launcher_kind kind;
    double stall_timeout_s; /* no progress for this long ends a sub-system; default 600 */
    double timeout_s;       /* a whole sub-system; 0: no limit */
    const char *user;       /* ssh: or NULL */
    const char *config;     /* ssh: a configuration file as ssh -F takes it, or NULL */
    const char *folder;     /* on the hosts, for what is copied there; NULL: the agent's choice */
    enum launcher_files files;
    struct job_slurm slurm;
    double time_limit_s;    /* slurm: of our jobs; 0: the partition's own */
    double queue_timeout_s; /* slurm: longest wait for a job's start; default 600 */
};

enum subsystems { SUBSYSTEMS_EACH, SUBSYSTEMS_TOGETHER };

struct job {
    const char *file;   /* as the user named it */
    const char *folder; /* of the file: relative paths are relative to it */
    const char *text;   /* the whole file as read */
    const char *name;
    struct job_model model;
    struct job_data data;
    struct job_training training;
    struct job_storage storage;
    struct job_device_type *type; /* [n_types], in file order */
    int n_types;
    struct job_link *link; /* [n_links] */
    size_t n_links;
    struct job_topology *topology; /* [n_topologies] */
    size_t n_topologies;
    const char *network_file;               /* the first of network.measured, or NULL */
    struct job_network_file *network_files; /* [n_network_files] */
    size_t n_network_files;
    struct place network_place; /* of network.measured, else of network; line 0: neither is given */
    enum subsystems subsystems;
    bool one_ring;
    struct job_launcher launcher;

    /* The ring: devices are numbered type by type in file order, 0 <= d < n_devices. */
    size_t n_devices; /* N */
    size_t *ring;     /* [n_devices], device at each position; NULL: as listed, position = device */
};

/* Reads and checks a job file ("-": standard input). All its errors are in `e`, joined. */
bool job_load(struct arena *arena, const char *path, struct job *job, struct error *e);

/* The same from text in memory; `file` and `folder` are for messages and paths. */
bool job_parse(struct arena *arena, const char *text, size_t length, const char *file,
               const char *folder, struct job *job, struct error *e);

/* Whether a program of the user's trains, with arguments that are filled in: a script or command.
 */
bool job_model_is_program(const struct job_model *model);

/* The program of a command where it is a file of the job's: a relative path with a '/'. Else NULL:
 * it is looked for on each host. */
const char *job_model_own_program(const struct job_model *model);

/* Device at a ring position. */
size_t job_ring_device(const struct job *job, size_t position);

/* Type of a device. O(n_types). */
int job_device_type(const struct job *job, size_t device);

/* Host of a device, or NULL where the type has no hosts; `slot` (may be NULL) its number on that
 * host, from 0 in type order. */
const char *job_device_host(const struct job *job, size_t device, int *slot);

/* Name of a device: "host", "host:slot" where the host has several, "type-index" where there are no
 * hosts (index from 0). */
char *job_device_name(struct arena *arena, const struct job *job, size_t device);

enum { JOB_NO_TYPE = -1 };
/* Index of a type by name, or JOB_NO_TYPE. */
int job_find_type(const struct job *job, const char *name);

/* Whether nvidia-smi has a class of that name: NV1, NV2, ..., PIX, PXB, PHB, NODE, SYS. */
bool job_is_path_class(const char *name);

/* A path of the job relative to its folder. */
char *job_path(struct arena *arena, const struct job *job, const char *path);

/*
 * What must hold before sub-systems can be measured: a model, hosts for every type without a given
 * profile, the training data, files that exist. Fails with all that is missing.
 */
bool job_check_measurable(struct arena *arena, const struct job *job, struct error *e);

/* Hosts of a type's sub-system, one entry a rank: name of the host of each rank; `host` is
 * [subsystem_devices]. Distinct hosts first. */
void job_subsystem_hosts(const struct job_device_type *type, const char **host);

#endif
