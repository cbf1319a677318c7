#include "simulated_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

#include "simulated_platform.h"

enum { MOST_DEVICES = 1024 };

/* Actors have no argument but text; they find the steps here. */
static struct simulated_step all;
static sg_sem_t entered[MOST_DEVICES];

static sg_mailbox_t mailbox_of(size_t device)
{
    char name[32];
    snprintf(name, sizeof name, "m%zu", device);
    return sg_mailbox_by_name(name);
}

static void all_reduce(size_t i, double bucket_bytes)
{
    static char payload;
    size_t n = all.timeline->n_devices, next = (i + 1) % n;
    long chunk_bytes = lround(bucket_bytes / (double)n);
    sg_mailbox_t to = mailbox_of(next), own = mailbox_of(i);
    sg_sem_release(entered[i]);
    sg_sem_acquire(entered[next]);
    for (size_t round = 0; round < 2 * (n - 1); round++) {
        sg_comm_t sent = sg_mailbox_put_async(to, &payload, chunk_bytes);
        sg_mailbox_get(own);
        sg_comm_wait(sent);
    }
}

static void take_step(size_t i, const struct ft_timeline_type *type)
{
    double backward_s = simgrid_get_clock() + type->forward_s;
    for (size_t b = 0; b < all.timeline->n_buckets; b++) {
        simulated_sleep_until(backward_s + type->ready_s[b]);
        all_reduce(i, all.timeline->bucket_bytes[b]);
    }
    simulated_sleep_until(backward_s + type->backward_s);
    sg_actor_sleep_for(type->optimizer_s + type->rest_s + type->load_s);
}

static void run_device(int argc, char *argv[])
{
    size_t i = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, n = all.timeline->n_devices;
    char name[32];
    snprintf(name, sizeof name, "m%zu", i);
    sg_mailbox_set_receiver(name);
    sg_actor_yield();
    for (size_t k = 0; k <= all.n_steps; k++) {
        all.begin_s[k * n + i] = simgrid_get_clock();
        if (k < all.n_steps)
            take_step(i, &all.timeline->type[all.timeline->type_of[i]]);
    }
}

bool simulated_step_make(const struct simulated_step *step)
{
    all = *step;
    size_t n = all.timeline->n_devices;
    if (n > MOST_DEVICES || !simulated_platform_ring(all.timeline->link, n))
        return false;
    for (size_t i = 0; i < n; i++)
        entered[i] = sg_sem_init(0);
    simulated_start(n, run_device);
    return true;
}

void simulated_step_run(void)
{
    simgrid_run();
}
