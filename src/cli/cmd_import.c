/* `foretrain import`: a profile from profiler traces made elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/workspace.h"
#include "report/report.h"
#include "trace/trace_profile.h"

static bool fail_option(struct error *e, const char *option, const char *value, const char *wanted)
{
    error_set(e, ERROR_USAGE, "--%s takes %s (got '%s')", option, wanted, value);
    return false;
}

/* A whole number above `least` - 1. */
static bool read_count(const char *text, long least, int *value)
{
    char *end = NULL;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < least || number > INT32_MAX)
        return false;
    *value = (int)number;
    return true;
}

static bool read_batch(const struct options *options, struct trace_options *import, struct error *e)
{
    int batch = 0;
    if (!options->batch)
        return true;
    if (!read_count(options->batch, 1, &batch))
        return fail_option(e, "batch", options->batch, "the samples of a mini-batch, from 1");
    import->batch = batch;
    return true;
}

static bool read_world(const struct options *options, struct trace_options *import, struct error *e)
{
    return !options->world_size || read_count(options->world_size, 1, &import->world_size) ||
           fail_option(e, "world-size", options->world_size, "a number of ranks, from 1");
}

/* "16 MB", or one for each bucket: "4 MB,12 MB". */
static bool read_gradient_bytes(struct arena *arena, const struct options *options,
                                struct trace_options *import, struct error *e)
{
    const char *text = options->grad_bytes;
    if (!text)
        return true;
    double *bytes = ARENA_ARRAY(arena, strlen(text) + 1, double);
    while (text) {
        size_t length = strcspn(text, ",");
        const char *size = arena_copy_n(arena, text, length);
        double *value = &bytes[import->n_gradient_bytes++];
        if (!units_parse(size, DIMENSION_BYTES, value, e)) {
            e->kind = ERROR_USAGE;
            error_in(e, "--grad-bytes");
            return false;
        }
        if (!(*value > 0))
            return fail_option(e, "grad-bytes", size, "sizes above 0");
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    import->gradient_bytes = bytes;
    return true;
}

static bool is_trace(const struct options *options, const char *file)
{
    for (int i = 0; i < options->n_args; i++) {
        if (strcmp(options->args[i], file) == 0)
            return true;
    }
    return false;
}

static bool read_rank(struct arena *arena, const struct options *options, const char *text,
                      struct trace_given_rank *given, struct error *e)
{
    const char *equals = strrchr(text, '=');
    if (!equals || !read_count(equals + 1, 0, &given->rank))
        return fail_option(e, "rank", text, "FILE=N, with N from 0");
    given->file = arena_copy_n(arena, text, (size_t)(equals - text));
    return is_trace(options, given->file) ||
           fail_option(e, "rank", text, "one of the traces that are given");
}

/* A file has one rank. */
static bool check_rank(const struct trace_given_rank *given, size_t n,
                       const struct trace_given_rank *next, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(given[i].file, next->file) != 0)
            continue;
        error_set(e, ERROR_USAGE, "--rank gives %s two ranks: %d and %d", next->file, given[i].rank,
                  next->rank);
        return false;
    }
    return true;
}

static bool read_ranks(struct arena *arena, const struct options *options,
                       struct trace_options *import, struct error *e)
{
    struct trace_given_rank *given = ARENA_ARRAY(arena, options->rank.n, struct trace_given_rank);
    for (size_t i = 0; i < options->rank.n; i++) {
        if (!read_rank(arena, options, options->rank.word[i], &given[i], e) ||
            !check_rank(given, i, &given[i], e))
            return false;
    }
    import->given = given;
    import->n_given = options->rank.n;
    return true;
}

static bool read_options(struct arena *arena, const struct options *options,
                         struct trace_options *import, struct error *e)
{
    *import = (struct trace_options){
        .device_type = options->device, .no_comm = options->no_comm, .partial = options->partial};
    if (!options->device || !*options->device) {
        error_set(e, ERROR_USAGE,
                  "import needs the device type's name, as the job names it: "
                  "--device NAME");
        return false;
    }
    return read_batch(options, import, e) && read_world(options, import, e) &&
           read_gradient_bytes(arena, options, import, e) && read_ranks(arena, options, import, e);
}

static void show_progress(void *data, const char *file, uint64_t done_bytes, uint64_t total_bytes)
{
    char done[UNITS_TEXT_SIZE], text[256];
    (void)data;
    units_format((double)done_bytes, DIMENSION_BYTES, done);
    if (total_bytes > 0)
        snprintf(text, sizeof text, "%s: %.0f %%", file,
                 100 * (double)done_bytes / (double)total_bytes);
    else
        snprintf(text, sizeof text, "%s: %s", file, done);
    console_status(text);
}

/* With -o the profile goes into the file, and what was found to the terminal. */
static bool show(const struct options *options, const struct profile *profile, struct error *e)
{
    struct text out = {0};
    const struct options to_terminal = {0};
    if (options->output && strcmp(options->output, "-") != 0 &&
        !profile_write(options->output, profile, e))
        return false;
    if (options->json || (options->output && strcmp(options->output, "-") == 0))
        profile_format(profile, NULL, &out);
    else
        report_profile_text(profile, &out);
    bool ok = workspace_print(&to_terminal, &out, e);
    text_free(&out);
    return ok;
}

static bool run(const struct options *options, struct error *e)
{
    struct arena arena = {0};
    struct trace_options import;
    struct profile profile;
    bool ok = read_options(&arena, options, &import, e);
    import.progress = show_progress;
    import.warn = console_warn;
    ok = ok && profile_from_traces(&arena, (const char *const *)options->args,
                                   (size_t)options->n_args, &import, &profile, e);
    console_finish();
    ok = ok && show(options, &profile, e);
    arena_free(&arena);
    return ok;
}

const struct command command_import = {
    .name = "import",
    .args = "TRACE...",
    .summary = "A profile from profiler traces made elsewhere",
    .help = "TRACE is a trace of PyTorch's profiler, plain or gzip, '-' for standard input; one, "
            "or one "
            "for each rank of a training. What a trace does not hold is marked as unknown in the "
            "profile. "
            "How to record a good one: docs/import.md.",
    .accepts = OPTION_JSON | OPTION_QUIET | OPTION_OUTPUT | OPTION_DEVICE | OPTION_BATCH |
               OPTION_RANK | OPTION_WORLD_SIZE | OPTION_GRAD_BYTES | OPTION_PARTIAL |
               OPTION_NO_COMM,
    .min_args = 1,
    .max_args = 1 << 20,
    .run = run,
};
