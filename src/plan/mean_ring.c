#include "plan/mean_ring.h"

#include <math.h>

#include "predict/message.h"
#include "predict/parts.h"

static void make_timeline(struct arena *arena, const struct profile *profile,
                          const struct forecast *f, struct mean_ring *ring)
{
    ring->type = ARENA_ARRAY(arena, ring->n_types, struct ft_timeline_type);
    if (ring->n_devices > 1)
        ring_buckets_find(arena, profile, f->n_types, &ring->buckets);
    for (size_t t = 0; t < ring->n_types; t++) {
        struct type_steps steps;
        type_steps_make(arena, &profile[t], &ring->buckets, &steps);
        ring->type[t] = steps.mean;
        ring->type[t].load_s = fmax(steps.mean.load_s, f->storage_s);
        forecast_set_whole(&f->type[t], &ring->type[t]);
    }
}

void mean_ring_make(struct arena *arena, const struct job *job, const struct profile *profile,
                    const struct forecast *forecast, struct mean_ring *ring)
{
    *ring = (struct mean_ring){.model = forecast->model,
                               .n_devices = job->n_devices,
                               .n_types = (size_t)job->n_types,
                               .payload_bytes = forecast->payload_bytes};
    ring->closed = ARENA_ARRAY(arena, ring->n_types, struct ft_device_type);
    for (size_t t = 0; t < ring->n_types; t++) {
        ring->closed[t] = forecast_device_type(&forecast->type[t]);
        ring->closed[t].load_s = fmax(ring->closed[t].load_s, forecast->storage_s);
    }
    if (ring->model == MODEL_TIMELINE)
        make_timeline(arena, profile, forecast, ring);
}

double mean_ring_idle_Bps(const struct mean_ring *ring, int type)
{
    return ring->model == MODEL_TIMELINE ? ring->type[type].idle_Bps : INFINITY;
}

static double n_rounds(const struct mean_ring *ring)
{
    return 2 * ((double)ring->n_devices - 1);
}

static double chunk_s(const struct mean_ring *ring, int type, struct ft_link link, size_t bucket)
{
    double bytes = ring->buckets.bytes[bucket] / (double)ring->n_devices;
    return message_stay_s(&link, bytes, sender_of(&ring->type[type], false));
}

double mean_ring_chunks_s(const struct mean_ring *ring, int type, struct ft_link link)
{
    double sum_s = 0, bytes = ring->payload_bytes / (double)ring->n_devices;
    if (ring->n_devices < 2)
        return 0;
    if (ring->model == MODEL_CLOSED_FORM)
        return link.n_curve ? message_s(&link, bytes) : bytes / link.bandwidth_Bps;
    for (size_t b = 0; b < ring->buckets.n; b++)
        sum_s += chunk_s(ring, type, link, b);
    return sum_s;
}

static double own_load_s(const struct ft_timeline_type *type)
{
    return type->load_inside ? type->load_s : 0;
}

double mean_ring_around_s(const struct mean_ring *ring, int type)
{
    const struct ft_timeline_type *t = &ring->type[type];
    double ready_s = ring->buckets.n ? t->ready_s[0] : t->backward_s;
    return own_load_s(t) + t->forward_s + ready_s + t->optimizer_s + t->rest_s;
}

/* With a backward pass that takes so long, the all-reduce that shows included. */
static double with_backward_s(const struct ft_timeline_type *t, double backward_s)
{
    double step_s = own_load_s(t) + t->forward_s + backward_s + t->optimizer_s + t->rest_s;
    return t->load_inside ? step_s : fmax(step_s, t->load_s);
}

double mean_ring_alone_s(const struct mean_ring *ring, int type)
{
    const struct ft_device_type *closed = &ring->closed[type];
    return ring->model == MODEL_TIMELINE
               ? with_backward_s(&ring->type[type], ring->type[type].backward_s)
               : fmax(closed->load_s, closed->forward_s + closed->first_backward_s);
}

/* Each bucket begins when it is ready and the one before is done, and takes its rounds. */
static double timeline_device_s(const struct mean_ring *ring, int type, struct ft_link link)
{
    const struct ft_timeline_type *t = &ring->type[type];
    double backward_s = t->backward_s, left_s = 0;
    for (size_t b = ring->buckets.n; b-- > 0;) {
        left_s += n_rounds(ring) * chunk_s(ring, type, link, b);
        backward_s = fmax(backward_s, t->ready_s[b] + left_s);
    }
    return with_backward_s(t, backward_s);
}

double mean_ring_device_s(const struct mean_ring *ring, int type, struct ft_link link)
{
    if (ring->model == MODEL_TIMELINE)
        return timeline_device_s(ring, type, link);
    const struct ft_device_type *t = &ring->closed[type];
    double ring_s = n_rounds(ring) * mean_ring_chunks_s(ring, type, link);
    return fmax(t->load_s, t->forward_s + t->first_backward_s + ring_s);
}

static double closed_form_s(const struct mean_ring *ring, const int *type_of,
                            const struct ft_link *link)
{
    double step_s = 0;
    for (size_t i = 0; i < ring->n_devices; i++)
        step_s = fmax(step_s, mean_ring_device_s(ring, type_of[i], link[i]));
    return step_s;
}

double mean_ring_step_s(const struct mean_ring *ring, const int *type_of,
                        const struct ft_link *link)
{
    if (ring->model == MODEL_CLOSED_FORM)
        return closed_form_s(ring, type_of, link);
    struct ft_timeline timeline = {.type = ring->type,
                                   .n_types = ring->n_types,
                                   .type_of = type_of,
                                   .link = ring->n_devices > 1 ? link : NULL,
                                   .n_devices = ring->n_devices,
                                   .bucket_bytes = ring->buckets.bytes,
                                   .n_buckets = ring->buckets.n};
    struct ft_timeline_step step;
    return ft_timeline_step(&timeline, &step, NULL) ? step.step_s : INFINITY;
}
