/* Parts of a profile that take more than a mean over ranks: buckets, operators, notes. */
#ifndef FORETRAIN_PROFILE_MERGE_H
#define FORETRAIN_PROFILE_MERGE_H

#include "profile/profile.h"
#include "profile/record_window.h"

/* What the reader of the forecast must know, each sentence once. */
struct merge_notes {
    struct arena *arena;
    const char **line; /* [n] */
    size_t n, capacity;
};

__attribute__((format(printf, 2, 3))) void merge_note(struct merge_notes *notes, const char *format,
                                                      ...);

/*
 * Buckets of the most frequent set, in their order, with their times' samples device by device.
 * Notes how many iterations had other sets; fails when a rank never has it.
 */
bool merge_buckets(struct arena *arena, const struct record_window *window,
                   struct merge_notes *notes, struct profile *profile, struct error *e);

/*
 * Operators over all ranks by index and name, and how much slower the step was under the profiler;
 * above 10 % the operators' times are divided by that, and a note says so.
 */
void merge_operators(struct arena *arena, const struct record_window *window,
                     struct merge_notes *notes, struct profile *profile);

#endif
