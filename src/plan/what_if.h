/*
 * A job with some of its quantities changed, forecast many times a second: what is read and fitted
 * is so once (docs/model.md, "What if").
 */
#ifndef FORETRAIN_PLAN_WHAT_IF_H
#define FORETRAIN_PLAN_WHAT_IF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "network/network.h"
#include "plan/class_links.h"
#include "predict/forecast.h"
#include "predict/type_steps.h"
#include "profile/profile.h"

struct type_at_batch;

/* What is known of a type at several batches; n 0 or 1: at one. */
struct measured_batches {
    const struct profile *profile; /* [n] */
    size_t n;
};

struct what_if {
    struct arena *arena;
    struct job job; /* with the size of a sample that its forecast found */
    const struct profile *profile;
    struct forecast base;      /* of the job as it is, by all that is known */
    enum forecast_model model; /* by which systems are forecast: the timeline's step by means */
    const char *why_not;       /* the timeline is not that model, though asked for; or NULL */
    bool counts_vary;          /* rings are type by type over `classes`; else the job's own */
    struct class_links classes;
    bool *within; /* [base.n_hops], which of the job's links stay on one host */
    struct ring_buckets buckets;
    struct measured_batches *batches; /* [n_types] */
    struct type_at_batch **type;      /* [n_types], lists */
};

/* Links between two types across hosts that are changed, in both directions. */
struct link_change {
    int type[2];
    double bandwidth_Bps; /* 0: as it is */
    double latency_s;     /* negative: as it is */
};

/* A system to forecast: the job with other counts (0: none of a type), batches, data, prices. */
struct variant {
    struct job job;
    struct link_change *change; /* [n_changes] */
    size_t n_changes;
};

struct outcome {
    bool any; /* false: no device, and nothing below */
    size_t n_devices;
    double step_s, samples_per_s;
    bool epoch_known;
    double iterations, epoch_s, total_s;
    bool cost_known; /* every type that takes part has a price */
    double cost;     /* of the total, in the currency of the prices */
};

/*
 * Forecasts the job itself and makes ready for others like it. All of it lives as long as the
 * arena, the job, the profiles [job->n_types] and the network (or NULL) do. Fails as forecast_make.
 */
bool what_if_start(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, enum forecast_model model, bool counts_vary,
                   struct what_if *what_if, struct error *e);

/* By which share waiting for the slowest device makes the job's own step longer than its mean
 * times do: what outcomes lack. 0 where it is not known, or a system's model has none. */
double what_if_waiting(const struct what_if *what_if);

/*
 * Makes ready for another batch of a type; before any system that has it. Its times are those of
 * `batches` [type], which the caller may set, read off the line through them; else those of its
 * profile in proportion.
 */
bool what_if_allow_batch(struct what_if *what_if, int type, int64_t batch, struct error *e);

/*
 * Forecasts one system; may be called from several threads. Fails where a link has no value, where
 * only the latency of one with a table is changed, or a time is too long to count. Takes
 * O(n_devices) by the closed form, some steps of the timeline else.
 */
bool what_if_forecast(const struct what_if *what_if, const struct variant *variant,
                      struct outcome *outcome, struct error *e);

#endif
