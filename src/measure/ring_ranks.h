/* Which rank of a training stands at which position of the ring. */
#ifndef FORETRAIN_MEASURE_RING_RANKS_H
#define FORETRAIN_MEASURE_RING_RANKS_H

/*
 * The rank at a position of a ring of `n` devices, in which the device at each position sends to
 * the one at the next. gloo's ring sends from rank r to r-1, so its ranks run against the ring;
 * with other backends they run along it, and the backend builds its own ring.
 *
 *   n_first   how many of the first positions get the lowest ranks, 1 to n: with the first host's
 *             devices together the ranks of each host are; position 0 is rank n_first - 1 then
 *
 * docs/model.md, "Positions and ranks".
 */
int ring_rank(const char *backend, int n, int n_first, int position);

#endif
