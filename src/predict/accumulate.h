/*
 * A step of another number of micro-batches than was measured (gradient accumulation).
 *
 * docs/model.md, "Batches".
 */
#ifndef FORETRAIN_PREDICT_ACCUMULATE_H
#define FORETRAIN_PREDICT_ACCUMULATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

/*
 * The profile of a step of `micro_batches` (whole, at least 1), from one of m: forward, copy and
 * the wait for data grow as they do; backward calls that no all-reduce follows take what those took
 * that were measured, or, where m = 1, what the one did. All else stays. The same number: the
 * profile as it is.
 *
 * Fails where m = 1 and the profile does not say what its backward pass takes by itself.
 */
bool accumulate_profile(struct arena *arena, const struct profile *profile, double micro_batches,
                        struct profile *out, struct error *e);

#endif
