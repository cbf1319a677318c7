#include "job/system.h"

#include <string.h>

#include "base/text.h"
#include "job/device_numbers.h"

static int64_t count_places(const struct job_device_type *type)
{
    int64_t n = 0;
    if (type->n_hosts > 0)
        return type->count;
    for (size_t i = 0; i < type->n_subsystem_hosts; i++)
        n += type->subsystem_host[i].n_devices;
    return n < type->count ? n : type->count;
}

/* With hosts of its own: their numbers are counted anew. */
static struct job_device_type make_type(struct arena *arena, const struct job_device_type *type)
{
    struct job_device_type made = *type;
    bool has_hosts = type->n_hosts > 0;
    made.count = count_places(type);
    made.n_hosts = has_hosts ? type->n_hosts : type->n_subsystem_hosts;
    made.host = ARENA_ARRAY(arena, made.n_hosts, struct job_host);
    memcpy(made.host, has_hosts ? type->host : type->subsystem_host,
           made.n_hosts * sizeof *made.host);
    return made;
}

static void take_types(struct arena *arena, const struct job *job, struct job_system *system)
{
    system->job.n_types = 0;
    system->job.type = ARENA_ARRAY(arena, (size_t)job->n_types, struct job_device_type);
    system->type = ARENA_ARRAY(arena, (size_t)job->n_types, int);
    for (int t = 0; t < job->n_types; t++) {
        if (count_places(&job->type[t]) == 0)
            continue;
        system->type[system->job.n_types] = t;
        system->job.type[system->job.n_types++] = make_type(arena, &job->type[t]);
    }
}

/* The number of a type of the whole job in the system, or JOB_NO_TYPE. */
static int type_in_system(const struct job_system *system, int type)
{
    for (int t = 0; t < system->job.n_types; t++) {
        if (system->type[t] == type)
            return t;
    }
    return JOB_NO_TYPE;
}

static void take_links(struct arena *arena, const struct job *job, struct job_system *system)
{
    system->job.n_links = 0;
    system->job.link = ARENA_ARRAY(arena, job->n_links, struct job_link);
    for (size_t i = 0; i < job->n_links; i++) {
        struct job_link link = job->link[i];
        link.from_type = type_in_system(system, link.from_type);
        link.to_type = type_in_system(system, link.to_type);
        if (link.from_type != JOB_NO_TYPE && link.to_type != JOB_NO_TYPE)
            system->job.link[system->job.n_links++] = link;
    }
}

/* The first devices of each type have the places. */
static void take_ring(struct arena *arena, const struct job *job, struct job_system *system)
{
    size_t n = 0;
    if (!job->ring)
        return;
    system->job.ring = ARENA_ARRAY(arena, system->job.n_devices, size_t);
    for (size_t i = 0; i < job->n_devices; i++) {
        int type = job_device_type(job, job->ring[i]), own = type_in_system(system, type);
        size_t number = job->ring[i] - device_numbers_first(job, type);
        if (own != JOB_NO_TYPE && number < (size_t)system->job.type[own].count)
            system->job.ring[n++] = device_numbers_first(&system->job, own) + number;
    }
}

static const char *what_is_left_out(struct arena *arena, const struct job *job)
{
    struct text text = {0};
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        int64_t n = count_places(type);
        if (n == type->count)
            continue;
        const char *have = n ? arena_format(arena, "%lld", (long long)n) : "none";
        text_format(&text, "%s%s %s of %lld", text.length ? ", " : "", type->name, have,
                    (long long)type->count);
    }
    const char *left_out = text.length ? arena_copy(arena, text.data) : NULL;
    text_free(&text);
    return left_out;
}

bool job_system_make(struct arena *arena, const struct job *job, struct job_system *system,
                     struct error *e)
{
    struct job_system made = {.job = *job, .smaller = what_is_left_out(arena, job)};
    take_types(arena, job, &made);
    if (made.job.n_types == 0) {
        error_set(e, ERROR_INPUT, "%s: no device type has hosts, so nothing can be started",
                  job->file);
        error_hint(e, "add hosts to the device types");
        return false;
    }
    device_numbers_count(&made.job);
    take_links(arena, job, &made);
    take_ring(arena, job, &made);
    *system = made;
    return true;
}
