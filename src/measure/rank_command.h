/* What one process of a sub-system is started with: its arguments and its environment. */
#ifndef FORETRAIN_MEASURE_RANK_COMMAND_H
#define FORETRAIN_MEASURE_RANK_COMMAND_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/subsystem.h"

/*
 * The argument list of a rank, ended by NULL: the user's script or command with its arguments
 * filled in, or the worker's own loop. `worker` is the absolute folder of the worker. Fails where
 * an argument needs what the rank does not have.
 */
bool rank_arguments(struct arena *arena, const struct subsystem *subsystem, int rank,
                    const char *worker, const char *const **argv, struct error *e);

/*
 * The changes to our environment for a rank, as child_options.env: torchrun's variables, the
 * worker's, the type's own; a script that spawns its ranks gets no torchrun variables.
 */
const char *const *rank_environment(struct arena *arena, const struct subsystem *subsystem,
                                    int rank, const char *worker);

/* The variables of a device type alone, as child_options.env. */
const char *const *type_environment(struct arena *arena, const struct job_device_type *type);

#endif
