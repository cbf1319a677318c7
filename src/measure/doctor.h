/* Whether a job can run here: one line for each thing that measuring needs. */
#ifndef FORETRAIN_MEASURE_DOCTOR_H
#define FORETRAIN_MEASURE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "job/job.h"
#include "measure/progress.h"

enum doctor_verdict { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_check {
    const char *subject; /* a device type's name, or "here" */
    const char *what;    /* "python", "backend", "iperf3", ... */
    const char *found;   /* what was found, or what is wrong and what to do */
    enum doctor_verdict verdict;
};

/* The name of a verdict: "ok", "warn", "FAIL". */
const char *doctor_verdict_name(enum doctor_verdict verdict);

/*
 * Checks this machine for the local launcher: the job's files and hosts, each type's python, torch,
 * backend, devices and CPUs, the worker's folder, iperf3 where the network must be measured, free
 * space for `run_folder`. `check` is made in the arena. Takes as long as importing torch.
 */
void doctor_examine(struct arena *arena, const struct job *job, const char *worker_folder,
                    const char *run_folder, const struct progress *progress,
                    struct doctor_check **check, size_t *n_checks);

#endif
