/* `foretrain validate`: the forecast first, then the full system itself, side by side. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/forecast_proof.h"
#include "cli/network_step.h"
#include "cli/workspace.h"
#include "job/system.h"
#include "measure/measure.h"
#include "measure/whole.h"
#include "report/report.h"

struct validate {
    struct workspace *w;
    const struct options *options;
    const char *folder;       /* RUN/validate */
    struct job_system system; /* as far as hosts exist */
    struct forecast forecast; /* of that */
    struct profile *profile;  /* [system.job.n_types], of the sub-systems */
    struct forecast_proof proof;
    struct profile_input *input; /* [n_types], the profiles that the forecast is made from */
    struct job whole;            /* by which it is run */
    struct validation_run *run;  /* [n_runs] */
    size_t n_runs;
};

static bool read_runs(const char *text, size_t *n, struct error *e)
{
    enum { MOST = 100 };
    char *end = NULL;
    long runs = text ? strtol(text, &end, 10) : 1;
    if (text && (end == text || *end || runs < 1 || runs > MOST)) {
        error_set(e, ERROR_USAGE, "--runs is a whole number from 1 to %d (got '%s')", MOST, text);
        return false;
    }
    *n = (size_t)runs;
    return true;
}

/* What `foretrain run` does; `--again` is for the full system. */
static bool measure_parts(struct validate *v, struct error *e)
{
    struct options options = *v->options;
    options.again = false;
    return workspace_measure(v->w, &options, e) && network_step(v->w, &options, e);
}

/* Some links of a smaller ring are none of the whole one's. */
static bool measure_smaller_network(struct validate *v, struct error *e)
{
    struct options options = *v->options;
    struct job whole = v->w->job;
    options.again = false;
    if (!v->system.smaller)
        return true;
    progress_warn(&v->w->progress,
                  "the full system is smaller than the job's %zu devices, for lack of hosts: %s; "
                  "%zu devices are run, and forecast",
                  whole.n_devices, v->system.smaller, v->system.job.n_devices);
    v->w->job = v->system.job;
    bool ok = network_step(v->w, &options, e);
    v->w->job = whole;
    return ok;
}

/* Of all of a type's profiles: a fitted one follows from each. */
static bool hash_profiles(struct validate *v, size_t t, const char **hashes, struct error *e)
{
    size_t n = 0;
    const char **path = workspace_profile_paths(v->w, v->system.type[t], &n);
    *hashes = "";
    for (size_t i = 0; i < n; i++) {
        char hash[FILE_HASH_SIZE];
        if (!file_hash(path[i], hash, e))
            return false;
        *hashes = arena_format(&v->w->arena, "%s%s%s", *hashes, i ? " " : "", hash);
    }
    return true;
}

static bool read_profiles(struct validate *v, struct error *e)
{
    struct arena *arena = &v->w->arena;
    size_t n = (size_t)v->system.job.n_types;
    v->profile = ARENA_ARRAY(arena, n, struct profile);
    v->input = ARENA_ARRAY(arena, n, struct profile_input);
    for (size_t t = 0; t < n; t++) {
        if (!workspace_profile(v->w, v->system.type[t], &v->profile[t], e) ||
            !hash_profiles(v, t, &v->input[t].value, e))
            return false;
        v->input[t].key = arena_format(arena, "profile of %s", v->system.job.type[t].name);
    }
    return true;
}

/* Of the whole job, kept in the run's folder as `foretrain run` keeps it, and of what is run. */
static bool forecast_both(struct validate *v, struct error *e)
{
    struct forecast whole;
    struct network *network = NULL;
    if (!workspace_forecast(v->w, &whole, e))
        return false;
    workspace_keep_forecast(v->w, &whole);
    v->forecast = whole;
    return !v->system.smaller || (workspace_network(v->w, &network, e) &&
                                  forecast_make(&v->w->arena, &v->system.job, v->profile, network,
                                                v->w->model, &v->forecast, e));
}

static bool write_forecast(struct validate *v, struct error *e)
{
    if (!file_make_folders(v->folder, e) ||
        !forecast_proof_write(&v->w->arena, v->folder, &v->forecast, &v->proof, e))
        return false;
    progress_say(&v->w->progress, "forecast: written %s, SHA-256 %.16s..., in %s/forecast.json",
                 v->proof.written, v->proof.sha256, v->folder);
    return true;
}

/* Before the profiles are read, it only shows whether it can be run. */
static bool make_whole_job(struct validate *v, struct error *e)
{
    const struct job *job = &v->system.job;
    double *sample_bytes = ARENA_ARRAY(&v->w->arena, (size_t)job->n_types, double);
    for (int t = 0; t < job->n_types; t++)
        sample_bytes[t] = job->data.sample_bytes > 0 ? job->data.sample_bytes
                          : v->profile               ? v->profile[t].sample_bytes
                                                     : 0;
    if (whole_job(&v->w->arena, job, sample_bytes, &v->whole, e) &&
        job_check_measurable(&v->w->arena, &v->whole, e))
        return true;
    error_in(e, "the full system");
    return false;
}

/* The first run lies in the folder itself, others in run2, run3, ... */
static const char *run_folder(struct validate *v, size_t number)
{
    return number == 0 ? v->folder : arena_format(&v->w->arena, "%s/run%zu", v->folder, number + 1);
}

static bool read_run(struct validate *v, size_t number, struct error *e)
{
    size_t n = (size_t)v->system.job.n_types;
    struct profile *profile = ARENA_ARRAY(&v->w->arena, n, struct profile);
    for (size_t t = 0; t < n; t++) {
        const char *path = arena_format(&v->w->arena, "%s/profiles/%s.json", run_folder(v, number),
                                        v->system.job.type[t].name);
        if (!profile_read(&v->w->arena, path, &profile[t], e))
            return false;
    }
    v->run[number].profile = profile;
    return true;
}

static bool run_once(struct validate *v, size_t number, struct error *e)
{
    const struct measure_options how = {.worker = workspace_worker(v->w),
                                        .again = v->options->again,
                                        .full = true,
                                        .keep = v->w->run,
                                        .input = v->input,
                                        .n_inputs = (size_t)v->system.job.n_types};
    const char *folder = run_folder(v, number);
    if (v->n_runs > 1)
        progress_say(&v->w->progress, "full system: run %zu of %zu", number + 1, v->n_runs);
    return file_make_folders(folder, e) &&
           measure_all(&v->whole, folder, &how, &v->w->progress, e) && read_run(v, number, e);
}

static bool run_system(struct validate *v, struct error *e)
{
    v->run = ARENA_ARRAY(&v->w->arena, v->n_runs, struct validation_run);
    for (size_t i = 0; i < v->n_runs; i++) {
        if (!run_once(v, i, e))
            return false;
    }
    return true;
}

static bool show(struct validate *v, struct error *e)
{
    struct text table = {0}, json = {0};
    struct validation validation = {.written = v->proof.written,
                                    .sha256 = v->proof.sha256,
                                    .smaller = v->system.smaller,
                                    .n_devices_whole = v->w->job.n_devices};
    if (!validation_make(&v->w->arena, &v->system.job, &v->forecast, v->run, v->n_runs, &validation,
                         e))
        return false;
    report_validation_text(&validation, &table);
    report_validation_json(&validation, &json);
    bool ok = file_write(path_join(&v->w->arena, v->folder, "validation.json"), json.data,
                         json.length, e) &&
              file_write(path_join(&v->w->arena, v->folder, "validation.txt"), table.data,
                         table.length, e) &&
              workspace_print(v->options, v->options->json ? &json : &table, e);
    text_free(&table);
    text_free(&json);
    return ok;
}

/* The script accumulates as it does; a forecast of something else is not what it is the truth of.
 */
static bool check_micro_batches(const struct job *job, struct error *e)
{
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        if (!type->micro_batches)
            continue;
        error_at(e, &type->place,
                 "micro_batches of device type '%s' is for forecasts: validate "
                 "trains the script as it is",
                 type->name);
        error_hint(e, "leave it out");
        return false;
    }
    return true;
}

static bool validate(struct validate *v, struct error *e)
{
    struct workspace *w = v->w;
    v->folder = workspace_path(w, "validate");
    if (!check_micro_batches(&w->job, e) || !job_system_make(&w->arena, &w->job, &v->system, e) ||
        !make_whole_job(v, e) || !measure_parts(v, e) || !measure_smaller_network(v, e) ||
        !read_profiles(v, e) || !forecast_both(v, e) || !make_whole_job(v, e) ||
        !write_forecast(v, e) || !run_system(v, e) || !show(v, e))
        return false;
    progress_say(&w->progress, "Kept in %s", v->folder);
    return true;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w = {0};
    struct validate v = {.w = &w, .options = options};
    bool ok =
        read_runs(options->runs, &v.n_runs, e) && workspace_open(&w, options, e) && validate(&v, e);
    workspace_close(&w);
    return ok;
}

const struct command command_validate = {
    .name = "validate",
    .args = "JOB",
    .summary = "Run the full system too, and set the forecast beside the truth",
    .help = "Does what `foretrain run` does and writes the forecast, with its date and SHA-256, "
            "before it runs the full system: all devices of the job as one ring, as far as there "
            "are hosts, with the window of the sub-systems. A full run that is there is kept "
            "where nothing changed in the job or its profiles; --again repeats the full run, not "
            "the sub-systems. Everything is kept in RUN/validate.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_AGAIN | OPTION_PARALLEL | OPTION_QUIET |
               OPTION_OUTPUT | OPTION_RUNS | OPTION_MODEL,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
