/* A forecast put together: profiles to stages and bytes, links, the closed form, the epoch. */
#include "predict/forecast.h"

#include <math.h>
#include <string.h>

#include "predict/parts.h"

const char *forecast_model_name(enum forecast_model model)
{
    return model == MODEL_TIMELINE ? "timeline" : "closed-form";
}

struct place forecast_place(const struct job *job, int type)
{
    struct place place = job->type[type].place;
    if (!place.file)
        place = (struct place){.file = job->file ? job->file : "job"};
    return place;
}

static bool read_stages(const struct job *job, const struct profile *profile,
                        struct type_forecast *type, struct error *e)
{
    struct error_list errors = {0};
    struct error one = {0};
    for (int t = 0; t < job->n_types; t++) {
        if (!forecast_stages(job, t, &profile[t], &type[t], &one))
            error_list_add(&errors, &one);
    }
    if (!errors.n)
        return true;
    error_list_join(&errors, e);
    return false;
}

bool forecast_closed_form(struct arena *arena, const struct job *job, struct forecast *f,
                          struct error *e)
{
    size_t n = job->n_devices, n_types = (size_t)job->n_types;
    struct ft_device_type *type = ARENA_ARRAY(arena, n_types, struct ft_device_type);
    int *type_at = ARENA_ARRAY(arena, n, int);
    double *value = ARENA_ARRAY(arena, n, double);
    char message[FT_MESSAGE_SIZE];
    for (int t = 0; t < job->n_types; t++) {
        type[t] = forecast_device_type(&f->type[t]);
        type[t].load_s = fmax(type[t].load_s, f->storage_s);
    }
    for (size_t i = 0; i < n; i++) {
        type_at[i] = job_device_type(job, job_ring_device(job, i));
        value[i] = link_message_Bps(&f->link[f->slowest_hop[i]], f->payload_bytes / (double)n);
    }
    if (f->collective && !forecast_collective_times(arena, job, f, value, e))
        return false;
    f->device = ARENA_ARRAY(arena, n, struct ft_device_forecast);
    struct ft_ring ring = {n, type_at, value, f->payload_bytes};
    bool ok = f->collective
                  ? ft_closed_form_with(type, n_types, type_at, n, value, f->device,
                                        &f->closed_form, message)
                  : ft_closed_form(type, n_types, &ring, f->device, &f->closed_form, message);
    if (!ok)
        error_set(e, ERROR_INPUT, "%s: %s", job->file ? job->file : "job", message);
    return ok;
}

static void sum_up_types(const struct job *job, struct forecast *f)
{
    for (int t = 0; t < f->n_types; t++)
        f->type[t].step_s = -1;
    for (size_t i = 0; i < f->n_devices; i++) {
        struct type_forecast *type = &f->type[job_device_type(job, job_ring_device(job, i))];
        const struct ft_device_forecast *device = &f->device[i];
        type->ring_s = fmax(type->ring_s, device->ring_s);
        if (device->step_s > type->step_s) {
            type->step_s = device->step_s;
            type->slowest = i;
        }
    }
    for (size_t h = 0; h < f->n_hops; h++)
        f->n_links[f->link[h].source]++;
}

static const char *deciding_stage(const struct job *job, const struct forecast *f)
{
    size_t i = f->closed_form.deciding;
    const struct type_forecast *type = &f->type[job_device_type(job, job_ring_device(job, i))];
    double computing_s = type->forward_s + type->unsynced_s + type->first_backward_s;
    if (f->closed_form.load_decides)
        return "loading";
    return f->n_devices > 1 && f->device[i].ring_s >= computing_s ? "all-reduce" : "computing";
}

static size_t sender_over_slowest_link(const struct forecast *f)
{
    size_t slowest = 0;
    for (size_t h = 0; h < f->n_hops; h++)
        slowest = f->link[h].bandwidth_Bps < f->link[slowest].bandwidth_Bps ? h : slowest;
    return f->hop[slowest].from;
}

/*
 * The closed form's word on what decides, and its step; the timeline's replace them. A ring's
 * device waits for its own link; in other collectives all wait for the slowest.
 */
static void take_closed_form(const struct job *job, struct forecast *f)
{
    f->model = MODEL_CLOSED_FORM;
    f->step_s = f->closed_form.step_s;
    f->deciding = f->closed_form.deciding;
    f->deciding_stage = deciding_stage(job, f);
    if (f->collective && strcmp(f->deciding_stage, "all-reduce") == 0)
        f->deciding = sender_over_slowest_link(f);
}

static bool take_timeline(struct arena *arena, const struct job *job, const struct profile *profile,
                          const struct network *network, struct forecast *f,
                          struct warnings *warnings, struct error *e)
{
    if (!forecast_timeline(arena, job, profile, network, f, warnings, e))
        return false;
    if (f->timeline.known) {
        f->model = MODEL_TIMELINE;
        f->step_s = f->timeline.step_s.mean;
    } else {
        warn(warnings, "this is the closed form, since the timeline cannot be computed: %s.",
             f->timeline.why_not);
    }
    return true;
}

static void warn_of_the_closed_form(const struct forecast *f, struct warnings *warnings)
{
    for (int t = 0; f->model == MODEL_CLOSED_FORM && t < f->n_types; t++) {
        if (f->type[t].loading_in_step)
            warn_of(warnings, f->type[t].name,
                    "loading is inside the step (no loader workers), so that in reality it adds to "
                    "computing; the closed form takes the longer of both.");
    }
}

static void name_what_decides(struct arena *arena, const struct job *job, struct forecast *f)
{
    size_t i = f->deciding, n = f->n_devices;
    f->deciding_device = job_device_name(arena, job, job_ring_device(job, i));
    size_t hop = f->slowest_hop[i];
    if (n > 1)
        f->deciding_next = job_device_name(arena, job, job_ring_device(job, f->hop[hop].to));
    f->deciding_link = f->link[hop];
}

static bool check_step(const struct job *job, const struct forecast *f, struct error *e)
{
    const double shortest_s = 1e-12;
    if (f->step_s >= shortest_s)
        return true;
    error_set(e, ERROR_INPUT, "%s: no stage takes any time; there is nothing to forecast",
              job->file ? job->file : "job");
    return false;
}

bool forecast_make(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, enum forecast_model model,
                   struct forecast *forecast, struct error *e)
{
    size_t n_types = (size_t)job->n_types;
    struct warnings warnings = {.arena = arena};
    struct forecast f = {.name = job->name,
                         .n_devices = job->n_devices,
                         .type = ARENA_ARRAY(arena, n_types, struct type_forecast),
                         .n_types = job->n_types};
    for (int t = 0; t < job->n_types; t++)
        forecast_warn_profile(job, t, &profile[t], &warnings);
    forecast_sample_size(job, profile, &f);
    if (!read_stages(job, profile, f.type, e) ||
        !forecast_storage(job, profile, &f, &warnings, e) ||
        !forecast_payload(job, profile, f.type, &f.payload_bytes, &warnings, e) ||
        !forecast_collective(arena, job, network, &f, e) ||
        !forecast_closed_form(arena, job, &f, e))
        return false;
    forecast_warn_strangers(arena, job, network, &warnings);
    sum_up_types(job, &f);
    take_closed_form(job, &f);
    if ((model == MODEL_TIMELINE &&
         !take_timeline(arena, job, profile, network, &f, &warnings, e)) ||
        !check_step(job, &f, e))
        return false;
    name_what_decides(arena, job, &f);
    warn_of_the_closed_form(&f, &warnings);
    forecast_warn_links(arena, job, &f, &warnings);
    if (!forecast_epoch(arena, job, &f, &warnings, e))
        return false;
    forecast_self(arena, job, profile, network, &f, &warnings);
    f.warning = warnings_sentences(&warnings);
    f.n_warnings = warnings.n;
    *forecast = f;
    return true;
}
