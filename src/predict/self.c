/*
 * The forecast of what was measured anyway: each sub-system's own step. How far the closed form is
 * off there is the best word on how far it is off in the whole.
 */
#include "predict/parts.h"

#include <math.h>

#include "base/units.h"

/* Errors up to this share are not worth a warning. */
static const double CLOSE = 0.10;

/* A step below this is no measurement. */
static const double SHORTEST_S = 1e-12;

static const char *why_not(const struct profile *profile, const struct type_forecast *type)
{
    const struct samples *step = &profile->stage[STAGE_STEP];
    if (profile->assumed)
        return "assumed, not measured";
    if (type->ring_devices < 2)
        return "one device: no ring";
    if (!step->known || !isfinite(step->stats.mean) || step->stats.mean < SHORTEST_S)
        return "profile lacks step_s";
    if (!(type->payload_bytes > 0))
        return "profile lacks bytes sent";
    return NULL;
}

/* A ring that was measured: types `first` to `last`, each with its devices, one after the other. */
struct measured_ring {
    int first, last;
    size_t n;
    struct link *link; /* [n] */
};

/* The sub-system's own ring, or all sub-systems' where they were measured as one. NULL, or why it
 * is not known. */
static const char *find_ring(struct arena *arena, const struct job *job,
                             const struct profile *profile, const struct network *network, int type,
                             struct measured_ring *ring)
{
    static const char changed[] = "sub-systems have changed";
    bool mixed = profile[type].one_ring;
    *ring = (struct measured_ring){mixed ? 0 : type, mixed ? job->n_types - 1 : type, 0, NULL};
    for (int t = ring->first; t <= ring->last; t++) {
        if (profile[t].one_ring != mixed || profile[t].n_devices != job->type[t].subsystem_devices)
            return changed;
        ring->n += (size_t)profile[t].n_devices;
    }
    if (ring->n != (size_t)(mixed ? profile[type].ring_devices : profile[type].n_devices))
        return changed;
    ring->link = ARENA_ARRAY(arena, ring->n, struct link);
    bool known = mixed ? network_mixed_ring(network, job, ring->link)
                       : network_subsystem_ring(network, job, type, ring->link);
    return known ? NULL : "no bandwidth known";
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
            bandwidth_Bps[n] = measured->link[n].bandwidth_Bps;
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

static void warn_if_far(const struct type_forecast *type, struct warnings *warnings)
{
    char forecast[UNITS_TEXT_SIZE], measured[UNITS_TEXT_SIZE];
    if (fabs(type->self_error) <= CLOSE)
        return;
    warn_of(warnings, type->name,
            "the closed form gives %s for its own sub-system, which took %s: %.0f %% too %s.",
            units_format(type->self_forecast_s, DIMENSION_TIME, forecast),
            units_format(type->self_measured_s, DIMENSION_TIME, measured),
            100 * fabs(type->self_error), type->self_error < 0 ? "low" : "high");
}

/* Behind all of them, so that it is said once. */
static void warn_what_follows(const struct type_forecast *type, struct warnings *warnings)
{
    if (fabs(type->self_error) <= CLOSE)
        return;
    warn_of(warnings, type->name, "expect the forecast of the whole to be as far off: %s",
            type->self_error < 0
                ? "the closed form leaves out the rest of backward, the optimizer, and what "
                  "computing and communicating cost each other."
                : "the link may be faster in training than the bandwidth says.");
}

static void forecast_one(struct arena *arena, const struct job *job, const struct profile *profile,
                         const struct network *network, struct type_forecast *type, int t)
{
    struct measured_ring ring;
    struct type_forecast *f = &type[t];
    f->self_why_not = why_not(&profile[t], f);
    if (!f->self_why_not)
        f->self_why_not = find_ring(arena, job, profile, network, t, &ring);
    if (f->self_why_not)
        return;
    if (!forecast_measured_ring(arena, profile, type, &ring, f->payload_bytes,
                                &f->self_forecast_s)) {
        f->self_why_not = "out of range";
        return;
    }
    f->self_link = *slowest_link(&ring);
    f->self_measured_s = profile[t].stage[STAGE_STEP].stats.mean;
    f->self_error = f->self_forecast_s / f->self_measured_s - 1;
    f->self_known = true;
}

void forecast_self(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, struct type_forecast *type,
                   struct warnings *warnings)
{
    for (int t = 0; t < job->n_types; t++) {
        forecast_one(arena, job, profile, network, type, t);
        if (type[t].self_known)
            warn_if_far(&type[t], warnings);
    }
    for (int t = 0; t < job->n_types; t++) {
        if (type[t].self_known)
            warn_what_follows(&type[t], warnings);
    }
}
