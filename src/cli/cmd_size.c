/* `foretrain size`: how many of which devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/workspace.h"
#include "plan/size.h"
#include "report/plan_report.h"

static bool read_deadline(const char *text, double *deadline_s, struct error *e)
{
    struct error why = {0};
    *deadline_s = 0;
    if (!text || (units_parse(text, DIMENSION_TIME, deadline_s, &why) && *deadline_s > 0))
        return true;
    error_set(e, ERROR_USAGE, "--deadline is a time above 0, such as 14d (got '%s')", text);
    error_clear(&why);
    return false;
}

static bool read_budget(const char *text, double *budget, struct error *e)
{
    char *end = NULL;
    *budget = text ? strtod(text, &end) : 0;
    if (!text || (end != text && !*end && isfinite(*budget) && *budget > 0))
        return true;
    error_set(e, ERROR_USAGE, "--budget is a number above 0 (got '%s')", text);
    return false;
}

static bool find_type(const struct job *job, const char *name, int *type, struct error *e)
{
    *type = job_find_type(job, name);
    if (*type != JOB_NO_TYPE)
        return true;
    struct arena scratch = {0};
    const char **word = ARENA_ARRAY(&scratch, (size_t)job->n_types, const char *);
    for (int t = 0; t < job->n_types; t++)
        word[t] = job->type[t].name;
    error_set(e, ERROR_USAGE, "--available: no device type is called '%s'", name);
    const char *nearest = text_nearest(name, word, (size_t)job->n_types);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    arena_free(&scratch);
    return false;
}

/* "a100=200" */
static bool read_type(const struct job *job, char *item, int64_t *available, struct error *e)
{
    const int64_t most = 10000000;
    int type = JOB_NO_TYPE;
    char *equals = strrchr(item, '='), *end = NULL;
    if (equals) {
        *equals = '\0';
        if (!find_type(job, item, &type, e))
            return false;
        long long n = equals[1] >= '0' && equals[1] <= '9' ? strtoll(equals + 1, &end, 10) : -1;
        if (n >= 0 && n <= most && !*end) {
            available[type] = n;
            return true;
        }
        *equals = '=';
    }
    error_set(e, ERROR_USAGE, "--available is TYPE=N, N a whole number up to %lld (got '%s')",
              (long long)most, item);
    return false;
}

static bool read_available(struct workspace *w, const char *text, int64_t *available,
                           struct error *e)
{
    int64_t all = 0;
    for (int t = 0; t < w->job.n_types; t++)
        available[t] = w->job.type[t].count;
    for (char *item = text ? arena_copy(&w->arena, text) : NULL; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (!read_type(&w->job, item, available, e))
            return false;
        item = comma ? comma + 1 : NULL;
    }
    for (int t = 0; t < w->job.n_types; t++)
        all += available[t];
    if (all == 0)
        error_set(e, ERROR_USAGE, "--available leaves no device");
    return all > 0;
}

static bool read_goal(struct workspace *w, const struct options *options, struct size_goal *goal,
                      struct error *e)
{
    int64_t *available = ARENA_ARRAY(&w->arena, (size_t)w->job.n_types, int64_t);
    if (!options->deadline && !options->budget) {
        error_set(e, ERROR_USAGE, "give --deadline TIME, --budget COST, or both");
        return false;
    }
    goal->available = available;
    return read_deadline(options->deadline, &goal->deadline_s, e) &&
           read_budget(options->budget, &goal->budget, e) &&
           read_available(w, options->available, available, e);
}

static bool find(struct workspace *w, const struct size_goal *goal, struct what_if *what_if,
                 struct size_answer *answer, struct error *e)
{
    return workspace_load(w, e) &&
           what_if_start(&w->arena, &w->job, w->profile, w->network, w->model, true, what_if, e) &&
           size_find(&w->arena, what_if, goal, answer, e);
}

static bool show(const struct options *options, const struct size_answer *answer, struct error *e)
{
    struct text out = {0};
    if (options->json)
        report_size_json(answer, &out);
    else
        report_size_text(answer, &out);
    bool ok = workspace_print(options, &out, e);
    text_free(&out);
    if (ok && !answer->best.known)
        error_set(e, ERROR_CHECK, "no mix of the devices that there are was found to meet this");
    return ok && answer->best.known;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct size_goal goal = {0};
    struct what_if what_if;
    struct size_answer answer;
    bool ok = workspace_open(&w, options, e) && read_goal(&w, options, &goal, e) &&
              find(&w, &goal, &what_if, &answer, e) && show(options, &answer, e);
    workspace_close(&w);
    return ok;
}

const struct command command_size = {
    .name = "size",
    .args = "JOB",
    .summary = "How many of which devices, for a deadline or a budget",
    .help = "Finds the cheapest mix of the job's device types that is done by the deadline, or "
            "without one the fastest within the budget, by devices.TYPE.price; without prices, "
            "what takes the fewest device-hours. Beside it stand the best of one type, all that "
            "there are, and a warning where some types are better left out. The exit status is 1 "
            "where nothing meets the goal.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL |
               OPTION_DEADLINE | OPTION_BUDGET | OPTION_AVAILABLE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
