/* The part of a job's full system for which there are hosts, as a job of its own. */
#ifndef FORETRAIN_JOB_SYSTEM_H
#define FORETRAIN_JOB_SYSTEM_H

#include "job/job.h"

struct job_system {
    struct job job;      /* only types with places, each with as many devices as it has places */
    int *type;           /* [job.n_types], their numbers in the whole job */
    const char *smaller; /* "fast 2 of 4, slow none of 100"; NULL: it is the whole job */
};

/*
 * A device's places are the slots of its type's hosts, or, where the type has none, those of its
 * sub-system's hosts. Devices without a place are left out of the ring, whose order stays. Fails
 * where no type has a place. O(n_devices).
 */
bool job_system_make(struct arena *arena, const struct job *job, struct job_system *system,
                     struct error *e);

#endif
