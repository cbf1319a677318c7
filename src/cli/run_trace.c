#include "cli/run_trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_stream.h"
#include "cli/run_page.h"
#include "measure/ring_ranks.h"

static bool refuse_ranks(struct error *e, const char *text, size_t n)
{
    error_set(e, ERROR_USAGE,
              "--trace-ranks is a list of ranks from 0 to %zu, such as 0,2 or 0-%zu (got '%s')",
              n - 1, n - 1, text);
    return false;
}

static bool read_rank(const char **at, size_t n, size_t *rank)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**at))
        return false;
    *rank = strtoul(*at, &end, 10);
    *at = end;
    return *rank < n;
}

/* "0-3,100" into chosen[n]. */
static bool read_ranks(const char *text, size_t n, bool *chosen, struct error *e)
{
    const char *at = text;
    for (;;) {
        size_t first, last;
        if (!read_rank(&at, n, &first))
            return refuse_ranks(e, text, n);
        bool range = *at == '-';
        last = first;
        at += range;
        if (range && (!read_rank(&at, n, &last) || last < first))
            return refuse_ranks(e, text, n);
        for (size_t rank = first; rank <= last; rank++)
            chosen[rank] = true;
        if (*at == '\0')
            return true;
        if (*at++ != ',')
            return refuse_ranks(e, text, n);
    }
}

/* As subsystem_plan_full numbers them. */
static int count_on_first_host(const struct job *job)
{
    const char *first = job_device_host(job, job_ring_device(job, 0), NULL);
    size_t n = 1;
    for (; first && n < job->n_devices; n++) {
        const char *host = job_device_host(job, job_ring_device(job, n), NULL);
        if (!host || strcmp(host, first) != 0)
            break;
    }
    return n < job->n_devices ? (int)n : 1;
}

static bool choose(struct workspace *w, const struct options *options, struct trace_choice *choice,
                   struct error *e)
{
    size_t n = w->job.n_devices;
    int *rank = ARENA_ARRAY(&w->arena, n, int);
    bool *chosen = ARENA_ARRAY(&w->arena, n, bool), *shown = ARENA_ARRAY(&w->arena, n, bool);
    const char *backend =
        w->job.type[job_device_type(&w->job, job_ring_device(&w->job, 0))].backend;
    int n_first = count_on_first_host(&w->job);
    if (options->trace_ranks && !read_ranks(options->trace_ranks, n, chosen, e))
        return false;
    for (size_t i = 0; i < n; i++) {
        rank[i] = ring_rank(backend, (int)n, n_first, (int)i);
        shown[i] = !options->trace_ranks || chosen[rank[i]];
    }
    *choice = (struct trace_choice){shown, rank, options->trace_measured};
    return true;
}

bool run_trace_write(struct workspace *w, const struct options *options,
                     const struct forecast *forecast, struct error *e)
{
    enum { STEPS = 4 };
    struct run_report run;
    struct trace_choice choice;
    struct file_stream stream;
    if (!options->trace)
        return true;
    if (!forecast->timeline.ring) {
        error_set(e, ERROR_INPUT, "%s: there is no timeline to trace: %s", w->job.file,
                  forecast->timeline.why_not ? forecast->timeline.why_not
                                             : "the closed form was asked for");
        return false;
    }
    if (!choose(w, options, &choice, e) || !run_page_steps(w, forecast, STEPS, &run, e) ||
        !file_stream_open(&stream, options->trace, e))
        return false;
    report_trace(&run, &choice, stream.out);
    if (!file_stream_close(&stream, e))
        return false;
    progress_say(&w->progress, "Trace: %s", options->trace);
    return true;
}
