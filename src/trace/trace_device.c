#include "trace/trace_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct placer {
    const struct trace_collected *c;
    const struct trace_steps *steps;
    const struct trace_calls *calls;
    struct trace_device *device;
    struct text in_calls;
};

static void add_to_backward(struct trace_step *step, struct trace_pass *pass,
                            const struct trace_span *span, const struct trace_work *work)
{
    trace_window_add(&pass->backward_work, work->start_ns, trace_work_end_ns(work));
    bool last_pass = pass == &step->pass[step->n_passes - 1];
    if (!span || !last_pass)
        return;
    const struct trace_span *first = step->first_working_gradient;
    if (!first || span->start_ns < first->start_ns) {
        step->first_working_gradient = span;
        step->first_gradient_work = TRACE_NO_WINDOW;
    }
    if (span == step->first_working_gradient)
        trace_window_add(&step->first_gradient_work, work->start_ns, trace_work_end_ns(work));
}

/* By when it was launched: before, in or behind forward and backward. */
static void add_to_stage(const struct placer *p, struct trace_step *step, int64_t at_ns,
                         const struct trace_span *span, const struct trace_work *work)
{
    struct trace_pass *pass = trace_pass_at(step, at_ns);
    bool before_backward = !pass || (pass->has_forward && at_ns < pass->backward.start_ns);
    trace_window_add(&step->work, work->start_ns, trace_work_end_ns(work));
    if (before_backward && trace_name_is_upload(p->c->words.word[work->name])) {
        step->upload_ns += work->duration_ns;
        return;
    }
    if (!pass)
        return;
    if (before_backward)
        trace_window_add(&pass->forward_work, work->start_ns, trace_work_end_ns(work));
    else if (at_ns <= pass->backward.end_ns)
        add_to_backward(step, pass, span, work);
    else if (at_ns <= step->optimizer_end_ns)
        trace_window_add(&step->optimizer_work, work->start_ns, trace_work_end_ns(work));
}

/* A bucket waits for all that was launched before it in its backward pass. */
static void make_ready(const struct placer *p, const struct trace_step *step, int64_t at_ns,
                       const struct trace_work *work)
{
    struct trace_call *call = NULL;
    size_t n = trace_calls_of(p->calls, step, &call);
    const struct trace_pass *pass = trace_pass_at(step, at_ns);
    if (!pass || at_ns < pass->backward.start_ns)
        return;
    for (size_t i = 0; i < n; i++) {
        if (call[i].gradient && at_ns <= call[i].start_ns &&
            trace_work_end_ns(work) > call[i].ready_ns)
            call[i].ready_ns = trace_work_end_ns(work);
    }
}

static void name_in_call(struct placer *p, const struct trace_launch *launch,
                         const struct trace_step *step, const struct trace_work *work)
{
    enum { ENOUGH = 300 };
    struct trace_call *call = NULL;
    size_t n = trace_calls_of(p->calls, step, &call);
    const char *name = p->c->words.word[work->name];
    for (size_t i = 0; i < n && p->in_calls.length < ENOUGH; i++) {
        bool inside = call[i].track == launch->track && launch->start_ns >= call[i].start_ns &&
                      launch->start_ns <= call[i].end_ns;
        if (inside && !(p->in_calls.data && strstr(p->in_calls.data, name)))
            text_format(&p->in_calls, "%s%s", p->in_calls.length ? ", " : "", name);
    }
}

static void place(struct placer *p, const struct trace_launch *launch,
                  const struct trace_work *work)
{
    struct trace_step *step = trace_step_at(p->steps, launch->start_ns);
    if (!step)
        return;
    const struct trace_span *span = trace_outer_find(&p->c->outer, launch->track, launch->start_ns);
    if (span)
        p->device->operator_ns[span - p->c->outer.span] += work->duration_ns;
    add_to_stage(p, step, launch->start_ns, span, work);
    make_ready(p, step, launch->start_ns, work);
    name_in_call(p, launch, step, work);
}

/* Work and launches both come by key. */
static void place_all(struct placer *p)
{
    struct packed_reader works = trace_packed_read(&p->c->works),
                         launches = trace_packed_read(&p->c->launches);
    struct trace_work work;
    struct trace_launch launch;
    while (trace_work_next(&works, &work)) {
        if (trace_launch_seek(&launches, work.key, &launch))
            place(p, &launch, &work);
        else
            p->device->n_unlaunched++;
    }
    trace_packed_read_end(&works);
    trace_packed_read_end(&launches);
}

/* The collectives' kernels are busy work as well, but not the passes'. */
static void add_collectives(const struct placer *p)
{
    for (size_t i = 0; i < p->calls->n; i++) {
        const struct trace_call *call = &p->calls->call[i];
        struct trace_step *step = trace_step_at(p->steps, call->start_ns);
        if (step && !call->on_cpu && !trace_window_is_empty(call->span))
            trace_window_add(&step->work, call->span.start_ns, call->span.end_ns);
    }
}

/* Of up to 64 devices of a host; a process of a rank uses one. */
static uint32_t busiest(const struct trace_collected *c)
{
    enum { MOST = 64 };
    size_t n[MOST] = {0};
    uint32_t best = 0;
    struct trace_work work;
    struct packed_reader works = trace_packed_read(&c->works);
    while (trace_work_next(&works, &work)) {
        if (work.device < MOST)
            n[work.device]++;
    }
    trace_packed_read_end(&works);
    for (uint32_t d = 1; d < MOST; d++)
        best = n[d] > n[best] ? d : best;
    return best;
}

void trace_device_place(struct arena *arena, const struct trace_collected *c,
                        const struct trace_steps *steps, const struct trace_calls *calls,
                        struct trace_device *device)
{
    struct placer placer = {.c = c, .steps = steps, .calls = calls, .device = device};
    *device = (struct trace_device){.used = c->n_works + c->n_comm_works > 0,
                                    .operator_ns = ARENA_ARRAY(arena, c->outer.n, int64_t),
                                    .device = busiest(c)};
    place_all(&placer);
    add_collectives(&placer);
    if (placer.in_calls.data)
        device->in_calls = arena_copy(arena, placer.in_calls.data);
    text_free(&placer.in_calls);
}
