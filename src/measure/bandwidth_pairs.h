/* The hosts of a job, and which links between them a measurement is for. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_PAIRS_H
#define FORETRAIN_MEASURE_BANDWIDTH_PAIRS_H

#include "measure/bandwidth.h"

/* A network over the hosts of the job and the names of `kept`, with its links' values; those that
 * are filled in or failed are left out. */
bool bandwidth_hosts(struct arena *arena, const struct job *job, const struct network *kept,
                     struct network *network, struct error *e);

/* Whether each link [n][n] of the network is wanted. */
bool *bandwidth_wanted(struct arena *arena, const struct job *job, enum bandwidth_pairs pairs,
                       const struct network *network);

/* The numbers of both hosts of the link from a ring position to the next; false where one device
 * has no host. */
bool bandwidth_ring_link(const struct job *job, const struct network *network, size_t position,
                         struct host_pair *pair);

/* Index of the first type that lists a host. */
int bandwidth_type_of_host(const struct job *job, const char *host);

/* Gives links of the ring that have no value the median of the measured links of the same types,
 * as LINK_FILLED. Returns how many. */
size_t bandwidth_fill_from_sample(const struct job *job, struct network *network);

#endif
