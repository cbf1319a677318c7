/* A job's ring at mean times, for trying many orders and splits of it. */
#ifndef FORETRAIN_PLAN_MEAN_RING_H
#define FORETRAIN_PLAN_MEAN_RING_H

#include "predict/forecast.h"
#include "predict/type_steps.h"

struct mean_ring {
    enum forecast_model model;
    size_t n_devices;
    size_t n_types;
    struct ft_device_type *closed; /* [n_types], for the closed form */
    struct ft_timeline_type *type; /* [n_types], for the timeline */
    struct ring_buckets buckets;
    double payload_bytes;
};

/* From the forecast of a job whose collective is the ring, by its model and with its ceilings.
 * `profile` [job->n_types]. */
void mean_ring_make(struct arena *arena, const struct job *job, const struct profile *profile,
                    const struct forecast *forecast, struct mean_ring *ring);

/* What a device of the type sends at the most, as of struct ft_timeline_type; INFINITY for the
 * closed form. */
double mean_ring_idle_Bps(const struct mean_ring *ring, int type);

/* Seconds of a step with these types and links by position, each [n_devices]. */
double mean_ring_step_s(const struct mean_ring *ring, const int *type_of,
                        const struct ft_link *link);

/* What one device takes for a step over its own link, waiting for nobody: no step of a ring that
 * has this device and this link is shorter (docs/model.md, "Ring order"). */
double mean_ring_device_s(const struct mean_ring *ring, int type, struct ft_link link);

/* The same without an all-reduce: what it loads and computes. */
double mean_ring_alone_s(const struct mean_ring *ring, int type);

/* Chunks of all buckets over a link, once: Σ_b latency + (S_b/N) / rate, or by the link's curve;
 * the closed form knows no latency. */
double mean_ring_chunks_s(const struct mean_ring *ring, int type, struct ft_link link);

/* What a device of the type takes before and after its buckets' all-reduce, if that took no time;
 * timeline only. */
double mean_ring_around_s(const struct mean_ring *ring, int type);

#endif
