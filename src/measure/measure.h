/*
 * Measuring what is not measured yet: each device type's sub-system, apart or together, to a
 * profile in the run's folder.
 *
 *     RUN/profiles/TYPE.json      what was measured; TYPE-b32.json of one of several batches
 *     RUN/records/TYPE/           spec.json, rankN.jsonl, rankN.out; one-ring/ for one mixed ring,
 *                                 full-system/ for the full system
 *     RUN/data/TYPE/              links to the drawn training data
 */
#ifndef FORETRAIN_MEASURE_MEASURE_H
#define FORETRAIN_MEASURE_MEASURE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/progress.h"
#include "profile/profile.h"

struct measure_options {
    const char *worker; /* folder of the worker: loop.py, hook/, foretrain_worker/ */
    bool again;         /* also what is measured already */
    bool parallel;      /* sub-systems that share no host at the same time */
    bool full;          /* all devices of the job as one ring instead: whole_job */
    const char *keep;   /* folder of ours that never goes to the hosts; NULL: `run` */
    const struct profile_input *input; /* [n_inputs], more facts of the measurement */
    size_t n_inputs;
};

/* Name of what is measured of a type: its own, or "TYPE-b32" where several batches are. */
char *measure_profile_name(struct arena *arena, const struct job_device_type *type, int64_t batch);

/*
 * Measures every device type to which the job gives no profile, and which has none in `run` that
 * was measured under the same facts; with several batches, one after the other. Says what is kept,
 * what is measured again and why. Together or in one ring, all are measured again where one must
 * be. `run` exists already; profiles are written as soon as they are complete, so that an
 * interrupted run goes on from there.
 */
bool measure_all(const struct job *job, const char *run, const struct measure_options *options,
                 const struct progress *progress, struct error *e);

#endif
