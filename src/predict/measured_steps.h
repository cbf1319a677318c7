/* The steps that a type's sub-system was measured with, and how they vary. */
#ifndef FORETRAIN_PREDICT_MEASURED_STEPS_H
#define FORETRAIN_PREDICT_MEASURED_STEPS_H

#include <stddef.h>

#include "base/arena.h"
#include "profile/profile.h"

/* Seconds of each iteration's step, the mean over devices; NULL: not known by iteration. */
struct measured_steps {
    double *mean_s; /* [n] */
    size_t n;
};

struct measured_steps measured_steps_of(struct arena *arena, const struct profile *p);

/*
 * By how much the mean step of another run differs, as a relative standard deviation: by as much as
 * √n parts of this one's n iterations do (docs/model.md, "Spread"). 0 for fewer than 4.
 */
double measured_steps_between_runs(struct measured_steps steps);

#endif
