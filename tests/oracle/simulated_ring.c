/* A ring all-reduce in SimGrid, which shares nothing with foretrain but the question. */
#include "simulated_ring.h"

#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>

#include "simulated_platform.h"

/* Actors have no argument but text; they find the ring here. */
static struct simulated_ring ring;

static sg_mailbox_t mailbox_of(size_t device)
{
    char name[32];
    snprintf(name, sizeof name, "m%zu", device);
    return sg_mailbox_by_name(name);
}

static void all_reduce(sg_mailbox_t next, sg_mailbox_t own, long chunk_bytes)
{
    static char payload;
    for (size_t round = 0; round < 2 * (ring.n_devices - 1); round++) {
        sg_comm_t sent = sg_mailbox_put_async(next, &payload, chunk_bytes);
        sg_mailbox_get(own);
        sg_comm_wait(sent);
    }
}

static void run_device(int argc, char *argv[])
{
    size_t i = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    sg_mailbox_t next = mailbox_of((i + 1) % ring.n_devices), own = mailbox_of(i);
    char name[32];
    snprintf(name, sizeof name, "m%zu", i);
    sg_mailbox_set_receiver(name);
    sg_actor_yield();
    for (size_t b = 0; b < ring.n_buckets; b++) {
        simulated_sleep_until(ring.ready_s[b * ring.n_devices + i]);
        all_reduce(next, own, ring.chunk_bytes[b]);
    }
    ring.end_s[i] = simgrid_get_clock();
}

bool simulated_ring_make(const struct simulated_ring *made)
{
    ring = *made;
    if (!simulated_platform_ring(ring.link, ring.n_devices))
        return false;
    simulated_start(ring.n_devices, run_device);
    return true;
}

void simulated_ring_run(void)
{
    simgrid_run();
}
