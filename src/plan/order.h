/* The ring order with the smallest step (docs/model.md, "Ring order"). */
#ifndef FORETRAIN_PLAN_ORDER_H
#define FORETRAIN_PLAN_ORDER_H

#include "predict/forecast.h"

/* More kinds of devices than this are not put in order. */
enum { ORDER_MOST_KINDS = 2000 };

struct order_value {
    const size_t *ring;       /* [n_devices], device at each position */
    double step_s;            /* at mean times, uplinks shared */
    size_t n_between_types;   /* hops from a device to one of another type */
    size_t n_between_hosts;   /* and to one on another host */
    size_t n_sharing;         /* hops that share a host's uplink with others */
    struct forecast forecast; /* of the job with this order */
};

struct order {
    struct order_value listed, best; /* best is listed where nothing is better */
    double bound_s;                  /* at mean times, no order's step is below */
    bool optimal;                    /* best's step is as small as any order's */
    bool all_tried;                  /* that is known from trying all that could be better */
    size_t n_devices, n_kinds;
    size_t n_hosts;        /* with a device; each device without a host name is on its own */
    const char *backend;   /* that is to keep the order; NULL: types have different ones */
    const size_t *by_rank; /* [n_devices], device of each rank; the caller's to set */
    double n_pairs,
        n_unknown;       /* pairs of kinds, and those without a bandwidth, which are not used */
    bool together_known; /* links were measured beside others: for the ring of that time only */
};

/*
 * Finds an order of a job's devices by `model`. Orders are compared at mean times; the one found
 * and the listed one are forecast as well. Fails as forecast_make, for more than ORDER_MOST_KINDS
 * kinds, and for fewer than two devices. At most a few seconds for 1,000 devices with any matrix.
 */
bool order_find(struct arena *arena, const struct job *job, const struct profile *profile,
                const struct network *network, enum forecast_model model, struct order *order,
                struct error *e);

#endif
