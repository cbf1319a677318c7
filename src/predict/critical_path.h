/*
 * What a step waits for: the chain of stages, each begun when the one before it ended, that is as
 * long as the steps (docs/model.md, "The critical path").
 */
#ifndef FORETRAIN_PREDICT_CRITICAL_PATH_H
#define FORETRAIN_PREDICT_CRITICAL_PATH_H

#include <stddef.h>

#include "base/arena.h"
#include "foretrain.h"
#include "predict/step_record.h"

enum path_stage {
    PATH_LOADING,
    PATH_FORWARD,
    PATH_BACKWARD,
    PATH_ALL_REDUCE,
    PATH_OPTIMIZER,
    PATH_REST,
    N_PATH_STAGES
};

/* "loading", "forward", ... */
const char *path_stage_name(enum path_stage stage);

struct path_piece {
    enum path_stage stage;
    size_t position; /* of the device; all-reduce: of the sender on the slowest link on the way
                        around the ring, of the last to enter another collective */
    size_t bucket;   /* all-reduce */
    double from_s, to_s;
};

struct critical_path {
    struct path_piece *piece; /* [n], latest first */
    size_t n;
    size_t n_steps; /* that it is long */
};

/*
 * From the end of the last recorded step back until it is at a device where it was before: then it
 * goes on in turns, and one turn takes n_steps times the mean step. All recorded steps where it
 * does not. O(steps * buckets * devices) at the most.
 */
struct critical_path critical_path_find(struct arena *arena, const struct ft_timeline *timeline,
                                        const struct step_record *record);

#endif
