/* From what hosts say to checks: what is well, what is not, and what to do about it. */
#ifndef FORETRAIN_MEASURE_DOCTOR_JUDGE_H
#define FORETRAIN_MEASURE_DOCTOR_JUDGE_H

#include "measure/doctor.h"

/*
 * Adds the checks of host `self` of `host[n]`, which answered. What the measurement needs fails
 * where it is missing; what only the full training there would need is a warning.
 */
void doctor_judge_host(struct arena *arena, const struct job *job, const struct doctor_host *host,
                       size_t n, size_t self, struct doctor_checks *checks);

/* Adds what is wrong between hosts: other versions of torch, another Python in a sub-system. */
void doctor_judge_together(struct arena *arena, const struct job *job,
                           const struct doctor_host *host, size_t n, struct doctor_checks *checks);

/* Whether the job cannot be measured without a host. */
bool doctor_needs(const struct doctor_host *host);

#endif
