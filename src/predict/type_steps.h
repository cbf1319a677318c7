/* The steps of a device type as the timeline takes them, out of its profile. */
#ifndef FORETRAIN_PREDICT_TYPE_STEPS_H
#define FORETRAIN_PREDICT_TYPE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "foretrain.h"
#include "profile/profile.h"

struct type_steps {
    struct ft_timeline_type mean; /* its ceilings are INFINITY: the caller's to fit */
    struct ft_timeline_samples samples;
    bool sampled;         /* false: samples is the mean, once */
    const double *done_s; /* [n_buckets], when it and all before it were, means; NULL: not known */
    double n_prefetched;  /* mini-batches that the loader makes ahead */
};

/* Gradients' buckets of a ring: what all of its devices all-reduce. */
struct ring_buckets {
    double *bytes; /* [n] */
    size_t n;
    const struct profile *from; /* the first profile that has them, with when they were ready */
};

/* What a step's mini-batches take the loader: its interval; where that is not known, as from a
 * trace, the wait for data, which is a lower bound. */
double type_loading_s(const struct profile *profile);

/* NULL, or why they are not known: profiles have none, or other ones than each other. */
const char *ring_buckets_find(struct arena *arena, const struct profile *profile, int n_types,
                              struct ring_buckets *buckets);

/* NULL, or which stage the profile does not hold. */
const char *type_steps_make(struct arena *arena, const struct profile *profile,
                            const struct ring_buckets *buckets, struct type_steps *steps);

#endif
