/* `foretrain init`: a commented job file to start from. */
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/workspace.h"
#include "job/template.h"

static bool run(const struct options *options, struct error *e)
{
    if (options->output && file_exists(options->output) && !options->force) {
        error_set(e, ERROR_FILE, "%s: is there already", options->output);
        error_hint(e, "overwrite it with --force");
        return false;
    }
    struct text out = {0};
    text_add(&out, job_template);
    bool ok = workspace_print(options, &out, e);
    text_free(&out);
    return ok;
}

const struct command command_init = {
    .name = "init",
    .args = "",
    .summary = "A commented job file to start from",
    .help = "Prints the file; every key is explained in foretrain-job(5).",
    .accepts = OPTION_OUTPUT | OPTION_FORCE,
    .min_args = 0,
    .max_args = 0,
    .run = run,
};
