/* `foretrain run`: the main job, from the job file to the forecast. */
#include "cli/command.h"
#include "cli/network_step.h"
#include "cli/run_page.h"
#include "cli/run_trace.h"
#include "cli/workspace.h"

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct forecast forecast;
    bool ok = workspace_open(&w, options, e) && workspace_measure(&w, options, e) &&
              network_step(&w, options, e) && workspace_forecast(&w, &forecast, e) &&
              run_trace_write(&w, options, &forecast, e) &&
              workspace_show_forecast(&w, options, &forecast, e);
    if (ok) {
        run_page_keep(&w, &forecast);
        progress_say(&w.progress, "Kept in %s", w.run);
    }
    workspace_close(&w);
    return ok;
}

const struct command command_run = {
    .name = "run",
    .args = "JOB",
    .summary = "Measure what is not measured yet, then forecast: the main job",
    .help =
        "Trains a small sub-system of each device type, measures the bandwidth where the job "
        "does not give it, "
        "and forecasts the whole system. Everything is kept in the run's folder: a run that "
        "was stopped goes on "
        "where it stopped, and what changed in the job is measured again. The forecast with its "
        "pictures is report.html there.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_CSV | OPTION_AGAIN | OPTION_PARALLEL |
               OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL | OPTIONS_TRACE,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
