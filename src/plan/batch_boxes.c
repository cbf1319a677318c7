#include "plan/batch_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct box {
    double bound;        /* s a sample */
    size_t number;       /* in the order in which boxes were made */
    int64_t *low, *high; /* [n] */
};

struct search {
    const struct batch_problem *problem;
    struct batch_answer *answer;
    struct arena arena;
    struct box *heap; /* [n_boxes], the best on top */
    size_t n_boxes, capacity, n_made, n_tried;
};

static bool comes_before(const struct box *a, const struct box *b)
{
    return a->bound != b->bound ? a->bound < b->bound : a->number > b->number;
}

static void swap(struct box *a, struct box *b)
{
    struct box kept = *a;
    *a = *b;
    *b = kept;
}

static void push(struct search *s, struct box box)
{
    if (s->n_boxes == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 64;
        s->heap = memory_resize(s->heap, s->capacity, sizeof *s->heap);
    }
    size_t i = s->n_boxes++;
    s->heap[i] = box;
    for (; i > 0 && comes_before(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static struct box pop(struct search *s)
{
    struct box top = s->heap[0];
    s->heap[0] = s->heap[--s->n_boxes];
    for (size_t i = 0;;) {
        size_t first = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
            if (child < s->n_boxes && comes_before(&s->heap[child], &s->heap[first]))
                first = child;
        }
        if (first == i)
            return top;
        swap(&s->heap[i], &s->heap[first]);
        i = first;
    }
}

static int64_t weighted_sum(const struct batch_problem *p, const int64_t *number)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += p->weight[i] * number[i];
    return sum;
}

static int64_t divide_up(int64_t value, int64_t by)
{
    return value > 0 ? (value + by - 1) / by : -(-value / by);
}

static int64_t divide_down(int64_t value, int64_t by)
{
    return -divide_up(-value, by);
}

/* Leaves out numbers with which the sum cannot be had; false where nothing is left. */
static bool tighten(const struct batch_problem *p, struct box *box)
{
    bool changed = p->sum > 0;
    while (changed) {
        int64_t low = weighted_sum(p, box->low), high = weighted_sum(p, box->high);
        changed = false;
        for (size_t i = 0; i < p->n && !changed; i++) {
            int64_t w = p->weight[i];
            int64_t least = divide_up(p->sum - (high - w * box->high[i]), w);
            int64_t most = divide_down(p->sum - (low - w * box->low[i]), w);
            changed = least > box->low[i] || most < box->high[i];
            box->low[i] = least > box->low[i] ? least : box->low[i];
            box->high[i] = most < box->high[i] ? most : box->high[i];
            if (box->low[i] > box->high[i])
                return false;
        }
    }
    return true;
}

static const double NOTICED = 1e-9;

static bool is_worth_it(const struct search *s, double s_a_sample)
{
    return s_a_sample < s->answer->s_a_sample * (1 - NOTICED);
}

static bool is_point(const struct batch_problem *p, const struct box *box)
{
    return memcmp(box->low, box->high, p->n * sizeof *box->low) == 0;
}

/* Any sum will do: the lowest corner is an answer by itself. */
static void consider_low(struct search *s, const struct box *box, double step_s)
{
    const struct batch_problem *p = s->problem;
    double s_a_sample = step_s / (double)weighted_sum(p, box->low);
    if ((p->sum > 0 && weighted_sum(p, box->low) != p->sum) || !is_worth_it(s, s_a_sample))
        return;
    s->answer->found = true;
    s->answer->s_a_sample = s_a_sample;
    memcpy(s->answer->number, box->low, p->n * sizeof *box->low);
}

static void add_box(struct search *s, struct box box)
{
    const struct batch_problem *p = s->problem;
    if (!tighten(p, &box))
        return;
    double step_s = p->step_s(p->self, box.low);
    double most = p->sum > 0 ? (double)p->sum : (double)weighted_sum(p, box.high);
    s->n_tried++;
    box.number = s->n_made++;
    box.bound = (p->least_s ? p->least_s(p->self, box.low, box.high) : step_s) / most;
    consider_low(s, &box, step_s);
    if (!is_point(p, &box) && is_worth_it(s, box.bound))
        push(s, box);
}

static struct box copy_box(struct search *s, const struct box *box)
{
    size_t n = s->problem->n;
    struct box copy = {.low = ARENA_ARRAY(&s->arena, n, int64_t),
                       .high = ARENA_ARRAY(&s->arena, n, int64_t)};
    memcpy(copy.low, box->low, n * sizeof *copy.low);
    memcpy(copy.high, box->high, n * sizeof *copy.high);
    return copy;
}

/* In halves, across the number that has most samples between its ends. */
static void halve(struct search *s, const struct box *box)
{
    const struct batch_problem *p = s->problem;
    size_t widest = 0;
    int64_t width = -1;
    for (size_t i = 0; i < p->n; i++) {
        int64_t w = p->weight[i] * (box->high[i] - box->low[i]);
        if (w > width) {
            width = w;
            widest = i;
        }
    }
    struct box lower = copy_box(s, box), upper = copy_box(s, box);
    int64_t middle = box->low[widest] + (box->high[widest] - box->low[widest]) / 2;
    lower.high[widest] = middle;
    upper.low[widest] = middle + 1;
    add_box(s, lower);
    add_box(s, upper);
}

void batch_boxes_search(const struct batch_problem *problem, struct batch_answer *answer)
{
    struct search s = {.problem = problem, .answer = answer};
    size_t n = problem->n;
    struct box all = {.low = ARENA_ARRAY(&s.arena, n, int64_t),
                      .high = ARENA_ARRAY(&s.arena, n, int64_t)};
    memcpy(all.low, problem->least, n * sizeof *all.low);
    memcpy(all.high, problem->most, n * sizeof *all.high);
    answer->found = isfinite(answer->s_a_sample);
    add_box(&s, all);
    while (s.n_boxes > 0 && is_worth_it(&s, s.heap[0].bound) && s.n_tried < problem->most_tries) {
        struct box box = pop(&s);
        halve(&s, &box);
    }
    answer->exact = s.n_boxes == 0 || !is_worth_it(&s, s.heap[0].bound);
    answer->bound = answer->exact ? answer->s_a_sample : s.heap[0].bound;
    free(s.heap);
    arena_free(&s.arena);
}
