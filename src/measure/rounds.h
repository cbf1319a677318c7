/*
 * Rounds of measurements between hosts: which pairs may be measured at the same time.
 *
 * No host takes part twice in a round, so that no measurement disturbs another at its ends.
 */
#ifndef FORETRAIN_MEASURE_ROUNDS_H
#define FORETRAIN_MEASURE_ROUNDS_H

#include <stddef.h>

#include "base/arena.h"

/* Numbers of two hosts; the same one twice is a link within a host. */
struct host_pair {
    int from, to;
};

struct rounds {
    size_t *pair; /* [n_pairs], indices of the pairs, round by round */
    size_t n_pairs;
    size_t *first; /* [n_rounds + 1], where each round begins in `pair` */
    size_t n_rounds;
};

/*
 * Rounds for `pair[n_pairs]`, whose hosts are numbered from 0 to n_hosts - 1; a pair may be there
 * twice. All ordered pairs of N hosts take 2(N-1) rounds where N is even, 2N where it is odd; any
 * set takes at most 2d - 1, d being the most pairs that one host is in; a ring's neighbours 2 or 3.
 * Same input, same rounds. O(n_pairs + n_hosts) for all pairs, else O(n_pairs d / 64).
 */
void rounds_schedule(struct arena *arena, const struct host_pair *pair, size_t n_pairs, int n_hosts,
                     struct rounds *rounds);

#endif
