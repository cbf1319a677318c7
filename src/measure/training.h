/* Running sub-systems: starting their ranks, watching them, and ending them all, well or not. */
#ifndef FORETRAIN_MEASURE_TRAINING_H
#define FORETRAIN_MEASURE_TRAINING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "measure/progress.h"
#include "measure/subsystem.h"

/*
 * Trains `subsystem[n]` at the same time until each rank's record is complete. They meet: they
 * record only when all are ready, and each trains on until all are complete. Their folders are made
 * anew. Sets their addresses, ports and meeting.
 *
 *   worker   absolute folder of the worker
 *
 * Fails (ERROR_HOST) when a rank fails, stalls or takes too long, or the user interrupts; then
 * nothing runs any more. Records and outputs stay for a look, except after an interrupt.
 */
bool training_run(struct launcher *launcher, struct subsystem *subsystem, size_t n,
                  const char *worker, const struct progress *progress, struct error *e);

#endif
