/* The search for an order, on kinds of devices: what hops cost, and what a whole order takes. */
#ifndef FORETRAIN_PLAN_ORDER_SEARCH_H
#define FORETRAIN_PLAN_ORDER_SEARCH_H

#include <stdbool.h>

#include "plan/bottleneck.h"
#include "plan/mean_ring.h"
#include "plan/ring_kinds.h"

struct order_search {
    struct mean_ring ring;
    struct ring_kinds kinds;
    const struct link *link; /* [kinds.n][kinds.n], LINK_UNKNOWN: no value */
    struct hops least;       /* of a hop: mean_ring_device_s, which no step is below */
    struct hops chunks;      /* of a hop: mean_ring_chunks_s */
    double bound_s;          /* no order is better */
    uint32_t *best;          /* [n_devices] kinds by position */
    double best_s;
    /* For trying an order: */
    int *type_of;         /* [n_devices] */
    struct link *link_of; /* [n_devices], to the next position */
    long *host_of;        /* [n_devices] */
    struct ft_link *sent; /* [n_devices], link_of as the step takes it */
    size_t n_sharing;     /* hops of the order tried last that share an uplink */
    size_t n_tried, most_tries;
};

/*
 * Seconds of a step with an order of kinds, INFINITY where a link of it has no value.
 */
double order_step_s(struct order_search *search, const uint32_t *order);

/* Takes an order where it is better than the best. */
bool order_try(struct order_search *search, const uint32_t *order);

/* The best order is as good as the bound. */
bool order_is_proven(const struct order_search *search);

enum { ORDER_MOST_EXHAUSTED = 9 };

/* Tries all orders but those that begin as badly as the best one is. For up to ORDER_MOST_EXHAUSTED
 * devices. */
void order_exhaust(struct order_search *search);

/* Moves one device, or a few together, to another place as long as that helps the whole step and
 * tries are left. */
void order_improve(struct order_search *search);

#endif
