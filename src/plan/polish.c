/*
 * The 3-opt exchange that reverses nothing, since links differ by direction: a|X|Y|.. becomes
 * a|Y|X|... Every exchange makes the ring's hops, dearest first, smaller in the order of words, so
 * it ends.
 */
#include "plan/polish.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct polish {
    const struct hops *hops;
    uint32_t *ring, *turned; /* [n_nodes] */
    size_t *position;        /* [n_nodes], by what the hop from there costs, dearest first */
    size_t *cheap; /* [n_nodes], ends of a second stretch that may stand before the first */
    size_t looks;  /* that are left */
};

struct dear_hop {
    double cost_s;
    size_t position;
};

static double hop_s(const struct polish *p, size_t from, size_t to)
{
    return p->hops->cost_s[p->ring[from] * p->hops->n + p->ring[to]];
}

static int dearest_first(const void *a, const void *b)
{
    const struct dear_hop *x = a, *y = b;
    if (x->cost_s != y->cost_s)
        return x->cost_s > y->cost_s ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void sort_positions(struct polish *p)
{
    size_t n = p->hops->n_nodes;
    struct dear_hop *hop = memory_resize(NULL, n, sizeof *hop);
    for (size_t i = 0; i < n; i++)
        hop[i] = (struct dear_hop){hop_s(p, i, (i + 1) % n), i};
    qsort(hop, n, sizeof *hop, dearest_first);
    for (size_t i = 0; i < n; i++)
        p->position[i] = hop[i].position;
    free(hop);
}

static void sort_three(double *value)
{
    static const int swap[3] = {0, 1, 0};
    for (size_t k = 0; k < 3; k++) {
        double *v = &value[swap[k]];
        double smaller = fmin(v[0], v[1]);
        v[0] = fmax(v[0], v[1]);
        v[1] = smaller;
    }
}

static bool is_cheaper(double *now, double *then)
{
    const double noticed = 1e-9;
    sort_three(now);
    sort_three(then);
    for (size_t k = 0; k < 3; k++) {
        if (then[k] < now[k] * (1 - noticed))
            return true;
        if (then[k] > now[k])
            return false;
    }
    return false;
}

/* The ring from position `start` on. */
static void turn(struct polish *p, size_t start)
{
    size_t n = p->hops->n_nodes;
    memcpy(p->turned, p->ring + start, (n - start) * sizeof *p->ring);
    memcpy(p->turned + (n - start), p->ring, start * sizeof *p->ring);
    memcpy(p->ring, p->turned, n * sizeof *p->ring);
}

/* Stretches [0, x) and [x, y) change places. */
static void exchange(struct polish *p, size_t x, size_t y)
{
    memcpy(p->turned, p->ring + x, (y - x) * sizeof *p->ring);
    memcpy(p->turned + (y - x), p->ring, x * sizeof *p->ring);
    memcpy(p->ring, p->turned, y * sizeof *p->ring);
}

static void look(struct polish *p, size_t n)
{
    p->looks -= n < p->looks ? n : p->looks;
}

/* Where the second stretch may end; all these hops go to the ring's first device. */
static size_t find_cheap_ends(struct polish *p, double limit_s)
{
    size_t n_cheap = 0;
    look(p, p->hops->n_nodes);
    for (size_t y = 2; y < p->hops->n_nodes; y++) {
        if (hop_s(p, y - 1, 0) <= limit_s)
            p->cheap[n_cheap++] = y;
    }
    return n_cheap;
}

/* The first exchange that takes the ring's last hop, from its end to its begin, away. */
static bool improve_last_hop(struct polish *p)
{
    size_t n = p->hops->n_nodes;
    double limit_s = hop_s(p, n - 1, 0);
    size_t n_cheap = find_cheap_ends(p, limit_s), first = 0;
    look(p, n);
    for (size_t x = 1; x + 1 < n && p->looks > 0; x++) {
        if (hop_s(p, n - 1, x) > limit_s)
            continue;
        while (first < n_cheap && p->cheap[first] <= x)
            first++;
        look(p, n_cheap - first);
        for (size_t k = first; k < n_cheap; k++) {
            size_t y = p->cheap[k];
            double now[] = {limit_s, hop_s(p, x - 1, x), hop_s(p, y - 1, y)};
            double then[] = {hop_s(p, n - 1, x), hop_s(p, y - 1, 0), hop_s(p, x - 1, y)};
            if (is_cheaper(now, then)) {
                exchange(p, x, y);
                return true;
            }
        }
    }
    return false;
}

static bool improve(struct polish *p)
{
    size_t n = p->hops->n_nodes, start = 0;
    sort_positions(p);
    for (size_t i = 0; i < n && p->looks > 0; i++) {
        size_t begin = (p->position[i] + 1) % n;
        turn(p, (begin + n - start) % n);
        start = begin;
        if (improve_last_hop(p))
            return true;
    }
    return false;
}

void polish_ring(const struct hops *hops, uint32_t *ring, size_t most_looks)
{
    struct arena scratch = {0};
    size_t n = hops->n_nodes;
    struct polish p = {.hops = hops,
                       .ring = ring,
                       .turned = ARENA_ARRAY(&scratch, n, uint32_t),
                       .position = ARENA_ARRAY(&scratch, n, size_t),
                       .cheap = ARENA_ARRAY(&scratch, n, size_t),
                       .looks = most_looks};
    while (n > 2 && improve(&p))
        ;
    arena_free(&scratch);
}
