/* A device type's profile for another batch than the one that it was measured with. */
#ifndef FORETRAIN_PLAN_BATCH_PROFILE_H
#define FORETRAIN_PLAN_BATCH_PROFILE_H

#include "base/arena.h"
#include "profile/profile.h"

/*
 * The profile as it would be with `batch` samples: loading, copying, forward and backward in
 * proportion, optimizer and rest as measured. Means only, nothing measured of a whole step, and no
 * times when buckets are done (docs/model.md, "Another batch"). The measured batch gives the
 * profile itself.
 */
struct profile batch_profile_scaled(struct arena *arena, const struct profile *measured,
                                    double batch);

#endif
