/*
 * The forecast of what was measured anyway: each sub-system's own step. How far a model is off
 * there is the best word on how far it is off in the whole.
 */
#include "predict/parts.h"

#include <math.h>

#include "base/units.h"
#include "predict/measured_ring.h"

/* Errors up to this share are not worth a warning. */
static const double CLOSE = 0.10;

/* A step below this is no measurement. */
static const double SHORTEST_S = 1e-12;

static const char *why_not(const struct profile *profile, const struct type_forecast *type)
{
    const struct samples *step = &profile->stage[STAGE_STEP];
    if (profile->assumed)
        return "assumed, not measured";
    if (profile->put_together)
        return "put together of other micro-batches";
    if (type->ring_devices < 2)
        return "one device: no ring";
    if (!step->known || !isfinite(step->stats.mean) || step->stats.mean < SHORTEST_S)
        return "profile lacks step_s";
    if (!(type->payload_bytes > 0))
        return "profile lacks bytes sent";
    return NULL;
}

static const struct link *slowest_link(const struct measured_ring *ring)
{
    const struct link *slowest = ring->link;
    for (size_t i = 1; i < ring->n; i++) {
        if (ring->link[i].bandwidth_Bps < slowest->bandwidth_Bps)
            slowest = &ring->link[i];
    }
    return slowest;
}

static bool forecast_measured_ring(struct arena *arena, const struct profile *profile,
                                   const struct type_forecast *type,
                                   const struct measured_ring *measured, double payload_bytes,
                                   double *step_s)
{
    size_t n_types = (size_t)measured->last - (size_t)measured->first + 1, n = 0;
    struct ft_device_type *device = ARENA_ARRAY(arena, n_types, struct ft_device_type);
    int *type_at = ARENA_ARRAY(arena, measured->n, int);
    double *bandwidth_Bps = ARENA_ARRAY(arena, measured->n, double);
    for (int t = measured->first; t <= measured->last; t++) {
        device[t - measured->first] = forecast_device_type(&type[t]);
        for (int i = 0; i < profile[t].n_devices; i++) {
            bandwidth_Bps[n] =
                link_message_Bps(&measured->link[n], payload_bytes / (double)measured->n);
            type_at[n++] = t - measured->first;
        }
    }
    struct ft_ring ring = {n, type_at, bandwidth_Bps, payload_bytes};
    struct ft_step_forecast step;
    if (!ft_closed_form(device, n_types, &ring, NULL, &step, NULL))
        return false;
    *step_s = step.step_s;
    return true;
}

static void warn_if_far(const struct forecast *f, const struct type_forecast *type,
                        struct warnings *warnings)
{
    char forecast[UNITS_TEXT_SIZE], measured[UNITS_TEXT_SIZE];
    if (fabs(type->self_error) <= CLOSE)
        return;
    warn_of(warnings, type->name,
            "the %s gives %s for its own sub-system, which took %s: %.0f %% too %s.",
            f->model == MODEL_TIMELINE ? "timeline" : "closed form",
            units_format(type->self_forecast_s, DIMENSION_TIME, forecast),
            units_format(type->self_measured_s, DIMENSION_TIME, measured),
            100 * fabs(type->self_error), type->self_error < 0 ? "low" : "high");
}

static const char *cause(enum forecast_model model, bool low)
{
    if (!low)
        return "the link may be faster in training than the bandwidth says.";
    return model == MODEL_TIMELINE
               ? "something takes time that is in none of the measured stages."
               : "the closed form leaves out the rest of backward, the optimizer, and what "
                 "computing and communicating cost each other.";
}

/* Behind all of them, so that it is said once. */
static void warn_what_follows(const struct forecast *f, const struct type_forecast *type,
                              struct warnings *warnings)
{
    if (fabs(type->self_error) > CLOSE)
        warn_of(warnings, type->name, "expect the forecast of the whole to be as far off: %s",
                cause(f->model, type->self_error < 0));
}

/* NULL, or why there is no forecast of the type's own sub-system. */
static const char *forecast_one(struct arena *arena, const struct job *job,
                                const struct profile *profile, const struct network *network,
                                struct forecast *f, int t)
{
    struct measured_ring ring;
    struct type_forecast *type = &f->type[t];
    const char *none = why_not(&profile[t], type);
    if (!none)
        none = measured_ring_find(arena, job, profile, network, t, &ring);
    if (none)
        return none;
    type->self_forecast_s = type->own_step_s;
    if (f->model == MODEL_TIMELINE && !(type->own_step_s > 0))
        return type->why_no_ceilings ? type->why_no_ceilings : "out of range";
    if (f->model == MODEL_CLOSED_FORM &&
        !forecast_measured_ring(arena, profile, f->type, &ring, type->payload_bytes,
                                &type->self_forecast_s))
        return "out of range";
    type->self_link = *slowest_link(&ring);
    type->self_measured_s = profile[t].stage[STAGE_STEP].stats.mean;
    type->self_error = type->self_forecast_s / type->self_measured_s - 1;
    type->self_known = true;
    return NULL;
}

void forecast_self(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, struct forecast *f, struct warnings *warnings)
{
    for (int t = 0; t < f->n_types; t++) {
        f->type[t].self_why_not = forecast_one(arena, job, profile, network, f, t);
        if (f->type[t].self_known)
            warn_if_far(f, &f->type[t], warnings);
    }
    for (int t = 0; t < f->n_types; t++) {
        if (f->type[t].self_known)
            warn_what_follows(f, &f->type[t], warnings);
    }
}
