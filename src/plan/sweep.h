/* Many systems at once: every combination of values that some quantities of a job are given. */
#ifndef FORETRAIN_PLAN_SWEEP_H
#define FORETRAIN_PLAN_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "plan/quantity.h"
#include "plan/what_if.h"

enum { SWEEP_MOST_AXES = 6, SWEEP_MOST_SYSTEMS = 10000000 };

struct sweep_axis {
    struct quantity quantity;
    double *value; /* [n], SI */
    size_t n;
};

/* Of several parts that machines work on: number `number` of `n`, from 1; {1, 1}: the whole. */
struct sweep_part {
    size_t number, n;
};

struct sweep {
    const struct what_if *what_if;
    struct sweep_axis axis[SWEEP_MOST_AXES]; /* the last one changes fastest */
    size_t n_axes;
    size_t n_systems; /* in all parts */
    struct sweep_part part;
    size_t first, n;         /* the part's own systems */
    struct outcome *outcome; /* [n] */
};

/* What is best of a whole sweep; SWEEP_NONE: nothing has that. */
#define SWEEP_NONE ((size_t)-1)
struct sweep_best {
    size_t fastest;  /* shortest total, else step; the first of equals */
    size_t cheapest; /* least cost, then shortest total */
    size_t *front;   /* [n_front], no other is faster and no dearer, by time; malloc'ed */
    size_t n_front;
};

/* Reads "PATH=VALUES" into the next axis. */
bool sweep_add_axis(struct arena *arena, const struct job *job, const char *text,
                    struct sweep *sweep, struct error *e);

/* Whether an axis changes how many devices of a type there are. */
bool sweep_varies_counts(const struct sweep *sweep);

/* Counts the systems and takes the part's share of them: as even as can be, in order. */
bool sweep_take_part(struct sweep *sweep, struct sweep_part part, struct error *e);

/*
 * Forecasts the part's systems on all processors, into `outcome`, which it makes in the arena. The
 * same at any number of threads. Fails naming the first system that cannot be forecast.
 */
bool sweep_run(struct arena *arena, struct what_if *what_if, struct sweep *sweep, struct error *e);

/* Value of an axis in a system, counted over all parts. */
double sweep_value(const struct sweep *sweep, size_t system, size_t axis);

/* "a100.count = 100, training.epochs = 90". */
const char *sweep_name(struct arena *arena, const struct sweep *sweep, size_t system);

/* Of a sweep that is whole. O(n log n). */
struct sweep_best sweep_best(const struct sweep *sweep);

#endif
