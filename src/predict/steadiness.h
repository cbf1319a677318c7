/* Whether a sub-system's steps stayed the same while they were counted. */
#ifndef FORETRAIN_PREDICT_STEADINESS_H
#define FORETRAIN_PREDICT_STEADINESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "profile/profile.h"

struct steadiness {
    bool known;     /* the profile has samples of its steps, at least 4 iterations */
    size_t n;       /* iterations */
    double *step_s; /* [n], mean over devices */
    double mean_s, first_s, second_s; /* of all, of the first and of the second half */
    double change;                    /* of the second half's mean against the first's, relative */
    double noise;                     /* two standard errors of that, relative */
    bool steady;                      /* the change is below 5 %, or no more than the noise */
};

struct steadiness steadiness_of(struct arena *arena, const struct profile *profile);

#endif
