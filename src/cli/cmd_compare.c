/* `foretrain compare`: two runs or jobs side by side. */
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/workspace.h"
#include "plan/compare.h"
#include "report/plan_report.h"

/* The job file, or the folder of a run, that is word `i`. */
static bool open_side(struct workspace *w, const struct options *options, int i, struct error *e)
{
    struct stat st;
    const char *path = options->args[i];
    struct options one = *options;
    one.args += i;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return workspace_open_run(w, path, options, e);
    return workspace_open(w, &one, e);
}

static bool read_side(struct workspace *w, const struct options *options, int i,
                      struct compare_side *side, struct error *e)
{
    if (!open_side(w, options, i, e) || !workspace_load(w, e)) {
        error_in(e, "%s", options->args[i]);
        return false;
    }
    *side = (struct compare_side){options->args[i], &w->job, w->profile, w->network};
    return true;
}

static bool show(const struct options *options, const struct comparison *comparison,
                 struct error *e)
{
    struct text out = {0};
    if (options->json)
        report_compare_json(comparison, &out);
    else
        report_compare_text(comparison, &out);
    bool ok = workspace_print(options, &out, e);
    text_free(&out);
    return ok;
}

/* Standard input can be read once. */
static bool check_input(const struct options *options, struct error *e)
{
    if (strcmp(options->args[0], "-") != 0 || strcmp(options->args[1], "-") != 0)
        return true;
    error_set(e, ERROR_USAGE, "only one of the two can be standard input");
    return false;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w[2] = {0};
    struct compare_side side[2];
    struct comparison comparison;
    bool ok = check_input(options, e) && read_side(&w[0], options, 0, &side[0], e) &&
              read_side(&w[1], options, 1, &side[1], e) &&
              compare_jobs(&w[0].arena, side, w[0].model, &comparison, e) &&
              show(options, &comparison, e);
    workspace_close(&w[0]);
    workspace_close(&w[1]);
    return ok;
}

const struct command command_compare = {
    .name = "compare",
    .args = "A B",
    .summary = "Two runs or jobs: what differs, and what that does to the step",
    .help = "A and B are job files, or folders of runs. What differs is taken over from the second "
            "to the first one group after the other: devices, profiles (with the batch), network, "
            "training; each time the step is forecast.",
    .accepts = OPTION_JSON | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
