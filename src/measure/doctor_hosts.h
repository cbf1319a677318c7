/* Which hosts of a job are examined, and what each is asked. */
#ifndef FORETRAIN_MEASURE_DOCTOR_HOSTS_H
#define FORETRAIN_MEASURE_DOCTOR_HOSTS_H

#include "measure/doctor.h"
#include "measure/python.h"

/*
 * All hosts that the job names, each once, in its order, with what they do; where they are more
 * than `most`, those of sub-systems first, and `n_left_out` names are not listed. For the local
 * launcher they are one, "here", with all types that are to be measured.
 *
 *   search   on this machine; finds the Pythons that are tried
 */
void doctor_hosts_list(struct arena *arena, const struct job *job,
                       const struct python_search *search, size_t most, struct doctor_host **host,
                       size_t *n, size_t *n_left_out);

/* The numbers of the hosts, of `host[n]`, to which host `self` is asked for its route, [*n_peers]:
 * those that have an address. */
size_t *doctor_hosts_peers(struct arena *arena, const struct doctor_host *host, size_t n,
                           size_t self, size_t *n_peers);

/* What probe.py is asked on host `self`, as JSON. */
const char *doctor_hosts_question(struct arena *arena, const struct job *job,
                                  const struct doctor_host *host, size_t n, size_t self);

#endif
