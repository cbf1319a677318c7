/* Links of one ring that leave the same host, or enter it. */
#ifndef FORETRAIN_NETWORK_UPLINKS_H
#define FORETRAIN_NETWORK_UPLINKS_H

#include <stddef.h>

#include "network/network.h"

/*
 * What hosts' uplinks leave to `link[n]`, from position i to i+1 (mod n): where k > 1 of them leave
 * the sender's host, or enter the receiver's, bandwidth_Bps / k, and uplink_hops is k.
 *
 *   host  [n], as network_settle takes them
 *
 * Links that were measured beside others, as those with together_Bps or a curve were, stay as they
 * are. O(n).
 */
void uplinks_share(const long *host, size_t n, struct link *link);

#endif
