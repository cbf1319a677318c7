#include "predict/timeline_pace.h"

#include <string.h>

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

/* The latest first, of the same time the first position. */
static bool comes_first(const struct timeline_computing *a, const struct timeline_computing *b)
{
    return a->until_s > b->until_s || (a->until_s == b->until_s && a->position < b->position);
}

static void sort_few(struct timeline_computing *item, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct timeline_computing moved = item[i];
        size_t to = i;
        for (; to > 0 && comes_first(&moved, &item[to - 1]); to--)
            item[to] = item[to - 1];
        item[to] = moved;
    }
}

static void merge(const struct timeline_computing *a, size_t n_a,
                  const struct timeline_computing *b, size_t n_b, struct timeline_computing *to)
{
    while (n_a > 0 && n_b > 0) {
        bool first = comes_first(a, b);
        *to++ = first ? *a : *b;
        a += first;
        n_a -= first;
        b += !first;
        n_b -= !first;
    }
    memcpy(to, a, n_a * sizeof *a);
    memcpy(to + n_a, b, n_b * sizeof *b);
}

/* Most of a walk's time went into libc's. */
static void sort(struct timeline_computing *item, size_t n, struct timeline_computing *other)
{
    enum { FEW = 8 };
    struct timeline_computing *from = item, *to = other;
    for (size_t i = 0; i < n; i += FEW)
        sort_few(item + i, n - i < FEW ? n - i : FEW);
    for (size_t width = FEW; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t middle = i + width < n ? i + width : n;
            size_t end = i + 2 * width < n ? i + 2 * width : n;
            merge(from + i, middle - i, from + middle, end - middle, to + i);
        }
        struct timeline_computing *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != item)
        memcpy(item, from, n * sizeof *item);
}

static void sort_slowed(struct timeline_walk *w)
{
    if (w->n_slowed <= TIMELINE_MOST_SORTED)
        sort(w->slowed, w->n_slowed, w->sorting);
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
    sort_slowed(w);
}

void timeline_update_slowed(struct timeline_walk *w)
{
    for (size_t s = 0; s < w->n_slowed; s++)
        w->slowed[s].until_s = timeline_computes_until_s(w, w->slowed[s].position);
    sort_slowed(w);
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

/* What it adds that the device at a position computes, too. */
static struct timeline_stop stop_of(const struct timeline_walk *w, struct timeline_computing c,
                                    double chunk_bytes)
{
    struct timeline_stop stop = {.until_s = c.until_s, .n = 1};
    double pass_s = 0;
    if (w->in->collective) {
        stop.slowest_s = w->busy_s[c.position];
        return stop;
    }
    timeline_cost_chunk(w, c.position, chunk_bytes, true, &stop.slowest_s, &pass_s);
    stop.longer_s = pass_s - w->pass_s[c.position];
    return stop;
}

static void add_stop(struct timeline_stop *sum, struct timeline_stop stop)
{
    sum->slowest_s = later_of(sum->slowest_s, stop.slowest_s);
    sum->longer_s += stop.longer_s;
    sum->until_s += stop.until_s;
    sum->n += stop.n;
}

/* Into w->stop, the latest first: a part of the time from the first to the last stop each. */
static void take_together(struct timeline_walk *w, double chunk_bytes)
{
    double first_s = w->slowed[0].until_s, last_s = first_s;
    for (size_t s = 1; s < w->n_slowed; s++) {
        first_s = first_s < w->slowed[s].until_s ? first_s : w->slowed[s].until_s;
        last_s = later_of(last_s, w->slowed[s].until_s);
    }
    double parts = last_s > first_s ? (TIMELINE_MOST_SORTED - 1) / (last_s - first_s) : 0;
    memset(w->stop, 0, TIMELINE_MOST_SORTED * sizeof *w->stop);
    for (size_t s = 0; s < w->n_slowed; s++) {
        struct timeline_computing c = w->slowed[s];
        double part = (last_s - c.until_s) * parts;
        size_t at = part < TIMELINE_MOST_SORTED ? (size_t)part : TIMELINE_MOST_SORTED - 1;
        add_stop(&w->stop[at], stop_of(w, c, chunk_bytes));
    }
}

/*
 * The ring's clock runs with the time once nobody computes; before that slower, by as much as a
 * round takes longer with those that still compute.
 */
void timeline_find_paces(struct timeline_walk *w, double chunk_bytes, struct round_costs idle)
{
    bool together = w->n_slowed > TIMELINE_MOST_SORTED;
    size_t n_stops = together ? TIMELINE_MOST_SORTED : w->n_slowed;
    struct round_costs costs = idle;
    double idle_s = round_s(w, idle), now_s = idle_s;
    w->n_paces = 0;
    if (together)
        take_together(w, chunk_bytes);
    for (size_t s = 0; s < n_stops; s++) {
        struct timeline_stop stop = together ? w->stop[s] : stop_of(w, w->slowed[s], chunk_bytes);
        costs.slowest_s = later_of(costs.slowest_s, stop.slowest_s);
        costs.sum_s += stop.longer_s;
        double slower_s = round_s(w, costs);
        if (slower_s > now_s) {
            add_pace(w, stop.until_s / (double)stop.n, idle_s / now_s);
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
