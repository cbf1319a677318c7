#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/merge.h"

/* No step is shorter; a ratio to less would say nothing. */
static const double shortest_step_s = 1e-9;

/* Above this the profiler's cost is taken off the operators' times. */
static const double ratio_that_counts = 1.10;

struct operator_list {
    const struct record_operator *op;
    size_t n;
};

/* Operators of one index and name in all ranks, as they come. */
struct operator_row {
    const struct record_operator *op;
    size_t order;
};

static int by_index_and_name(const void *a, const void *b)
{
    const struct operator_row *x = a, *y = b;
    if (x->op->index != y->op->index)
        return x->op->index < y->op->index ? -1 : 1;
    int names = strcmp(x->op->name, y->op->name);
    return names != 0 ? names : (x->order > y->order) - (x->order < y->order);
}

static bool same_operator(const struct operator_row *a, const struct operator_row *b)
{
    return a->op->index == b->op->index && strcmp(a->op->name, b->op->name) == 0;
}

/* Mean and deviation of samples of which only each rank's mean, deviation and count are known. */
static struct stats pooled(const struct operator_row *row, size_t n, double ratio)
{
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        count += row[i].op->count;
        sum += row[i].op->count * row[i].op->mean_s;
    }
    double mean = sum / count;
    for (size_t i = 0; i < n; i++) {
        const struct record_operator *op = row[i].op;
        squares += (op->count - 1) * op->sd_s * op->sd_s +
                   op->count * (op->mean_s - mean) * (op->mean_s - mean);
    }
    return (struct stats){.n = (size_t)count,
                          .mean = mean / ratio,
                          .sd = count > 1 ? sqrt(squares / (count - 1)) / ratio : 0};
}

static void add_samples(struct arena *arena, const struct operator_row *row, size_t n, double ratio,
                        struct profile_operator *op)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += row[i].op->n_samples;
    if (total == 0)
        return;
    op->time_sample_s = ARENA_ARRAY(arena, total, double);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < row[i].op->n_samples; k++)
            op->time_sample_s[op->n_time_samples++] = row[i].op->sample_s[k] / ratio;
    }
    if (total == op->time_s.n)
        op->time_s = stats_of(op->time_sample_s, total);
}

static struct operator_row *sorted_rows(struct arena *arena, const struct operator_list *list,
                                        size_t n_lists, size_t *n)
{
    *n = 0;
    for (size_t r = 0; r < n_lists; r++)
        *n += list[r].n;
    struct operator_row *row = ARENA_ARRAY(arena, *n, struct operator_row);
    size_t filled = 0;
    for (size_t r = 0; r < n_lists; r++) {
        for (size_t i = 0; i < list[r].n; i++, filled++)
            row[filled] = (struct operator_row){&list[r].op[i], filled};
    }
    if (*n > 0)
        qsort(row, *n, sizeof *row, by_index_and_name);
    return row;
}

static struct profile_operator *merge_lists(struct arena *arena, const struct operator_list *list,
                                            size_t n_lists, double ratio, size_t *n_merged)
{
    size_t n = 0;
    struct operator_row *row = sorted_rows(arena, list, n_lists, &n);
    struct profile_operator *merged = ARENA_ARRAY(arena, n, struct profile_operator);
    *n_merged = 0;
    for (size_t first = 0, next = 0; first < n; first = next) {
        while (next < n && same_operator(&row[first], &row[next]))
            next++;
        struct profile_operator *op = &merged[(*n_merged)++];
        op->index = row[first].op->index;
        op->name = arena_copy(arena, row[first].op->name);
        op->time_s = pooled(&row[first], next - first, ratio);
        add_samples(arena, &row[first], next - first, ratio, op);
    }
    return merged;
}

static size_t profiled_steps(const struct record *r, double *step_s)
{
    size_t n = 0;
    for (size_t k = 0; k < r->n_iterations; k++) {
        const struct record_iteration *it = &r->iteration[k];
        if (it->profiled && !it->edge && it->time_s[STAGE_STEP] >= 0)
            step_s[n++] = it->time_s[STAGE_STEP];
    }
    return n;
}

static size_t all_profiled_steps(struct arena *arena, const struct record_window *w,
                                 double **step_s)
{
    size_t most = 0, n = 0;
    for (size_t r = 0; r < w->n_ranks; r++)
        most += w->record[r].n_iterations + w->record[r].n_profiled_steps;
    *step_s = ARENA_ARRAY(arena, most, double);
    for (size_t r = 0; r < w->n_ranks; r++)
        n += profiled_steps(&w->record[r], *step_s + n);
    for (size_t r = 0; n == 0 && r < w->n_ranks; r++) {
        for (size_t k = 0; k < w->record[r].n_profiled_steps; k++)
            (*step_s)[n++] = w->record[r].profiled_step_s[k];
    }
    return n;
}

/* Median profiled step over median step without; 0: not profiled. */
static double profiler_ratio(struct arena *arena, const struct record_window *w,
                             const struct profile *p)
{
    double *profiled_s = NULL;
    size_t n = all_profiled_steps(arena, w, &profiled_s);
    const struct samples *step = &p->stage[STAGE_STEP];
    double plain_s = stats_quantile(step->value, step->value ? step->stats.n : 0, 0.5);
    return n > 0 && plain_s >= shortest_step_s ? stats_quantile(profiled_s, n, 0.5) / plain_s : 0;
}

static void fill_operators(struct arena *arena, const struct record_window *w, double ratio,
                           struct profile *p)
{
    struct operator_list *forward = ARENA_ARRAY(arena, w->n_ranks, struct operator_list);
    struct operator_list *backward = ARENA_ARRAY(arena, w->n_ranks, struct operator_list);
    for (size_t r = 0; r < w->n_ranks; r++) {
        const struct record *record = &w->record[r];
        forward[r] = (struct operator_list){record->forward_op, record->n_forward_ops};
        backward[r] = (struct operator_list){record->backward_op, record->n_backward_ops};
    }
    p->forward_op = merge_lists(arena, forward, w->n_ranks, ratio, &p->n_forward_ops);
    p->backward_op = merge_lists(arena, backward, w->n_ranks, ratio, &p->n_backward_ops);
}

void merge_operators(struct arena *arena, const struct record_window *w, struct merge_notes *notes,
                     struct profile *p)
{
    p->profiler_ratio = profiler_ratio(arena, w, p);
    bool slowed = p->profiler_ratio > ratio_that_counts;
    fill_operators(arena, w, slowed ? p->profiler_ratio : 1, p);
    if (slowed)
        merge_note(notes,
                   "the profiler made a step %.2f times as long; the operators' times are divided "
                   "by that",
                   p->profiler_ratio);
}
