/* From the first job to the second group by group, each forecast on the way. */
#include "plan/compare.h"

#include <string.h>

#include "plan/differences.h"

const char *compare_group_name(enum compare_group group)
{
    static const char *const name[] = {[COMPARE_DEVICES] = "devices",
                                       [COMPARE_PROFILES] = "profiles",
                                       [COMPARE_NETWORK] = "network",
                                       [COMPARE_TRAINING] = "training"};
    return name[group];
}

/* Which side each group is from. */
struct blend {
    const struct compare_side *from[N_COMPARE_GROUPS];
};

/* What was measured of a type comes with all that it was measured with. */
static void take_profile(const struct blend *blend, struct job_device_type *type,
                         struct profile *profile, int t)
{
    const struct compare_side *devices = blend->from[COMPARE_DEVICES];
    const struct compare_side *from = blend->from[COMPARE_PROFILES];
    int own = job_find_type(from->job, type->name);
    *profile = own == JOB_NO_TYPE ? devices->profile[t] : from->profile[own];
    if (own == JOB_NO_TYPE)
        return;
    const struct job_device_type *other = &from->job->type[own];
    type->batch = other->batch;
    type->subsystem_devices = other->subsystem_devices;
    type->subsystem_host = other->subsystem_host;
    type->n_subsystem_hosts = other->n_subsystem_hosts;
}

static void take_network(struct arena *arena, const struct compare_side *from, struct job *job)
{
    job->n_links = 0;
    job->link = ARENA_ARRAY(arena, from->job->n_links, struct job_link);
    job->network_place = from->job->network_place;
    for (size_t i = 0; i < from->job->n_links; i++) {
        struct job_link link = from->job->link[i];
        link.from_type = job_find_type(job, from->job->type[link.from_type].name);
        link.to_type = job_find_type(job, from->job->type[link.to_type].name);
        if (link.from_type != JOB_NO_TYPE && link.to_type != JOB_NO_TYPE)
            job->link[job->n_links++] = link;
    }
}

static bool forecast_blend(struct arena *arena, const struct blend *blend,
                           enum forecast_model model, struct forecast *forecast, struct error *e)
{
    const struct compare_side *devices = blend->from[COMPARE_DEVICES];
    const struct job *training = blend->from[COMPARE_TRAINING]->job;
    size_t n_types = (size_t)devices->job->n_types;
    struct job job = *devices->job;
    struct profile *profile = ARENA_ARRAY(arena, n_types, struct profile);
    job.type = ARENA_ARRAY(arena, n_types, struct job_device_type);
    memcpy(job.type, devices->job->type, n_types * sizeof *job.type);
    for (int t = 0; t < job.n_types; t++)
        take_profile(blend, &job.type[t], &profile[t], t);
    take_network(arena, blend->from[COMPARE_NETWORK], &job);
    job.data = training->data;
    job.training = training->training;
    job.storage = training->storage;
    return forecast_make(arena, &job, profile, blend->from[COMPARE_NETWORK]->network, model,
                         forecast, e);
}

static bool forecast_side(struct arena *arena, const struct compare_side *side,
                          enum forecast_model model, struct forecast *forecast, struct error *e)
{
    if (forecast_make(arena, side->job, side->profile, side->network, model, forecast, e))
        return true;
    error_in(e, "%s", side->name);
    return false;
}

static void take_step(struct arena *arena, const struct blend *blend, enum forecast_model model,
                      enum compare_group group, struct comparison *c)
{
    struct forecast forecast;
    struct error e = {0};
    struct compare_step *step = &c->step[c->n_steps++];
    *step = (struct compare_step){.group = group};
    step->known = forecast_blend(arena, blend, model, &forecast, &e);
    if (step->known) {
        step->step_s = forecast.step_s;
        step->total_known = forecast.epoch_known;
        step->total_s = forecast.total_s;
    } else {
        step->why_not = arena_copy_n(arena, e.text, strcspn(e.text, "\n"));
    }
    error_clear(&e);
}

static bool differs(const struct comparison *c, enum compare_group group)
{
    for (size_t i = 0; i < c->n_differences; i++) {
        if (c->difference[i].group == group)
            return true;
    }
    return false;
}

bool compare_jobs(struct arena *arena, const struct compare_side *side, enum forecast_model model,
                  struct comparison *comparison, struct error *e)
{
    struct comparison c = {.name = {side[0].name, side[1].name}};
    struct blend blend;
    for (int i = 0; i < 2; i++) {
        if (!forecast_side(arena, &side[i], model, &c.forecast[i], e))
            return false;
    }
    c.difference = differences_find(arena, side, &c.n_differences);
    for (int g = 0; g < N_COMPARE_GROUPS; g++)
        blend.from[g] = &side[0];
    for (int g = 0; g < N_COMPARE_GROUPS; g++) {
        blend.from[g] = &side[1];
        if (differs(&c, (enum compare_group)g))
            take_step(arena, &blend, model, (enum compare_group)g, &c);
    }
    *comparison = c;
    return true;
}
