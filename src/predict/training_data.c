/* From the step to the epoch: the training set and each device's part of it, all in samples. */
#include "predict/parts.h"

#include <math.h>

#include "base/units.h"

static bool to_samples(const struct job *job, const struct place *place, const char *what,
                       struct amount amount, double sample_bytes, double *samples, struct error *e)
{
    char size[UNITS_TEXT_SIZE];
    if (amount.unit != AMOUNT_BYTES || sample_bytes > 0) {
        *samples = amount.unit == AMOUNT_BYTES ? amount.value / sample_bytes : amount.value;
        return true;
    }
    error_at(e, place, "%s is %s, but how many samples that is, is not known", what,
             units_format(amount.value, DIMENSION_BYTES, size));
    error_hint(e, "give data.samples or data.sample_size in %s", job->file ? job->file : "the job");
    return false;
}

static bool read_total(const struct job *job, struct forecast *f, struct error *e)
{
    const struct job_data *data = &job->data;
    struct place place = {.file = job->file ? job->file : "job"};
    if (data->n_samples > 0) {
        f->total_samples = data->n_samples;
        return true;
    }
    return to_samples(job, &place, "data.size", data->size, f->sample_bytes, &f->total_samples, e);
}

static bool has_data(const struct job_device_type *type)
{
    return type->data.unit != AMOUNT_NONE && type->data.value > 0;
}

static bool check_all_or_none(const struct job *job, struct error *e)
{
    for (int t = 1; t < job->n_types; t++) {
        const struct job_device_type *with = &job->type[0], *without = &job->type[t];
        struct place place = forecast_place(job, t);
        if (has_data(with) == has_data(without))
            continue;
        if (has_data(without)) {
            without = &job->type[0];
            with = &job->type[t];
        }
        error_at(e, &place, "device type '%s' has data per device and '%s' has none", with->name,
                 without->name);
        error_hint(e, "give every type its data, or none: then it goes in proportion to batch");
        return false;
    }
    return true;
}

static bool read_share(struct arena *arena, const struct job *job, int t, const struct forecast *f,
                       struct ft_share *share, struct error *e)
{
    const struct job_device_type *type = &job->type[t];
    struct place place = forecast_place(job, t);
    *share = (struct ft_share){.n_devices = (double)type->count, .batch = f->type[t].batch};
    if (!has_data(type))
        return true;
    const char *what = arena_format(arena, "data of device type '%s'", type->name);
    return to_samples(job, &place, what, type->data, f->sample_bytes, &share->data, e);
}

static bool read_shares(struct arena *arena, const struct job *job, const struct forecast *f,
                        struct ft_share *share, struct error *e)
{
    if (!check_all_or_none(job, e))
        return false;
    for (int t = 0; t < job->n_types; t++) {
        if (!read_share(arena, job, t, f, &share[t], e))
            return false;
    }
    return true;
}

static const char *amount_text(double samples, enum amount_unit unit, double sample_bytes,
                               char *text)
{
    return unit == AMOUNT_BYTES ? units_format(samples * sample_bytes, DIMENSION_BYTES, text)
                                : units_format_count(rint(samples), text);
}

static void warn_of_imbalance(const struct job *job, const struct forecast *f,
                              const struct ft_share *share, struct warnings *warnings)
{
    const double balanced = 1.01;
    size_t last = f->epoch.last_to_finish;
    double most = share[last].data / share[last].batch;
    for (int t = 0; t < job->n_types; t++) {
        double own = share[t].data / share[t].batch;
        enum amount_unit unit = job->type[t].data.unit;
        char mine[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE], enough[UNITS_TEXT_SIZE];
        if (most <= balanced * own)
            continue;
        warn(warnings,
             "%s runs out of data early: its data lasts %s iterations of a round, that of %s %s; "
             "%s%s for each %s would balance.",
             job->type[t].name, units_format_count(ceil(own), mine), job->type[last].name,
             units_format_count(ceil(most), longest),
             amount_text(most * share[t].batch, unit, f->sample_bytes, enough),
             unit == AMOUNT_BYTES ? "" : " samples", job->type[t].name);
    }
}

/* Samples per second, of each device and of all: over an epoch, in which early types wait. */
static void set_throughput(const struct ft_share *share, int n_types, struct forecast *f)
{
    double all = 0;
    for (int t = 0; t < n_types; t++)
        all += share[t].n_devices * (share[t].data > 0 ? share[t].data : share[t].batch);
    for (int t = 0; t < n_types; t++) {
        double own = share[t].data > 0 ? share[t].data : share[t].batch;
        f->type[t].samples_per_s =
            f->epoch_known ? f->used_samples * own / all / f->epoch_s : share[t].batch / f->step_s;
        f->samples_per_s += share[t].n_devices * f->type[t].samples_per_s;
    }
}

/* Of so many steps of a run: they vary by themselves, and all alike from run to run and by what is
 * not modelled (docs/model.md, "Spread"). */
static struct span span_of_steps(const struct forecast *f, double n_steps)
{
    const double tenth = 1.2815515655446004; /* normal: 10 % lie above so many deviations */
    const struct timeline_forecast *timeline = &f->timeline;
    double all_s = n_steps * f->step_s;
    if (f->model != MODEL_TIMELINE || !timeline->spread_known)
        return (struct span){all_s, all_s, all_s};
    double within = timeline->step_deviation / sqrt(n_steps);
    double off_s =
        tenth * all_s * hypot(hypot(timeline->between_runs, timeline->model_error), within);
    return (struct span){all_s, fmax(0, all_s - off_s), all_s + off_s};
}

static struct span later(struct span span, double seconds)
{
    return (struct span){span.mean + seconds, span.low + seconds, span.high + seconds};
}

/* Samples that do not fill a step are left out where the job says so. */
static bool drop_last(const struct job *job, struct forecast *f, struct error *e)
{
    struct ft_epoch_forecast *epoch = &f->epoch;
    f->used_samples = f->total_samples;
    if (!job->training.drops_last || epoch->last_share == 1)
        return true;
    f->used_samples *= (epoch->iterations - 1) / (epoch->iterations - 1 + epoch->last_share);
    epoch->iterations--;
    epoch->last_share = 1;
    if (epoch->iterations > 0)
        return true;
    error_set(e, ERROR_INPUT,
              "%s: the training set does not fill one step, and the last is dropped",
              job->file ? job->file : "job");
    error_hint(e, "leave out last_batch: drop, or take smaller batches or fewer devices");
    return false;
}

static bool time_epoch(const struct job *job, const struct ft_share *share, struct forecast *f,
                       struct error *e)
{
    char message[FT_MESSAGE_SIZE];
    if (!ft_epoch(share, (size_t)job->n_types, f->total_samples, &f->epoch, message)) {
        error_set(e, ERROR_INPUT, "%s: %s", job->file ? job->file : "job", message);
        return false;
    }
    if (!drop_last(job, f, e))
        return false;
    f->epoch_known = true;
    f->epochs = job->training.epochs;
    f->evaluation_s = job->training.evaluation_s;
    f->checkpoint_s = job->training.checkpoint_s;
    double between_s = f->evaluation_s + f->checkpoint_s;
    f->epoch_span_s = later(span_of_steps(f, f->epoch.iterations), between_s);
    f->total_span_s =
        later(span_of_steps(f, f->epochs * f->epoch.iterations), f->epochs * between_s);
    f->epoch_s = f->epoch_span_s.mean;
    f->total_s = f->total_span_s.mean;
    if (isfinite(f->total_s))
        return true;
    error_set(e, ERROR_INPUT, "%s: the whole training takes too long to count",
              job->file ? job->file : "job");
    return false;
}

bool forecast_epoch(struct arena *arena, const struct job *job, struct forecast *f,
                    struct warnings *warnings, struct error *e)
{
    struct ft_share *share = ARENA_ARRAY(arena, (size_t)job->n_types, struct ft_share);
    bool sized = job->data.n_samples > 0 || job->data.size.unit != AMOUNT_NONE;
    if (sized && (!read_total(job, f, e) || !read_shares(arena, job, f, share, e) ||
                  !time_epoch(job, share, f, e)))
        return false;
    if (!sized) {
        f->why_no_epoch = "data.size or data.samples is missing";
        for (int t = 0; t < job->n_types; t++)
            share[t] = (struct ft_share){(double)job->type[t].count, f->type[t].batch, 0};
    }
    if (f->epoch.unbalanced)
        warn_of_imbalance(job, f, share, warnings);
    set_throughput(share, job->n_types, f);
    return true;
}
