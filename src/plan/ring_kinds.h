/* Devices that can stand for each other in a ring: of one type, with the same links. */
#ifndef FORETRAIN_PLAN_RING_KINDS_H
#define FORETRAIN_PLAN_RING_KINDS_H

#include <stdint.h>

#include "base/arena.h"
#include "job/job.h"
#include "network/network.h"

struct ring_kind {
    int type;
    long host;           /* number of the host that all are on; NETWORK_ALONE: each is on its own */
    size_t first, other; /* devices; the same where there is but one */
    size_t count;
};

struct ring_kinds {
    struct ring_kind *kind; /* [n], by first device */
    size_t n;
    uint32_t *of; /* [n_devices], kind of each device */
    long n_hosts; /* host numbers are below it */
};

/*
 * The kinds of a job's devices: those of a type that neither hosts nor the network file tell apart,
 * and those of a type on one host that neither the network file nor a topology does. O(N log N).
 */
void ring_kinds_find(struct arena *arena, const struct job *job, const struct network *network,
                     struct ring_kinds *kinds);

#endif
