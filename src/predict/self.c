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
    if (profile->n_devices < 2)
        return "one device: no ring";
    if (profile->one_ring)
        return "measured in a mixed ring";
    if (!step->known || !isfinite(step->stats.mean) || step->stats.mean < SHORTEST_S)
        return "profile lacks step_s";
    if (!(type->payload_bytes > 0))
        return "profile lacks bytes sent";
    return NULL;
}

/* The closed form of `n` devices of one type, all links as slow as the slowest. */
static bool forecast_ring_of(struct arena *arena, const struct type_forecast *type, int n,
                             double bandwidth_Bps, double *step_s)
{
    const struct ft_device_type device = forecast_device_type(type);
    size_t n_devices = (size_t)n;
    int *types = ARENA_ARRAY(arena, n_devices, int);
    double *bandwidth = ARENA_ARRAY(arena, n_devices, double);
    for (size_t i = 0; i < n_devices; i++)
        bandwidth[i] = bandwidth_Bps;
    struct ft_ring ring = {n_devices, types, bandwidth, type->payload_bytes};
    struct ft_step_forecast step;
    if (!ft_closed_form(&device, 1, &ring, NULL, &step, NULL))
        return false;
    *step_s = step.step_s;
    return true;
}

static void warn_if_far(const struct type_forecast *type, struct warnings *warnings)
{
    char forecast[UNITS_TEXT_SIZE], measured[UNITS_TEXT_SIZE];
    if (fabs(type->self_error) <= CLOSE)
        return;
    warn(warnings,
         "%s: the closed form gives %s for its own sub-system, which took %s: %.0f %% too %s. %s "
         "Expect the forecast of the whole to be as far off.",
         type->name, units_format(type->self_forecast_s, DIMENSION_TIME, forecast),
         units_format(type->self_measured_s, DIMENSION_TIME, measured),
         100 * fabs(type->self_error), type->self_error < 0 ? "low" : "high",
         type->self_error < 0
             ? "It leaves out the rest of backward, the optimizer, and what computing and "
               "communicating cost each other."
             : "The link may be faster in training than the bandwidth says.");
}

void forecast_self(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, struct type_forecast *type,
                   struct warnings *warnings)
{
    for (int t = 0; t < job->n_types; t++) {
        struct type_forecast *f = &type[t];
        f->self_why_not = why_not(&profile[t], f);
        if (f->self_why_not)
            continue;
        if (!network_subsystem_link(network, job, t, &f->self_link)) {
            f->self_why_not = "no bandwidth known";
            continue;
        }
        if (!forecast_ring_of(arena, f, f->ring_devices, f->self_link.bandwidth_Bps,
                              &f->self_forecast_s)) {
            f->self_why_not = "out of range";
            continue;
        }
        f->self_measured_s = profile[t].stage[STAGE_STEP].stats.mean;
        f->self_error = f->self_forecast_s / f->self_measured_s - 1;
        f->self_known = true;
        warn_if_far(f, warnings);
    }
}
