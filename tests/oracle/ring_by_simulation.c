/*
 * The closed form's ring against SimGrid, an event simulator that shares nothing with it: N actors,
 * each on a host of its own with a link of its own to the next, pass on 2(N-1) chunks of S/N.
 *
 * Usage: ring_by_simulation N. Exits with 0 where all agree to 1e-9, relative.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include "foretrain.h"

enum { MOST_DEVICES = 1000 };
static const long CHUNK_BYTES = 1000000000;
static const double FORWARD_S = 0.75, FIRST_BACKWARD_S = 0.125;

struct simulation {
    int n_devices;
    double done_s[MOST_DEVICES];
};

/* Actors have no argument but text; they find the simulation here. */
static struct simulation simulation;

/* Unequal on purpose, and the slowest somewhere within: 0.5 to 1.74 GB/s. */
static double bandwidth_of(int i)
{
    return 0.5e9 * (1 + 0.04 * ((i * 7919 + 11) % 32) + 1e-4 * i);
}

static void run_device(int argc, char *argv[])
{
    int i = argc > 1 ? atoi(argv[1]) : 0, n = simulation.n_devices;
    char mailbox[2][16];
    snprintf(mailbox[0], sizeof mailbox[0], "m%d", (i + 1) % n);
    snprintf(mailbox[1], sizeof mailbox[1], "m%d", i);
    sg_mailbox_t next = sg_mailbox_by_name(mailbox[0]), own = sg_mailbox_by_name(mailbox[1]);
    static char payload;
    sg_actor_sleep_for(FORWARD_S + FIRST_BACKWARD_S);
    for (int round = 0; round < 2 * (n - 1); round++) {
        sg_comm_t sent = sg_mailbox_put_async(next, &payload, CHUNK_BYTES);
        sg_mailbox_get(own);
        sg_comm_wait(sent);
    }
    simulation.done_s[i] = simgrid_get_clock();
}

static void write_platform(FILE *file, int n)
{
    fputs("<?xml version='1.0'?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"ring\" routing=\"Full\">\n",
          file);
    for (int i = 0; i < n; i++)
        fprintf(file, "<host id=\"h%d\" speed=\"1Gf\"/>\n", i);
    for (int i = 0; i < n; i++)
        fprintf(file, "<link id=\"l%d\" bandwidth=\"%.17gBps\" latency=\"0s\"/>\n", i,
                bandwidth_of(i));
    for (int i = 0; i < n; i++)
        fprintf(
            file,
            "<route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\"><link_ctn id=\"l%d\"/></route>\n", i,
            (i + 1) % n, i);
    fputs("</zone>\n</platform>\n", file);
}

static bool load_platform(int n)
{
    char path[] = "/tmp/foretrain-platform-XXXXXX.xml";
    int fd = mkstemps(path, (int)strlen(".xml"));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return false;
    write_platform(file, n);
    bool ok = fclose(file) == 0;
    if (ok)
        simgrid_load_platform(path);
    remove(path);
    return ok;
}

static double simulate(int n)
{
    simulation.n_devices = n;
    for (int i = 0; i < n; i++) {
        char name[16], index[16];
        snprintf(name, sizeof name, "h%d", i);
        snprintf(index, sizeof index, "%d", i);
        const char *argv[] = {name, index, NULL};
        sg_actor_create_(name, sg_host_by_name(name), run_device, 2, argv);
    }
    simgrid_run();
    double last_s = 0;
    for (int i = 0; i < n; i++)
        last_s = fmax(last_s, simulation.done_s[i]);
    return last_s;
}

static bool closed_form(int n, double *step_s)
{
    static int type[MOST_DEVICES];
    static double bandwidth_Bps[MOST_DEVICES];
    for (int i = 0; i < n; i++)
        bandwidth_Bps[i] = bandwidth_of(i);
    struct ft_device_type device = {.forward_s = FORWARD_S, .first_backward_s = FIRST_BACKWARD_S};
    struct ft_ring ring = {(size_t)n, type, bandwidth_Bps, (double)CHUNK_BYTES * n};
    struct ft_step_forecast step;
    char message[FT_MESSAGE_SIZE];
    if (!ft_closed_form(&device, 1, &ring, NULL, &step, message)) {
        fprintf(stderr, "%s\n", message);
        return false;
    }
    *step_s = step.step_s;
    return true;
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    int n = argc > 1 ? atoi(argv[1]) : 0;
    double forecast_s = 0;
    if (n < 2 || n > MOST_DEVICES) {
        fprintf(stderr, "usage: ring_by_simulation N, 2 to %d\n", MOST_DEVICES);
        return 2;
    }
    if (!closed_form(n, &forecast_s) || !load_platform(n))
        return 2;
    double simulated_s = simulate(n), error = forecast_s / simulated_s - 1;
    printf("ring of %d: closed form %.12g s, SimGrid %.12g s, relative difference %.2g\n", n,
           forecast_s, simulated_s, error);
    return fabs(error) <= 1e-9 ? 0 : 1;
}
