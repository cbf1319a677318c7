#include "measure/whole.h"

#include <string.h>

static bool check_backends(const struct job *job, struct error *e)
{
    for (int t = 1; t < job->n_types; t++) {
        const struct job_device_type *first = &job->type[0], *type = &job->type[t];
        if (strcmp(first->backend, type->backend) == 0)
            continue;
        error_at(e, &type->place, "the full system needs one backend: '%s' has %s, and '%s' has %s",
                 first->name, first->backend, type->name, type->backend);
        error_hint(e, "give both the same, such as `backend: gloo`");
        return false;
    }
    return true;
}

/* A script that splits one folder among all ranks gives each the mean: enough for the largest
 * batch. */
static double samples_needed(const struct job *job)
{
    int64_t batch = 0;
    for (int t = 0; t < job->n_types; t++)
        batch = job->type[t].batch > batch ? job->type[t].batch : batch;
    return (double)(job->training.last + job->training.n_profiled + 1) * (double)batch;
}

static struct amount limit(struct amount data, double sample_bytes, double needed)
{
    double samples = data.unit == AMOUNT_SAMPLES                     ? data.value
                     : data.unit == AMOUNT_BYTES && sample_bytes > 0 ? data.value / sample_bytes
                                                                     : 0;
    return samples > needed ? (struct amount){needed, AMOUNT_SAMPLES} : data;
}

bool whole_job(struct arena *arena, const struct job *system, const double *sample_bytes,
               struct job *whole, struct error *e)
{
    if (!check_backends(system, e))
        return false;
    struct job made = *system;
    made.subsystems = SUBSYSTEMS_TOGETHER;
    made.one_ring = true;
    made.type = ARENA_ARRAY(arena, (size_t)system->n_types, struct job_device_type);
    for (int t = 0; t < system->n_types; t++) {
        struct job_device_type *type = &made.type[t];
        *type = system->type[t];
        type->subsystem_devices = (int)type->count;
        type->subsystem_host = NULL;
        type->n_subsystem_hosts = 0;
        type->allow_full = true;
        type->profile = NULL;
        type->n_profiles = 0;
        type->n_batches = 0;
        type->data = limit(type->data, sample_bytes[t], samples_needed(system));
    }
    *whole = made;
    return true;
}
