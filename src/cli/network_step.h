/* The step of a run that makes its network known. */
#ifndef FORETRAIN_CLI_NETWORK_STEP_H
#define FORETRAIN_CLI_NETWORK_STEP_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/workspace.h"

/*
 * Measures the bandwidth into the run's folder, unless the job names a network file, or each link
 * of the ring has a value already and it is not to be measured `again`. A system without hosts has
 * nothing to measure.
 */
bool network_step(struct workspace *w, bool again, struct error *e);

#endif
