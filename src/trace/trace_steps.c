#include "trace/trace_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What happens in a step, in order: marks, and backward operators of any thread. */
struct happening {
    const struct trace_mark *mark; /* or NULL */
    const struct trace_span *span; /* or NULL */
};

struct finder {
    struct arena *arena;
    struct arena scratch;
    const struct trace_collected *c;
    struct happening *happening; /* [n], by start */
    size_t n;
    bool has_forward_marks, has_gradients;
};

static int64_t start_ns_of(const struct happening *h)
{
    return h->mark ? h->mark->start_ns : h->span->start_ns;
}

static int64_t end_ns_of(const struct happening *h)
{
    return h->mark ? h->mark->end_ns : h->span->end_ns;
}

static const char *name_of(const struct finder *f, const struct trace_span *span)
{
    return f->c->words.word[span->name];
}

static int by_start(const void *a, const void *b)
{
    const struct happening *x = a, *y = b;
    int64_t x_ns = start_ns_of(x), y_ns = start_ns_of(y);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    x_ns = end_ns_of(x);
    y_ns = end_ns_of(y);
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return (x->mark == NULL) - (y->mark == NULL);
}

static void list_happenings(struct finder *f)
{
    const struct trace_collected *c = f->c;
    size_t n_backward = 0;
    for (size_t i = 0; i < c->outer.n; i++)
        n_backward += trace_name_is_backward(name_of(f, &c->outer.span[i]));
    f->happening = ARENA_ARRAY(&f->scratch, c->n_marks + n_backward, struct happening);
    for (size_t i = 0; i < c->n_marks; i++) {
        const struct trace_mark *mark = &c->mark[i];
        f->happening[f->n++] = (struct happening){mark, NULL};
        f->has_forward_marks = f->has_forward_marks || mark->kind == KIND_FORWARD;
    }
    for (size_t i = 0; i < c->outer.n; i++) {
        const struct trace_span *span = &c->outer.span[i];
        if (!trace_name_is_backward(name_of(f, span)))
            continue;
        f->happening[f->n++] = (struct happening){NULL, span};
        f->has_gradients = f->has_gradients || trace_name_is_gradient(name_of(f, span));
    }
    if (f->n > 0)
        qsort(f->happening, f->n, sizeof *f->happening, by_start);
}

static bool is_mark(const struct happening *h, enum trace_kind kind)
{
    return h->mark && h->mark->kind == kind;
}

/* Rounded times overlap a little: the later step then begins where the earlier one ends. */
static bool overlaps_much(const struct trace_step *last, int64_t start_ns, int64_t end_ns)
{
    const int64_t part = 100;
    return last && start_ns < last->end_ns && last->end_ns - start_ns >= (end_ns - start_ns) / part;
}

static void add_step(struct trace_steps *steps, int64_t number, uint32_t track, int64_t start_ns,
                     int64_t end_ns)
{
    struct trace_step *last = steps->n ? &steps->step[steps->n - 1] : NULL;
    if (end_ns <= start_ns)
        return;
    if (overlaps_much(last, start_ns, end_ns)) {
        steps->n_overlapping += number != last->number;
        return;
    }
    start_ns = last && start_ns < last->end_ns ? last->end_ns : start_ns;
    steps->step[steps->n++] = (struct trace_step){.number = number,
                                                  .track = track,
                                                  .start_ns = start_ns,
                                                  .end_ns = end_ns,
                                                  .work = TRACE_NO_WINDOW,
                                                  .optimizer_work = TRACE_NO_WINDOW,
                                                  .first_gradient_work = TRACE_NO_WINDOW};
}

/* Steps are told apart by their numbers. */
static void number_anew(struct trace_steps *steps)
{
    for (size_t s = 1; s < steps->n; s++)
        steps->renumbered = steps->renumbered || steps->step[s].number <= steps->step[s - 1].number;
    for (size_t s = 0; steps->renumbered && s < steps->n; s++)
        steps->step[s].number = (int64_t)s + 1;
}

static void cut_by_profiler(const struct finder *f, struct trace_steps *steps)
{
    steps->cut_by = "ProfilerStep";
    for (size_t i = 0; i < f->n; i++) {
        if (is_mark(&f->happening[i], KIND_STEP))
            add_step(steps, f->happening[i].mark->number, f->happening[i].mark->track,
                     start_ns_of(&f->happening[i]), end_ns_of(&f->happening[i]));
    }
    number_anew(steps);
}

/* The first step begins with the trace where a mark of an iteration's begin does. */
static int64_t first_begin_ns(const struct finder *f)
{
    const struct happening *first = &f->happening[0];
    return first->mark && !is_mark(first, KIND_OPTIMIZER) ? start_ns_of(first) : INT64_MAX;
}

/* A step of the training may be several optimizers': only behind new gradients it is the next. */
static void cut_by_optimizer(const struct finder *f, struct trace_steps *steps)
{
    bool stepped = false, next = false;
    int64_t start_ns = first_begin_ns(f), end_ns = 0;
    uint32_t track = 0;
    steps->cut_by = "the ends of Optimizer.step";
    for (size_t i = 0; i < f->n; i++) {
        const struct happening *h = &f->happening[i];
        next = next || h->span || !f->has_gradients;
        if (!is_mark(h, KIND_OPTIMIZER))
            continue;
        if (stepped && next) {
            add_step(steps, (int64_t)steps->n + 1, track, start_ns, end_ns);
            start_ns = end_ns;
        }
        end_ns = end_ns_of(h);
        track = h->mark->track;
        stepped = true;
        next = false;
    }
    add_step(steps, (int64_t)steps->n + 1, track, start_ns, end_ns);
}

static void cut_by_starts(const struct finder *f, enum trace_kind kind, const char *cut_by,
                          struct trace_steps *steps)
{
    const struct happening *last = NULL;
    steps->cut_by = cut_by;
    for (size_t i = 0; i < f->n; i++) {
        const struct happening *h = &f->happening[i];
        if (!is_mark(h, kind))
            continue;
        if (last)
            add_step(steps, (int64_t)steps->n + 1, last->mark->track, start_ns_of(last),
                     start_ns_of(h));
        last = h;
    }
}

static size_t count_marks(const struct finder *f, enum trace_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += is_mark(&f->happening[i], kind);
    return n;
}

static void cut(const struct finder *f, struct trace_steps *steps)
{
    steps->step = ARENA_ARRAY(f->arena, f->c->n_marks + 1, struct trace_step);
    if (count_marks(f, KIND_STEP) > 0)
        cut_by_profiler(f, steps);
    else if (count_marks(f, KIND_OPTIMIZER) > 0)
        cut_by_optimizer(f, steps);
    else if (count_marks(f, KIND_ZERO_GRAD) > 1)
        cut_by_starts(f, KIND_ZERO_GRAD, "the starts of Optimizer.zero_grad", steps);
    else
        cut_by_starts(f, KIND_LOADER, "the starts of the data loader's next()", steps);
}

static uint32_t process_of(const struct trace_collected *c, const struct trace_mark *mark)
{
    return c->ending.track[mark->track].process;
}

/* One profiler writes of one process: a second one's steps would be counted as the first one's. */
static bool check_processes(const char *file, const struct trace_collected *c, struct error *e)
{
    const struct trace_mark *first = NULL;
    for (size_t i = 0; i < c->n_marks; i++) {
        const struct trace_mark *mark = &c->mark[i];
        if (mark->kind != KIND_STEP && mark->kind != KIND_OPTIMIZER)
            continue;
        first = first ? first : mark;
        if (process_of(c, mark) == process_of(c, first))
            continue;
        struct arena scratch = {0};
        error_set(e, ERROR_INPUT, "%s: two processes in one trace: both %s and %s mark steps", file,
                  text_printable(&scratch, c->ending.track[first->track].pid, 0),
                  text_printable(&scratch, c->ending.track[mark->track].pid, 0));
        error_hint(e, "give one trace a rank");
        arena_free(&scratch);
        return false;
    }
    return true;
}

static bool fail_no_steps(const char *file, const struct trace_collected *c, struct error *e)
{
    if (c->tensorflow) {
        error_set(e, ERROR_INPUT,
                  "%s: a trace of TensorFlow's (or JAX's) profiler, which marks neither forward, "
                  "backward and optimizer of a step nor its gradients' all-reduces",
                  file);
        error_hint(e, "let the program write a record itself (docs/formats.md, \"The worker's "
                      "record\"; `model.command` in the job file)");
        return false;
    }
    error_set(e, ERROR_INPUT,
              "%s: nothing tells where a step begins: it has no ProfilerStep, Optimizer.step, "
              "Optimizer.zero_grad or data loader marks",
              file);
    error_hint(e, "record with torch 1.9 or later and call profiler.step() once a step "
                  "(docs/import.md)");
    return false;
}

/* Time of the operators on a thread that begin in a window. */
static int64_t operators_ns(const struct finder *f, uint32_t track, int64_t start_ns,
                            int64_t end_ns)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < f->c->outer.n; i++) {
        const struct trace_span *span = &f->c->outer.span[i];
        if (span->track == track && span->start_ns >= start_ns && span->start_ns < end_ns)
            sum_ns += span->end_ns - span->start_ns;
    }
    return sum_ns;
}

static void add_pass(struct trace_step *step)
{
    step->pass[step->n_passes++] = (struct trace_pass){.backward = TRACE_NO_WINDOW,
                                                       .forward_work = TRACE_NO_WINDOW,
                                                       .backward_work = TRACE_NO_WINDOW};
}

/* The pass to which a forward that begins now belongs: a new one behind a backward pass. */
static void begin_forward(struct trace_step *step, int64_t at_ns, bool again)
{
    if (step->n_passes == 0 || step->pass[step->n_passes - 1].first_gradient)
        add_pass(step);
    struct trace_pass *pass = &step->pass[step->n_passes - 1];
    if (!pass->has_forward || again)
        pass->forward_ns = at_ns;
    pass->has_forward = true;
}

/*
 * Without DistributedDataParallel: forward begins where the loader has delivered; without a loader
 * where gradients were zeroed, unless that is done between forward and backward.
 */
static void begin_unmarked_forward(const struct finder *f, struct trace_step *step,
                                   const struct happening *h)
{
    if (f->c->loader_workers >= 0) {
        if (h->mark->kind == KIND_LOADER)
            begin_forward(step, end_ns_of(h), true);
        return;
    }
    int64_t before_ns = operators_ns(f, h->mark->track, step->start_ns, start_ns_of(h));
    int64_t after_ns = operators_ns(f, h->mark->track, end_ns_of(h), step->end_ns);
    if (before_ns <= after_ns)
        begin_forward(step, end_ns_of(h), true);
    else
        begin_forward(step, step->start_ns, false);
}

static bool last_pass_has_begun(const struct trace_step *step)
{
    size_t n = step->n_passes;
    return n > 0 && (step->pass[n - 1].has_forward || step->pass[n - 1].first_gradient);
}

static void add_backward(const struct finder *f, struct trace_step *step,
                         const struct trace_span *span)
{
    bool gradient = trace_name_is_gradient(name_of(f, span));
    if (trace_name_is_accumulation(name_of(f, span)) && span->end_ns > step->last_accumulation_ns)
        step->last_accumulation_ns = span->end_ns;
    if (gradient && !last_pass_has_begun(step))
        add_pass(step);
    if (step->n_passes == 0)
        return;
    struct trace_pass *pass = &step->pass[step->n_passes - 1];
    if (!gradient && !pass->first_gradient)
        return;
    if (!pass->first_gradient)
        pass->first_gradient = span;
    trace_window_add(&pass->backward, span->start_ns, span->end_ns);
}

static void add_mark(const struct finder *f, struct trace_step *step, const struct happening *h,
                     int64_t *forward_until_ns)
{
    int64_t length_ns = end_ns_of(h) - start_ns_of(h);
    switch (h->mark->kind) {
    case KIND_LOADER:
        step->wait_ns += length_ns;
        step->n_loads++;
        break;
    case KIND_ZERO_GRAD:
        step->zero_grad_ns += length_ns;
        break;
    case KIND_OPTIMIZER:
        step->optimizer_ns += length_ns;
        step->optimizer_end_ns = end_ns_of(h);
        return;
    case KIND_FORWARD:
        if (start_ns_of(h) >= *forward_until_ns) {
            step->ddp_forward_ns += length_ns;
            *forward_until_ns = end_ns_of(h);
            begin_forward(step, start_ns_of(h), false);
        }
        return;
    default:
        return;
    }
    if (!f->has_forward_marks)
        begin_unmarked_forward(f, step, h);
}

/* zero_grad counts with the optimizer, wherever it is called. */
static void find_zero_grad_in_forward(const struct finder *f, struct trace_step *step, size_t from,
                                      size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct happening *h = &f->happening[i];
        struct trace_pass *pass = trace_pass_at(step, start_ns_of(h));
        if (is_mark(h, KIND_ZERO_GRAD) && pass && pass->has_forward &&
            end_ns_of(h) <= pass->backward.start_ns)
            step->zero_grad_in_forward_ns += end_ns_of(h) - start_ns_of(h);
    }
}

/* A pass of which nothing but a begin is there is none. */
static void drop_empty_passes(struct trace_step *step)
{
    while (step->n_passes > 0 && !step->pass[step->n_passes - 1].first_gradient)
        step->n_passes--;
}

static void fill_step(struct finder *f, struct trace_step *step, size_t from, size_t to)
{
    int64_t forward_until_ns = INT64_MIN;
    size_t n_marks = 0;
    for (size_t i = from; i < to; i++)
        n_marks += f->happening[i].mark != NULL;
    step->pass = ARENA_ARRAY(f->arena, n_marks + 1, struct trace_pass);
    for (size_t i = from; i < to; i++) {
        if (f->happening[i].mark)
            add_mark(f, step, &f->happening[i], &forward_until_ns);
        else
            add_backward(f, step, f->happening[i].span);
    }
    drop_empty_passes(step);
    find_zero_grad_in_forward(f, step, from, to);
}

static void fill_steps(struct finder *f, struct trace_steps *steps)
{
    size_t from = 0;
    for (size_t s = 0; s < steps->n; s++) {
        while (from < f->n && start_ns_of(&f->happening[from]) < steps->step[s].start_ns)
            from++;
        size_t to = from;
        while (to < f->n && start_ns_of(&f->happening[to]) < steps->step[s].end_ns)
            to++;
        fill_step(f, &steps->step[s], from, to);
        from = to;
    }
}

bool trace_steps_find(struct arena *arena, const struct trace_collected *collected,
                      const char *file, struct trace_steps *steps, struct error *e)
{
    struct finder finder = {.arena = arena, .c = collected};
    struct trace_steps found = {0};
    if (!check_processes(file, collected, e))
        return false;
    list_happenings(&finder);
    cut(&finder, &found);
    fill_steps(&finder, &found);
    arena_free(&finder.scratch);
    *steps = found;
    return found.n > 0 || fail_no_steps(file, collected, e);
}

struct trace_step *trace_step_at(const struct trace_steps *steps, int64_t at_ns)
{
    size_t low = 0, high = steps->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (steps->step[middle].start_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    struct trace_step *step = low > 0 ? &steps->step[low - 1] : NULL;
    return step && at_ns < step->end_ns ? step : NULL;
}

struct trace_pass *trace_pass_at(const struct trace_step *step, int64_t at_ns)
{
    struct trace_pass *found = NULL;
    for (size_t i = 0; i < step->n_passes; i++) {
        struct trace_pass *pass = &step->pass[i];
        if (at_ns >= (pass->has_forward ? pass->forward_ns : pass->backward.start_ns))
            found = pass;
    }
    return found;
}
