/* What a profile says of itself: names of stages, the same as in records, and what it lacks. */
#include "profile/profile.h"

#include <string.h>

const char *stage_key(enum stage stage)
{
    static const char *const key[N_STAGES] = {
        [STAGE_LOADER_INTERVAL] = "loader_interval_s",
        [STAGE_WAIT] = "wait_s",
        [STAGE_COPY] = "copy_s",
        [STAGE_FORWARD] = "forward_s",
        [STAGE_FIRST_BACKWARD] = "first_backward_s",
        [STAGE_BACKWARD] = "backward_s",
        [STAGE_BACKWARD_COMPUTE] = "backward_compute_s",
        [STAGE_BACKWARD_UNSYNCED] = "backward_unsynced_s",
        [STAGE_OPTIMIZER] = "optimizer_s",
        [STAGE_REST] = "rest_s",
        [STAGE_STEP] = "step_s",
    };
    return key[stage];
}

int profile_sampled(const struct profile *profile)
{
    return profile->n_sampled > 0 ? profile->n_sampled : profile->n_devices;
}

const char *profile_why_unknown(const struct profile *profile, const char *what)
{
    for (size_t i = 0; i < profile->n_unknown; i++) {
        if (strcmp(profile->unknown[i].what, what) == 0)
            return profile->unknown[i].why;
    }
    return NULL;
}
