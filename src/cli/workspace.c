#include "cli/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/file.h"
#include "cli/console.h"
#include "measure/bandwidth_files.h"
#include "measure/measure.h"
#include "predict/accumulate.h"
#include "predict/batch_fit.h"
#include "report/report.h"

static void say(void *self, const char *text)
{
    (void)self;
    console_say(text);
}

static void warn(void *self, const char *text)
{
    (void)self;
    console_warn(text);
}

static void status(void *self, const char *text)
{
    (void)self;
    console_status(text);
}

static bool read_model(const struct options *options, enum forecast_model *model, struct error *e)
{
    const char *closed_form = forecast_model_name(MODEL_CLOSED_FORM);
    *model = MODEL_TIMELINE;
    if (!options->model || strcmp(options->model, forecast_model_name(MODEL_TIMELINE)) == 0)
        return true;
    *model = MODEL_CLOSED_FORM;
    if (strcmp(options->model, closed_form) == 0)
        return true;
    error_set(e, ERROR_USAGE, "--model is timeline or %s (got '%s')", closed_form, options->model);
    return false;
}

bool workspace_open(struct workspace *w, const struct options *options, struct error *e)
{
    *w = (struct workspace){.progress = {NULL, say, warn, status, console_interrupt_flag()}};
    if (!read_model(options, &w->model, e) || !job_load(&w->arena, options->args[0], &w->job, e))
        return false;
    w->run = options->run ? options->run : path_join(&w->arena, "runs", w->job.name);
    return true;
}

/* The absolute path of the job, by which a run finds the job's files again. */
static bool keep_origin(struct workspace *w, struct error *e)
{
    const char *file = strcmp(w->job.file, "-") == 0 ? "job" : w->job.file;
    const char *slash = strrchr(file, '/');
    char *folder = NULL;
    if (!path_absolute(&w->arena, w->job.folder, &folder, e))
        return false;
    const char *origin = path_join(&w->arena, folder, slash ? slash + 1 : file);
    return file_write(workspace_path(w, "job.origin"), origin, strlen(origin), e);
}

/* Where a run's job came from; its copy in the run where that is not known. */
static char *read_origin(struct workspace *w, char *copy)
{
    enum { LONGEST = 1 << 16 };
    struct error none = {0};
    char *origin = NULL;
    size_t length = 0;
    bool known =
        file_read(&w->arena, workspace_path(w, "job.origin"), LONGEST, &origin, &length, &none);
    error_clear(&none);
    return known && length && strlen(origin) == length ? origin : copy;
}

bool workspace_open_run(struct workspace *w, const char *folder, const struct options *options,
                        struct error *e)
{
    enum { LARGEST = 16 << 20 };
    *w = (struct workspace){.run = folder,
                            .progress = {NULL, say, warn, status, console_interrupt_flag()}};
    char *text = NULL, *copy = workspace_path(w, "job.yaml");
    size_t length = 0;
    if (!read_model(options, &w->model, e))
        return false;
    if (!file_read(&w->arena, copy, LARGEST, &text, &length, e)) {
        error_hint(e, "a run's folder holds the job.yaml that it was made from");
        return false;
    }
    const char *origin = read_origin(w, copy);
    return job_parse(&w->arena, text, length, origin, path_folder(&w->arena, origin), &w->job, e);
}

void workspace_close(struct workspace *w)
{
    arena_free(&w->arena);
}

/* Beside the program as installed (bin/foretrain, share/foretrain/worker), else in the source tree
 * it was built from. */
const char *workspace_worker(struct workspace *w)
{
    const char *named = getenv("FORETRAIN_WORKER");
    if (named)
        return named;
    struct error none = {0};
    char *program = NULL;
    const char *worker = FORETRAIN_SOURCE_WORKER;
    if (path_absolute(&w->arena, "/proc/self/exe", &program, &none)) {
        const char *installed =
            path_join(&w->arena, path_folder(&w->arena, program), "../share/foretrain/worker");
        if (file_exists(installed))
            worker = installed;
    }
    error_clear(&none);
    return worker;
}

char *workspace_path(struct workspace *w, const char *name)
{
    return path_join(&w->arena, w->run, name);
}

/* The lock is held until the process ends, however it ends. */
static bool lock(struct workspace *w, struct error *e)
{
    const char *path = workspace_path(w, "lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        error_set(e, ERROR_FILE, "%s: cannot open: %s", path, strerror(errno));
        return false;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        error_set(e, ERROR_FILE, "%s: another foretrain works in this folder", w->run);
        error_hint(e, "wait for it, or use another folder with --run DIR");
        return false;
    }
    return true;
}

bool workspace_claim(struct workspace *w, struct error *e)
{
    return file_make_folders(w->run, e) && lock(w, e) &&
           file_write(workspace_path(w, "job.yaml"), w->job.text, strlen(w->job.text), e) &&
           keep_origin(w, e);
}

bool workspace_measure(struct workspace *w, const struct options *options, struct error *e)
{
    const struct measure_options how = {
        .worker = workspace_worker(w), .again = options->again, .parallel = options->parallel};
    return job_check_measurable(&w->arena, &w->job, e) && workspace_claim(w, e) &&
           measure_all(&w->job, w->run, &how, &w->progress, e);
}

bool workspace_network(struct workspace *w, struct network **network, struct error *e)
{
    const char *path = workspace_path(w, "network.csv");
    struct network *read = ARENA_NEW(&w->arena, struct network);
    bool measured = !w->job.network_file && file_exists(path);
    if (w->job.network_file && !bandwidth_files_read(&w->arena, &w->job, read, e))
        return false;
    if (measured && !network_read(&w->arena, path, read, e))
        return false;
    if (!network_read_classes(&w->arena, &w->job, read, e))
        return false;
    bool known = w->job.network_file || measured || read->n_tables || read->n_within;
    *network = known ? read : NULL;
    return true;
}

const char **workspace_profile_paths(struct workspace *w, int t, size_t *n)
{
    const struct job_device_type *type = &w->job.type[t];
    *n = type->n_profiles ? type->n_profiles : type->n_batches ? type->n_batches : 1;
    const char **path = ARENA_ARRAY(&w->arena, *n, const char *);
    for (size_t i = 0; i < *n; i++) {
        int64_t batch = type->n_batches ? type->batches[i] : type->batch;
        path[i] = type->profile ? job_path(&w->arena, &w->job, type->profile[i])
                                : arena_format(&w->arena, "%s/profiles/%s.json", w->run,
                                               measure_profile_name(&w->arena, type, batch));
    }
    return path;
}

static bool is_measured(struct workspace *w, const struct job_device_type *type,
                        const char *const *path, size_t n, struct error *e)
{
    for (size_t i = 0; i < n; i++) {
        if (type->profile || file_exists(path[i]))
            continue;
        error_set(e, ERROR_INPUT, "device type '%s' is not measured yet: there is no %s",
                  type->name, path[i]);
        error_hint(e, "run 'foretrain measure %s', or give devices.%s.profile", w->job.file,
                   type->name);
        return false;
    }
    return true;
}

/* As the job has it: with its micro-batches. */
static bool read_profile(struct workspace *w, const struct job_device_type *type, const char *path,
                         struct profile *profile, struct error *e)
{
    struct profile read;
    if (!profile_read(&w->arena, path, &read, e))
        return false;
    double n = type->micro_batches ? (double)type->micro_batches : read.micro_batches;
    return accumulate_profile(&w->arena, &read, n, profile, e);
}

bool workspace_batches(struct workspace *w, int t, struct profile **profile, size_t *n,
                       struct error *e)
{
    const struct job_device_type *type = &w->job.type[t];
    const char **path = workspace_profile_paths(w, t, n);
    *profile = ARENA_ARRAY(&w->arena, *n, struct profile);
    if (!is_measured(w, type, path, *n, e))
        return false;
    for (size_t i = 0; i < *n; i++) {
        if (!read_profile(w, type, path[i], &(*profile)[i], e)) {
            error_in(e, "device type '%s'", type->name);
            return false;
        }
    }
    return true;
}

bool workspace_profile(struct workspace *w, int t, struct profile *profile, struct error *e)
{
    const struct job_device_type *type = &w->job.type[t];
    struct profile *each = NULL;
    struct batch_fit fit;
    size_t n = 0;
    if (!workspace_batches(w, t, &each, &n, e))
        return false;
    *profile = each[0];
    if (n == 1 || batch_profile(&w->arena, each, n, (double)type->batch, profile, &fit, e))
        return true;
    error_in(e, "device type '%s'", type->name);
    return false;
}

bool workspace_load(struct workspace *w, struct error *e)
{
    struct error_list missing = {0};
    w->profile = ARENA_ARRAY(&w->arena, (size_t)w->job.n_types, struct profile);
    for (int t = 0; t < w->job.n_types; t++) {
        if (!workspace_profile(w, t, &w->profile[t], e))
            error_list_add(&missing, e);
    }
    if (missing.n) {
        error_list_join(&missing, e);
        return false;
    }
    return workspace_network(w, &w->network, e);
}

bool workspace_forecast(struct workspace *w, struct forecast *forecast, struct error *e)
{
    return workspace_load(w, e) &&
           forecast_make(&w->arena, &w->job, w->profile, w->network, w->model, forecast, e);
}

/* A folder that cannot be written to, such as somebody else's, takes no forecast away. */
static void keep_forecast(struct workspace *w, const struct text *json, const struct text *table)
{
    struct error e = {0};
    if (!file_exists(w->run))
        return;
    if (!file_write(workspace_path(w, "forecast.json"), json->data, json->length, &e) ||
        !file_write(workspace_path(w, "forecast.txt"), table->data, table->length, &e))
        console_warn(e.text);
    error_clear(&e);
}

void workspace_keep_forecast(struct workspace *w, const struct forecast *forecast)
{
    struct text table = {0}, json = {0};
    report_forecast_text(forecast, &table);
    report_forecast_json(forecast, &json);
    keep_forecast(w, &json, &table);
    text_free(&table);
    text_free(&json);
}

bool workspace_print(const struct options *options, const struct text *text, struct error *e)
{
    if (options->output && strcmp(options->output, "-") != 0)
        return file_write(options->output, text->data, text->length, e);
    fwrite(text->data, 1, text->length, stdout);
    return true;
}

void workspace_warn(const struct forecast *forecast)
{
    for (size_t i = 0; i < forecast->n_warnings; i++)
        console_warn(forecast->warning[i]);
}

bool workspace_show_forecast(struct workspace *w, const struct options *options,
                             const struct forecast *forecast, struct error *e)
{
    struct text table = {0}, json = {0}, csv = {0};
    report_forecast_text(forecast, &table);
    report_forecast_json(forecast, &json);
    if (options->csv)
        report_forecast_csv(forecast, &w->job, &csv);
    keep_forecast(w, &json, &table);
    bool ok = workspace_print(options, options->csv ? &csv : options->json ? &json : &table, e);
    if (ok && (options->json || options->csv))
        workspace_warn(forecast);
    text_free(&table);
    text_free(&json);
    text_free(&csv);
    return ok;
}
