/*
 * The bound: a ring gives every node one hop in and one out (the bottleneck assignment, which takes
 * in the cheapest hop of each node) and gets everywhere from anywhere.
 */
#include "plan/bottleneck.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A node makes no hop to itself. */
static double hop_s(const struct hops *hops, size_t from, size_t to)
{
    return from == to && hops->count[from] < 2 ? INFINITY : hops->cost_s[from * hops->n + to];
}

/* The cover so far, and one search for a path that gives one more node a hop out. */
struct search {
    const struct hops *hops;
    struct hop_cover *cover;
    size_t *out, *in; /* [n], nodes of each kind without a hop out, and in */
    double *reach_s;  /* [n], dearest hop of the cheapest path to a kind's hops in */
    size_t *from;     /* [n], the kind whose new hop gets there */
    bool *settled;    /* [n] */
    size_t *via;      /* [n], of a kind's hops out: the hop in that it would give up, or n */
    bool *used;       /* [n], whether its hops out have been looked at */
};

static void look_at_hops(struct search *s, size_t kind, double so_far_s)
{
    s->used[kind] = true;
    for (size_t to = 0; to < s->hops->n; to++) {
        double reach_s = fmax(so_far_s, hop_s(s->hops, kind, to));
        if (s->settled[to] || reach_s >= s->reach_s[to])
            continue;
        s->reach_s[to] = reach_s;
        s->from[to] = kind;
    }
}

static size_t settle_nearest(struct search *s)
{
    size_t n = s->hops->n, best = n;
    for (size_t to = 0; to < n; to++) {
        if (!s->settled[to] && s->reach_s[to] < (best < n ? s->reach_s[best] : INFINITY))
            best = to;
    }
    if (best < n)
        s->settled[best] = true;
    return best;
}

/* The kind at whose free hop in the path from `start` ends, or n. */
static size_t find_path(struct search *s, size_t start)
{
    size_t n = s->hops->n, to;
    for (size_t i = 0; i < n; i++) {
        s->reach_s[i] = INFINITY;
        s->settled[i] = s->used[i] = false;
        s->via[i] = n;
    }
    look_at_hops(s, start, s->cover->dearest_s);
    while ((to = settle_nearest(s)) < n && s->in[to] == 0) {
        for (size_t from = 0; from < n; from++) {
            if (s->used[from] || s->cover->n_hops[from * n + to] == 0)
                continue;
            s->via[from] = to;
            look_at_hops(s, from, s->reach_s[to]);
        }
    }
    return to;
}

/* How many nodes can take the path at once. */
static uint32_t path_width(const struct search *s, size_t start, size_t end)
{
    size_t n = s->hops->n, width = s->out[start] < s->in[end] ? s->out[start] : s->in[end];
    for (size_t from = s->from[end]; from != start; from = s->from[s->via[from]]) {
        uint32_t given_up = s->cover->n_hops[from * n + s->via[from]];
        width = given_up < width ? given_up : width;
    }
    return (uint32_t)width;
}

static void take_path(struct search *s, size_t start, size_t end)
{
    size_t n = s->hops->n, to = end;
    uint32_t width = path_width(s, start, end);
    s->cover->dearest_s = s->reach_s[end];
    s->out[start] -= width;
    s->in[end] -= width;
    for (;;) {
        size_t from = s->from[to];
        s->cover->n_hops[from * n + to] += width;
        if (from == start)
            return;
        to = s->via[from];
        s->cover->n_hops[from * n + to] -= width;
    }
}

/* The dearest of each kind's cheapest hops: no cover is cheaper. */
static double cheapest_hops_s(const struct hops *hops)
{
    double dearest_s = 0;
    for (size_t i = 0; i < hops->n; i++) {
        double out_s = INFINITY, in_s = INFINITY;
        for (size_t j = 0; j < hops->n; j++) {
            out_s = fmin(out_s, hop_s(hops, i, j));
            in_s = fmin(in_s, hop_s(hops, j, i));
        }
        dearest_s = fmax(dearest_s, fmax(out_s, in_s));
    }
    return dearest_s;
}

/* Hops that cost no more than the bound, first come, first served; within a kind before all. */
static void take_cheap_hops(struct search *s)
{
    size_t n = s->hops->n;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n && s->out[i] > 0; k++) {
            size_t to = (i + k) % n;
            size_t width = s->out[i] < s->in[to] ? s->out[i] : s->in[to];
            if (hop_s(s->hops, i, to) > s->cover->dearest_s)
                continue;
            s->cover->n_hops[i * n + to] += (uint32_t)width;
            s->out[i] -= width;
            s->in[to] -= width;
        }
    }
}

static void search_paths(struct search *s)
{
    for (size_t i = 0; i < s->hops->n; i++) {
        while (s->out[i] > 0) {
            size_t end = find_path(s, i);
            if (end == s->hops->n) {
                s->cover->dearest_s = INFINITY;
                return;
            }
            take_path(s, i, end);
        }
    }
}

void bottleneck_cover(struct arena *arena, const struct hops *hops, struct hop_cover *cover)
{
    size_t n = hops->n;
    struct arena scratch = {0};
    *cover = (struct hop_cover){ARENA_ARRAY(arena, n * n, uint32_t), cheapest_hops_s(hops)};
    struct search s = {.hops = hops,
                       .cover = cover,
                       .out = ARENA_ARRAY(&scratch, n, size_t),
                       .in = ARENA_ARRAY(&scratch, n, size_t),
                       .reach_s = ARENA_ARRAY(&scratch, n, double),
                       .from = ARENA_ARRAY(&scratch, n, size_t),
                       .settled = ARENA_ARRAY(&scratch, n, bool),
                       .via = ARENA_ARRAY(&scratch, n, size_t),
                       .used = ARENA_ARRAY(&scratch, n, bool)};
    memcpy(s.out, hops->count, n * sizeof *s.out);
    memcpy(s.in, hops->count, n * sizeof *s.in);
    take_cheap_hops(&s);
    search_paths(&s);
    arena_free(&scratch);
}

/* What the dearest hop costs on the way from kind 0 to all others (or back), each by the way on
 * which that is least (Prim, 1957). */
static double span_s(const struct hops *hops, bool back)
{
    size_t n = hops->n, last = 0;
    struct arena scratch = {0};
    double *reach_s = ARENA_ARRAY(&scratch, n, double), dearest_s = 0;
    bool *reached = ARENA_ARRAY(&scratch, n, bool);
    for (size_t i = 0; i < n; i++)
        reach_s[i] = INFINITY;
    for (size_t k = 1; k < n; k++) {
        size_t next = n;
        reached[last] = true;
        for (size_t i = 0; i < n; i++) {
            double cost_s = back ? hop_s(hops, i, last) : hop_s(hops, last, i);
            reach_s[i] = fmin(reach_s[i], cost_s);
            if (!reached[i] && (next == n || reach_s[i] < reach_s[next]))
                next = i;
        }
        dearest_s = fmax(dearest_s, reach_s[next]);
        last = next;
    }
    arena_free(&scratch);
    return dearest_s;
}

double bottleneck_bound(const struct hops *hops, const struct hop_cover *cover)
{
    return fmax(cover->dearest_s, fmax(span_s(hops, false), span_s(hops, true)));
}
