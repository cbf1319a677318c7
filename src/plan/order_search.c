#include "plan/order_search.h"

#include <math.h>
#include <string.h>

#include "predict/parts.h"

/* False where a link has no value. */
static bool take_links(struct order_search *s, const uint32_t *order)
{
    size_t n = s->ring.n_devices;
    for (size_t i = 0; i < n; i++) {
        s->link_of[i] = s->link[order[i] * s->kinds.n + order[(i + 1) % n]];
        s->host_of[i] = s->kinds.kind[order[i]].host;
        s->type_of[i] = s->kinds.kind[order[i]].type;
        if (s->link_of[i].source == LINK_UNKNOWN)
            return false;
    }
    network_settle(s->host_of, n, s->link_of);
    return true;
}

double order_step_s(struct order_search *s, const uint32_t *order)
{
    size_t n = s->ring.n_devices;
    if (!take_links(s, order))
        return INFINITY;
    s->n_sharing = 0;
    for (size_t i = 0; i < n; i++) {
        s->n_sharing += s->link_of[i].uplink_hops > 0;
        s->sent[i] = forecast_as_link(&s->link_of[i], mean_ring_idle_Bps(&s->ring, s->type_of[i]));
    }
    return mean_ring_step_s(&s->ring, s->type_of, s->sent);
}

static const double NOTICED = 1e-9;

bool order_try(struct order_search *s, const uint32_t *order)
{
    double step_s = order_step_s(s, order);
    s->n_tried++;
    if (!(step_s < s->best_s * (1 - NOTICED)))
        return false;
    s->best_s = step_s;
    memcpy(s->best, order, s->ring.n_devices * sizeof *order);
    return true;
}

bool order_is_proven(const struct order_search *s)
{
    return s->best_s <= s->bound_s * (1 + NOTICED);
}

struct exhaust {
    struct order_search *search;
    size_t left[ORDER_MOST_EXHAUSTED]; /* devices of each kind that are not placed */
    uint32_t order[ORDER_MOST_EXHAUSTED];
};

static bool is_worth_it(const struct exhaust *x, size_t from, size_t to)
{
    const struct order_search *s = x->search;
    return s->least.cost_s[from * s->kinds.n + to] < s->best_s * (1 - NOTICED);
}

/* All ways to fill positions from `at` on; as deep as there are devices, nine at the most. */
static void fill(struct exhaust *x, size_t at)
{
    struct order_search *s = x->search;
    if (at == s->ring.n_devices) {
        if (is_worth_it(x, x->order[at - 1], x->order[0]))
            order_try(s, x->order);
        return;
    }
    for (uint32_t kind = 0; kind < s->kinds.n && !order_is_proven(s); kind++) {
        if (x->left[kind] == 0 || !is_worth_it(x, x->order[at - 1], kind))
            continue;
        x->left[kind]--;
        x->order[at] = kind;
        fill(x, at + 1);
        x->left[kind]++;
    }
}

void order_exhaust(struct order_search *s)
{
    struct exhaust x = {.search = s};
    for (size_t k = 0; k < s->kinds.n; k++)
        x.left[k] = s->kinds.kind[k].count;
    x.left[0]--;
    fill(&x, 1);
}

/* `order` with the stretch of `length` from `from` on moved on by `by` positions. */
static void move_stretch(const uint32_t *order, size_t n, size_t from, size_t length, size_t by,
                         uint32_t *moved)
{
    for (size_t i = 0; i < n; i++) {
        size_t to = i < length ? i + by : i < length + by ? i - length : i;
        moved[(from + to) % n] = order[(from + i) % n];
    }
}

/* The first move that helps; `moved` [n_devices] to work in. */
static bool improve_once(struct order_search *s, uint32_t *order, uint32_t *moved)
{
    size_t n = s->ring.n_devices;
    memcpy(order, s->best, n * sizeof *order);
    for (size_t length = 1; length <= n / 2; length++) {
        for (size_t from = 0; from < n; from++) {
            for (size_t by = 1; by + length < n; by++) {
                if (s->n_tried >= s->most_tries || order_is_proven(s))
                    return false;
                move_stretch(order, n, from, length, by, moved);
                if (order_try(s, moved))
                    return true;
            }
        }
    }
    return false;
}

void order_improve(struct order_search *s)
{
    struct arena scratch = {0};
    uint32_t *order = ARENA_ARRAY(&scratch, s->ring.n_devices, uint32_t);
    uint32_t *moved = ARENA_ARRAY(&scratch, s->ring.n_devices, uint32_t);
    while (improve_once(s, order, moved))
        ;
    arena_free(&scratch);
}
