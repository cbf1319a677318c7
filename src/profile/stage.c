/* Names of the stages, the same in profiles and in the worker's records. */
#include "profile/profile.h"

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
