#include "predict/validation.h"

#include <math.h>
#include <string.h>

#include "predict/parts.h"

const char *validation_stage_key(enum validation_stage stage)
{
    static const char *const key[] = {
        [VALIDATION_LOAD] = "load",
        [VALIDATION_FORWARD] = "forward",
        [VALIDATION_UNSYNCED] = "unsynced",
        [VALIDATION_FIRST_BACKWARD] = "first_backward",
        [VALIDATION_ALL_REDUCE] = "all_reduce",
        [VALIDATION_BACKWARD] = "backward",
        [VALIDATION_OPTIMIZER] = "optimizer",
        [VALIDATION_WAIT] = "wait",
        [VALIDATION_REST] = "rest",
        [VALIDATION_STEP] = "step",
    };
    return key[stage];
}

static void set_forecast(struct validation_value *value, double forecast)
{
    value->forecast = forecast;
    value->forecast_known = true;
}

static void set_measured(struct validation_value *value, double measured)
{
    value->measured = measured;
    value->measured_known = true;
}

void validation_compare(struct validation_value *value)
{
    value->error_known = value->forecast_known && value->measured_known && value->measured > 0;
    if (value->error_known)
        value->error = value->forecast / value->measured - 1;
}

static void forecast_type(const struct forecast *forecast, int t, struct validation_type *out)
{
    const struct type_forecast *type = &forecast->type[t];
    double n = (double)forecast->n_devices;
    out->name = type->name;
    out->n_devices = type->count;
    set_forecast(&out->stage[VALIDATION_LOAD], type->load_s);
    set_forecast(&out->stage[VALIDATION_FORWARD], type->forward_s);
    if (type->unsynced_s > 0)
        set_forecast(&out->stage[VALIDATION_UNSYNCED], type->unsynced_s);
    set_forecast(&out->stage[VALIDATION_FIRST_BACKWARD], type->first_backward_s);
    if (forecast->n_devices > 1) {
        set_forecast(&out->stage[VALIDATION_ALL_REDUCE], type->ring_s);
        if (!forecast->collective)
            set_forecast(&out->sent_bytes, 2 * (n - 1) / n * forecast->payload_bytes);
    }
    set_forecast(&out->stage[VALIDATION_STEP], forecast->step_s);
}

/*
 * Seconds in which some bucket is ready and not done, at the buckets' mean times; negative: not
 * known. Two buckets can be under way at once: their time counts once.
 */
static double communicating_s(const struct profile *profile)
{
    double sum_s = 0, until_s = 0;
    for (size_t i = 0; i < profile->n_buckets; i++) {
        const struct bucket *bucket = &profile->bucket[i];
        if (!bucket->done.known || !bucket->ready.known)
            return -1;
        double from_s = fmax(bucket->ready.stats.mean, until_s);
        sum_s += fmax(0, bucket->done.stats.mean - from_s);
        until_s = fmax(until_s, bucket->done.stats.mean);
    }
    return profile->n_buckets ? sum_s : -1;
}

/* What one run says of a stage; negative: nothing. */
static double stage_time(const struct profile *profile, const struct type_forecast *inputs,
                         enum validation_stage stage)
{
    static const enum stage as_measured[] = {
        [VALIDATION_BACKWARD] = STAGE_BACKWARD, [VALIDATION_OPTIMIZER] = STAGE_OPTIMIZER,
        [VALIDATION_WAIT] = STAGE_WAIT,         [VALIDATION_REST] = STAGE_REST,
        [VALIDATION_STEP] = STAGE_STEP,
    };
    switch (stage) {
    case VALIDATION_LOAD:
        return inputs->load_s;
    case VALIDATION_FORWARD:
        return inputs->forward_s;
    case VALIDATION_UNSYNCED:
        return inputs->unsynced_s > 0 ? inputs->unsynced_s : -1;
    case VALIDATION_FIRST_BACKWARD:
        return inputs->first_backward_s;
    case VALIDATION_ALL_REDUCE:
        return communicating_s(profile);
    default:
        break;
    }
    const struct samples *samples = &profile->stage[as_measured[stage]];
    return samples->known ? samples->stats.mean : -1;
}

/* Sums that become means once all runs are in. */
struct sums {
    double stage[N_VALIDATION_STAGES], bytes;
    size_t n_stage[N_VALIDATION_STAGES], n_bytes;
};

static bool add_run(const struct job *job, int t, const struct profile *profile, struct sums *sums,
                    struct error *e)
{
    struct type_forecast inputs = {0};
    if (!forecast_stages(job, t, profile, &inputs, e)) {
        error_in(e, "the full system");
        return false;
    }
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        double seconds = stage_time(profile, &inputs, (enum validation_stage)s);
        sums->n_stage[s] += seconds >= 0;
        sums->stage[s] += fmax(seconds, 0);
    }
    sums->n_bytes += profile->bytes_sent > 0;
    sums->bytes += profile->bytes_sent;
    return true;
}

static bool measure_type(const struct job *job, int t, const struct validation_run *run,
                         size_t n_runs, struct validation_type *out, struct error *e)
{
    struct sums sums = {0};
    for (size_t r = 0; r < n_runs; r++) {
        if (!add_run(job, t, &run[r].profile[t], &sums, e))
            return false;
    }
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        if (sums.n_stage[s] == n_runs)
            set_measured(&out->stage[s], sums.stage[s] / (double)n_runs);
        validation_compare(&out->stage[s]);
    }
    if (sums.n_bytes == n_runs)
        set_measured(&out->sent_bytes, sums.bytes / (double)n_runs);
    validation_compare(&out->sent_bytes);
    return true;
}

/* The step is the ring's: all devices make it together, and what they saw of it is averaged. */
static bool measure_step(const struct job *job, struct validation_run *run, struct error *e)
{
    double sum_s = 0;
    run->started = run->profile[0].started;
    for (int t = 0; t < job->n_types; t++) {
        const struct samples *step = &run->profile[t].stage[STAGE_STEP];
        if (!step->known || !(step->stats.mean > 0)) {
            error_set(e, ERROR_INPUT, "%s: the full system's profile lacks step_s",
                      run->profile[t].file);
            return false;
        }
        sum_s += (double)job->type[t].count * step->stats.mean;
    }
    run->step_s = sum_s / (double)job->n_devices;
    return true;
}

static void sum_up_runs(struct validation *v)
{
    double sum_s = 0, least_s = INFINITY, most_s = 0;
    for (size_t r = 0; r < v->n_runs; r++) {
        sum_s += v->run[r].step_s;
        least_s = fmin(least_s, v->run[r].step_s);
        most_s = fmax(most_s, v->run[r].step_s);
    }
    double mean_s = sum_s / (double)v->n_runs;
    set_measured(&v->step, mean_s);
    v->distance = (most_s - least_s) / mean_s;
}

static bool any_shares_host(const struct validation *v)
{
    for (int t = 0; t < v->n_types; t++) {
        if (v->run[0].profile[t].shares_host)
            return true;
    }
    return false;
}

static int count_iterations(const struct profile *profile)
{
    return profile->last - profile->first + 1 - (int)profile->n_left_out;
}

static void compare_whole(const struct forecast *forecast, struct validation *v)
{
    v->n_counted = count_iterations(&v->run[0].profile[0]);
    set_forecast(&v->step, forecast->step_s);
    validation_compare(&v->step);
    v->epoch_known = forecast->epoch_known;
    if (!v->epoch_known)
        return;
    v->iterations = forecast->epoch.iterations;
    v->extrapolated = v->n_counted < v->iterations;
    set_forecast(&v->epoch, forecast->epoch_s);
    set_measured(&v->epoch, v->step.measured * v->iterations + forecast->evaluation_s +
                                forecast->checkpoint_s);
    set_forecast(&v->total, forecast->total_s);
    set_measured(&v->total, v->epoch.measured * forecast->epochs);
    validation_compare(&v->epoch);
    validation_compare(&v->total);
}

/* Dates of one form compare as texts. */
static bool is_first(const struct validation *v)
{
    for (size_t r = 0; r < v->n_runs; r++) {
        if (!v->written || !v->run[r].started || strcmp(v->written, v->run[r].started) > 0)
            return false;
    }
    return true;
}

bool validation_make(struct arena *arena, const struct job *job, const struct forecast *forecast,
                     struct validation_run *run, size_t n_runs, struct validation *validation,
                     struct error *e)
{
    struct validation v = *validation;
    v.name = forecast->name;
    v.model = forecast_model_name(forecast->model);
    v.closed_form_s = forecast->closed_form.step_s;
    v.n_devices = forecast->n_devices;
    v.run = run;
    v.n_runs = n_runs;
    v.n_types = job->n_types;
    v.type = ARENA_ARRAY(arena, (size_t)job->n_types, struct validation_type);
    for (size_t r = 0; r < n_runs; r++) {
        if (!measure_step(job, &run[r], e))
            return false;
    }
    for (int t = 0; t < job->n_types; t++) {
        forecast_type(forecast, t, &v.type[t]);
        if (!measure_type(job, t, run, n_runs, &v.type[t], e))
            return false;
    }
    sum_up_runs(&v);
    compare_whole(forecast, &v);
    v.forecast_first = is_first(&v);
    v.shares_host = any_shares_host(&v);
    *validation = v;
    return true;
}
