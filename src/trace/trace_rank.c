#include "trace/trace_rank.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "trace/trace_cut.h"
#include "trace/trace_identity.h"
#include "trace/trace_judge.h"
#include "trace/trace_operators.h"

struct reading {
    struct arena *arena;
    const struct trace_options *options;
    struct trace *trace;
    struct record *record;
    enum trace_verdict *verdict; /* [n steps] */
};

static void add_note(struct reading *r, const char *line)
{
    struct record *record = r->record;
    const char **grown = ARENA_ARRAY(r->arena, record->n_notes + 1, const char *);
    for (size_t i = 0; i < record->n_notes; i++)
        grown[i] = record->note_line[i];
    grown[record->n_notes++] = line;
    record->note_line = grown;
}

/* About this file: its name comes first, without folders. */
__attribute__((format(printf, 2, 3))) static void note(struct reading *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    va_end(args);
    const char *slash = strrchr(r->trace->file, '/');
    add_note(r, arena_format(r->arena, "%s: %s", slash ? slash + 1 : r->trace->file, text));
    free(text);
}

static void mark_unknown(struct reading *r, const char *what, const char *why)
{
    enum { MOST = N_STAGES + 4 };
    struct record *record = r->record;
    if (!record->unknown)
        record->unknown = ARENA_ARRAY(r->arena, MOST, struct profile_unknown);
    for (size_t i = 0; i < record->n_unknown; i++) {
        if (strcmp(record->unknown[i].what, what) == 0)
            return;
    }
    record->unknown[record->n_unknown++] = (struct profile_unknown){what, why};
}

/* Collectives that other devices take part in. */
static size_t shared_calls(const struct trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->calls.n; i++)
        n += trace_call_is_shared(&t->calls.call[i]);
    return n;
}

/* Names of the kernels that took longest in all, at most three: "a", "b". */
static const char *longest_kernels(struct arena *arena, const struct trace_collected *c)
{
    enum { SHOWN = 3 };
    int64_t *sum_ns = ARENA_ARRAY(arena, c->words.n, int64_t);
    const char *text = "";
    struct trace_work work;
    struct packed_reader works = trace_packed_read(&c->works);
    while (trace_work_next(&works, &work))
        sum_ns[work.name] += work.duration_ns;
    trace_packed_read_end(&works);
    for (int k = 0; k < SHOWN; k++) {
        uint32_t best = 0;
        for (uint32_t w = 1; w < c->words.n; w++)
            best = sum_ns[w] > sum_ns[best] ? w : best;
        if (sum_ns[best] <= 0)
            break;
        sum_ns[best] = 0;
        text = arena_format(arena, "%s%s'%.60s'", text, k ? ", " : "", c->words.word[best]);
    }
    return text;
}

static bool fail_unmatched(const struct trace *t, size_t n_calls, struct error *e)
{
    struct arena scratch = {0};
    const struct trace_collected *c = &t->collected;
    if (t->device.in_calls)
        error_set(e, ERROR_INPUT,
                  "%s: %zu collectives were called, and launched kernels of unknown names: %s",
                  t->file, n_calls, text_printable(&scratch, t->device.in_calls, 0));
    else
        error_set(e, ERROR_INPUT,
                  "%s: %zu collectives were called, but none of the trace's %zu kernels and copies "
                  "is known as one; the longest are %s",
                  t->file, n_calls, c->n_works + c->n_comm_works,
                  text_printable(&scratch, longest_kernels(&scratch, c), 0));
    error_hint(e, "please report these names; --no-comm goes without communication's time");
    arena_free(&scratch);
    return false;
}

/* Where others took part, the trace must tell when: a wrong 0 would be worse than no profile. */
static bool check_runs(const struct trace *t, const struct trace_options *options, struct error *e)
{
    size_t n_calls = shared_calls(t);
    if (n_calls == 0 || t->calls.ran || options->no_comm)
        return true;
    if (t->device.used)
        return fail_unmatched(t, n_calls, e);
    error_set(e, ERROR_INPUT,
              "%s: communication time not in this trace: GPU activity was not recorded (%zu "
              "collectives were called, and nothing tells when they ran)",
              t->file, n_calls);
    error_hint(e,
               "record the device's activities too: "
               "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (docs/import.md), or go "
               "without by --no-comm");
    return false;
}

/* The CPU only hands work over to a device that the trace does not show. */
static bool device_is_missing(const struct trace *t)
{
    const struct trace_collected *c = &t->collected;
    bool comm_elsewhere = t->calls.library && !t->calls.on_cpu && shared_calls(t) > 0;
    return !t->device.used &&
           (c->launches.n > 0 || c->ending.header.n_devices > 0 || comm_elsewhere);
}

static void forget_device_stages(struct reading *r)
{
    static const enum stage of_the_device[] = {
        STAGE_COPY, STAGE_FORWARD,          STAGE_FIRST_BACKWARD,    STAGE_BACKWARD,
        STAGE_REST, STAGE_BACKWARD_COMPUTE, STAGE_BACKWARD_UNSYNCED, STAGE_OPTIMIZER,
    };
    for (size_t i = 0; i < sizeof of_the_device / sizeof *of_the_device; i++) {
        for (size_t k = 0; k < r->record->n_iterations; k++)
            r->record->iteration[k].time_s[of_the_device[i]] = -1;
        mark_unknown(r, stage_key(of_the_device[i]),
                     "the device's activity was not recorded: the CPU only hands work over to it");
    }
    for (size_t k = 0; k < r->record->n_iterations; k++) {
        struct record_iteration *it = &r->record->iteration[k];
        for (size_t b = 0; b < it->n_buckets; b++)
            it->bucket[b].ready_s = it->bucket[b].done_s = -1;
    }
}

static void fill_iterations(struct reading *r)
{
    const struct trace *t = r->trace;
    struct record *record = r->record;
    record->n_iterations = t->steps.n;
    record->iteration = ARENA_ARRAY(r->arena, t->steps.n, struct record_iteration);
    for (size_t s = 0; s < t->steps.n; s++)
        record->iteration[s] = trace_stages_of(r->arena, t, s);
    if (device_is_missing(t))
        forget_device_stages(r);
}

static size_t count_verdict(const struct reading *r, enum trace_verdict verdict)
{
    size_t n = 0;
    for (size_t s = 0; s < r->record->n_iterations; s++)
        n += r->verdict[s] == verdict;
    return n;
}

/* "4, 5 and 7 more" of the steps with that verdict. */
static const char *step_numbers(const struct reading *r, enum trace_verdict verdict)
{
    enum { SHOWN = 5 };
    const char *text = "";
    size_t n = 0, all = count_verdict(r, verdict);
    for (size_t s = 0; s < r->record->n_iterations && n < SHOWN; s++) {
        if (r->verdict[s] == verdict)
            text = arena_format(r->arena, "%s%s%" PRId64, text, n++ ? ", " : "",
                                r->trace->steps.step[s].number);
    }
    return all > n ? arena_format(r->arena, "%s and %zu more", text, all - n) : text;
}

/* DistributedDataParallel without no_sync, or two models in turn. */
static bool has_several_synced(const struct trace *t, const struct trace_step *step)
{
    struct trace_call *call = NULL;
    size_t n = trace_calls_of(&t->calls, step, &call);
    for (size_t i = 0; i < n; i++) {
        if (call[i].gradient &&
            trace_pass_at(step, call[i].start_ns) != &step->pass[step->n_passes - 1])
            return true;
    }
    return false;
}

/* What is known of steps before their times are looked at. */
static void judge_before(struct reading *r)
{
    const struct trace *t = r->trace;
    const bool *whole = trace_cut_whole(r->arena, t);
    bool lost_device = t->collected.ending.truncated && device_is_missing(t);
    for (size_t s = 0; s < t->steps.n; s++)
        r->verdict[s] = lost_device || !whole[s]                   ? STEP_CUT
                        : has_several_synced(t, &t->steps.step[s]) ? STEP_SEVERAL
                                                                   : STEP_COUNTS;
}

static void judge(struct reading *r)
{
    size_t n = r->record->n_iterations;
    r->verdict = ARENA_ARRAY(r->arena, n, enum trace_verdict);
    judge_before(r);
    trace_judge(r->record->iteration, n, r->trace->calls.ran, r->verdict);
    for (size_t s = 0; s < n; s++)
        r->record->iteration[s].counted = r->verdict[s] == STEP_COUNTS;
    for (int v = STEP_COUNTS + 1; v < N_TRACE_VERDICTS; v++) {
        size_t n_such = count_verdict(r, (enum trace_verdict)v);
        if (n_such > 0)
            note(r, "%zu of %zu steps left out, %s: %s", n_such, n,
                 trace_verdict_text((enum trace_verdict)v), step_numbers(r, (enum trace_verdict)v));
    }
}

static bool has_backward(const struct trace *t)
{
    for (size_t s = 0; s < t->steps.n; s++) {
        if (t->steps.step[s].n_passes > 0)
            return true;
    }
    return false;
}

static bool check_steps(const struct reading *r, struct error *e)
{
    const struct trace *t = r->trace;
    if (!has_backward(t)) {
        error_set(e, ERROR_INPUT,
                  "%s: none of its %zu steps (by %s) has a backward pass: it is not of a training, "
                  "or was cut off",
                  t->file, t->steps.n, t->steps.cut_by);
        return false;
    }
    if (count_verdict(r, STEP_COUNTS) > 0)
        return true;
    error_set(e, ERROR_INPUT, "%s: none of its %zu steps (by %s) counts", t->file, t->steps.n,
              t->steps.cut_by);
    for (int v = STEP_COUNTS + 1; v < N_TRACE_VERDICTS; v++) {
        if (count_verdict(r, (enum trace_verdict)v) > 0)
            error_hint(e, "%zu: %s", count_verdict(r, (enum trace_verdict)v),
                       trace_verdict_text((enum trace_verdict)v));
    }
    return false;
}

static bool stage_is_known(const struct reading *r, enum stage stage)
{
    for (size_t s = 0; s < r->record->n_iterations; s++) {
        if (r->verdict[s] == STEP_COUNTS && r->record->iteration[s].time_s[stage] < 0)
            return false;
    }
    return true;
}

static void mark_unknown_stages(struct reading *r)
{
    bool on_device = r->trace->device.used;
    if (!stage_is_known(r, STAGE_FORWARD))
        mark_unknown(
            r, stage_key(STAGE_FORWARD),
            on_device
                ? "no work that forward launched is known"
                : "the trace has no mark of forward (DistributedDataParallel.forward), of the "
                  "data loader or of zero_grad");
    if (!stage_is_known(r, STAGE_FIRST_BACKWARD))
        mark_unknown(r, stage_key(STAGE_FIRST_BACKWARD),
                     "no backward operator launched work that is known");
    if (!stage_is_known(r, STAGE_OPTIMIZER))
        mark_unknown(r, stage_key(STAGE_OPTIMIZER),
                     on_device ? "no work that an Optimizer.step launched is known"
                               : "the trace has no Optimizer.step marks");
    if (r->options->batch <= 0)
        mark_unknown(r, "batch", "no trace holds it: give it with --batch");
    bool is_missing = r->options->no_comm ? r->trace->calls.n > 0 : shared_calls(r->trace) > 0;
    if (r->record->n_iterations && !r->trace->calls.ran && is_missing)
        mark_unknown(r, "done_s", "communication time is not in the trace (--no-comm)");
}

/* The last call of a pass over the data brings none. */
static bool delivers(const struct trace_step *step, const struct trace_mark *loader)
{
    const struct trace_pass *last = step->n_passes ? &step->pass[step->n_passes - 1] : NULL;
    return last && loader->end_ns <= last->backward.start_ns;
}

/* Without workers the wait is the loading; with workers it is what they did not manage. */
static void fill_loader(struct reading *r)
{
    const struct trace_collected *c = &r->trace->collected;
    struct record *record = r->record;
    record->loader_workers = c->loader_workers;
    if (c->loader_workers > 0) {
        mark_unknown(r, stage_key(STAGE_LOADER_INTERVAL),
                     "what a loader could deliver is never in a trace; wait_s is a lower bound");
        add_note(r, "the loader has workers; how many is not in a trace: one is written");
    }
    if (c->loader_workers != 0)
        return;
    record->interval_s = ARENA_ARRAY(r->arena, c->n_marks, double);
    for (size_t i = 0; i < c->n_marks; i++) {
        const struct trace_mark *mark = &c->mark[i];
        const struct trace_step *step = trace_step_at(&r->trace->steps, mark->start_ns);
        if (mark->kind == KIND_LOADER && step && delivers(step, mark) &&
            r->verdict[step - r->trace->steps.step] == STEP_COUNTS)
            record->interval_s[record->n_intervals++] =
                (double)(mark->end_ns - mark->start_ns) / 1e9;
    }
}

/* Nothing says that the loader keeps up when the step waits for it. */
static void note_wait(struct reading *r)
{
    const double much = 0.05;
    double wait_s = 0, step_s = 0;
    char waits[UNITS_TEXT_SIZE], steps[UNITS_TEXT_SIZE];
    size_t n = count_verdict(r, STEP_COUNTS);
    for (size_t s = 0; s < r->record->n_iterations; s++) {
        const struct record_iteration *it = &r->record->iteration[s];
        if (r->verdict[s] != STEP_COUNTS || it->time_s[STAGE_WAIT] < 0)
            continue;
        wait_s += it->time_s[STAGE_WAIT] / (double)n;
        step_s += it->time_s[STAGE_STEP] / (double)n;
    }
    if (wait_s > much * step_s)
        note(r,
             "a step of %s waits %s for data; what more devices on one host do to its loaders is "
             "not in the model",
             units_format(step_s, DIMENSION_TIME, steps),
             units_format(wait_s, DIMENSION_TIME, waits));
}

static void note_rest(struct reading *r)
{
    const struct trace *t = r->trace;
    const struct trace_ending *ending = &t->collected.ending;
    if (strcmp(t->steps.cut_by, "ProfilerStep") != 0)
        note(r, "it has no ProfilerStep marks; its steps are cut at %s", t->steps.cut_by);
    if (t->steps.renumbered)
        note(r, "the numbers of its ProfilerStep marks do not increase: its steps are numbered "
                "from 1");
    if (t->steps.n_overlapping > 0)
        note(r, "%zu step mark%s passed over: each begins before the one before it ends",
             t->steps.n_overlapping, t->steps.n_overlapping == 1 ? " is" : "s are");
    if (t->calls.n_untold > 0)
        note(r,
             "%zu collectives ran on the CPU while calls waited that may be another process "
             "group's: "
             "nothing tells which was which, and they count in the order of the calls",
             t->calls.n_untold);
    if (t->calls.n_homeless > 0)
        note(r, "%zu collectives' kernels belong to calls that the trace does not hold",
             t->calls.n_homeless);
    if (t->device.n_unlaunched > 0)
        note(r,
             "what launched %zu of its %zu kernels and copies is not in the trace; they count for "
             "nothing",
             t->device.n_unlaunched, t->collected.n_works);
    if (ending->truncated)
        note(r, "it is cut off after %llu bytes and holds %zu step%s",
             (unsigned long long)ending->truncated_at_bytes, t->steps.n,
             t->steps.n == 1 ? "" : "s");
    if (ending->is_followed)
        note(r, "bytes behind its gzip data were passed over");
    if (ending->n_unknown_escapes > 0)
        note(r, "%llu escapes that JSON does not know were kept as they are",
             (unsigned long long)ending->n_unknown_escapes);
}

static bool make_record(struct reading *r, struct error *e)
{
    struct record *record = r->record;
    *record = (struct record){.file = r->trace->file,
                              .device_type = r->options->device_type,
                              .batch = r->options->batch > 0 ? r->options->batch : -1,
                              .read_bytes = -1,
                              .ended = true};
    trace_describe(r->arena, r->trace, record);
    fill_iterations(r);
    judge(r);
    if (!check_steps(r, e))
        return false;
    mark_unknown_stages(r);
    fill_loader(r);
    note_wait(r);
    note_rest(r);
    bool *counts = ARENA_ARRAY(r->arena, record->n_iterations, bool);
    for (size_t s = 0; s < record->n_iterations; s++)
        counts[s] = r->verdict[s] == STEP_COUNTS;
    trace_collected_forget_works(&r->trace->collected);
    if (!device_is_missing(r->trace))
        trace_operators_fill(r->arena, r->trace, counts, record);
    return true;
}

/* CUDA's work in traces of torch 1.7 and older: nothing tells what launched it. */
static bool check_device(const struct trace *t, struct error *e)
{
    const struct trace_ending *ending = &t->collected.ending;
    for (size_t i = 0; i < ending->n_tracks; i++) {
        if (strcmp(ending->track[i].pid, "CUDA functions") != 0)
            continue;
        error_set(e, ERROR_INPUT,
                  "%s: nothing tells what launched its work on the device: it was recorded by the "
                  "profiler of torch 1.7 or older",
                  t->file);
        error_hint(e, "record with torch.profiler of torch 1.9 or later (docs/import.md)");
        return false;
    }
    return true;
}

static const int64_t *numbers_of(struct arena *arena, const struct trace_steps *steps)
{
    int64_t *number = ARENA_ARRAY(arena, steps->n, int64_t);
    for (size_t s = 0; s < steps->n; s++)
        number[s] = steps->step[s].number;
    return number;
}

static bool understand(struct arena *arena, const struct trace_options *options,
                       struct trace *trace, struct trace_rank *rank, struct error *e)
{
    struct reading reading = {
        .arena = arena, .options = options, .trace = trace, .record = &rank->record};
    struct trace_collected *c = &trace->collected;
    if (!check_device(trace, e) || !trace_steps_find(arena, c, trace->file, &trace->steps, e))
        return false;
    trace_calls_find(arena, c, &trace->steps, &trace->calls);
    trace_device_place(arena, c, &trace->steps, &trace->calls, &trace->device);
    if (!trace_identify(trace, options, rank, e) || !check_runs(trace, options, e) ||
        !make_record(&reading, e))
        return false;
    rank->backend = rank->record.backend;
    rank->gradient_group = trace->calls.gradient_group;
    rank->number = numbers_of(arena, &trace->steps);
    rank->when = trace_when(arena, trace);
    return true;
}

bool trace_rank_read(struct arena *arena, const char *path, const struct trace_options *options,
                     struct trace_rank *rank, struct error *e)
{
    struct trace trace = {.file = path};
    struct trace_rank read = {0};
    if (!trace_collect(arena, path, options, &trace.collected, e))
        return false;
    bool ok = understand(arena, options, &trace, &read, e);
    trace_collected_free(&trace.collected);
    if (ok)
        *rank = read;
    return ok;
}
