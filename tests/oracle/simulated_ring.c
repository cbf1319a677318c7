/* A ring all-reduce in SimGrid, which shares nothing with foretrain but the question. */
#include "simulated_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

/* Actors have no argument but text; they find the ring here. */
static struct simulated_ring ring;

static sg_mailbox_t mailbox_of(size_t device)
{
    char name[32];
    snprintf(name, sizeof name, "m%zu", device);
    return sg_mailbox_by_name(name);
}

static void sleep_until(double time_s)
{
    if (time_s > simgrid_get_clock())
        sg_actor_sleep_for(time_s - simgrid_get_clock());
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
        sleep_until(ring.ready_s[b * ring.n_devices + i]);
        all_reduce(next, own, ring.chunk_bytes[b]);
    }
    ring.end_s[i] = simgrid_get_clock();
}

static void write_platform(FILE *file)
{
    size_t n = ring.n_devices;
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"ring\" routing=\"Full\">\n",
          file);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "<host id=\"h%zu\" speed=\"1Gf\"/>\n", i);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "<link id=\"l%zu\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n", i,
                ring.link[i].bandwidth_Bps, ring.link[i].latency_s);
    for (size_t i = 0; i < n; i++)
        fprintf(file,
                "<route src=\"h%zu\" dst=\"h%zu\" symmetrical=\"NO\"><link_ctn id=\"l%zu\"/>"
                "</route>\n",
                i, (i + 1) % n, i);
    fputs("</zone>\n</platform>\n", file);
}

static bool load_platform(void)
{
    char path[] = "/tmp/foretrain-platform-XXXXXX.xml";
    int fd = mkstemps(path, (int)strlen(".xml"));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    write_platform(file);
    bool ok = fclose(file) == 0;
    if (ok)
        simgrid_load_platform(path);
    remove(path);
    return ok;
}

bool simulated_ring_make(const struct simulated_ring *made)
{
    ring = *made;
    if (!load_platform())
        return false;
    for (size_t i = 0; i < ring.n_devices; i++) {
        char name[32], index[32];
        snprintf(name, sizeof name, "h%zu", i);
        snprintf(index, sizeof index, "%zu", i);
        const char *argv[] = {name, index, NULL};
        sg_actor_create_(name, sg_host_by_name(name), run_device, 2, argv);
    }
    return true;
}

void simulated_ring_run(void)
{
    simgrid_run();
}
