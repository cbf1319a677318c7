/*
 * Rings whose dearest hop is as cheap as can be (a bottleneck travelling salesman), where nodes
 * come in kinds: node to node costs what their kinds say.
 */
#ifndef FORETRAIN_PLAN_BOTTLENECK_H
#define FORETRAIN_PLAN_BOTTLENECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct hops {
    size_t n;             /* kinds */
    const size_t *count;  /* [n], nodes of each kind; at least 1 */
    size_t n_nodes;       /* their sum; at least 2 */
    const double *cost_s; /* [n][n] row-major, from kind to kind, on the diagonal between two nodes
                             of a kind; INFINITY: no hop */
};

/*
 * Nodes left over by nothing: how many hops go from each kind to each, so that every node has one
 * hop in and one out, the dearest as cheap as can be.
 */
struct hop_cover {
    uint32_t *n_hops; /* [n][n] */
    double dearest_s; /* INFINITY: there is none, and n_hops is incomplete */
};

/* A bottleneck assignment, by augmenting paths whose dearest hop is cheapest. O(n^2) a path. */
void bottleneck_cover(struct arena *arena, const struct hops *hops, struct hop_cover *cover);

/*
 * No ring has a cheaper dearest hop: the larger of the cover's, and of what it takes to get from
 * one kind to all others and back.
 */
double bottleneck_bound(const struct hops *hops, const struct hop_cover *cover);

/*
 * One ring out of a cover, [n_nodes] kinds: its cycles are joined, the smallest first, by the two
 * hops that are cheapest. O(n_nodes^2) to O(n_nodes^2 log n_nodes).
 */
void bottleneck_join(const struct hops *hops, const struct hop_cover *cover, uint32_t *ring);

#endif
