#include "trace/trace_stages.h"

#include <math.h>
#include <string.h>

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static double length_s(struct trace_window window)
{
    return trace_window_is_empty(window) ? -1 : seconds(window.end_ns - window.start_ns);
}

/* Where a pass begins and how its backward went, on the clock that counts. */
static struct trace_window backward_of(const struct trace *t, const struct trace_pass *pass)
{
    return t->device.used ? pass->backward_work : pass->backward;
}

static double forward_of(const struct trace *t, const struct trace_pass *pass)
{
    struct trace_window backward = backward_of(t, pass);
    bool known = t->device.used ? !trace_window_is_empty(pass->forward_work) : pass->has_forward;
    if (!known || trace_window_is_empty(backward))
        return -1;
    return seconds(backward.start_ns -
                   (t->device.used ? pass->forward_work.start_ns : pass->forward_ns));
}

static double forward_s(const struct trace *t, const struct trace_step *step)
{
    double sum_s = step->n_passes ? 0 : -1;
    for (size_t i = 0; i < step->n_passes; i++) {
        double one_s = forward_of(t, &step->pass[i]);
        if (one_s < 0)
            return -1;
        sum_s += one_s;
    }
    if (!t->device.used && sum_s > 0)
        sum_s -= seconds(step->zero_grad_in_forward_ns);
    return sum_s;
}

static double first_backward_s(const struct trace *t, const struct trace_step *step)
{
    if (t->device.used)
        return length_s(step->first_gradient_work);
    if (step->n_passes == 0)
        return -1;
    const struct trace_span *first = step->pass[step->n_passes - 1].first_gradient;
    return seconds(first->end_ns - first->start_ns);
}

static double unsynced_s(const struct trace *t, const struct trace_step *step)
{
    double sum_s = 0;
    for (size_t i = 0; i + 1 < step->n_passes; i++)
        sum_s += fmax(0, length_s(backward_of(t, &step->pass[i])));
    return sum_s;
}

/* Of the pass whose gradients are all-reduced. */
static struct trace_window synced_backward(const struct trace *t, const struct trace_step *step)
{
    return step->n_passes ? backward_of(t, &step->pass[step->n_passes - 1]) : TRACE_NO_WINDOW;
}

static int64_t ready_ns(const struct trace *t, const struct trace_call *call)
{
    return t->device.used ? call->ready_ns : call->start_ns;
}

static void fill_bucket(const struct trace *t, const struct trace_call *call, int64_t origin_ns,
                        int index, struct record_bucket *bucket)
{
    int64_t ready = ready_ns(t, call);
    bool ran = !trace_window_is_empty(call->span);
    *bucket = (struct record_bucket){.index = index,
                                     .module = "",
                                     .bytes = call->bytes,
                                     .wire_bytes = call->bytes,
                                     .ready_s = ready < origin_ns ? -1 : seconds(ready - origin_ns),
                                     .done_s = ran ? seconds(call->span.end_ns - origin_ns) : -1,
                                     .span_s = length_s(call->span),
                                     .transfer_s = -1};
}

static const char *place_of(const struct trace_step *step, const struct trace_call *call)
{
    const struct trace_pass *pass = trace_pass_at(step, call->start_ns);
    if (!pass)
        return "rest";
    if (call->start_ns < pass->backward.start_ns)
        return "forward";
    if (call->start_ns <= pass->backward.end_ns)
        return "backward";
    return call->start_ns <= step->optimizer_end_ns ? "optimizer" : "rest";
}

static void fill_collective(const struct trace *t, const struct trace_step *step,
                            const struct trace_call *call, struct record_collective *out)
{
    *out = (struct record_collective){.op = call->op,
                                      .place = place_of(step, call),
                                      .group = t->collected.words.word[call->group],
                                      .bytes = call->bytes,
                                      .span_s = length_s(call->span),
                                      .transfer_s = -1};
}

static void fill_calls(struct arena *arena, const struct trace *t, const struct trace_step *step,
                       struct record_iteration *it)
{
    struct trace_call *call = NULL;
    size_t n = trace_calls_of(&t->calls, step, &call);
    int64_t origin_ns = synced_backward(t, step).start_ns;
    it->bucket = ARENA_ARRAY(arena, n, struct record_bucket);
    it->collective = ARENA_ARRAY(arena, n, struct record_collective);
    for (size_t i = 0; i < n; i++) {
        if (call[i].gradient)
            fill_bucket(t, &call[i], origin_ns, (int)it->n_buckets, &it->bucket[it->n_buckets]);
        else if (trace_call_is_shared(&call[i]))
            fill_collective(t, step, &call[i], &it->collective[it->n_collectives]);
        it->n_buckets += call[i].gradient;
        it->n_collectives += !call[i].gradient && trace_call_is_shared(&call[i]);
    }
}

/* To the last bucket's ready time; without buckets all of it. */
static double backward_compute_s(const struct record_iteration *it, struct trace_window backward)
{
    double last_s = -1;
    for (size_t b = 0; b < it->n_buckets; b++)
        last_s = fmax(last_s, it->bucket[b].ready_s);
    return it->n_buckets ? last_s : length_s(backward);
}

static double last_done_s(const struct record_iteration *it)
{
    double last_s = 0;
    for (size_t b = 0; b < it->n_buckets; b++)
        last_s = fmax(last_s, it->bucket[b].done_s);
    return last_s;
}

/*
 * All of backward on the CPU, as the worker sees it. On a device only up to the last all-reduce:
 * what comes behind it, copying buckets back, takes long there and counts with the rest.
 */
static double backward_s(const struct trace *t, const struct record_iteration *it,
                         struct trace_window backward)
{
    const double *time_s = it->time_s;
    double synced_s = fmax(time_s[STAGE_BACKWARD_COMPUTE], last_done_s(it));
    if (trace_window_is_empty(backward) || time_s[STAGE_BACKWARD_COMPUTE] < 0)
        return -1;
    if (!t->device.used)
        synced_s = fmax(synced_s, length_s(backward));
    return synced_s + time_s[STAGE_BACKWARD_UNSYNCED];
}

/* Where a step begins on the device: with forward's first work, else with any. */
static int64_t begin_on_device(const struct trace_step *step)
{
    const struct trace_pass *first = step->n_passes ? &step->pass[0] : NULL;
    bool known = first && !trace_window_is_empty(first->forward_work);
    return known ? first->forward_work.start_ns : step->work.start_ns;
}

/* The next step follows at once, and is on the device as well. */
static bool is_followed(const struct trace_steps *steps, size_t s)
{
    const struct trace_step *step = &steps->step[s], *next = step + 1;
    if (s + 1 == steps->n || next->number != step->number + 1 ||
        next->start_ns - step->end_ns > step->end_ns - step->start_ns)
        return false;
    return !trace_window_is_empty(step->work) && !trace_window_is_empty(next->work) &&
           begin_on_device(next) > begin_on_device(step);
}

/* On a device to the next step's begin; of the last step only its length on the CPU is known,
 * unless the device is busy for longer. */
static double step_s(const struct trace *t, size_t s)
{
    const struct trace_step *step = &t->steps.step[s];
    double on_cpu_s = seconds(step->end_ns - step->start_ns);
    if (!t->device.used)
        return on_cpu_s;
    if (is_followed(&t->steps, s))
        return seconds(begin_on_device(step + 1) - begin_on_device(step));
    return fmax(on_cpu_s, length_s(step->work));
}

static double optimizer_s(const struct trace *t, const struct trace_step *step)
{
    if (t->device.used)
        return length_s(step->optimizer_work);
    return step->optimizer_end_ns ? seconds(step->optimizer_ns + step->zero_grad_ns) : -1;
}

/* A device works while the CPU waits for data and while the next mini-batch is copied: of both only
 * what nothing else in its step explains takes time. */
static void fill_wait_and_rest(const struct trace *t, const struct trace_step *step, double *time_s)
{
    static const enum stage known[] = {STAGE_FORWARD, STAGE_BACKWARD, STAGE_OPTIMIZER};
    static const enum stage beside[] = {STAGE_COPY, STAGE_WAIT};
    double rest_s = time_s[STAGE_STEP];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        rest_s -= fmax(0, time_s[known[i]]);
    time_s[STAGE_COPY] = seconds(step->upload_ns);
    time_s[STAGE_WAIT] = seconds(step->wait_ns);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        double *part_s = &time_s[beside[i]];
        if (t->device.used)
            *part_s = fmin(*part_s, fmax(0, rest_s));
        rest_s -= *part_s;
    }
    time_s[STAGE_REST] = rest_s;
    if (t->collected.loader_workers < 0)
        time_s[STAGE_WAIT] = -1;
}

static size_t micro_batches(const struct trace_step *step)
{
    size_t n = step->n_passes ? step->n_passes : 1;
    return step->n_loads > 0 && step->n_loads < n ? step->n_loads : n;
}

struct record_iteration trace_stages_of(struct arena *arena, const struct trace *t, size_t s)
{
    const struct trace_step *step = &t->steps.step[s];
    struct trace_window backward = synced_backward(t, step);
    struct record_iteration it = {.i = (int)s + 1,
                                  .counted = true,
                                  .samples = -1,
                                  .bytes_sent = -1,
                                  .micro_batches = (double)micro_batches(step)};
    double *time_s = it.time_s;
    fill_calls(arena, t, step, &it);
    time_s[STAGE_LOADER_INTERVAL] = -1;
    time_s[STAGE_STEP] = step_s(t, s);
    time_s[STAGE_FORWARD] = forward_s(t, step);
    time_s[STAGE_FIRST_BACKWARD] = first_backward_s(t, step);
    time_s[STAGE_BACKWARD_COMPUTE] = backward_compute_s(&it, backward);
    time_s[STAGE_BACKWARD_UNSYNCED] = unsynced_s(t, step);
    time_s[STAGE_BACKWARD] = backward_s(t, &it, backward);
    time_s[STAGE_OPTIMIZER] = optimizer_s(t, step);
    fill_wait_and_rest(t, step, time_s);
    it.overlaps = time_s[STAGE_REST] < -0.01 * time_s[STAGE_STEP];
    time_s[STAGE_REST] = fmax(0, time_s[STAGE_REST]);
    return it;
}
