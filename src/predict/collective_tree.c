/*
 * Two binary trees over the hosts, each for half of the gradients: a host that is inside one is a
 * leaf of the other, so that both its directions are used. Within a host its devices form a chain
 * below the first.
 */
#include "predict/collective.h"

#include <stdlib.h>

enum { N_TREES = 2 };

static size_t lowest_bit(size_t number)
{
    return number & (~number + 1);
}

/*
 * The tree over numbers 0 to n - 1: number 0 is the root, odd ones are leaves, and the parent of
 * another is next to it with its lowest bit one higher, the upper one if there is.
 */
static size_t parent_of(size_t number, size_t n)
{
    size_t bit = lowest_bit(number), below = number - bit, above = below | (bit << 1);
    return above < n ? above : below;
}

/* The second tree is the first turned round, or on by one where n is odd: its inner hosts are the
 * first one's leaves. */
static size_t host_at(size_t number, size_t n, int tree)
{
    if (tree == 0)
        return number;
    return n % 2 == 0 ? n - 1 - number : (number + 1) % n;
}

struct depths {
    size_t *of; /* [n_devices], hops from the root */
    size_t most;
};

/* A device, up to its parent and down again; parents come before their children. */
static void join(struct ft_collective *c, size_t child, size_t parent, struct depths *depths)
{
    collective_add(c, child, parent, 1.0 / N_TREES);
    collective_add(c, parent, child, 1.0 / N_TREES);
    depths->of[child] = depths->of[parent] + 1;
    if (depths->of[child] > depths->most)
        depths->most = depths->of[child];
}

static void join_hosts(struct ft_collective *c, int tree, struct depths *depths)
{
    const struct groups *hosts = &c->hosts;
    size_t n = hosts->n, bit = 1;
    depths->of[hosts->member[hosts->first[host_at(0, n, tree)]]] = 0;
    while (bit < n)
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        for (size_t number = bit; number < n; number += 2 * bit) {
            size_t host = host_at(number, n, tree);
            size_t above = host_at(parent_of(number, n), n, tree);
            join(c, hosts->member[hosts->first[host]], hosts->member[hosts->first[above]], depths);
        }
    }
}

static void join_chains(struct ft_collective *c, struct depths *depths)
{
    const struct groups *hosts = &c->hosts;
    for (size_t h = 0; h < hosts->n; h++) {
        for (size_t k = hosts->first[h] + 1; k < hosts->first[h + 1]; k++)
            join(c, hosts->member[k], hosts->member[k - 1], depths);
    }
}

bool collective_tree(struct ft_collective *c, char *message)
{
    (void)message;
    size_t n = c->n_devices;
    struct depths depths = {calloc(n, sizeof *depths.of), 0};
    c->failed = c->failed || !depths.of;
    for (int tree = 0; tree < N_TREES && !c->failed; tree++) {
        join_hosts(c, tree, &depths);
        join_chains(c, &depths);
    }
    c->tree_depth = depths.most;
    free(depths.of);
    collective_end_phase(c, PHASE_TREES, 1);
    collective_describe(c, (struct ft_collective_stage){"all-reduce", N_TREES, n, n, 0.5});
    return true;
}
