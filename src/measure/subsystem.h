/* A sub-system: which devices train together on a small scale, with what, and where its files lie.
 */
#ifndef FORETRAIN_MEASURE_SUBSYSTEM_H
#define FORETRAIN_MEASURE_SUBSYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/launcher.h"
#include "measure/python.h"
#include "measure/spec.h"

enum { SUBSYSTEM_ADDRESS_SIZE = 64 };

struct subsystem_rank {
    int type;   /* of the job */
    int number; /* among the devices of its type, from 0 */
    const char *host;
    const char *cpus; /* or NULL */
    int local_rank;   /* among the ranks on its host, and how many they are */
    int local_world_size;
    int group_rank;                          /* number of its host among the sub-system's hosts */
    char interface[LAUNCHER_INTERFACE_SIZE]; /* by which its host is reached; "": as it is */
};

/* What a device type's ranks train with. */
struct subsystem_type {
    struct python python;
    const char *data_dir;           /* data of all its devices, or NULL */
    const char *const *device_data; /* [subsystem_devices], each device's own, or NULL */
    double n_samples;               /* drawn for each device; 0: nothing was drawn */
    double sample_bytes;            /* mean of those drawn; 0: not known */
};

struct subsystem {
    const struct job *job;
    const char *name;            /* of its device type, "one-ring" or "full-system" */
    bool one_ring;               /* of all types */
    bool full;                   /* all devices of the job */
    struct subsystem_rank *rank; /* [n_ranks] */
    int n_ranks;
    const struct subsystem_type *type;    /* [job->n_types], by the job's numbers */
    const char *records;                  /* absolute folder of its records and outputs */
    const char *run;                      /* that folder's run, which stays here; or NULL */
    char address[SUBSYSTEM_ADDRESS_SIZE]; /* where its ranks meet */
    int port;
    const struct spec_meeting *meeting; /* with other sub-systems, or NULL */
    const struct launcher *launcher;    /* knows where files are on the hosts; NULL: as here */
};

/* The ranks of one type's sub-system on the first of its hosts. In each plan a rank follows from
 * its device's position in the ring: ring_rank. */
void subsystem_plan(struct arena *arena, const struct job *job, int type,
                    struct subsystem *subsystem);

/* The ranks of one small ring of all types that are to be measured, in the job's order. */
void subsystem_plan_ring(struct arena *arena, const struct job *job, const bool *measured,
                         struct subsystem *subsystem);

/* All devices of the job as one ring in the job's order; each has a host. */
void subsystem_plan_full(struct arena *arena, const struct job *job, struct subsystem *subsystem);

/* "sub-system fast x2", "full system x8" */
char *subsystem_title(struct arena *arena, const struct subsystem *subsystem);

/* Paths in its folder. */
char *subsystem_record(struct arena *arena, const struct subsystem *subsystem, int rank);
char *subsystem_output(struct arena *arena, const struct subsystem *subsystem, int rank);
/* The specification of a rank: of its type, or its own where the hosts do not see our files. */
char *subsystem_spec(struct arena *arena, const struct subsystem *subsystem, int rank);

/* The job's folder, absolute; as the job names it where it is not there. */
char *subsystem_folder(struct arena *arena, const struct subsystem *subsystem);

/* The program of a command where it is a file of the job's, absolute, links not followed; else
 * NULL.
 */
char *subsystem_own_program(struct arena *arena, const struct subsystem *subsystem);

/* Where a path of ours is on the host of a rank; NULL for NULL. */
char *subsystem_there(struct arena *arena, const struct subsystem *subsystem, int rank,
                      const char *path);

/* Whether two of its ranks are on one host. */
bool subsystem_shares_host(const struct subsystem *subsystem);

/* Whether a rank of one type in `a` is on the host of a rank of another type in `b`. */
bool subsystem_meets_on_host(const struct subsystem *a, int type_a, const struct subsystem *b,
                             int type_b);

/* Writes the worker's specification, one for each type in it. */
bool subsystem_write_specs(struct arena *arena, const struct subsystem *subsystem, struct error *e);

/* Writes the one of a rank, with paths of its host. */
bool subsystem_write_spec_of_rank(struct arena *arena, const struct subsystem *subsystem, int rank,
                                  struct error *e);

#endif
