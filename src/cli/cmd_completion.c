/* `foretrain completion`: what a shell needs to complete foretrain's command lines. */
#include <string.h>

#include "cli/completion.h"
#include "cli/workspace.h"

static const struct {
    const char *name;
    void (*script)(struct text *out);
} shell[] = {{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

static bool run(const struct options *options, struct error *e)
{
    for (size_t i = 0; i < sizeof shell / sizeof *shell; i++) {
        if (strcmp(shell[i].name, options->args[0]) != 0)
            continue;
        struct text out = {0};
        shell[i].script(&out);
        bool ok = workspace_print(options, &out, e);
        text_free(&out);
        return ok;
    }
    error_set(e, ERROR_USAGE, "SHELL is bash, zsh or fish (got '%s')", options->args[0]);
    return false;
}

const struct command command_completion = {
    .name = "completion",
    .args = "SHELL",
    .summary = "What bash, zsh or fish needs to complete command lines",
    .help = "Installed foretrain has it where shells look. From the build folder, in bash: "
            "eval \"$(foretrain completion bash)\"; in zsh: source <(foretrain completion zsh); in "
            "fish: foretrain completion fish | source.",
    .accepts = OPTION_OUTPUT,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
