#include "predict/timeline_pace.h"

#include <stdlib.h>

#include "predict/message.h"

void timeline_cost_chunk(const struct timeline_walk *w, size_t i, double chunk_bytes, bool busy,
                         double *stay_s, double *pass_s)
{
    const struct ft_link *link = &w->in->link[i];
    struct sender sender = sender_of(timeline_type_at(w, i), busy);
    *stay_s = message_stay_s(link, chunk_bytes, sender);
    *pass_s = sender.round_s > 0 ? message_from_s(link, chunk_bytes, sender) : *stay_s;
}

/* A round of a ring takes as long as its slowest device, or what chunks need to go around. */
static double round_s(const struct timeline_walk *w, struct round_costs costs)
{
    return later_of(costs.slowest_s, costs.sum_s / (double)w->in->n_devices);
}

double timeline_computes_until_s(const struct timeline_walk *w, size_t i)
{
    return w->begin_s[i] + w->now[i]->forward_s + w->now[i]->backward_s + w->late_s[i];
}

static int latest_first(const void *a, const void *b)
{
    const struct timeline_computing *x = a, *y = b;
    if (x->until_s != y->until_s)
        return x->until_s < y->until_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

void timeline_find_slowed(struct timeline_walk *w)
{
    w->n_slowed = 0;
    for (size_t i = 0; i < w->in->n_devices; i++) {
        const struct ft_timeline_type *type = timeline_type_at(w, i);
        bool shows = w->in->collective || type->busy_round_s > 0 ||
                     type->busy_Bps < w->in->link[i].bandwidth_Bps;
        bool feeds_slower = type->busy_Bps < type->idle_Bps && shows;
        if (feeds_slower || type->busy_round_s > type->idle_round_s)
            w->slowed[w->n_slowed++] =
                (struct timeline_computing){timeline_computes_until_s(w, i), i};
    }
    qsort(w->slowed, w->n_slowed, sizeof *w->slowed, latest_first);
}

static void add_pace(struct timeline_walk *w, double from_s, double speed)
{
    double clock_s = from_s;
    if (w->n_paces > 0) {
        const struct timeline_pace *after = &w->pace[w->n_paces - 1];
        clock_s = after->clock_s - (after->from_s - from_s) * speed;
    }
    w->pace[w->n_paces++] = (struct timeline_pace){from_s, clock_s, speed};
}

/* While the device at a position computes, too. */
static void add_computing(const struct timeline_walk *w, size_t i, double chunk_bytes,
                          struct round_costs *costs)
{
    double stay_s = 0, pass_s = 0;
    if (w->in->collective) {
        costs->slowest_s = later_of(costs->slowest_s, w->busy_s[i]);
        return;
    }
    timeline_cost_chunk(w, i, chunk_bytes, true, &stay_s, &pass_s);
    costs->slowest_s = later_of(costs->slowest_s, stay_s);
    costs->sum_s += pass_s - w->pass_s[i];
}

/*
 * The ring's clock runs with the time once nobody computes; before that slower, by as much as a
 * round takes longer with those that still compute.
 */
void timeline_find_paces(struct timeline_walk *w, double chunk_bytes, struct round_costs idle)
{
    struct round_costs costs = idle;
    double idle_s = round_s(w, idle), now_s = idle_s;
    w->n_paces = 0;
    for (size_t s = 0; s < w->n_slowed; s++) {
        const struct timeline_computing *c = &w->slowed[s];
        add_computing(w, c->position, chunk_bytes, &costs);
        double slower_s = round_s(w, costs);
        if (slower_s > now_s) {
            add_pace(w, c->until_s, idle_s / now_s);
            now_s = slower_s;
        }
    }
    add_pace(w, 0, now_s > 0 ? idle_s / now_s : 1);
}

/* The first pace, latest first, that has begun at `value`. */
static const struct timeline_pace *pace_at(const struct timeline_walk *w, double value,
                                           bool by_clock)
{
    size_t low = 0, high = w->n_paces - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double from = by_clock ? w->pace[middle].clock_s : w->pace[middle].from_s;
        if (from <= value)
            high = middle;
        else
            low = middle + 1;
    }
    return &w->pace[low];
}

double timeline_clock_at(const struct timeline_walk *w, double time_s)
{
    const struct timeline_pace *p = pace_at(w, time_s, false);
    return p->clock_s + (time_s - p->from_s) * p->speed;
}

double timeline_time_at(const struct timeline_walk *w, double clock_s)
{
    const struct timeline_pace *p = pace_at(w, clock_s, true);
    return p->from_s + (clock_s - p->clock_s) / p->speed;
}
