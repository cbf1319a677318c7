/* `foretrain doctor`: can the job run here? */
#include <stdio.h>

#include <jansson.h>

#include "cli/command.h"
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

static void print_table(struct workspace *w, const struct doctor_check *check, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%-5s %-12s %-8s %s\n", doctor_verdict_name(check[i].verdict),
               text_printable(&w->arena, check[i].subject, 0), check[i].what,
               text_printable(&w->arena, check[i].found, 1));
}

static void print_json(const struct doctor_check *check, size_t n, bool ready)
{
    json_t *checks = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(checks, json_pack("{ss ss ss ss}", "subject", check[i].subject,
                                                "what", check[i].what, "verdict",
                                                doctor_verdict_name(check[i].verdict), "found",
                                                check[i].found));
    json_t *document =
        json_pack("{ss sb so}", "format", "foretrain.doctor/1", "ready", ready, "checks", checks);
    json_dumpf(document, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(document);
}

static bool examine(struct workspace *w, const struct options *options, struct error *e)
{
    struct doctor_check *check = NULL;
    size_t n = 0, n_failed = 0;
    doctor_examine(&w->arena, &w->job, workspace_worker(w), w->run, &w->progress, &check, &n);
    if (progress_cancelled(&w->progress, e))
        return false;
    for (size_t i = 0; i < n; i++)
        n_failed += check[i].verdict == DOCTOR_FAIL;
    if (options->json) {
        print_json(check, n, n_failed == 0);
    } else {
        print_table(w, check, n);
        if (n_failed == 0)
            puts("\nReady to run.");
    }
    if (n_failed)
        error_set(e, ERROR_CHECK, "%zu of %zu checks failed", n_failed, n);
    return n_failed == 0;
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
    .summary = "Check whether a job can run here",
    .help = "Looks for python, torch, backends and devices of each type, iperf3, the files that "
            "the job names and "
            "free space. The exit status is 1 when a check fails.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_PRINT_PYTHON | OPTION_QUIET,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
