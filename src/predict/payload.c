/* S, the gradients' bytes, out of what each sub-system's devices were seen to send. */
#include "predict/parts.h"

#include <math.h>

#include "base/units.h"

/* Sub-systems train the same model: their S may differ by this much. */
static const double AGREE = 1.01;

static bool is_positive(double value)
{
    return isfinite(value) && value > 0;
}

/* A ring of n sends 2(n-1)/n S per device: S = D n / (2(n-1)). */
static double payload_from_sent(double bytes_sent, int n)
{
    return bytes_sent * n / (2 * (n - 1.0));
}

static bool read_bytes(const struct profile *profile, bool needed, struct type_forecast *type,
                       struct error *e)
{
    int n = type->ring_devices;
    bool sent = n >= 2 && is_positive(profile->bytes_sent);
    if (sent) {
        type->bytes_sent = profile->bytes_sent;
        type->payload_bytes = payload_from_sent(profile->bytes_sent, n);
        return true;
    }
    if (n < 2 || !needed)
        return true;
    const char *why = profile_why_unknown(profile, "all_reduce");
    error_set(e, ERROR_INPUT,
              "profile %s of device type '%s' does not hold the bytes that a device sends for "
              "all-reduce%s%s%s",
              profile->file, type->name, why ? " (" : "", why ? why : "", why ? ")" : "");
    error_hint(e, "measure the type again, or write all_reduce.sent_bytes into the profile");
    return false;
}

static bool refuse_disagreement(const struct type_forecast *low, const struct type_forecast *high,
                                struct error *e)
{
    char bytes[2][UNITS_TEXT_SIZE];
    error_set(e, ERROR_INPUT,
              "the sub-systems do not agree on the gradients' bytes: %s B from '%s', %s B from "
              "'%s', more than 1 %% apart",
              units_format_count(low->payload_bytes, bytes[0]), low->name,
              units_format_count(high->payload_bytes, bytes[1]), high->name);
    error_hint(e, "all types must train the same model, in the same precision and with the same "
                  "compression of gradients; measure the one that differs again");
    return false;
}

static bool mean_payload(const struct type_forecast *type, int n_types, double *payload_bytes,
                         struct error *e)
{
    const struct type_forecast *low = NULL, *high = NULL;
    double sum = 0;
    int n = 0;
    for (const struct type_forecast *t = type; t < type + n_types; t++) {
        if (!(t->payload_bytes > 0))
            continue;
        low = !low || t->payload_bytes < low->payload_bytes ? t : low;
        high = !high || t->payload_bytes > high->payload_bytes ? t : high;
        sum += t->payload_bytes;
        n++;
    }
    if (n && high->payload_bytes > AGREE * low->payload_bytes)
        return refuse_disagreement(low, high, e);
    *payload_bytes = n ? sum / n : 0;
    return true;
}

/* No sub-system has a ring: the size of the gradients themselves. */
static void use_gradients(const struct job *job, const struct profile *profile,
                          struct type_forecast *type, struct warnings *warnings)
{
    for (int t = 0; t < job->n_types; t++) {
        if (!is_positive(profile[t].gradient_bytes))
            continue;
        type[t].payload_bytes = profile[t].gradient_bytes;
        warn_of(warnings, type[t].name,
                "the gradients' bytes are those of the buckets; no sub-system had a ring in "
                "which to measure what is sent.");
    }
}

static bool any_payload(const struct job *job, const struct type_forecast *type)
{
    for (int t = 0; t < job->n_types; t++) {
        if (type[t].payload_bytes > 0)
            return true;
    }
    return false;
}

static void warn_of_ones(const struct job *job, const struct type_forecast *type,
                         struct warnings *warnings)
{
    for (int t = 0; t < job->n_types; t++) {
        if (type[t].ring_devices < 2)
            warn_of(warnings, type[t].name,
                    "a sub-system of one device sends nothing; the gradients' bytes come from the "
                    "other types.");
    }
}

bool forecast_payload(const struct job *job, const struct profile *profile,
                      struct type_forecast *type, double *payload_bytes, struct warnings *warnings,
                      struct error *e)
{
    bool needed = job->n_devices > 1;
    struct error_list errors = {0};
    struct error one = {0};
    for (int t = 0; t < job->n_types; t++) {
        if (!read_bytes(&profile[t], needed, &type[t], &one))
            error_list_add(&errors, &one);
    }
    if (errors.n) {
        error_list_join(&errors, e);
        return false;
    }
    if (any_payload(job, type))
        warn_of_ones(job, type, warnings);
    else if (needed)
        use_gradients(job, profile, type, warnings);
    if (needed && !any_payload(job, type)) {
        error_set(e, ERROR_INPUT, "no profile holds the gradients' bytes");
        error_hint(e, "measure a sub-system of two devices of one type, or write "
                      "all_reduce.gradient_bytes into a profile");
        return false;
    }
    return mean_payload(type, job->n_types, payload_bytes, e);
}
