/*
 * Rings within each vendor reduce and scatter; a device hands its shard to those of the other
 * vendors that hold the same part of the gradients; rings within each vendor then all-reduce what
 * its devices hold by now (FlagCX).
 */
#include "predict/collective.h"

static void add_rings(struct ft_collective *c)
{
    const struct groups *vendors = &c->vendors;
    for (size_t v = 0; v < vendors->n; v++) {
        size_t size = groups_size(vendors, v);
        collective_add_ring(c, vendors->member + vendors->first[v], size, 1 / (double)size);
    }
}

/*
 * Shard k of n is from k/n to (k+1)/n, so that two partitions are walked together. In units of
 * 1/(n m) the ends are whole numbers.
 */
static void exchange_between(struct ft_collective *c, size_t from, size_t to)
{
    const struct groups *vendors = &c->vendors;
    const size_t *sender = vendors->member + vendors->first[from];
    const size_t *receiver = vendors->member + vendors->first[to];
    size_t n = groups_size(vendors, from), m = groups_size(vendors, to), at = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        size_t own_end = (i + 1) * m, other_end = (j + 1) * n;
        size_t end = own_end < other_end ? own_end : other_end;
        collective_add(c, sender[i], receiver[j], (double)(end - at) / (double)n / (double)m);
        i += end == own_end;
        j += end == other_end;
        at = end;
    }
}

static void describe(struct ft_collective *c)
{
    size_t n = c->vendors.n, fewest = groups_fewest(&c->vendors), most = groups_most(&c->vendors);
    if (n > 1) {
        collective_describe(c, (struct ft_collective_stage){"reduce-scatter", n, fewest, most, 1});
        collective_describe(
            c, (struct ft_collective_stage){"exchange", 1, c->n_devices, c->n_devices, 1});
    }
    collective_describe(c, (struct ft_collective_stage){"all-reduce", n, fewest, most, 1});
}

bool collective_bridge(struct ft_collective *c, char *message)
{
    (void)message;
    size_t n = c->vendors.n;
    add_rings(c);
    collective_end_phase(c, PHASE_RINGS, n > 1 ? 1 : 2);
    bool has_rings = c->n_phases > 0;
    for (size_t v = 0; v < n; v++) {
        for (size_t other = 0; other < n; other++) {
            if (other != v)
                exchange_between(c, v, other);
        }
    }
    collective_end_phase(c, PHASE_EXCHANGE, 1);
    if (has_rings && n > 1)
        collective_repeat(c, 0, 2);
    describe(c);
    return true;
}
