/* Links between device types, for systems whose devices nobody has placed yet. */
#ifndef FORETRAIN_PLAN_CLASS_LINKS_H
#define FORETRAIN_PLAN_CLASS_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "job/job.h"
#include "network/network.h"

/* LINK_UNKNOWN where neither the network nor a class has a value. */
struct class_links {
    size_t n_types;
    struct link *across, *within; /* [n_types][n_types], from row to column: across hosts, on one */
    bool
        worst_measured; /* some are the least bandwidth and the longest latency of a network file */
};

/* What the network has for devices of the job's types, else the job's classes. `network` may be
 * NULL. O(n_devices log n + n^2) for n names. */
struct class_links class_links_find(struct arena *arena, const struct network *network,
                                    const struct job *job);

/* The link from one type to another. */
const struct link *class_link(const struct class_links *classes, int from, int to, bool within);

#endif
