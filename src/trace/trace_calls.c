#include "trace/trace_calls.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_runs.h"

/* Who collects what one thread calls: c10d::allreduce_, in it record_param_comms, in it
 * nccl:all_reduce. */
struct merger {
    const struct trace_collected *c;
    struct trace_calls *calls;
    size_t *last; /* [n_tracks], index + 1 of the last call of each thread; 0: none */
};

bool trace_runs_on_cpu(const struct trace_collected *c, uint32_t library)
{
    const char *word = c->words.word[library];
    return strcmp(word, "gloo") == 0 || strcmp(word, "mpi") == 0;
}

static struct trace_call new_call(const struct trace_comm *comm)
{
    return (struct trace_call){.start_ns = comm->start_ns,
                               .end_ns = comm->end_ns,
                               .track = comm->track,
                               .group = comm->group,
                               .library = comm->library,
                               .op = comm->op,
                               .bytes = -1,
                               .elements = -1,
                               .group_size = -1,
                               .least_id = INT64_MAX,
                               .most_id = -1,
                               .span = TRACE_NO_WINDOW,
                               .ready_ns = INT64_MIN};
}

void trace_call_learn(struct trace_call *call, const struct trace_comm *comm, uint32_t no_word)
{
    if (comm->trust > 0 && comm->trust >= call->trust) {
        call->bytes = comm->bytes;
        call->trust = comm->trust;
    }
    if (comm->elements >= 0)
        call->elements = comm->elements;
    if (comm->group_size > 0)
        call->group_size = comm->group_size;
    if (comm->group != no_word)
        call->group = comm->group;
    if (comm->library != no_word)
        call->library = comm->library;
    if (comm->external_id >= 0 && comm->external_id < call->least_id)
        call->least_id = comm->external_id;
    if (comm->external_id > call->most_id)
        call->most_id = comm->external_id;
}

/* `comm` comes by start, what holds others first. */
static void merge_call(struct merger *m, const struct trace_comm *comm)
{
    size_t last = m->last[comm->track];
    struct trace_call *call = last ? &m->calls->call[last - 1] : NULL;
    if (!call || comm->start_ns >= call->end_ns) {
        call = &m->calls->call[m->calls->n++];
        *call = new_call(comm);
        m->last[comm->track] = m->calls->n;
    }
    trace_call_learn(call, comm, m->c->no_word);
}

/* What ran on gloo's own threads is no call, unless nothing else tells of it; whether any did. */
static bool list_calls(struct arena *arena, const struct trace_collected *c,
                       struct trace_calls *calls)
{
    size_t n_callers = 0;
    for (size_t i = 0; i < c->n_comms; i++)
        n_callers += !trace_runs_on_cpu(c, c->comm[i].library);
    struct merger merger = {c, calls, ARENA_ARRAY(arena, c->ending.n_tracks + 1, size_t)};
    calls->call = ARENA_ARRAY(arena, c->n_comms, struct trace_call);
    for (size_t i = 0; i < c->n_comms; i++) {
        if (n_callers == 0 || !trace_runs_on_cpu(c, c->comm[i].library))
            merge_call(&merger, &c->comm[i]);
    }
    return n_callers < c->n_comms;
}

bool trace_call_is_shared(const struct trace_call *call)
{
    return call->group_size != 1;
}

size_t trace_calls_of(const struct trace_calls *calls, const struct trace_step *step,
                      struct trace_call **first)
{
    size_t from = 0, high = calls->n;
    while (from < high) {
        size_t middle = from + (high - from) / 2;
        if (calls->call[middle].start_ns < step->start_ns)
            from = middle + 1;
        else
            high = middle;
    }
    size_t to = from;
    while (to < calls->n && calls->call[to].start_ns < step->end_ns)
        to++;
    *first = calls->call + from;
    return to - from;
}

/*
 * Called during backward, but not by an operator that computes a gradient (as batch norms that
 * synchronise do): where a gradient was added up, or at the very end.
 */
static bool is_gradient(const struct trace_collected *c, const struct trace_step *step,
                        const struct trace_call *call)
{
    if (strcmp(call->op, "all_reduce") != 0)
        return false;
    const struct trace_pass *pass = trace_pass_at(step, call->start_ns);
    if (!pass || call->start_ns < pass->backward.start_ns || call->start_ns > pass->backward.end_ns)
        return false;
    const struct trace_span *in = trace_outer_find(&c->outer, call->track, call->start_ns);
    return !in || !trace_name_is_gradient(c->words.word[in->name]);
}

static void mark_gradients(const struct trace_collected *c, const struct trace_steps *steps,
                           struct trace_calls *calls)
{
    for (size_t s = 0; s < steps->n; s++) {
        struct trace_call *call = NULL;
        size_t n = trace_calls_of(calls, &steps->step[s], &call);
        for (size_t i = 0; i < n; i++)
            call[i].gradient = is_gradient(c, &steps->step[s], &call[i]);
    }
}

/* The call of a thread in whose time something was launched. */
static struct trace_call *call_at(struct trace_calls *calls, uint32_t track, int64_t at_ns)
{
    size_t low = 0, high = calls->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->call[middle].start_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && calls->call[low - 1].track != track)
        low--;
    struct trace_call *call = low > 0 ? &calls->call[low - 1] : NULL;
    return call && at_ns <= call->end_ns ? call : NULL;
}

static struct trace_call *call_by_id(struct trace_calls *calls, int64_t id)
{
    for (size_t i = 0; i < calls->n; i++) {
        if (id >= calls->call[i].least_id && id <= calls->call[i].most_id)
            return &calls->call[i];
    }
    return NULL;
}

/* By who launched it; where that is not in the trace, by the id that newer versions give it. */
static struct trace_call *caller_of(struct trace_calls *calls, const struct trace_comm *work)
{
    if (work->launched)
        return call_at(calls, work->launch.track, work->launch.start_ns);
    return work->external_id != work->key ? call_by_id(calls, work->external_id) : NULL;
}

/* On the device several kernels may make one collective. */
static void match_works(const struct trace_collected *c, struct trace_calls *calls)
{
    for (size_t i = 0; i < c->n_comm_works; i++) {
        const struct trace_comm *work = &c->comm_work[i];
        struct trace_call *call = caller_of(calls, work);
        calls->n_homeless += call == NULL;
        if (!call)
            continue;
        trace_window_add(&call->span, work->start_ns, work->end_ns);
        trace_call_learn(call, work, c->no_word);
    }
}

static void find_groups(struct trace_calls *calls)
{
    calls->largest_group = calls->gradient_group = -1;
    for (size_t i = 0; i < calls->n; i++) {
        const struct trace_call *call = &calls->call[i];
        if (call->group_size > calls->largest_group)
            calls->largest_group = call->group_size;
        if (call->gradient && call->group_size > calls->gradient_group)
            calls->gradient_group = call->group_size;
    }
}

/* Of gradients; where there are none, of all calls: others may go another way beside them. */
static void find_library(const struct trace_collected *c, struct trace_calls *calls)
{
    bool gradients = false;
    for (size_t i = 0; i < calls->n; i++)
        gradients = gradients || calls->call[i].gradient;
    for (size_t i = 0; i < calls->n; i++) {
        struct trace_call *call = &calls->call[i];
        call->on_cpu = trace_runs_on_cpu(c, call->library);
        if (gradients && !call->gradient)
            continue;
        calls->on_cpu = calls->on_cpu || call->on_cpu;
        calls->ran = calls->ran || !trace_window_is_empty(call->span);
        if (call->library != c->no_word && !calls->library)
            calls->library = c->words.word[call->library];
    }
    if (!calls->library && calls->n > 0)
        calls->library = c->ending.header.backend;
}

/* Asked to go without communication's time. */
static void forget_spans(struct trace_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++)
        calls->call[i].span = TRACE_NO_WINDOW;
    calls->n_untold = 0;
}

void trace_calls_find(struct arena *arena, const struct trace_collected *c,
                      const struct trace_steps *steps, struct trace_calls *calls)
{
    *calls = (struct trace_calls){0};
    bool some_ran = list_calls(arena, c, calls);
    match_works(c, calls);
    if (some_ran)
        calls->n_untold = trace_runs_match(c, steps, calls);
    mark_gradients(c, steps, calls);
    if (c->options->no_comm)
        forget_spans(calls);
    find_groups(calls);
    find_library(c, calls);
}
