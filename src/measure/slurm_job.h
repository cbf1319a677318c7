/*
 * A job of Slurm that holds hosts for us: our own, through a salloc that is our child, or the one
 * inside which we run.
 */
#ifndef FORETRAIN_MEASURE_SLURM_JOB_H
#define FORETRAIN_MEASURE_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/child_watch.h"
#include "base/error.h"
#include "base/text.h"
#include "job/job.h"
#include "measure/progress.h"
#include "measure/slurm.h"

struct slurm_job {
    struct slurm_job *next;
    bool own;    /* else it was there before us, and stays */
    long number; /* 0: salloc has not said it yet */
    bool has_hosts, failed;
    struct job_slurm settings;
    const char **host; /* [n_hosts] */
    size_t n_hosts;
    struct child salloc; /* of our own */
    struct child_memory said;
    struct text printed;
    double start_s, looked_s;
    struct slurm_state state; /* as last seen */
    const char *over;         /* where it is known to be: what became of it */
};

/* The job inside which we run: SLURM_JOB_ID and its hosts. NULL in `found` outside of any. */
bool slurm_job_around(struct arena *arena, const struct progress *progress,
                      struct slurm_job **found, struct error *e);

/* Asks for `job->host` whole. It must be given to slurm_jobs_end, also where it fails later. */
bool slurm_job_start(struct arena *arena, const struct job *plan, struct slurm_job *job,
                     struct error *e);

/* One look at a job that was started: true while it is neither granted nor failed (then `why`). */
bool slurm_job_waits(struct arena *arena, const struct job *plan, struct slurm_job *job,
                     const struct progress *progress, struct error *why);

/* Whether a job is over, cancelled or at its limit: what became of it, else NULL. Waits some
 * seconds for one that is just ending; "" where no more than that can be told. */
const char *slurm_job_over(struct arena *arena, struct slurm_job *job);

/* The address or name by which Slurm itself reaches a node (NodeAddr), or NULL. */
const char *slurm_node_address(struct arena *arena, const char *host,
                               const struct progress *progress);

/* Cancels our own ones of a list and ends their salloc; warns where one may be left. */
void slurm_jobs_end(struct slurm_job *first, const struct progress *progress);

#endif
