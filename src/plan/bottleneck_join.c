/* Cycles of a cover become one ring by exchanging the ends of two hops (Karp, 1979). */
#include <math.h>
#include <stdbool.h>

#include "plan/bottleneck.h"

struct cycles {
    const struct hops *hops;
    uint32_t *kind;  /* [n_nodes], of a node */
    uint32_t *next;  /* [n_nodes], the node that it hops to */
    uint32_t *cycle; /* [n_nodes], the cycle that it is in */
    uint32_t *size;  /* [n], of a cycle; 0: joined to another */
    size_t n;
};

static size_t wrapped(size_t number, size_t count)
{
    return number < count ? number : number - count;
}

/*
 * Nodes of a kind are numbered in a row. Hops within a kind go from its first nodes to the next
 * each; the nodes left over hop to others, and are hopped to, in their order.
 */
static void lay_out(struct cycles *c, struct arena *scratch, const struct hop_cover *cover)
{
    size_t n = c->hops->n, node = 0;
    size_t *first = ARENA_ARRAY(scratch, n, size_t), *taken = ARENA_ARRAY(scratch, n, size_t);
    for (size_t k = 0; k < n; k++) {
        first[k] = node;
        taken[k] = cover->n_hops[k * n + k] + 1;
        for (size_t i = 0; i < c->hops->count[k]; i++)
            c->kind[node++] = (uint32_t)k;
    }
    for (size_t k = 0; k < n; k++) {
        size_t within = cover->n_hops[k * n + k], from = first[k];
        for (size_t i = 0; i < within; i++)
            c->next[from++] = (uint32_t)(first[k] + wrapped(i + 1, c->hops->count[k]));
        for (size_t to = 0; to < n; to++) {
            for (uint32_t i = 0; to != k && i < cover->n_hops[k * n + to]; i++)
                c->next[from++] = (uint32_t)(first[to] + wrapped(taken[to]++, c->hops->count[to]));
        }
    }
}

static void number_cycles(struct cycles *c)
{
    const uint32_t none = UINT32_MAX;
    for (size_t i = 0; i < c->hops->n_nodes; i++)
        c->cycle[i] = none;
    for (size_t i = 0; i < c->hops->n_nodes; i++) {
        if (c->cycle[i] != none)
            continue;
        for (size_t node = i; c->cycle[node] == none; node = c->next[node]) {
            c->cycle[node] = (uint32_t)c->n;
            c->size[c->n]++;
        }
        c->n++;
    }
}

static size_t smallest_cycle(const struct cycles *c)
{
    size_t smallest = c->n;
    for (size_t i = 0; i < c->n; i++) {
        if (c->size[i] > 0 && (smallest == c->n || c->size[i] < c->size[smallest]))
            smallest = i;
    }
    return smallest;
}

static double hop_s(const struct cycles *c, size_t from, size_t to)
{
    return c->hops->cost_s[c->kind[from] * c->hops->n + c->kind[to]];
}

/* The hops a -> b of the cycle and c -> d of another become a -> d and c -> b. */
static void exchange(struct cycles *c, size_t a, size_t other)
{
    uint32_t joined = c->cycle[a], into = c->cycle[other], b = c->next[a];
    for (size_t node = a; c->cycle[node] == joined; node = c->next[node])
        c->cycle[node] = into;
    c->size[into] += c->size[joined];
    c->size[joined] = 0;
    c->next[a] = c->next[other];
    c->next[other] = b;
}

static void join_cycle(struct cycles *c, size_t cycle)
{
    size_t start = 0, best_a = 0, best_other = 0;
    double best_s = INFINITY;
    bool found = false;
    while (c->cycle[start] != cycle)
        start++;
    size_t a = start;
    do {
        for (size_t other = 0; other < c->hops->n_nodes; other++) {
            if (c->cycle[other] == cycle)
                continue;
            double cost_s = fmax(hop_s(c, a, c->next[other]), hop_s(c, other, c->next[a]));
            if (found && cost_s >= best_s)
                continue;
            best_s = cost_s;
            best_a = a;
            best_other = other;
            found = true;
        }
        a = c->next[a];
    } while (a != start);
    exchange(c, best_a, best_other);
}

void bottleneck_join(const struct hops *hops, const struct hop_cover *cover, uint32_t *ring)
{
    struct arena scratch = {0};
    size_t n = hops->n_nodes, node = 0;
    struct cycles c = {.hops = hops,
                       .kind = ARENA_ARRAY(&scratch, n, uint32_t),
                       .next = ARENA_ARRAY(&scratch, n, uint32_t),
                       .cycle = ARENA_ARRAY(&scratch, n, uint32_t),
                       .size = ARENA_ARRAY(&scratch, n, uint32_t)};
    lay_out(&c, &scratch, cover);
    number_cycles(&c);
    for (size_t joins = c.n; joins > 1; joins--)
        join_cycle(&c, smallest_cycle(&c));
    for (size_t i = 0; i < n; i++, node = c.next[node])
        ring[i] = c.kind[node];
    arena_free(&scratch);
}
