/*
 * What a step takes with a mini-batch that was not measured, from two or more that were.
 *
 * docs/model.md, "Batches".
 */
#ifndef FORETRAIN_PREDICT_BATCH_FIT_H
#define FORETRAIN_PREDICT_BATCH_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

struct batch_fit {
    const double *batch; /* [n], measured, ascending */
    size_t n;
    double wanted;
    bool measured;     /* `wanted` is one of them: its profile is taken as it is */
    bool extrapolated; /* `wanted` is below the smallest or above the largest */
    double error;      /* relative, of the time to compute a step */
    bool error_known;  /* false: two batches, whose profiles have no samples */
};

/*
 * The profile of a device type at a mini-batch of `batch` samples, from `profile[n]` of the same
 * sub-system at different ones, in any order: each stage and each bucket's times by a line between
 * the two batches beside it; outside of all of them on from the nearest, with the slope of the
 * least squares line through all. Samples are those of the nearest batch, scaled to the new mean.
 *
 *   out  its strings and samples are those of `profile`, or live in the arena
 *   fit  where the batch was not measured also `out->fit`, which is NULL where it was
 *
 * A single profile of that batch is returned as it is. Fails where a single one is of another
 * batch, two are of the same, or they differ in devices, loader workers, micro-batches or buckets;
 * where the fit comes to nothing (a time of 0 or below, far outside). O(n * samples).
 */
bool batch_profile(struct arena *arena, const struct profile *profile, size_t n, double batch,
                   struct profile *out, struct batch_fit *fit, struct error *e);

#endif
