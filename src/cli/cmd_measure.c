/* `foretrain measure`: the sub-systems only. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/workspace.h"
#include "report/report.h"

/* Where the profiles are, of all types and batches. */
static bool print_paths(struct workspace *w, const struct options *options, struct error *e)
{
    const char **all = NULL;
    size_t n = 0;
    for (int t = 0; t < w->job.n_types; t++) {
        size_t n_own = 0;
        const char **own = workspace_profile_paths(w, t, &n_own);
        all = memory_resize(all, n + n_own, sizeof *all);
        for (size_t i = 0; i < n_own; i++)
            all[n++] = own[i];
    }
    struct text out = {0};
    report_measured_json(w->job.name, all, n, &out);
    bool ok = workspace_print(options, &out, e);
    text_free(&out);
    free(all);
    return ok;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    bool ok = workspace_open(&w, options, e) && workspace_measure(&w, options, e) &&
              (!options->json || print_paths(&w, options, e));
    workspace_close(&w);
    return ok;
}

const struct command command_measure = {
    .name = "measure",
    .args = "JOB",
    .summary = "Train each type's sub-system and record its profile",
    .help = "Writes profiles/TYPE.json in the run's folder (TYPE-b32.json and so on where a type "
            "has several batches). What is measured already under the same facts is kept. --json "
            "prints where the profiles are.",
    .accepts = OPTION_RUN | OPTION_AGAIN | OPTION_PARALLEL | OPTION_QUIET | OPTION_JSON,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
