/* `foretrain split`: mini-batches by device type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/workspace.h"
#include "plan/split.h"
#include "report/split_report.h"

static bool read_wish(const struct options *options, struct split_wish *wish, struct error *e)
{
    const char *text = options->global_batch;
    *wish = (struct split_wish){.fastest = options->fastest};
    if (!text)
        return true;
    if (options->fastest) {
        error_set(e, ERROR_USAGE, "--fastest and --global-batch exclude each other");
        return false;
    }
    size_t digits = strspn(text, "0123456789");
    wish->global_batch = strtod(text, NULL);
    if (digits > 0 && digits <= 15 && !text[digits] && wish->global_batch > 0)
        return true;
    error_set(e, ERROR_USAGE, "--global-batch is a whole number of samples (got '%s')", text);
    return false;
}

static bool read_profiles(struct workspace *w, struct split_profiles **profiles, struct error *e)
{
    size_t n_types = (size_t)w->job.n_types;
    struct error_list missing = {0};
    *profiles = ARENA_ARRAY(&w->arena, n_types, struct split_profiles);
    for (size_t t = 0; t < n_types; t++) {
        struct profile *profile = NULL;
        size_t n = 0;
        if (!workspace_batches(w, (int)t, &profile, &n, e))
            error_list_add(&missing, e);
        (*profiles)[t] = (struct split_profiles){profile, n};
    }
    if (!missing.n)
        return true;
    error_list_join(&missing, e);
    return false;
}

static bool show(const struct options *options, const struct split *split, struct error *e)
{
    struct text text = {0};
    if (options->json)
        report_split_json(split, &text);
    else
        report_split_text(split, &text);
    bool ok = workspace_print(options, &text, e);
    text_free(&text);
    return ok;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct split split;
    struct split_wish wish;
    struct split_profiles *profiles = NULL;
    struct network *network = NULL;
    bool ok = workspace_open(&w, options, e) && read_wish(options, &wish, e) &&
              read_profiles(&w, &profiles, e) && workspace_network(&w, &network, e) &&
              split_find(&w.arena, &w.job, profiles, network, w.model, &wish, &split, e) &&
              show(options, &split, e);
    workspace_close(&w);
    return ok;
}

const struct command command_split = {
    .name = "split",
    .args = "JOB",
    .summary = "Mini-batches by device type, for a balanced step",
    .help = "Looks for the whole mini-batches with the smallest step at the job's global batch, or "
            "with --fastest for the most samples a second. None is larger than devices.TYPE."
            "max_batch; with --fastest, where that is not given, none larger than was measured.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL |
               OPTION_GLOBAL_BATCH | OPTION_FASTEST,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
