/*
 * The library's rings against SimGrid, an event simulator that shares nothing with it.
 *
 * Usage: ring_by_simulation closed-form|all-reduce N. Exits with 0 where all agree to 1e-9,
 * relative: `closed-form` the step of devices that start together, over links without latency;
 * `all-reduce` each device's end of three buckets, over links with latency, each device ready
 * with them at times of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "foretrain.h"
#include "simulated_platform.h"
#include "simulated_ring.h"

enum { MOST_DEVICES = 1000, N_BUCKETS = 3 };
static const long CHUNK_BYTES[N_BUCKETS] = {1000000000, 250000000, 1500000000};
static const double FORWARD_S = 0.75, FIRST_BACKWARD_S = 0.125, AGREED = 1e-9;

static struct ft_link link_of[MOST_DEVICES];
static double ready_s[N_BUCKETS][MOST_DEVICES], simulated_s[MOST_DEVICES];

/* Unequal on purpose, and the slowest somewhere within: 0.5 to 1.74 GB/s, up to 0.6 s. */
static void make_links(size_t n, bool with_latency)
{
    for (size_t i = 0; i < n; i++) {
        link_of[i].bandwidth_Bps =
            0.5e9 * (1 + 0.04 * (double)((i * 7919 + 11) % 32) + 1e-4 * (double)i);
        link_of[i].latency_s = with_latency ? 0.02 * (double)((i * 104729 + 5) % 31) : 0;
    }
}

static bool simulate(size_t n, size_t n_buckets)
{
    struct simulated_ring ring = {.n_devices = n,
                                  .link = link_of,
                                  .n_buckets = n_buckets,
                                  .chunk_bytes = CHUNK_BYTES,
                                  .end_s = simulated_s};
    double *ready = calloc(n, N_BUCKETS * sizeof *ready);
    if (!ready)
        return false;
    for (size_t b = 0; b < n_buckets; b++)
        memcpy(ready + b * n, ready_s[b], n * sizeof *ready);
    ring.ready_s = ready;
    bool ok = simulated_ring_make(&ring);
    if (ok)
        simulated_ring_run();
    free(ready);
    return ok;
}

static bool agrees(const char *what, size_t n, double forecast_s, double expected_s)
{
    double error = forecast_s / expected_s - 1;
    printf("ring of %zu: %s %.12g s, SimGrid %.12g s, relative difference %.2g\n", n, what,
           forecast_s, expected_s, error);
    return fabs(error) <= AGREED;
}

static double last_of(const double *value, size_t n)
{
    double last = 0;
    for (size_t i = 0; i < n; i++)
        last = fmax(last, value[i]);
    return last;
}

static bool closed_form_agrees(size_t n, char *message)
{
    static const int type[MOST_DEVICES];
    static double bandwidth_Bps[MOST_DEVICES];
    make_links(n, false);
    for (size_t i = 0; i < n; i++) {
        bandwidth_Bps[i] = link_of[i].bandwidth_Bps;
        ready_s[0][i] = FORWARD_S + FIRST_BACKWARD_S;
    }
    struct ft_device_type device = {.forward_s = FORWARD_S, .first_backward_s = FIRST_BACKWARD_S};
    struct ft_ring ring = {n, type, bandwidth_Bps, (double)CHUNK_BYTES[0] * (double)n};
    struct ft_step_forecast step;
    return ft_closed_form(&device, 1, &ring, NULL, &step, message) && simulate(n, 1) &&
           agrees("closed form", n, step.step_s, last_of(simulated_s, n));
}

/* Up to a few rounds apart, and one device so late that all wait for it. */
static void make_ready(size_t n)
{
    for (size_t b = 0; b < N_BUCKETS; b++) {
        for (size_t i = 0; i < n; i++)
            ready_s[b][i] = (double)b * 1.5 + 0.37 * (double)((i * 7907 + b * 31) % 17) +
                            (i == n / 3 ? 2 * (double)(n * b) : 0);
    }
}

static bool forecast_buckets(size_t n, double *end_s, char *message)
{
    double start_s[MOST_DEVICES];
    for (size_t b = 0; b < N_BUCKETS; b++) {
        for (size_t i = 0; i < n; i++)
            start_s[i] = fmax(ready_s[b][i], b > 0 ? end_s[i] : 0);
        double payload_bytes = (double)CHUNK_BYTES[b] * (double)n;
        if (!ft_ring_all_reduce(link_of, start_s, n, payload_bytes, 1, end_s, message))
            return false;
    }
    return true;
}

static bool all_reduce_agrees(size_t n, char *message)
{
    double end_s[MOST_DEVICES];
    size_t worst = 0;
    make_links(n, true);
    make_ready(n);
    if (!forecast_buckets(n, end_s, message) || !simulate(n, N_BUCKETS))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (fabs(end_s[i] / simulated_s[i] - 1) > fabs(end_s[worst] / simulated_s[worst] - 1))
            worst = i;
    }
    return agrees("worst of all devices' ends", n, end_s[worst], simulated_s[worst]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*agrees)(size_t n, char *message);
    } test[] = {{"closed-form", closed_form_agrees}, {"all-reduce", all_reduce_agrees}};
    const char *simgrid[] = {argv[0], SIMULATED_FLAGS, NULL};
    int n_flags = sizeof simgrid / sizeof *simgrid - 1;
    simgrid_init(&n_flags, (char **)simgrid);
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    for (size_t t = 0; n >= 2 && n <= MOST_DEVICES && t < sizeof test / sizeof *test; t++) {
        char message[FT_MESSAGE_SIZE] = "";
        if (strcmp(argv[1], test[t].name) != 0)
            continue;
        bool ok = test[t].agrees(n, message);
        fputs(message, stderr);
        return ok ? 0 : 1;
    }
    fprintf(stderr, "usage: ring_by_simulation closed-form|all-reduce N, 2 to %d\n", MOST_DEVICES);
    return 2;
}
