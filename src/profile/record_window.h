/* The iterations that count, rank by rank: what all ranks of a sub-system have in common. */
#ifndef FORETRAIN_PROFILE_RECORD_WINDOW_H
#define FORETRAIN_PROFILE_RECORD_WINDOW_H

#include "profile/record.h"

struct record_window {
    const struct record *record; /* [n_ranks], by rank */
    size_t n_ranks;
    const struct record_iteration **iteration; /* [n_ranks][n_iterations], counted ones only */
    size_t n_iterations;
    size_t n_left_out; /* iterations of first..last that do not count */
};

/*
 * Finds the iterations of first..last that count: those that no rank marks as edge, profiled or not
 * counted. Fails when a rank lacks iterations or has one twice, and when none is left.
 */
bool record_window_make(struct arena *arena, const struct record *record, size_t n,
                        struct record_window *window, struct error *e);

/* All of them, rank by rank: 0 <= k < n_ranks * n_iterations. */
const struct record_iteration *record_window_at(const struct record_window *window, size_t k);
size_t record_window_size(const struct record_window *window);

#endif
