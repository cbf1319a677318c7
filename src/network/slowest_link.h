/* Links whose rate varies from time to time: a ring waits for the slowest. */
#ifndef FORETRAIN_NETWORK_SLOWEST_LINK_H
#define FORETRAIN_NETWORK_SLOWEST_LINK_H

#include <stddef.h>

#include "network/network.h"

/*
 * The rate that a ring of `link[n]` gets in the mean: the time of a byte, c = 1 / bandwidth_Bps, is
 * taken as normal with mean c and deviation spread * c, each link by itself, and the ring as slow
 * as its slowest. All links that vary become slower by the same factor
 *
 *   E[ max over i of c_i (1 + spread_i z_i) ] / max over i of c_i
 *
 * Links without spread stay as they are. O(n log n).
 */
void slowest_link_expect(struct link *link, size_t n);

#endif
