/*
 * Where an order comes from: the listed one, hosts in one piece, and a ring joined from the
 * cheapest hops, each also polished. What a whole step takes decides between them, and moves on
 * from the best.
 */
#include "plan/order.h"

#include <math.h>
#include <string.h>

#include "plan/order_search.h"
#include "plan/polish.h"
#include "plan/ring_only.h"
#include "predict/parts.h"

enum { MOST_LOOKS = 20000000, MOST_JOINED = 20000 };

struct finder {
    struct arena *arena;
    const struct job *job;
    const struct network *network;
    struct order_search search;
    struct hop_cover least, chunks; /* by what the search's hops of that name cost */
    struct order *order;
};

static bool check_size(const struct job *job, const struct ring_kinds *kinds, struct error *e)
{
    const char *file = job->file ? job->file : "job";
    if (job->n_devices < 2)
        error_set(e, ERROR_INPUT, "%s: one device has no ring to put in order", file);
    else if (kinds->n > ORDER_MOST_KINDS)
        error_set(e, ERROR_INPUT,
                  "%s: %zu of the %zu devices differ in type, host or links; at most %d can be put "
                  "in order",
                  file, kinds->n, job->n_devices, ORDER_MOST_KINDS);
    else
        return true;
    return false;
}

static void read_links(struct finder *f)
{
    const struct ring_kinds *kinds = &f->search.kinds;
    size_t n = kinds->n;
    struct link *link = ARENA_ARRAY(f->arena, n * n, struct link);
    size_t *from = ARENA_ARRAY(f->arena, n, size_t), *to = ARENA_ARRAY(f->arena, n, size_t);
    for (size_t k = 0; k < n; k++) {
        from[k] = kinds->kind[k].first;
        to[k] = kinds->kind[k].other;
    }
    network_links(f->network, f->job, from, to, n, link);
    for (size_t i = 0; i < n * n; i++) {
        bool is_pair = i / n != i % n || kinds->kind[i / n].count > 1;
        f->order->n_pairs += is_pair;
        f->order->n_unknown += is_pair && link[i].source == LINK_UNKNOWN;
        f->order->together_known = f->order->together_known || link[i].together_Bps > 0;
    }
    f->search.link = link;
}

static struct hops make_hops(struct finder *f, double *cost_s)
{
    const struct ring_kinds *kinds = &f->search.kinds;
    size_t *count = ARENA_ARRAY(f->arena, kinds->n, size_t);
    for (size_t k = 0; k < kinds->n; k++)
        count[k] = kinds->kind[k].count;
    return (struct hops){kinds->n, count, f->job->n_devices, cost_s};
}

static void cost_hops(struct finder *f)
{
    struct order_search *s = &f->search;
    size_t n = s->kinds.n;
    double *least_s = ARENA_ARRAY(f->arena, n * n, double);
    double *chunks_s = ARENA_ARRAY(f->arena, n * n, double);
    for (size_t i = 0; i < n * n; i++) {
        const struct link *link = &s->link[i];
        bool known = link->source != LINK_UNKNOWN;
        int type = s->kinds.kind[i / n].type;
        struct ft_link as_sent = forecast_as_link(link, mean_ring_idle_Bps(&s->ring, type));
        least_s[i] = known ? mean_ring_device_s(&s->ring, type, as_sent) : INFINITY;
        chunks_s[i] = known ? mean_ring_chunks_s(&s->ring, type, as_sent) : INFINITY;
    }
    s->least = make_hops(f, least_s);
    s->chunks = make_hops(f, chunks_s);
}

static double sum_of_cheapest_s(const struct hops *hops)
{
    double sum_s = 0;
    for (size_t i = 0; i < hops->n; i++) {
        double cheapest_s = INFINITY;
        for (size_t j = 0; j < hops->n; j++) {
            if (i != j || hops->count[i] > 1)
                cheapest_s = fmin(cheapest_s, hops->cost_s[i * hops->n + j]);
        }
        sum_s += (double)hops->count[i] * cheapest_s;
    }
    return sum_s;
}

/*
 * A device waits until what it sent has been all around, on the way over the slowest hop, and stays
 * there for the rounds that are left: N - 2 of 2(N - 1).
 */
static double bound_by_turns(const struct order_search *s, double slowest_s)
{
    double around_s = 0;
    for (size_t k = 0; k < s->kinds.n; k++)
        around_s = fmax(around_s, mean_ring_around_s(&s->ring, s->kinds.kind[k].type));
    return around_s + sum_of_cheapest_s(&s->chunks) + ((double)s->ring.n_devices - 2) * slowest_s;
}

/* Both bounds are of the whole step; each has a cover that comes near it. */
static void find_bound(struct finder *f)
{
    struct order_search *s = &f->search;
    bottleneck_cover(f->arena, &s->least, &f->least);
    s->bound_s = bottleneck_bound(&s->least, &f->least);
    if (s->ring.model == MODEL_CLOSED_FORM)
        return;
    bottleneck_cover(f->arena, &s->chunks, &f->chunks);
    s->bound_s = fmax(s->bound_s, bound_by_turns(s, bottleneck_bound(&s->chunks, &f->chunks)));
}

static uint32_t *listed_order(struct finder *f)
{
    uint32_t *order = ARENA_ARRAY(f->arena, f->job->n_devices, uint32_t);
    for (size_t i = 0; i < f->job->n_devices; i++)
        order[i] = f->search.kinds.of[job_ring_device(f->job, i)];
    return order;
}

/* Kinds one after the other, those on one host together. */
static uint32_t *order_by_hosts(struct finder *f)
{
    const struct ring_kinds *kinds = &f->search.kinds;
    uint32_t *order = ARENA_ARRAY(f->arena, f->job->n_devices, uint32_t);
    bool *placed = ARENA_ARRAY(f->arena, kinds->n, bool);
    size_t n = 0;
    for (size_t first = 0; first < kinds->n; first++) {
        for (uint32_t k = (uint32_t)first; k < kinds->n; k++) {
            long host = kinds->kind[first].host;
            bool together = k == first || (host != NETWORK_ALONE && host == kinds->kind[k].host);
            for (size_t i = 0; together && !placed[k] && i < kinds->kind[k].count; i++)
                order[n++] = k;
            placed[k] = placed[k] || together;
        }
    }
    return order;
}

static void try_polished(struct finder *f, const struct hops *by, uint32_t *order)
{
    if (order_is_proven(&f->search))
        return;
    order_try(&f->search, order);
    polish_ring(by, order, MOST_LOOKS);
    order_try(&f->search, order);
}

static void try_joined(struct finder *f, const struct hops *hops, const struct hop_cover *cover)
{
    if (f->job->n_devices > MOST_JOINED || order_is_proven(&f->search))
        return;
    uint32_t *order = ARENA_ARRAY(f->arena, f->job->n_devices, uint32_t);
    bottleneck_join(hops, cover, order);
    try_polished(f, hops, order);
}

static void search_orders(struct finder *f)
{
    struct order_search *s = &f->search;
    bool closed_form = s->ring.model == MODEL_CLOSED_FORM;
    try_polished(f, closed_form ? &s->least : &s->chunks, order_by_hosts(f));
    try_joined(f, &s->least, &f->least);
    if (!closed_form)
        try_joined(f, &s->chunks, &f->chunks);
    if (order_is_proven(s))
        return;
    f->order->all_tried = f->job->n_devices <= ORDER_MOST_EXHAUSTED;
    if (f->order->all_tried)
        order_exhaust(s);
    else
        order_improve(s);
}

/* As many tries as take about a second. */
static size_t tries_for(size_t n_devices)
{
    return 10 + 30000 / n_devices;
}

static void start_search(struct finder *f)
{
    struct order_search *s = &f->search;
    size_t n = f->job->n_devices;
    s->type_of = ARENA_ARRAY(f->arena, n, int);
    s->link_of = ARENA_ARRAY(f->arena, n, struct link);
    s->host_of = ARENA_ARRAY(f->arena, n, long);
    s->sent = ARENA_ARRAY(f->arena, n, struct ft_link);
    s->most_tries = tries_for(n);
    s->best = listed_order(f);
    s->best_s = order_step_s(s, s->best);
}

/*
 * Devices for an order of kinds: those of a kind in their listed order, and the ring begins with
 * the listed one's first.
 */
static size_t *place_devices(struct finder *f, const uint32_t *order)
{
    const struct job *job = f->job;
    const struct ring_kinds *kinds = &f->search.kinds;
    size_t n = job->n_devices, start = 0;
    size_t *ring = ARENA_ARRAY(f->arena, n, size_t), *queue = ARENA_ARRAY(f->arena, n, size_t);
    size_t *next = ARENA_ARRAY(f->arena, kinds->n + 1, size_t);
    size_t *first = ARENA_ARRAY(f->arena, kinds->n + 1, size_t);
    for (size_t k = 0; k < kinds->n; k++)
        first[k + 1] = next[k + 1] = first[k] + kinds->kind[k].count;
    for (size_t i = 0; i < n; i++) {
        size_t device = job_ring_device(job, i);
        queue[next[kinds->of[device]]++] = device;
    }
    while (order[start] != kinds->of[job_ring_device(job, 0)])
        start++;
    for (size_t i = 0; i < n; i++)
        ring[i] = queue[first[order[(start + i) % n]]++];
    return ring;
}

/* `order` is that of the value's ring. */
static void describe(struct finder *f, const uint32_t *order, struct order_value *value)
{
    struct order_search *s = &f->search;
    size_t n = f->job->n_devices;
    value->step_s = order_step_s(s, order);
    value->n_sharing = s->n_sharing;
    for (size_t i = 0; i < n; i++) {
        const struct ring_kind *a = &s->kinds.kind[order[i]];
        const struct ring_kind *b = &s->kinds.kind[order[(i + 1) % n]];
        value->n_between_types += a->type != b->type;
        value->n_between_hosts += a->host == NETWORK_ALONE || a->host != b->host;
    }
}

/* Hosts with several devices are in kinds of their own; their numbers go by name. */
static size_t count_hosts(const struct finder *f)
{
    const struct ring_kinds *kinds = &f->search.kinds;
    struct arena scratch = {0};
    bool *seen = ARENA_ARRAY(&scratch, (size_t)kinds->n_hosts, bool);
    size_t n = 0;
    for (size_t k = 0; k < kinds->n; k++) {
        const struct ring_kind *kind = &kinds->kind[k];
        n += kind->host == NETWORK_ALONE ? kind->count : !seen[kind->host];
        if (kind->host != NETWORK_ALONE)
            seen[kind->host] = true;
    }
    arena_free(&scratch);
    return n;
}

static const char *common_backend(const struct job *job)
{
    for (int t = 1; t < job->n_types; t++) {
        if (strcmp(job->type[t].backend, job->type[0].backend) != 0)
            return NULL;
    }
    return job->type[0].backend;
}

static size_t *listed_ring(struct finder *f)
{
    size_t *ring = ARENA_ARRAY(f->arena, f->job->n_devices, size_t);
    for (size_t i = 0; i < f->job->n_devices; i++)
        ring[i] = job_ring_device(f->job, i);
    return ring;
}

static bool forecast_best(struct finder *f, const struct profile *profile,
                          enum forecast_model model, struct error *e)
{
    struct order *order = f->order;
    uint32_t *listed = listed_order(f);
    order->listed.ring = order->best.ring = listed_ring(f);
    describe(f, listed, &order->listed);
    if (memcmp(listed, f->search.best, order->n_devices * sizeof *listed) == 0) {
        struct order_value same = order->listed;
        order->best = same;
        return true;
    }
    size_t *ring = place_devices(f, f->search.best);
    struct job job = *f->job;
    job.ring = ring;
    order->best.ring = ring;
    describe(f, f->search.best, &order->best);
    return forecast_make(f->arena, &job, profile, f->network, model, &order->best.forecast, e);
}

bool order_find(struct arena *arena, const struct job *job, const struct profile *profile,
                const struct network *network, enum forecast_model model, struct order *order,
                struct error *e)
{
    struct order made = {.n_devices = job->n_devices};
    struct finder f = {.arena = arena, .job = job, .network = network, .order = &made};
    struct order_search *s = &f.search;
    if (!ring_only(job, e) ||
        !forecast_make(arena, job, profile, network, model, &made.listed.forecast, e))
        return false;
    ring_kinds_find(arena, job, network, &s->kinds);
    if (!check_size(job, &s->kinds, e))
        return false;
    mean_ring_make(arena, job, profile, &made.listed.forecast, &s->ring);
    read_links(&f);
    cost_hops(&f);
    find_bound(&f);
    start_search(&f);
    search_orders(&f);
    made.n_kinds = s->kinds.n;
    made.n_hosts = count_hosts(&f);
    made.backend = common_backend(job);
    made.optimal = made.all_tried || order_is_proven(s);
    made.bound_s = made.all_tried ? s->best_s : fmin(s->bound_s, s->best_s);
    if (!forecast_best(&f, profile, model, e))
        return false;
    *order = made;
    return true;
}
