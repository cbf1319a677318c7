/* The processes that descend from our children, found again in /proc. */
#ifndef FORETRAIN_BASE_DESCENDANTS_H
#define FORETRAIN_BASE_DESCENDANTS_H

#include <stddef.h>

#include "base/child.h"

/* Descendants that were found; a zeroed struct holds none. */
struct descendants {
    pid_t *pid;
    size_t n;
    size_t capacity;
};

/*
 * Sends `signal` (0: none) to the living descendants of `child[n]`, the children themselves not
 * included, and adds them to `found`. They are known by parent, process group, session, or the
 * children's mark in their environment. Returns how many are alive, those in the middle of an exec
 * included that cannot be told yet. Cost: one pass over /proc.
 */
size_t descendants_signal(const struct child *child, size_t n, int signal,
                          struct descendants *found);

/* Reaps those of `found` that ended and became our children when their parents died. */
void descendants_reap(const struct descendants *found);

void descendants_free(struct descendants *found);

#endif
