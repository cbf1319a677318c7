/* Links whose two directions share what there is. */
#ifndef FORETRAIN_NETWORK_BOTH_WAYS_H
#define FORETRAIN_NETWORK_BOTH_WAYS_H

#include <stddef.h>

#include "network/network.h"

/*
 * What a ring leaves to `link[n]`, from position i to i+1 (mod n), where it sends both ways between
 * the same two ends: bandwidth_Bps = min(bandwidth_Bps, both_ways_Bps / links between them).
 *
 *   host  [n], as network_settle takes them. Ends are hosts; within a host, devices.
 *
 * Links without both_ways_Bps stay as they are. O(n log n).
 */
void both_ways_share(const long *host, size_t n, struct link *link);

#endif
