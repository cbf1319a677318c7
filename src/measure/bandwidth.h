/* The bandwidth between the hosts of a job, measured with iperf3. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_H
#define FORETRAIN_MEASURE_BANDWIDTH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/progress.h"
#include "network/network.h"

enum { BANDWIDTH_TEST_S = 2 }; /* of each pair; shorter ones still speed up */

/*
 * Measures each distinct pair of hosts that the forecast needs: neighbours in the ring, and
 * neighbours in the rings of the sub-systems. A host with itself is the link between two devices on
 * it. Device types without hosts are left to the job's classes of links.
 *
 * With the local launcher every host must be this machine. Latency is that of one byte between two
 * sockets here (address_latency). Fails when the hosts are too many for a matrix, a pair cannot be
 * measured in three tries, or the user interrupts. Cost: BANDWIDTH_TEST_S a pair.
 */
bool bandwidth_measure(struct arena *arena, const struct job *job, const struct progress *progress,
                       struct network *network, struct error *e);

#endif
