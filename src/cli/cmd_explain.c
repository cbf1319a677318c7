/* `foretrain explain`: where the forecast's step goes, and what would make it shorter. */
#include "cli/command.h"
#include "cli/workspace.h"
#include "predict/explain.h"
#include "report/explanation.h"

static bool print(struct workspace *w, const struct options *options,
                  const struct forecast *forecast, struct error *e)
{
    struct explanation explanation;
    struct text out = {0};
    if (!explain(&w->arena, &w->job, forecast, &explanation, e))
        return false;
    if (options->json)
        report_explanation_json(&w->job, forecast, &explanation, &out);
    else
        report_explanation_text(&w->job, forecast, &explanation, &out);
    bool ok = workspace_print(options, &out, e);
    text_free(&out);
    return ok;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct forecast forecast;
    bool ok = workspace_open(&w, options, e) && workspace_forecast(&w, &forecast, e) &&
              print(&w, options, &forecast, e);
    workspace_close(&w);
    return ok;
}

const struct command command_explain = {
    .name = "explain",
    .args = "JOB",
    .summary = "Where the forecast's step goes, and what would help most",
    .help = "Forecasts as predict does, and follows the step back along its critical path: which "
            "device, which stage, which link, how long; where each device type's time goes; and "
            "how long a step would be were one of them infinitely fast.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_OUTPUT,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
