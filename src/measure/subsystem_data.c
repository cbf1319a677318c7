#include "measure/subsystem_data.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "job/arguments.h"

static bool has_data(const struct job *job)
{
    return job->data.path || job->data.list;
}

static bool args_use(const struct job_model *model, const char *placeholder)
{
    for (size_t i = 0; i < model->n_args; i++) {
        if (job_argument_uses(model->args[i], placeholder))
            return true;
    }
    return false;
}

/* Tensors hold all samples in a few files: the built-in loop draws indices from them. */
static bool holds_tensors(const struct data_set *set)
{
    static const char *const ending[] = {".npy", ".npz", ".pt"};
    for (size_t i = 0; i < set->n; i++) {
        for (size_t k = 0; k < sizeof ending / sizeof *ending; k++) {
            if (!strchr(set->path[i], '/') && text_ends_with(set->path[i], ending[k]))
                return true;
        }
    }
    return false;
}

/* Whether the model is handed files; an entry function opens its own data set. */
static bool takes_files(const struct job *job)
{
    const struct job_model *model = &job->model;
    if (!has_data(job) || model->kind == MODEL_ENTRY)
        return false;
    return model->kind == MODEL_LAYERS || args_use(model, "data") || args_use(model, "device_data");
}

static bool scan(struct arena *arena, const struct job *job, struct data_set *set, struct error *e)
{
    if (job->data.list)
        return draw_scan_list(arena, job_path(arena, job, job->data.list), set, e);
    return draw_scan_folder(arena, job_path(arena, job, job->data.path), set, e);
}

/* Iterations until the last one is measured. */
static double n_needed(const struct job *job)
{
    return job->training.last + job->training.n_profiled;
}

/*
 * Where the job gives a device no amount: enough for the iterations in one pass, in proportion to
 * its batch, as far as the set goes.
 */
static double default_samples(const struct job *job, const struct job_device_type *type,
                              const bool *wanted, size_t n_files)
{
    double batches = 0;
    for (int i = 0; i < job->n_types; i++)
        batches += wanted[i] ? (double)job->type[i].batch * job->type[i].subsystem_devices : 0;
    double all = floor((double)n_files * (double)type->batch / batches);
    double enough = (n_needed(job) + 1) * (double)type->batch;
    return fmax(1, fmin(all, enough));
}

/* A set on this machine that is smaller than the whole one gives each device its part. */
static void fit_to_set(const struct job *job, size_t n_files, const struct progress *progress,
                       struct draw_request *request)
{
    double needed = 0;
    for (int i = 0; i < job->n_types; i++) {
        if (request[i].amount.unit != AMOUNT_SAMPLES)
            return;
        needed += request[i].n_devices * request[i].amount.value;
    }
    if (needed <= (double)n_files)
        return;
    for (int i = 0; i < job->n_types; i++)
        request[i].amount.value =
            fmax(1, floor(request[i].amount.value * (double)n_files / needed));
    progress_say(progress,
                 "the training set's %zu files are fewer than the %.0f that all devices take in "
                 "the window: each gets its part of them, and takes it more often",
                 n_files, needed);
}

static void make_requests(struct arena *arena, const struct job *job, const bool *wanted,
                          struct subsystem_data *data, struct draw_request *request)
{
    size_t n_types = (size_t)job->n_types, n = 0;
    data->first = ARENA_ARRAY(arena, n_types, size_t);
    data->n_devices = ARENA_ARRAY(arena, n_types, size_t);
    for (size_t i = 0; i < n_types; i++) {
        const struct job_device_type *type = &job->type[i];
        request[i] = (struct draw_request){.device_type = type->name, .amount = type->data};
        request[i].n_devices = wanted[i] ? type->subsystem_devices : 0;
        if (type->data.unit == AMOUNT_NONE)
            request[i].amount =
                (struct amount){default_samples(job, type, wanted, data->set.n), AMOUNT_SAMPLES};
        data->first[i] = n;
        data->n_devices[i] = (size_t)request[i].n_devices;
        n += data->n_devices[i];
    }
    data->share = ARENA_ARRAY(arena, n, struct draw_share);
}

/* What all shares of a type have in common. */
static void describe_shares(const struct subsystem_data *data, int type_number,
                            struct subsystem_type *type)
{
    double bytes = 0, samples = 0, least = INFINITY;
    for (size_t i = 0; i < data->n_devices[type_number]; i++) {
        const struct draw_share *share = &data->share[data->first[type_number] + i];
        bytes += share->bytes;
        samples += (double)share->n;
        least = fmin(least, (double)share->n);
    }
    type->n_samples = isfinite(least) ? least : 0;
    type->sample_bytes = samples > 0 && bytes > 0 ? bytes / samples : 0;
}

/* Where the links of a type's data are: below `RUN/data`, one folder for all where they are pooled.
 */
static const char *data_folder(struct arena *arena, const struct job *job, int type_number,
                               const char *run, const struct subsystem_data *data)
{
    const char *name = data->pooled ? "full-system" : job->type[type_number].name;
    return arena_format(arena, "%s/data/%s", run, name);
}

/* The paths of a type's linked data; its first device is number `first` in the folder. */
static void set_paths(struct arena *arena, const struct job *job, const char *folder, size_t first,
                      size_t n, bool is_list, struct subsystem_type *type)
{
    /* A program that is given a list gets a list; the built-in loop reads folders. */
    const char *ending = is_list && job_model_is_program(&job->model) ? ".txt" : "";
    const char **device_data = ARENA_ARRAY(arena, n, const char *);
    for (size_t i = 0; i < n; i++)
        device_data[i] = arena_format(arena, "%s/device%zu%s", folder, first + i, ending);
    type->data_dir = arena_format(arena, "%s/all%s", folder, ending);
    type->device_data = args_use(&job->model, "device_data") ? device_data : NULL;
}

/* Links the shares of one type, or with the first one those of all where they are pooled. */
static bool link_type(struct arena *arena, const struct job *job, int type_number, const char *run,
                      const struct subsystem_data *data, struct subsystem_type *type,
                      struct error *e)
{
    size_t first = data->first[type_number], n = data->n_devices[type_number], last = first + n;
    size_t linked = data->pooled ? 0 : first;
    bool per_device = args_use(&job->model, "device_data");
    const char *folder = data_folder(arena, job, type_number, run, data);
    if (data->pooled)
        last = data->first[job->n_types - 1] + data->n_devices[job->n_types - 1];
    if (!file_make_folders(path_join(arena, run, "data"), e) ||
        ((!data->pooled || type_number == 0) &&
         !draw_link(&data->set, &data->share[linked], last - linked, folder, per_device, e)))
        return false;
    set_paths(arena, job, folder, first - linked, n, data->set.list, type);
    describe_shares(data, type_number, type);
    return true;
}

/* One pass must not be shorter than what is measured, or it is said what happens. */
static void tell_passes(const struct job *job, int type_number, double n_samples,
                        const struct progress *progress)
{
    const struct job_device_type *type = &job->type[type_number];
    double iterations = floor(n_samples / (double)type->batch);
    double needed = n_needed(job);
    if (n_samples <= 0 || iterations >= needed)
        return;
    const char *does = job->model.kind == MODEL_SCRIPT    ? "the script must pass"
                       : job->model.kind == MODEL_COMMAND ? "the program must pass"
                                                          : "it passes";
    progress_say(progress,
                 "%s: one pass over the %.0f samples of a device is %.0f iterations, and %.0f are "
                 "needed: %s over its data %.0f times (iterations at a pass's edge do not count), "
                 "or give it %.0f samples",
                 type->name, n_samples, iterations, needed, does,
                 ceil(needed / fmax(1, iterations)), needed * (double)type->batch);
}

/* A script that counts its classes by their folders would build another model. */
static void tell_missing_folders(const struct job *job, int type_number,
                                 const struct subsystem_data *data, const struct progress *progress)
{
    size_t drawn = draw_count_folders(&data->set, &data->share[data->first[type_number]],
                                      data->n_devices[type_number]);
    if (drawn < data->set.n_folders)
        progress_warn(progress,
                      "%s: the draw has files from %zu of the training set's %zu folders: a script "
                      "that counts its "
                      "classes by folders builds a smaller model; give the devices more data",
                      job->type[type_number].name, drawn, data->set.n_folders);
}

static void tell_default(const struct job *job, int type_number, double n_samples,
                         const struct progress *progress)
{
    const struct job_device_type *type = &job->type[type_number];
    if (type->data.unit == AMOUNT_NONE)
        progress_say(progress,
                     "%s: the job gives a device no amount of data: %.0f files are drawn "
                     "for each",
                     type->name, n_samples);
}

static bool draw_files(struct arena *arena, const struct job *job, const bool *wanted,
                       const bool *due, const char *run, const struct progress *progress,
                       struct subsystem_data *data, struct subsystem_type *type, struct error *e)
{
    struct draw_request *request = ARENA_ARRAY(arena, (size_t)job->n_types, struct draw_request);
    make_requests(arena, job, wanted, data, request);
    if (data->pooled)
        fit_to_set(job, data->set.n, progress, request);
    progress_status(progress, "drawing training data from %zu files", data->set.n);
    if (!draw_make(arena, &data->set, request, (size_t)job->n_types, job->data.seed, data->share,
                   e)) {
        error_in(e, "the draw of training data for the sub-systems");
        return false;
    }
    for (int i = 0; i < job->n_types; i++) {
        if (!due[i])
            continue;
        if (!link_type(arena, job, i, run, data, &type[i], e))
            return false;
        tell_default(job, i, type[i].n_samples, progress);
        tell_passes(job, i, type[i].n_samples, progress);
        tell_missing_folders(job, i, data, progress);
    }
    return true;
}

/* The model opens the set itself: the worker draws indices, a script what it does. */
static void pass_on_set(const struct job *job, const bool *due, const char *root,
                        const struct progress *progress, struct subsystem_type *type)
{
    bool is_program = job_model_is_program(&job->model);
    for (int i = 0; i < job->n_types; i++) {
        if (!due[i])
            continue;
        const struct amount *amount = &job->type[i].data;
        type[i].data_dir = root;
        if (!is_program && amount->unit == AMOUNT_SAMPLES)
            tell_passes(job, i, amount->value, progress);
    }
    if (is_program && has_data(job))
        progress_warn(progress,
                      "the %s has no {data} or {device_data}: it trains on what it opens "
                      "itself, not on data drawn for it",
                      job->model.kind == MODEL_COMMAND ? "command" : "arguments of the script");
}

static bool any(const bool *flag, int n)
{
    for (int i = 0; i < n; i++) {
        if (flag[i])
            return true;
    }
    return false;
}

bool subsystem_data_draw(struct arena *arena, const struct job *job, const bool *wanted,
                         const bool *due, const char *run, const struct progress *progress,
                         struct subsystem_data *data, struct subsystem_type *type, struct error *e)
{
    if (!any(due, job->n_types))
        return true;
    if (!takes_files(job)) {
        pass_on_set(job, due, NULL, progress, type);
        return true;
    }
    if (!scan(arena, job, &data->set, e))
        return false;
    if (job->model.kind == MODEL_LAYERS && holds_tensors(&data->set)) {
        pass_on_set(job, due, data->set.root, progress, type);
        return true;
    }
    return draw_files(arena, job, wanted, due, run, progress, data, type, e);
}

void subsystem_data_cool(const struct job *job, const struct subsystem_data *data, int type,
                         const struct progress *progress)
{
    if (!data->share || job->data.warm_cache)
        return;
    struct draw_cache left;
    draw_forget_cache(&data->set, &data->share[data->first[type]], data->n_devices[type], &left);
    if (left.n_files == 0)
        return;
    char size[UNITS_TEXT_SIZE];
    progress_say(
        progress, "%s: %zu drawn files (%s) stayed in the page cache, so they are not read cold",
        job->type[type].name, left.n_files, units_format(left.bytes, DIMENSION_BYTES, size));
}
