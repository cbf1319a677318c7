/*
 * The library's collectives against SimGrid, an event simulator that shares nothing with it.
 *
 * Usage: collective_by_simulation KIND N pairs|ports. Exits with 0 where each device's end agrees
 * to 1e-6, relative. `pairs`: unequal links and starts, each pair with a link of its own, as fast
 * as the ports that its ends share leave it; `ports`: equal links and starts, over shared links out
 * of and into each host, among which SimGrid divides them as it will.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "simulated_collective.h"
#include "simulated_platform.h"

enum { MOST_DEVICES = 64, GROUP = 4 };
static const double AGREED = 1e-6, NEAR = 0.06;

static struct ft_link link_of[MOST_DEVICES * MOST_DEVICES];
static int group_of[MOST_DEVICES];
static double start_s[MOST_DEVICES], simulated_s[MOST_DEVICES], forecast_s[MOST_DEVICES];

/* The payload takes 8 s over the slowest link, 2 s over the fastest; latencies to 0.6 s. */
static void make_system(struct simulated_collective *c, bool equal)
{
    size_t n = c->n_devices;
    double slowest_Bps = (double)c->payload_bytes / 8;
    for (size_t k = 0; k < n * n; k++) {
        double faster = equal ? 1 : 1 + 0.1 * (double)((k * 7919 + 11) % 31);
        link_of[k].bandwidth_Bps = slowest_Bps * faster;
        link_of[k].latency_s =
            equal ? (c->kind == FT_TREE ? 0 : 0.01) : 0.02 * (double)((k * 104729 + 5) % 31);
    }
    for (size_t i = 0; i < n; i++)
        start_s[i] = equal ? 0 : 0.37 * (double)((i * 7907) % 17) + (i == n / 3 ? 20 : 0);
}

/* Hosts of four; vendors of uneven sizes, but for shared ports. */
static void make_groups(const struct simulated_collective *c)
{
    size_t n = c->n_devices, first = c->shared_ports ? n / 2 : n / 3 + 1;
    for (size_t i = 0; i < n; i++)
        group_of[i] = c->kind == FT_HIERARCHICAL ? (int)(i / GROUP) : i >= first;
}

static bool forecast(const struct simulated_collective *c, char *message)
{
    const int *host_of = c->kind == FT_HIERARCHICAL ? group_of : NULL;
    size_t n_pairs = 0;
    struct ft_collective *made =
        ft_collective_make(c->kind, c->n_devices, host_of, group_of, message);
    if (!made)
        return false;
    const struct ft_pair *pair = ft_collective_pairs(made, &n_pairs);
    struct ft_link *link = calloc(n_pairs + 1, sizeof *link);
    for (size_t k = 0; link && k < n_pairs; k++)
        link[k] = link_of[pair[k].from * c->n_devices + pair[k].to];
    bool ok = link && ft_collective_all_reduce(made, link, start_s, (double)c->payload_bytes,
                                               forecast_s, message);
    ft_collective_free(made);
    free(link);
    return ok;
}

static bool agrees(const struct simulated_collective *c)
{
    size_t worst = 0;
    for (size_t i = 0; i < c->n_devices; i++) {
        if (fabs(forecast_s[i] / simulated_s[i] - 1) >
            fabs(forecast_s[worst] / simulated_s[worst] - 1))
            worst = i;
    }
    double error = forecast_s[worst] / simulated_s[worst] - 1;
    printf("%s of %zu: worst of all devices' ends %.12g s, SimGrid %.12g s, relative difference "
           "%.2g\n",
           ft_collective_name(c->kind), c->n_devices, forecast_s[worst], simulated_s[worst], error);
    return fabs(error) <= (c->kind == FT_TREE && c->shared_ports ? NEAR : AGREED);
}

static bool find_kind(const char *name, enum ft_collective_kind *kind)
{
    for (int k = FT_TREE; k <= FT_BRIDGE; k++) {
        *kind = (enum ft_collective_kind)k;
        if (strcmp(ft_collective_name(*kind), name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *simgrid[] = {argv[0], SIMULATED_FLAGS, NULL};
    int n_flags = sizeof simgrid / sizeof *simgrid - 1;
    simgrid_init(&n_flags, (char **)simgrid);
    struct simulated_collective c = {.group_of = group_of,
                                     .link = link_of,
                                     .start_s = start_s,
                                     .end_s = simulated_s,
                                     .n_devices = argc > 2 ? strtoul(argv[2], NULL, 10) : 0};
    char message[FT_MESSAGE_SIZE] = "";
    if (argc < 4 || c.n_devices < 2 || c.n_devices > MOST_DEVICES || !find_kind(argv[1], &c.kind)) {
        fprintf(stderr, "usage: collective_by_simulation KIND N pairs|ports, N 2 to %d\n",
                MOST_DEVICES);
        return 2;
    }
    c.shared_ports = strcmp(argv[3], "ports") == 0;
    c.payload_bytes = c.kind == FT_TREE ? 2 * 40 * 65536 : 1000000000000;
    make_system(&c, c.shared_ports);
    make_groups(&c);
    bool ok = forecast(&c, message) && simulated_collective_run(&c) && agrees(&c);
    fputs(message, stderr);
    return ok ? 0 : 1;
}
