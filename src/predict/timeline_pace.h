/* The ring's own clock, which runs slower while devices compute (docs/model.md, "The timeline"). */
#ifndef FORETRAIN_PREDICT_TIMELINE_PACE_H
#define FORETRAIN_PREDICT_TIMELINE_PACE_H

#include <stdbool.h>
#include <stddef.h>

#include "predict/timeline_walk.h"

/* When a device that communicates slower while it computes stops to. */
struct timeline_computing {
    double until_s;
    size_t position;
};

/* Beyond so many, those that stop at nearly the same time are taken together. */
enum { TIMELINE_MOST_SORTED = 4096 };

/* Devices that stop to compute at nearly the same time: what their rounds cost, and the sum of
 * their times. */
struct timeline_stop {
    double slowest_s, longer_s, until_s;
    size_t n;
};

/*
 * From its time on, until the next of them, the ring's own clock shows `clock_s` and runs with
 * `speed` seconds a second.
 */
struct timeline_pace {
    double from_s, clock_s, speed;
};

/* What rounds cost: the slowest device's staying, or all devices' passing on, added up. */
struct round_costs {
    double slowest_s, sum_s;
};

/* A chunk from position i, into `stay_s` and `pass_s` of struct ring_paths. */
void timeline_cost_chunk(const struct timeline_walk *w, size_t i, double chunk_bytes, bool busy,
                         double *stay_s, double *pass_s);

/* When the device at a position has computed, what messages cost it included. */
double timeline_computes_until_s(const struct timeline_walk *w, size_t i);

/* Into w->slowed: those that feed the ring slower or later while they compute; latest first where
 * they are few. */
void timeline_find_slowed(struct timeline_walk *w);

/* The same devices, after they have computed for longer. */
void timeline_update_slowed(struct timeline_walk *w);

/* Into w->pace: the clock, for chunks that cost `idle` when nobody computes. */
void timeline_find_paces(struct timeline_walk *w, double chunk_bytes, struct round_costs idle);

double timeline_clock_at(const struct timeline_walk *w, double time_s);
double timeline_time_at(const struct timeline_walk *w, double clock_s);

#endif
