/* `foretrain predict`: a forecast from what is measured or given. */
#include "cli/command.h"
#include "cli/run_trace.h"
#include "cli/workspace.h"

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct forecast forecast;
    bool ok = workspace_open(&w, options, e) && workspace_forecast(&w, &forecast, e) &&
              run_trace_write(&w, options, &forecast, e) &&
              workspace_show_forecast(&w, options, &forecast, e);
    workspace_close(&w);
    return ok;
}

const struct command command_predict = {
    .name = "predict",
    .args = "JOB",
    .summary = "Forecast from what is measured or given; needs no cluster",
    .help = "Uses the profiles that the job gives (devices.TYPE.profile) or that were measured "
            "into the "
            "run's folder, and the network that the job gives or that was measured.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_CSV | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL |
               OPTIONS_TRACE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
