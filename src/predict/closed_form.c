/*
 * The closed form of a step: one look at each device, the slowest decides. Everything is checked
 * before anything is written.
 */
#include "foretrain.h"

#include <math.h>

#include "predict/refuse.h"

const char *ft_version(void)
{
    return FT_VERSION;
}

static bool check_types(const struct ft_device_type *type, size_t n_types, char *message)
{
    if (!type || n_types == 0)
        return refuse(message, "there is no device type");
    for (size_t t = 0; t < n_types; t++) {
        const struct {
            const char *name;
            double value;
        } stage[] = {{"load_s", type[t].load_s},
                     {"forward_s", type[t].forward_s},
                     {"first_backward_s", type[t].first_backward_s}};
        for (size_t s = 0; s < sizeof stage / sizeof *stage; s++) {
            if (!is_amount(stage[s].value))
                return refuse(message, "%s of type %zu must be finite and not negative (got %g)",
                              stage[s].name, t, stage[s].value);
        }
    }
    return true;
}

static bool check_bandwidth(const struct ft_ring *ring, size_t i, char *message)
{
    if (isfinite(ring->bandwidth_Bps[i]) && ring->bandwidth_Bps[i] > 0)
        return true;
    return refuse(message,
                  "the bandwidth from position %zu to the next must be finite and above 0 (got %g "
                  "B/s)",
                  i, ring->bandwidth_Bps[i]);
}

/* Without `collective_s`, here and below, the collective is the ring. */
static bool check_position(const struct ft_ring *ring, const double *collective_s, size_t n_types,
                           size_t i, char *message)
{
    if (ring->type[i] < 0 || (size_t)ring->type[i] >= n_types)
        return refuse(message, "the device at position %zu has type %d, but there are %zu types", i,
                      ring->type[i], n_types);
    if (!collective_s)
        return ring->n_devices == 1 || check_bandwidth(ring, i, message);
    return is_amount(collective_s[i]) ||
           refuse(message, "collective_s of position %zu must be finite and not negative (got %g)",
                  i, collective_s[i]);
}

static bool check_ring(const struct ft_ring *ring, const double *collective_s, size_t n_types,
                       char *message)
{
    if (!ring || ring->n_devices == 0 || !ring->type)
        return refuse(message, "a ring needs at least one device");
    if (ring->n_devices > 1 && !ring->bandwidth_Bps && !collective_s)
        return refuse(message, "a ring of %zu devices needs bandwidths", ring->n_devices);
    if (!is_amount(ring->payload_bytes))
        return refuse(message, "payload_bytes must be finite and not negative (got %g)",
                      ring->payload_bytes);
    for (size_t i = 0; i < ring->n_devices; i++) {
        if (!check_position(ring, collective_s, n_types, i, message))
            return false;
    }
    return true;
}

static double all_reduce_time(const struct ft_ring *ring, const double *collective_s, size_t i)
{
    if (collective_s)
        return collective_s[i];
    if (ring->n_devices == 1)
        return 0;
    double n = (double)ring->n_devices;
    return 2 * (n - 1) * (ring->payload_bytes / n) / ring->bandwidth_Bps[i];
}

static struct ft_device_forecast forecast_device(const struct ft_device_type *types,
                                                 const struct ft_ring *ring,
                                                 const double *collective_s, size_t i)
{
    const struct ft_device_type *type = &types[ring->type[i]];
    struct ft_device_forecast f = {.load_s = type->load_s,
                                   .ring_s = all_reduce_time(ring, collective_s, i)};
    f.device_s = type->forward_s + type->first_backward_s + f.ring_s;
    f.step_s = f.device_s > f.load_s ? f.device_s : f.load_s;
    return f;
}

static bool forecast(const struct ft_device_type *type, size_t n_types, const struct ft_ring *ring,
                     const double *collective_s, struct ft_device_forecast *device,
                     struct ft_step_forecast *step, char *message)
{
    if (!check_types(type, n_types, message) || !check_ring(ring, collective_s, n_types, message))
        return false;
    struct ft_step_forecast slowest = {.step_s = -1};
    for (size_t i = 0; i < ring->n_devices; i++) {
        struct ft_device_forecast f = forecast_device(type, ring, collective_s, i);
        if (!isfinite(f.step_s))
            return refuse(message, "the step of the device at position %zu is too long to count",
                          i);
        if (f.step_s > slowest.step_s)
            slowest = (struct ft_step_forecast){f.step_s, i, f.load_s > f.device_s};
    }
    for (size_t i = 0; device && i < ring->n_devices; i++)
        device[i] = forecast_device(type, ring, collective_s, i);
    *step = slowest;
    return true;
}

bool ft_closed_form(const struct ft_device_type *type, size_t n_types, const struct ft_ring *ring,
                    struct ft_device_forecast *device, struct ft_step_forecast *step, char *message)
{
    return forecast(type, n_types, ring, NULL, device, step, message);
}

bool ft_closed_form_with(const struct ft_device_type *type, size_t n_types, const int *type_of,
                         size_t n_devices, const double *collective_s,
                         struct ft_device_forecast *device, struct ft_step_forecast *step,
                         char *message)
{
    struct ft_ring without = {.n_devices = n_devices, .type = type_of};
    if (!collective_s)
        return refuse(message, "%zu devices need the time of their collective", n_devices);
    return forecast(type, n_types, &without, collective_s, device, step, message);
}
