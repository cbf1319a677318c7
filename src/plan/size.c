/*
 * Branch and bound over boxes of counts, the most promising first. In a box the step is never
 * shorter than with its fewest devices, the iterations never fewer than with its most.
 */
#include "plan/size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Closer than this is as good. */
static const double CLOSE = 1e-4;

/* Systems that are forecast before it gives up. */
enum { MOST_CLOSED_FORM = 200000, MOST_TIMELINE = 20000 };

/* Counts from `low` to `high` of each type; both 0: the type takes no part. */
struct box {
    int64_t low[SIZE_MOST_TYPES], high[SIZE_MOST_TYPES];
    double bound; /* nothing in it is better */
};

/* The most promising box is at [0]. */
struct heap {
    struct box *item;
    size_t n, capacity;
};

struct search {
    const struct what_if *w;
    const struct size_goal *goal;
    struct variant variant;
    int n_types;
    double price_per_s[SIZE_MOST_TYPES],
        work[SIZE_MOST_TYPES];     /* of a device; of an epoch's part */
    int by_price[SIZE_MOST_TYPES]; /* types, the cheapest by work first */
    struct heap heap;
    struct mix best;
    size_t n_tried, most_tried;
};

static bool try_mix(struct search *s, const int64_t *count, struct mix *mix, struct error *e)
{
    struct mix tried = {.known = true};
    for (int t = 0; t < s->n_types; t++)
        tried.count[t] = s->variant.job.type[t].count = count[t];
    s->n_tried++;
    if (!what_if_forecast(s->w, &s->variant, &tried.outcome, e))
        return false;
    *mix = tried;
    return true;
}

static bool by_cost(const struct size_goal *goal)
{
    return goal->deadline_s > 0;
}

static double value_of(const struct search *s, const struct mix *mix)
{
    return by_cost(s->goal) ? mix->outcome.cost : mix->outcome.total_s;
}

static bool meets(const struct size_goal *goal, double total_s, double cost)
{
    return (!(goal->deadline_s > 0) || total_s <= goal->deadline_s) &&
           (!(goal->budget > 0) || cost <= goal->budget);
}

/* Equals go to the faster or cheaper one, then to the smaller. */
static bool is_better(const struct search *s, const struct mix *a, const struct mix *b)
{
    const struct outcome *x = &a->outcome, *y = &b->outcome;
    if (!b->known || value_of(s, a) != value_of(s, b))
        return !b->known || value_of(s, a) < value_of(s, b);
    double other_a = by_cost(s->goal) ? x->total_s : x->cost;
    double other_b = by_cost(s->goal) ? y->total_s : y->cost;
    return other_a != other_b ? other_a < other_b : x->n_devices < y->n_devices;
}

static void consider(struct search *s, const struct mix *mix)
{
    if (meets(s->goal, mix->outcome.total_s, mix->outcome.cost) && is_better(s, mix, &s->best))
        s->best = *mix;
}

static double sum(const struct search *s, const int64_t *count, const double *each)
{
    double all = 0;
    for (int t = 0; t < s->n_types; t++)
        all += (double)count[t] * each[t];
    return all;
}

/* The least price over work in a box: the fewest devices, and the most of those that lower it. */
static double least_price_of_work(const struct search *s, const struct box *box)
{
    double price = sum(s, box->low, s->price_per_s), work = sum(s, box->low, s->work);
    for (int i = 0; i < s->n_types; i++) {
        int t = s->by_price[i];
        double more = (double)(box->high[t] - box->low[t]);
        if (s->price_per_s[t] * work < price * s->work[t]) {
            price += more * s->price_per_s[t];
            work += more * s->work[t];
        }
    }
    return price / work;
}

static bool is_one(const struct search *s, const struct box *box)
{
    return memcmp(box->low, box->high, (size_t)s->n_types * sizeof *box->low) == 0;
}

static void push(struct heap *heap, const struct box *box)
{
    if (heap->n == heap->capacity) {
        heap->capacity = heap->capacity ? 2 * heap->capacity : 1024;
        heap->item = memory_resize(heap->item, heap->capacity, sizeof *heap->item);
    }
    size_t i = heap->n++;
    for (; i > 0 && heap->item[(i - 1) / 2].bound > box->bound; i = (i - 1) / 2)
        heap->item[i] = heap->item[(i - 1) / 2];
    heap->item[i] = *box;
}

static struct box pop(struct heap *heap)
{
    struct box first = heap->item[0], last = heap->item[--heap->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->n; i = child) {
        child += child + 1 < heap->n && heap->item[child + 1].bound < heap->item[child].bound;
        if (heap->item[child].bound >= last.bound)
            break;
        heap->item[i] = heap->item[child];
    }
    heap->item[i] = last;
    return first;
}

/* The fewest iterations, each as short as can be; what is between epochs is the same for all. */
static double least_total_s(const struct search *s, const struct outcome *low,
                            const struct outcome *high)
{
    const struct job_training *training = &s->w->job.training;
    double between_s = training->evaluation_s + training->checkpoint_s;
    return training->epochs * (low->step_s * high->iterations + between_s);
}

/* The iterations' work stays the same but for one: the last is rounded up, or dropped. */
static double least_cost(const struct search *s, const struct box *box, const struct outcome *low)
{
    const struct job_training *training = &s->w->job.training;
    double work = sum(s, box->low, s->work), ratio = least_price_of_work(s, box);
    double one = training->drops_last ? sum(s, box->high, s->price_per_s) : work * ratio;
    return training->epochs * low->step_s * (low->iterations * work * ratio - one);
}

/* Tries a box's corners, and keeps it where something in it may meet the goal and be better. */
static bool add_box(struct search *s, struct box box, struct error *e)
{
    struct mix fewest, most;
    if (!try_mix(s, box.low, &fewest, e))
        return false;
    consider(s, &fewest);
    if (is_one(s, &box))
        return true;
    if (!try_mix(s, box.high, &most, e))
        return false;
    consider(s, &most);
    double total_s = least_total_s(s, &fewest.outcome, &most.outcome);
    double cost =
        fmax(least_cost(s, &box, &fewest.outcome), total_s * sum(s, box.low, s->price_per_s));
    box.bound = by_cost(s->goal) ? cost : total_s;
    bool useful = !s->best.known || box.bound < value_of(s, &s->best) * (1 - CLOSE);
    if (useful && meets(s->goal, total_s, cost))
        push(&s->heap, &box);
    return true;
}

/* In two, across the type whose count is known worst. */
static bool split(struct search *s, const struct box *box, struct error *e)
{
    int widest = 0;
    double most = 0;
    for (int t = 0; t < s->n_types; t++) {
        double times = box->low[t] > 0 ? (double)box->high[t] / (double)box->low[t] : 0;
        if (times > most) {
            most = times;
            widest = t;
        }
    }
    struct box lower = *box, upper = *box;
    int64_t middle = box->low[widest] + (box->high[widest] - box->low[widest]) / 2;
    lower.high[widest] = middle;
    upper.low[widest] = middle + 1;
    return add_box(s, lower, e) && add_box(s, upper, e);
}

/* A box for each set of types; or, where `single`, for each type alone. */
static bool add_sets(struct search *s, bool single, struct error *e)
{
    for (unsigned set = 1; set < 1U << s->n_types; set++) {
        struct box box = {.bound = 0};
        bool all = true;
        for (int t = 0; t < s->n_types; t++) {
            bool in = set >> t & 1;
            all = all && (!in || s->goal->available[t] > 0);
            box.low[t] = in;
            box.high[t] = in ? s->goal->available[t] : 0;
        }
        bool one = (set & (set - 1)) == 0;
        if (all && (one || !single) && !add_box(s, box, e))
            return false;
    }
    return true;
}

/* Whatever boxes are left, none holds anything better by more than `gap`. */
static bool search(struct search *s, bool single, double *gap, struct error *e)
{
    s->best = (struct mix){0};
    s->heap.n = s->n_tried = 0;
    if (!add_sets(s, single, e))
        return false;
    while (s->heap.n > 0 && s->n_tried < s->most_tried) {
        struct box box = pop(&s->heap);
        if (s->best.known && box.bound >= value_of(s, &s->best) * (1 - CLOSE)) {
            s->heap.n = 0;
            break;
        }
        if (!split(s, &box, e))
            return false;
    }
    bool given_up = s->heap.n > 0;
    double best = s->best.known ? value_of(s, &s->best) : 0;
    *gap = given_up && best > 0 ? fmax(0, 1 - s->heap.item[0].bound / best) : CLOSE;
    return true;
}

static bool is_faster(const struct mix *a, const struct mix *b)
{
    return !b->known || a->outcome.total_s < b->outcome.total_s;
}

/* All devices of each set of types. */
static bool try_whole_types(struct search *s, struct size_answer *answer, struct error *e)
{
    for (unsigned set = 1; set < 1U << s->n_types; set++) {
        int64_t count[SIZE_MOST_TYPES];
        struct mix mix;
        bool whole = true, one = (set & (set - 1)) == 0;
        for (int t = 0; t < s->n_types; t++) {
            count[t] = set >> t & 1 ? s->goal->available[t] : 0;
            whole = whole && count[t] == s->goal->available[t];
        }
        if (!try_mix(s, count, &mix, e))
            return false;
        if (!mix.outcome.any)
            continue;
        if (whole)
            answer->whole = mix;
        if (one && is_faster(&mix, &answer->fastest_single))
            answer->fastest_single = mix;
        if (is_faster(&mix, &answer->fastest_part))
            answer->fastest_part = mix;
    }
    return true;
}

static bool check(const struct what_if *w, const struct size_goal *goal, struct size_answer *answer,
                  struct error *e)
{
    const struct job *job = &w->job;
    const char *priced = NULL, *other = NULL;
    if (job->n_types > SIZE_MOST_TYPES) {
        error_set(e, ERROR_INPUT, "%s: size looks among at most %d device types (got %d)",
                  job->file, SIZE_MOST_TYPES, job->n_types);
        return false;
    }
    for (int t = 0; t < job->n_types; t++)
        *(job->type[t].price.given ? &priced : &other) = job->type[t].name;
    answer->priced = priced != NULL;
    if (priced && other)
        error_set(e, ERROR_INPUT, "%s: device type '%s' has a price and '%s' has none", job->file,
                  priced, other);
    else if (goal->budget > 0 && !priced)
        error_set(e, ERROR_INPUT, "%s: a budget needs prices", job->file);
    else if (!w->base.epoch_known)
        error_set(e, ERROR_INPUT, "%s: how long the training takes is not known: %s", job->file,
                  w->base.why_no_epoch);
    else
        return true;
    if (w->base.epoch_known)
        error_hint(e, "give devices.%s.price, such as 2.5/h", other);
    return false;
}

static double work_of(const struct what_if *w, int t)
{
    const struct amount *data = &w->job.type[t].data;
    if (data->unit == AMOUNT_BYTES)
        return data->value / w->base.sample_bytes;
    return data->unit == AMOUNT_SAMPLES ? data->value : w->base.type[t].batch;
}

static void sort_by_price(struct search *s)
{
    for (int i = 0; i < s->n_types; i++) {
        int k = i;
        for (; k > 0; k--) {
            int before = s->by_price[k - 1];
            if (s->price_per_s[before] * s->work[i] <= s->price_per_s[i] * s->work[before])
                break;
            s->by_price[k] = before;
        }
        s->by_price[k] = i;
    }
}

static void start(struct arena *arena, struct search *s, bool priced)
{
    const double an_hour = 1.0 / 3600;
    const struct what_if *w = s->w;
    s->n_types = w->job.n_types;
    s->variant.job = w->job;
    s->variant.job.type = ARENA_ARRAY(arena, (size_t)s->n_types, struct job_device_type);
    memcpy(s->variant.job.type, w->job.type, (size_t)s->n_types * sizeof *w->job.type);
    for (int t = 0; t < s->n_types; t++) {
        struct job_device_type *type = &s->variant.job.type[t];
        if (!priced)
            type->price = (struct price){true, an_hour};
        s->price_per_s[t] = type->price.per_s;
        s->work[t] = work_of(w, t);
    }
    sort_by_price(s);
    s->most_tried = w->model == MODEL_TIMELINE ? MOST_TIMELINE : MOST_CLOSED_FORM;
}

bool size_find(struct arena *arena, const struct what_if *w, const struct size_goal *goal,
               struct size_answer *answer, struct error *e)
{
    struct size_answer found = {.what_if = w, .goal = *goal, .waiting = what_if_waiting(w)};
    struct search s = {.w = w, .goal = goal};
    double single_gap;
    if (!check(w, goal, &found, e))
        return false;
    start(arena, &s, found.priced);
    bool ok = try_whole_types(&s, &found, e) && search(&s, true, &single_gap, e);
    found.single = s.best;
    ok = ok && search(&s, false, &found.gap, e);
    found.best = s.best;
    found.n_tried = s.n_tried;
    found.given_up = s.heap.n > 0;
    free(s.heap.item);
    if (ok)
        *answer = found;
    return ok;
}
