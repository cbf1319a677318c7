#include "report/trace_events.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* Beyond quotes and backslashes, text_printable leaves nothing that JSON would have escaped. */
static void add_quoted(FILE *out, const char *text)
{
    struct arena scratch = {0};
    fputc('"', out);
    for (const char *c = text_printable(&scratch, text, 0); *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', out);
        fputc(*c, out);
    }
    fputc('"', out);
    arena_free(&scratch);
}

static long long ns_of(double seconds)
{
    return llround(seconds * 1e9);
}

static void add_time(FILE *out, const char *key, long long ns)
{
    fprintf(out, ",\"%s\":%lld.%03lld", key, ns / 1000, ns % 1000);
}

static void begin(struct trace_events *events, const char *phase, struct trace_track track,
                  const char *name)
{
    fprintf(events->out,
            "%s{\"ph\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"name\":", events->any ? ",\n" : "\n", phase,
            track.process, track.thread);
    add_quoted(events->out, name);
    events->any = true;
}

void trace_events_begin(struct trace_events *events)
{
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", events->out);
}

void trace_events_end(struct trace_events *events)
{
    fputs("\n]}\n", events->out);
}

static void add_name(struct trace_events *events, const char *what, struct trace_track track,
                     const char *name)
{
    begin(events, "M", track, what);
    fputs(",\"args\":{\"name\":", events->out);
    add_quoted(events->out, name);
    fputs("}}", events->out);
}

void trace_events_name_process(struct trace_events *events, size_t process, const char *name)
{
    struct trace_track track = {process, 0};
    add_name(events, "process_name", track, name);
    begin(events, "M", track, "process_sort_index");
    fprintf(events->out, ",\"args\":{\"sort_index\":%zu}}", process);
}

void trace_events_name_track(struct trace_events *events, struct trace_track track,
                             const char *name)
{
    add_name(events, "thread_name", track, name);
    begin(events, "M", track, "thread_sort_index");
    fprintf(events->out, ",\"args\":{\"sort_index\":%zu}}", track.thread);
}

void trace_events_slice(struct trace_events *events, struct trace_track track, const char *name,
                        double from_s, double to_s)
{
    long long from_ns = ns_of(from_s), to_ns = ns_of(to_s);
    if (to_ns <= from_ns)
        return;
    begin(events, "X", track, name);
    add_time(events->out, "ts", from_ns);
    add_time(events->out, "dur", to_ns - from_ns);
    fputs("}", events->out);
}

static void add_end(struct trace_events *events, const char *phase, const char *name,
                    struct trace_track track, long long ns)
{
    begin(events, phase, track, name);
    fprintf(events->out, ",\"cat\":\"flow\",\"id\":%zu", events->n_flows);
    add_time(events->out, "ts", ns);
    fputs(*phase == 'f' ? ",\"bp\":\"e\"}" : "}", events->out);
}

void trace_events_flow(struct trace_events *events, const char *name, struct trace_track from,
                       double from_s, struct trace_track to, double to_s)
{
    long long from_ns = ns_of(from_s);
    events->n_flows++;
    add_end(events, "s", name, from, from_ns > 0 ? from_ns - 1 : 0);
    add_end(events, "f", name, to, ns_of(to_s));
}
