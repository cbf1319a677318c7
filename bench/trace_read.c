/*
 * Reads a trace's events as `foretrain import` does and prints sums of what they hold:
 * `bench_trace_read FILE`. bench_trace_yajl and bench_trace_simdjson print the same.
 */
#include <inttypes.h>
#include <stdio.h>

#include "trace/trace_read.h"
#include "trace_sums.h"

static bool add_event(void *data, const struct trace_event *event, struct error *e)
{
    (void)e;
    struct trace_sums *sums = data;
    int64_t whole;
    sums->n_events++;
    sums->start_ns += (uint64_t)event->start_ns;
    sums->duration_ns += (uint64_t)event->duration_ns;
    sums->text_bytes += event->name.length + event->category.length;
    if (trace_value_int(trace_event_arg(event, TRACE_EXTERNAL_ID), &whole))
        sums->args += (uint64_t)whole;
    if (trace_value_int(trace_event_arg(event, TRACE_CORRELATION), &whole))
        sums->args += (uint64_t)whole;
    if (trace_value_int(trace_event_arg(event, TRACE_STREAM), &whole))
        sums->args += (uint64_t)whole;
    return true;
}

int main(int argc, char **argv)
{
    struct trace_sums sums = {0};
    struct trace_reader reader = {.data = &sums, .event = add_event};
    struct trace_ending ending;
    struct arena arena = {0};
    struct error e = {0};
    bool ok = argc == 2 && trace_read(&arena, argv[1], &reader, &ending, &e);
    if (ok)
        trace_sums_print(&sums);
    else
        fprintf(stderr, "%s\n", e.text ? e.text : "usage: bench_trace_read FILE");
    error_clear(&e);
    arena_free(&arena);
    return ok ? 0 : 1;
}
