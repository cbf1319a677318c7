/* Whole steps of a timeline in SimGrid: an actor for each device, a message for each chunk. */
#ifndef FORETRAIN_TESTS_SIMULATED_STEP_H
#define FORETRAIN_TESTS_SIMULATED_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"

struct simulated_step {
    const struct ft_timeline *timeline; /* a ring; loading inside the step, no ceilings; buckets of
                                           a whole number of bytes a device */
    size_t n_steps;
    double *begin_s; /* [n_steps + 1][n_devices], out: when each device begins each step */
};

/* Makes hosts, links and actors; after simgrid_init, once in a process. A device sends a bucket
 * once the next one has entered it, too. */
bool simulated_step_make(const struct simulated_step *step);

void simulated_step_run(void);

#endif
