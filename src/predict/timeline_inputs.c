/* What a timeline refuses, each with the type, bucket or position that is wrong. */
#include "predict/timeline_inputs.h"

#include <math.h>
#include <stdlib.h>

#include "predict/collective.h"
#include "predict/message.h"
#include "predict/refuse.h"

static bool check_bucket_times(const struct ft_timeline *in, size_t t, char *message)
{
    const struct ft_timeline_type *type = &in->type[t];
    if (in->n_buckets > 0 && !type->ready_s)
        return refuse(message, "type %zu needs ready_s of %zu buckets", t, in->n_buckets);
    for (size_t b = 0; b < in->n_buckets; b++) {
        if (!is_amount(type->ready_s[b]) || type->ready_s[b] > type->backward_s)
            return refuse(message,
                          "ready_s of bucket %zu of type %zu must lie within backward_s, 0 to %g "
                          "(got %g)",
                          b, t, type->backward_s, type->ready_s[b]);
    }
    return true;
}

static bool check_ceilings(const struct ft_timeline_type *type, size_t t, char *message)
{
    if (!(type->busy_Bps > 0))
        return refuse(message, "busy_Bps of type %zu must be above 0 (got %g)", t, type->busy_Bps);
    if (!(type->idle_Bps >= type->busy_Bps))
        return refuse(message, "idle_Bps of type %zu must not be below busy_Bps, %g (got %g)", t,
                      type->busy_Bps, type->idle_Bps);
    if (!is_amount(type->idle_round_s))
        return refuse(message, "idle_round_s of type %zu must be finite and not negative (got %g)",
                      t, type->idle_round_s);
    if (!is_amount(type->message_lost_s) || !is_amount(type->byte_lost_s))
        return refuse(message,
                      "message_lost_s and byte_lost_s of type %zu must be finite and not negative "
                      "(got %g and %g)",
                      t, type->message_lost_s, type->byte_lost_s);
    if (!is_amount(type->busy_round_s) || type->busy_round_s < type->idle_round_s)
        return refuse(message,
                      "busy_round_s of type %zu must be finite and not below idle_round_s, %g "
                      "(got %g)",
                      t, type->idle_round_s, type->busy_round_s);
    return true;
}

static bool check_type(const struct ft_timeline *in, size_t t, char *message)
{
    const struct ft_timeline_type *type = &in->type[t];
    const struct {
        const char *name;
        double value;
    } stage[] = {{"load_s", type->load_s},
                 {"forward_s", type->forward_s},
                 {"backward_s", type->backward_s},
                 {"optimizer_s", type->optimizer_s},
                 {"rest_s", type->rest_s}};
    for (size_t s = 0; s < sizeof stage / sizeof *stage; s++) {
        if (!is_amount(stage[s].value))
            return refuse(message, "%s of type %zu must be finite and not negative (got %g)",
                          stage[s].name, t, stage[s].value);
    }
    return check_ceilings(type, t, message) && check_bucket_times(in, t, message);
}

static bool check_device(const struct ft_timeline *in, size_t i, char *message)
{
    if (in->type_of[i] < 0 || (size_t)in->type_of[i] >= in->n_types)
        return refuse(message, "the device at position %zu has type %d, but there are %zu types", i,
                      in->type_of[i], in->n_types);
    if (in->n_devices == 1 || in->collective)
        return true;
    if (!isfinite(in->link[i].bandwidth_Bps) || in->link[i].bandwidth_Bps <= 0)
        return refuse(message, "bandwidth_Bps of position %zu must be finite and above 0 (got %g)",
                      i, in->link[i].bandwidth_Bps);
    if (!is_amount(in->link[i].latency_s))
        return refuse(message, "latency_s of position %zu must be finite and not negative (got %g)",
                      i, in->link[i].latency_s);
    return message_check_curve(&in->link[i], message);
}

static bool check_values(const struct ft_timeline *in, char *message)
{
    for (size_t b = 0; b < in->n_buckets; b++) {
        if (!is_amount(in->bucket_bytes[b]))
            return refuse(message,
                          "bucket_bytes of bucket %zu must be finite and not negative "
                          "(got %g)",
                          b, in->bucket_bytes[b]);
    }
    for (size_t t = 0; t < in->n_types; t++) {
        if (!check_type(in, t, message))
            return false;
    }
    for (size_t i = 0; i < in->n_devices; i++) {
        if (!check_device(in, i, message))
            return false;
    }
    return !in->collective || in->n_devices == 1 ||
           collective_check_links(in->collective, in->link, message);
}

/* The longest that all-reduces can take of devices that all compute. */
static bool longest_collective_s(const struct ft_timeline *in, double *longest_s)
{
    struct collective_work work;
    double *sending_s = calloc(in->n_devices, sizeof *sending_s);
    struct sender *sender = calloc(in->n_devices, sizeof *sender);
    bool ok = collective_work_make(in->collective, &work) && sending_s && sender;
    for (size_t i = 0; ok && i < in->n_devices; i++)
        sender[i] = sender_of(&in->type[in->type_of[i]], true);
    *longest_s = 0;
    for (size_t b = 0; ok && b < in->n_buckets; b++) {
        double bytes = in->bucket_bytes[b];
        collective_cost(in->collective, in->link, bytes, sender, &work);
        *longest_s += collective_longest_s(in->collective, bytes, &work, sending_s);
    }
    collective_work_free(&work);
    free(sending_s);
    free(sender);
    return ok;
}

static double longest_ring_s(const struct ft_timeline *in)
{
    double bytes = 0, chunk_s = 0;
    for (size_t b = 0; b < in->n_buckets; b++)
        bytes += in->bucket_bytes[b];
    for (size_t i = 0; in->n_devices > 1 && i < in->n_devices; i++) {
        struct sender busy = sender_of(&in->type[in->type_of[i]], true);
        chunk_s = fmax(chunk_s, message_from_s(&in->link[i], bytes, busy));
    }
    return 8 * (double)in->n_devices * (double)(in->n_buckets + 1) * chunk_s;
}

/* Far more than all steps can take, so that no sum on the way is infinite. */
static bool check_length(const struct ft_timeline *in, int most_steps, char *message)
{
    double computing_s = 0, longest_s = 0;
    if (in->collective && in->n_devices > 1) {
        if (!longest_collective_s(in, &longest_s))
            return refuse(message, "there is no memory for %zu devices", in->n_devices);
    } else {
        longest_s = longest_ring_s(in);
    }
    for (size_t t = 0; t < in->n_types; t++) {
        const struct ft_timeline_type *type = &in->type[t];
        computing_s +=
            type->load_s + type->forward_s + type->backward_s + type->optimizer_s + type->rest_s;
    }
    return isfinite(8 * most_steps * (longest_s + computing_s)) ||
           refuse(message, "the step is too long to count");
}

bool timeline_inputs_check(const struct ft_timeline *in, int most_steps, char *message)
{
    if (!in || in->n_devices == 0 || !in->type_of)
        return refuse(message, "a timeline needs at least one device");
    if (!in->type || in->n_types == 0)
        return refuse(message, "there is no device type");
    if (in->n_devices > 1 && !in->link)
        return refuse(message, "a ring of %zu devices needs links", in->n_devices);
    if (in->collective && in->collective->n_devices != in->n_devices)
        return refuse(message, "the collective is of %zu devices, the timeline of %zu",
                      in->collective->n_devices, in->n_devices);
    if (in->n_buckets > 0 && !in->bucket_bytes)
        return refuse(message, "%zu buckets need their bytes", in->n_buckets);
    return check_values(in, message) && check_length(in, most_steps, message);
}

/* A step of a type, which is checked as if it were the type's. */
static bool check_sample(const struct ft_timeline *in, size_t t,
                         const struct ft_timeline_type *step, int most_steps, char *message)
{
    struct ft_timeline_type one = *step;
    struct ft_timeline alone = *in;
    const int type_of = 0;
    char why[FT_MESSAGE_SIZE];
    one.busy_Bps = in->type[t].busy_Bps;
    one.idle_Bps = in->type[t].idle_Bps;
    one.busy_round_s = in->type[t].busy_round_s;
    one.idle_round_s = in->type[t].idle_round_s;
    alone.type = &one;
    alone.n_types = alone.n_devices = 1;
    alone.type_of = &type_of;
    alone.collective = NULL;
    return timeline_inputs_check(&alone, most_steps, why) ||
           refuse(message, "a sample of type %zu: %.200s", t, why);
}

bool timeline_samples_check(const struct ft_timeline *in, const struct ft_timeline_samples *samples,
                            int most_steps, char *message)
{
    if (!timeline_inputs_check(in, most_steps, message))
        return false;
    if (!samples)
        return refuse(message, "there are no samples");
    for (size_t t = 0; t < in->n_types; t++) {
        const struct ft_timeline_samples *s = &samples[t];
        if (!s->step || s->n_iterations == 0 || s->n_together == 0)
            return refuse(message, "type %zu has no samples", t);
        for (size_t k = 0; k < s->n_iterations * s->n_together; k++) {
            if (!check_sample(in, t, &s->step[k], most_steps, message))
                return false;
        }
        for (size_t k = 0; k < s->n_loads; k++) {
            if (!is_amount(s->load_s[k]))
                return refuse(message,
                              "a load_s of type %zu must be finite and not negative (got %g)", t,
                              s->load_s[k]);
        }
    }
    return true;
}
