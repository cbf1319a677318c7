/* A job, its profiles and its forecast in memory, for tests. */
#ifndef FORETRAIN_TESTS_CLUSTER_H
#define FORETRAIN_TESTS_CLUSTER_H

#include <string.h>

#include "base/stats.h"
#include "job/job.h"
#include "network/network.h"
#include "predict/forecast.h"
#include "profile/profile.h"

enum { CLUSTER_MOST_TYPES = 4 };

struct cluster {
    struct arena arena;
    struct job job;
    struct profile profile[CLUSTER_MOST_TYPES];
    struct network network;
    enum forecast_model model; /* the closed form, unless set after the job is read */
    struct forecast forecast;
    struct error e;
};

static inline void cluster_free(struct cluster *c)
{
    arena_free(&c->arena);
    error_clear(&c->e);
}

static inline void cluster_stage(struct profile *p, enum stage stage, double seconds)
{
    p->stage[stage] = (struct samples){
        .known = true, .stats = {.n = 81, .mean = seconds, .min = seconds, .max = seconds}};
}

/* A measured sub-system of two that sends `sent_bytes`, so that S is the same. */
static inline struct profile cluster_profile(const char *name, double batch, double forward_s,
                                             double first_backward_s, double sent_bytes)
{
    struct profile p = {.file = "p.json",
                        .device_type = name,
                        .n_devices = 2,
                        .ring_devices = 2,
                        .first = 20,
                        .last = 100,
                        .batch = batch,
                        .micro_batches = 1,
                        .loader_workers = 2,
                        .bytes_sent = sent_bytes,
                        .bytes_measured = true,
                        .gradient_bytes = sent_bytes,
                        .bytes_read = -1};
    cluster_stage(&p, STAGE_LOADER_INTERVAL, 0.001);
    cluster_stage(&p, STAGE_COPY, 0.0005);
    cluster_stage(&p, STAGE_FORWARD, forward_s);
    cluster_stage(&p, STAGE_FIRST_BACKWARD, first_backward_s);
    return p;
}

/* Fails the test where the job is not right. */
static inline void cluster_read_job(struct cluster *c, const char *yaml)
{
    c->model = MODEL_CLOSED_FORM;
    if (!job_parse(&c->arena, yaml, strlen(yaml), "lab.yaml", ".", &c->job, &c->e))
        fail_msg("%s", c->e.text);
}

static inline void cluster_read_network(struct cluster *c, const char *text)
{
    if (!network_parse(&c->arena, text, "net.csv", &c->network, &c->e))
        fail_msg("%s", c->e.text);
}

static inline bool cluster_try(struct cluster *c)
{
    const struct network *network = c->network.n || c->network.n_tables ? &c->network : NULL;
    return forecast_make(&c->arena, &c->job, c->profile, network, c->model, &c->forecast, &c->e);
}

static inline void cluster_forecast(struct cluster *c)
{
    if (!cluster_try(c))
        fail_msg("%s", c->e.text);
}

static inline bool cluster_warns(const struct cluster *c, const char *part)
{
    for (size_t i = 0; i < c->forecast.n_warnings; i++) {
        if (strstr(c->forecast.warning[i], part))
            return true;
    }
    return false;
}

#endif
