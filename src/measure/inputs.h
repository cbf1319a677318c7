/* The facts that a measurement depends on, kept in its profile: what changed is measured again. */
#ifndef FORETRAIN_MEASURE_INPUTS_H
#define FORETRAIN_MEASURE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/subsystem.h"
#include "profile/profile.h"

struct inputs {
    struct profile_input *item; /* [n] */
    size_t n, capacity;
};

/*
 * All facts of a device type's measurement in a sub-system: model, code, data, window, hosts,
 * Python, worker. Fails when a script or the worker cannot be read. `worker` is its folder.
 */
bool inputs_collect(struct arena *arena, const struct subsystem *subsystem, int type,
                    const char *worker, struct inputs *inputs, struct error *e);

/* One fact more. */
void inputs_add(struct arena *arena, struct inputs *inputs, const char *key, const char *value);

/*
 * What differs between then and now, "batch 16 -> 32, train.py changed"; NULL where nothing does.
 * Order does not count.
 */
char *inputs_difference(struct arena *arena, const struct profile_input *then, size_t n_then,
                        const struct profile_input *now, size_t n_now);

#endif
