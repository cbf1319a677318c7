/* A ring all-reduce in SimGrid: an actor on a host for each device, a message for each chunk. */
#ifndef FORETRAIN_TESTS_SIMULATED_RING_H
#define FORETRAIN_TESTS_SIMULATED_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"

struct simulated_ring {
    size_t n_devices;
    const struct ft_link *link; /* [n_devices] */
    size_t n_buckets;           /* all-reduced one after the other */
    const double *ready_s;      /* [n_buckets][n_devices], when a device can begin with it */
    const long *chunk_bytes;    /* [n_buckets], of what is all-reduced over n_devices */
    double *end_s;              /* [n_devices], out */
};

/*
 * Makes the hosts, links and actors of one ring; after simgrid_init, once in a process. A message
 * leaves when its sender is ready, whether or not its receiver waits for it.
 */
bool simulated_ring_make(const struct simulated_ring *ring);

/* Runs it: end_s of each device. */
void simulated_ring_run(void);

#endif
