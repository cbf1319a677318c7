#include "trace/trace_operators.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

/* One operator in one step: the index-th of its pass direction. */
struct occurrence {
    uint32_t index, step, span; /* number among the outermost ones */
};

struct list {
    const struct trace *trace;
    struct occurrence *item; /* [n] */
    size_t n;
};

static double time_of(const struct trace *t, const struct trace_span *span)
{
    int64_t ns = t->device.used ? t->device.operator_ns[span - t->collected.outer.span]
                                : span->end_ns - span->start_ns;
    return (double)ns / 1e9;
}

/* Forward operators are those of the step's own thread; backward ones may be another's. */
static bool belongs(const struct trace *t, const struct trace_step *step,
                    const struct trace_span *span, bool backward)
{
    const struct trace_pass *pass = trace_pass_at(step, span->start_ns);
    const char *name = t->collected.words.word[span->name];
    if (!pass)
        return false;
    if (backward)
        return trace_name_is_gradient(name) || trace_name_is_accumulation(name);
    return pass->has_forward && span->track == step->track &&
           span->start_ns < pass->backward.start_ns && !trace_name_is_backward(name);
}

static const struct trace_span *span_of(const struct list *list, const struct occurrence *item)
{
    return &list->trace->collected.outer.span[item->span];
}

static int by_start(const void *a, const void *b, void *list)
{
    const struct occurrence *x = a, *y = b;
    int64_t x_ns = span_of(list, x)->start_ns, y_ns = span_of(list, y)->start_ns;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x_ns > y_ns) - (x_ns < y_ns);
}

static int by_index(const void *a, const void *b, void *list)
{
    const struct occurrence *x = a, *y = b;
    uint32_t x_name = span_of(list, x)->name, y_name = span_of(list, y)->name;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x_name != y_name)
        return x_name < y_name ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static void number_in_steps(struct list *list)
{
    uint32_t index = 0;
    if (list->n == 0)
        return;
    qsort_r(list->item, list->n, sizeof *list->item, by_start, list);
    for (size_t i = 0; i < list->n; i++) {
        index = i > 0 && list->item[i].step == list->item[i - 1].step ? index + 1 : 0;
        list->item[i].index = index;
    }
    qsort_r(list->item, list->n, sizeof *list->item, by_index, list);
}

/* The step that a counting operator of that direction belongs to, or NULL. */
static const struct trace_step *step_of(const struct trace *t, const bool *counts, bool backward,
                                        const struct trace_span *span)
{
    const struct trace_step *step = trace_step_at(&t->steps, span->start_ns);
    bool counting = step && counts[step - t->steps.step] && belongs(t, step, span, backward);
    return counting ? step : NULL;
}

static struct list collect(struct arena *arena, const struct trace *t, const bool *counts,
                           bool backward)
{
    const struct trace_outer *outer = &t->collected.outer;
    struct list list = {.trace = t};
    size_t n = 0;
    for (size_t i = 0; i < outer->n; i++)
        n += step_of(t, counts, backward, &outer->span[i]) != NULL;
    list.item = ARENA_ARRAY(arena, n, struct occurrence);
    for (size_t i = 0; i < outer->n; i++) {
        const struct trace_span *span = &outer->span[i];
        const struct trace_step *step = step_of(t, counts, backward, span);
        if (step)
            list.item[list.n++] =
                (struct occurrence){.step = (uint32_t)(step - t->steps.step), .span = (uint32_t)i};
    }
    number_in_steps(&list);
    return list;
}

static const char *shown(const char *name)
{
    static const char evaluate[] = "autograd::engine::evaluate_function: ";
    return strncmp(name, evaluate, strlen(evaluate)) == 0 ? name + strlen(evaluate) : name;
}

/* Behind the last item of the index and name of `first`. */
static size_t next_kind(const struct list *list, size_t first)
{
    const struct occurrence *item = list->item;
    size_t next = first + 1;
    while (next < list->n && item[next].index == item[first].index &&
           span_of(list, &item[next])->name == span_of(list, &item[first])->name)
        next++;
    return next;
}

static size_t count_kinds(const struct list *list)
{
    size_t n = 0;
    for (size_t first = 0; first < list->n; first = next_kind(list, first))
        n++;
    return n;
}

/* Those of one index and name are one operator, with a sample a step. */
static struct record_operator *sum_up(struct arena *arena, const struct list *list, size_t *n)
{
    const struct trace *t = list->trace;
    struct record_operator *op = ARENA_ARRAY(arena, count_kinds(list), struct record_operator);
    *n = 0;
    for (size_t first = 0, next = 0; first < list->n; first = next) {
        const struct occurrence *item = &list->item[first];
        next = next_kind(list, first);
        double *sample_s = ARENA_ARRAY(arena, next - first, double);
        for (size_t i = first; i < next; i++)
            sample_s[i - first] = time_of(t, span_of(list, &list->item[i]));
        struct stats stats = stats_of(sample_s, next - first);
        op[(*n)++] = (struct record_operator){
            .index = (int)item->index,
            .count = (int)stats.n,
            .name = arena_copy(arena, shown(t->collected.words.word[span_of(list, item)->name])),
            .mean_s = stats.mean,
            .sd_s = stats.sd,
            .sample_s = sample_s,
            .n_samples = stats.n};
    }
    return op;
}

static struct record_operator *fill(struct arena *arena, const struct trace *trace,
                                    const bool *counts, bool backward, size_t *n)
{
    struct arena scratch = {0};
    struct list list = collect(&scratch, trace, counts, backward);
    struct record_operator *op = sum_up(arena, &list, n);
    arena_free(&scratch);
    return op;
}

void trace_operators_fill(struct arena *arena, const struct trace *trace, const bool *counts,
                          struct record *record)
{
    record->forward_op = fill(arena, trace, counts, false, &record->n_forward_ops);
    record->backward_op = fill(arena, trace, counts, true, &record->n_backward_ops);
}
