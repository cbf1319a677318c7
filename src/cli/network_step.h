/* The step of a run that makes its network known. */
#ifndef FORETRAIN_CLI_NETWORK_STEP_H
#define FORETRAIN_CLI_NETWORK_STEP_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/workspace.h"
#include "measure/bandwidth.h"

/*
 * Measures the bandwidth into the run's folder, unless the job names a network file, or each link
 * of the ring has a value already and the command line asks for nothing more. A system without
 * hosts has nothing to measure.
 */
bool network_step(struct workspace *w, const struct options *options, struct error *e);

/* What that would measure, without asking any host. */
bool network_plan(struct workspace *w, const struct options *options, struct bandwidth_plan *plan,
                  struct error *e);

#endif
