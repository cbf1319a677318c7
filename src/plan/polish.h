/* A ring with fewer dear hops: whole stretches of it change places. */
#ifndef FORETRAIN_PLAN_POLISH_H
#define FORETRAIN_PLAN_POLISH_H

#include "plan/bottleneck.h"

/*
 * Exchanges two neighbouring stretches of `ring[n_nodes]` as long as that makes the dearest of the
 * three hops that change cheaper, or with the same dearest the next; the dearest hops of the ring
 * are tried first. Ends where nothing helps, or after `most_looks` looks at an exchange.
 */
void polish_ring(const struct hops *hops, uint32_t *ring, size_t most_looks);

#endif
