/* What loading a step's samples takes: their size, and the storage that all devices share. */
#include "predict/parts.h"

#include <math.h>

#include "base/units.h"

static double mean_drawn_sample(const struct job *job, const struct profile *profile)
{
    double sum = 0;
    int n = 0;
    for (int t = 0; t < job->n_types; t++) {
        double bytes = profile[t].sample_bytes;
        if (isfinite(bytes) && bytes > 0) {
            sum += bytes;
            n++;
        }
    }
    return n ? sum / n : 0;
}

/* What is given counts before what follows from it, and that before what was drawn. */
void forecast_sample_size(const struct job *job, const struct profile *profile, struct forecast *f)
{
    const struct job_data *data = &job->data;
    double drawn = mean_drawn_sample(job, profile);
    if (data->sample_bytes > 0) {
        f->sample_bytes = data->sample_bytes;
        f->sample_basis = "given";
    } else if (data->size.unit == AMOUNT_BYTES && data->n_samples > 0) {
        f->sample_bytes = data->size.value / data->n_samples;
        f->sample_basis = "size / samples";
    } else if (drawn > 0) {
        f->sample_bytes = drawn;
        f->sample_basis = "mean of the profiles";
    }
}

static double bytes_of_a_step(const struct forecast *f)
{
    double samples = 0;
    for (int t = 0; t < f->n_types; t++)
        samples += (double)f->type[t].count * f->type[t].batch;
    return samples * f->sample_bytes;
}

/* Sub-systems had the storage almost to themselves. */
static void warn_of_readers(const struct job *job, const struct profile *profile,
                            const struct forecast *f, struct warnings *warnings)
{
    char all[UNITS_TEXT_SIZE], measured[UNITS_TEXT_SIZE];
    double n = 0;
    bool loads = false;
    for (int t = 0; t < f->n_types; t++) {
        n += profile[t].n_devices;
        loads = loads || (f->type[t].load_s > 0 && !profile[t].assumed);
    }
    if (loads && n < (double)job->n_devices)
        warn(warnings,
             "loading was measured with %s devices and counts the same for %s; whether their "
             "storage feeds so many is not known: storage.bandwidth in the job would say.",
             units_format_count(n, measured), units_format_count((double)job->n_devices, all));
}

bool forecast_storage(const struct job *job, const struct profile *profile, struct forecast *f,
                      struct warnings *warnings, struct error *e)
{
    double rate_Bps = job->storage.bandwidth_Bps;
    if (!(rate_Bps > 0)) {
        warn_of_readers(job, profile, f, warnings);
        return true;
    }
    if (!(f->sample_bytes > 0)) {
        error_set(e, ERROR_INPUT,
                  "%s: storage.bandwidth is given, but how many bytes a sample has is not known",
                  job->file ? job->file : "job");
        error_hint(e, "give data.sample_size");
        return false;
    }
    f->storage_s = bytes_of_a_step(f) / rate_Bps;
    return true;
}
