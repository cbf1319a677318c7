/*
 * Rings within hosts reduce and scatter, rings across hosts, one for each place on a host,
 * all-reduce what their devices hold, rings within hosts gather.
 */
#include "predict/collective.h"

#include "predict/refuse.h"

static void add_rings_within(struct ft_collective *c)
{
    const struct groups *hosts = &c->hosts;
    for (size_t h = 0; h < hosts->n; h++) {
        size_t size = groups_size(hosts, h);
        collective_add_ring(c, hosts->member + hosts->first[h], size, 1 / (double)size);
    }
}

static void add_rings_across(struct ft_collective *c, size_t places)
{
    const struct groups *hosts = &c->hosts;
    size_t n = hosts->n;
    for (size_t place = 0; place < places; place++) {
        for (size_t h = 0; n > 1 && h < n; h++) {
            size_t next = h + 1 < n ? h + 1 : 0;
            collective_add(c, hosts->member[hosts->first[h] + place],
                           hosts->member[hosts->first[next] + place], 1 / (double)c->n_devices);
        }
    }
}

static void describe(struct ft_collective *c, size_t places)
{
    size_t n = c->hosts.n;
    struct ft_collective_stage within = {"reduce-scatter", n, places, places, 1};
    struct ft_collective_stage across = {"all-reduce", places, n, n, 1 / (double)places};
    if (places > 1)
        collective_describe(c, within);
    if (n > 1)
        collective_describe(c, across);
    within.what = "all-gather";
    if (places > 1)
        collective_describe(c, within);
}

bool collective_hierarchical(struct ft_collective *c, char *message)
{
    size_t fewest = groups_fewest(&c->hosts), places = groups_most(&c->hosts);
    if (fewest < places)
        return refuse(
            message,
            "hierarchical needs as many devices on each host, but one has %zu and another "
            "%zu",
            fewest, places);
    add_rings_within(c);
    collective_end_phase(c, PHASE_RINGS, 1);
    add_rings_across(c, places);
    collective_end_phase(c, PHASE_RINGS, 2);
    if (places > 1)
        collective_repeat(c, 0, 1);
    describe(c, places);
    return true;
}
