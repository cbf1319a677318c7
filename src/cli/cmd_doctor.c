/* `foretrain doctor`: can the job run on its hosts? */
#include <stdio.h>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/doctor_output.h"
#include "cli/workspace.h"
#include "measure/doctor.h"
#include "measure/python.h"

static bool print_python(struct workspace *w, struct error *e)
{
    struct python_search search = python_search_start(&w->arena);
    struct python python;
    if (!python_find(&search, w->job.type[0].python, NULL, &w->progress, &python, e))
        return false;
    puts(python.path);
    return true;
}

static bool examine(struct workspace *w, const struct options *options, struct error *e)
{
    struct doctor_result result;
    struct text out = {0};
    doctor_examine(&w->arena, &w->job, workspace_worker(w), w->run, &w->progress, &result);
    if (progress_cancelled(&w->progress, e))
        return false;
    console_finish();
    if (options->json)
        doctor_output_json(&w->job, &result, &out);
    else
        doctor_output_text(&w->job, &result, &out);
    bool ok = workspace_print(options, &out, e);
    size_t n_failed = doctor_output_count(&result, DOCTOR_FAIL);
    if (ok && n_failed)
        error_set(e, ERROR_CHECK, "%zu of %zu checks failed", n_failed, result.checks.n);
    text_free(&out);
    return ok && n_failed == 0;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    bool ok = workspace_open(&w, options, e) &&
              (options->print_python ? print_python(&w, e) : examine(&w, options, e));
    workspace_close(&w);
    return ok;
}

const struct command command_doctor = {
    .name = "doctor",
    .args = "JOB",
    .summary = "Check whether a job can run, here and on its hosts",
    .help =
        "Looks, on this machine and at once on all hosts that the job names, for python, torch, "
        "backends and devices of each type, iperf3, addresses and routes, clocks, free space "
        "and what else runs there, and for the files that the job names. The exit status is 1 "
        "when a check fails.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_PRINT_PYTHON | OPTION_QUIET,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
