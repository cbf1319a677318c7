/* The training data of the sub-systems: drawn, linked, dropped from the page cache. */
#ifndef FORETRAIN_MEASURE_SUBSYSTEM_DATA_H
#define FORETRAIN_MEASURE_SUBSYSTEM_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/draw.h"
#include "measure/progress.h"
#include "measure/subsystem.h"

/* What was drawn for all types of a job. */
struct subsystem_data {
    struct data_set set;
    struct draw_share *share; /* [sum of n_devices], type by type; NULL: nothing is drawn */
    size_t *first;            /* [n_types], of each type's shares */
    size_t *n_devices;        /* [n_types] */
    bool pooled; /* preset: the types have one folder for all their devices, of one full system */
};

/*
 * Draws for the devices of all `wanted` types from the job's one seeded order, and links what is
 * drawn for the `due` ones below `run`/data; sets their `type[t]`. Says how many passes over its
 * data a type makes until the window is measured, where one is too few. Nothing is drawn where the
 * model opens its data itself. Fails where the set is too small or cannot be read.
 */
bool subsystem_data_draw(struct arena *arena, const struct job *job, const bool *wanted,
                         const bool *due, const char *run, const struct progress *progress,
                         struct subsystem_data *data, struct subsystem_type *type, struct error *e);

/* Drops the drawn files of a type from the page cache, unless the job wants them warm; says what
 * stayed. */
void subsystem_data_cool(const struct job *job, const struct subsystem_data *data, int type,
                         const struct progress *progress);

#endif
