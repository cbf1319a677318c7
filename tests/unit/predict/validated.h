/* A forecast of four devices and the profiles of full runs, in memory, for tests. */
#ifndef FORETRAIN_TESTS_VALIDATED_H
#define FORETRAIN_TESTS_VALIDATED_H

#include "cluster.h"
#include "predict/validation.h"

enum { VALIDATED_MOST_RUNS = 3 };

struct validated {
    struct cluster cluster;
    struct profile profile[VALIDATED_MOST_RUNS][2];
    struct validation_run run[VALIDATED_MOST_RUNS];
    struct bucket bucket[2];
    struct validation v;
};

#define VALIDATED_DEVICES                                                                          \
    "devices:\n"                                                                                   \
    "  a: {count: 3, batch: 16}\n"                                                                 \
    "  b: {count: 1, batch: 16, subsystem: 1}\n"

#define VALIDATED_LINKS                                                                            \
    "network: {links: [{between: [a, a], bandwidth: 80 Mbit/s}, "                                  \
    "{between: [a, b], bandwidth: 16 Mbit/s}]}\n"

static inline struct samples validated_mean(double mean)
{
    return (struct samples){.known = true,
                            .stats = {.n = 10, .mean = mean, .min = mean, .max = mean}};
}

/* A type's share of a full run whose step takes `step_s`. */
static inline struct profile validated_profile(struct validated *c, const char *name, int n,
                                               double step_s)
{
    struct profile p = cluster_profile(name, 16, 0.2, 0.01, 6e6);
    p.n_devices = n;
    p.ring_devices = 4;
    p.one_ring = true;
    p.started = "2026-11-29T12:00:10Z";
    p.date = "2026-11-29T12:01:00Z";
    p.bucket = c->bucket;
    p.n_buckets = 2;
    cluster_stage(&p, STAGE_STEP, step_s);
    cluster_stage(&p, STAGE_OPTIMIZER, 0.01);
    return p;
}

/* `n` full runs whose steps take 4 s, 4.4 s, ...; b's devices see a step that is 0.4 s longer. */
static inline void validated_start(struct validated *c, const char *yaml, size_t n)
{
    *c = (struct validated){0};
    cluster_read_job(&c->cluster, yaml);
    c->cluster.profile[0] = cluster_profile("a", 16, 0.1, 0.01, 4e6);
    c->cluster.profile[1] = cluster_profile("b", 16, 0.2, 0.02, 0);
    c->cluster.profile[1].n_devices = c->cluster.profile[1].ring_devices = 1;
    cluster_forecast(&c->cluster);
    c->bucket[0] = (struct bucket){.ready = validated_mean(1), .done = validated_mean(2)};
    c->bucket[1] = (struct bucket){.ready = validated_mean(1.5), .done = validated_mean(3.5)};
    for (size_t r = 0; r < n; r++) {
        double step_s = 4 + 0.4 * (double)r;
        c->profile[r][0] = validated_profile(c, "a", 3, step_s);
        c->profile[r][1] = validated_profile(c, "b", 1, step_s + 0.4);
        c->run[r].profile = c->profile[r];
    }
    c->v.written = "2026-11-29T12:00:00Z";
    c->v.sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    c->v.n_devices_whole = c->cluster.job.n_devices;
}

static inline bool validated_try(struct validated *c, size_t n)
{
    return validation_make(&c->cluster.arena, &c->cluster.job, &c->cluster.forecast, c->run, n,
                           &c->v, &c->cluster.e);
}

static inline void validated_make(struct validated *c, const char *yaml, size_t n)
{
    validated_start(c, yaml, n);
    if (!validated_try(c, n))
        fail_msg("%s", c->cluster.e.text);
}

#endif
