/* `foretrain measure`: the sub-systems only. */
#include "cli/command.h"
#include "cli/workspace.h"

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    bool ok = workspace_open(&w, options, e) && workspace_measure(&w, options, e);
    workspace_close(&w);
    return ok;
}

const struct command command_measure = {
    .name = "measure",
    .args = "JOB",
    .summary = "Train each type's sub-system and record its profile",
    .help = "Writes profiles/TYPE.json in the run's folder (TYPE-b32.json and so on where a type "
            "has several batches). What is measured already under the "
            "same facts is kept.",
    .accepts = OPTION_RUN | OPTION_AGAIN | OPTION_PARALLEL | OPTION_QUIET,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
