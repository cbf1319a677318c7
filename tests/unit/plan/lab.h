/* Jobs with profiles made up for tests of planning. */
#ifndef FORETRAIN_TESTS_LAB_H
#define FORETRAIN_TESTS_LAB_H

#include "../predict/cluster.h"
#include "plan/what_if.h"

#define LAB_LINKS                                                                                  \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [fast, fast], bandwidth: 100 MB/s, latency: 1 ms}\n"                          \
    "    - {between: [slow, slow], bandwidth: 80 MB/s, latency: 2 ms}\n"                           \
    "    - {between: [fast, slow], bandwidth: 50 MB/s, latency: 3 ms}\n"

struct lab {
    struct cluster cluster;
    struct bucket bucket[2][2];
    struct what_if what_if;
};

static inline struct samples lab_mean(double seconds)
{
    return (struct samples){.known = true,
                            .stats = {.n = 81, .mean = seconds, .min = seconds, .max = seconds}};
}

/* Forward `part_s`, backward twice that, 4 MB ready in its middle and 1 MB at its end. */
static inline struct profile lab_profile(const char *name, double batch, double part_s,
                                         struct bucket *bucket)
{
    struct profile p = cluster_profile(name, batch, part_s, 0.01, 5e6);
    cluster_stage(&p, STAGE_BACKWARD_COMPUTE, 2 * part_s);
    cluster_stage(&p, STAGE_OPTIMIZER, 0.01);
    cluster_stage(&p, STAGE_REST, 0.001);
    bucket[0] = (struct bucket){4e6, 4e6, lab_mean(part_s), lab_mean(part_s + 0.1)};
    bucket[1] = (struct bucket){1e6, 1e6, lab_mean(2 * part_s), lab_mean(2 * part_s + 0.02)};
    p.bucket = bucket;
    p.n_buckets = 2;
    return p;
}

/* Two types, "fast" and "slow", batch 16. */
static inline void lab_read(struct lab *lab, const char *yaml)
{
    *lab = (struct lab){0};
    cluster_read_job(&lab->cluster, yaml);
    lab->cluster.profile[0] = lab_profile("fast", 16, 0.1, lab->bucket[0]);
    lab->cluster.profile[1] = lab_profile("slow", 16, 0.2, lab->bucket[1]);
}

static inline void lab_start(struct lab *lab, bool counts_vary)
{
    struct cluster *c = &lab->cluster;
    const struct network *network = c->network.n || c->network.n_tables ? &c->network : NULL;
    if (!what_if_start(&c->arena, &c->job, c->profile, network, c->model, counts_vary,
                       &lab->what_if, &c->e))
        fail_msg("%s", c->e.text);
}

/* The job as it is, with types of its own to change. */
static inline struct variant lab_variant(struct lab *lab)
{
    struct arena *arena = &lab->cluster.arena;
    struct variant v = {.job = lab->what_if.job,
                        .change = ARENA_ARRAY(arena, 4, struct link_change)};
    v.job.type = ARENA_ARRAY(arena, (size_t)v.job.n_types, struct job_device_type);
    memcpy(v.job.type, lab->what_if.job.type, (size_t)v.job.n_types * sizeof *v.job.type);
    return v;
}

static inline struct outcome lab_forecast(struct lab *lab, const struct variant *variant)
{
    struct outcome outcome;
    if (!what_if_forecast(&lab->what_if, variant, &outcome, &lab->cluster.e))
        fail_msg("%s", lab->cluster.e.text);
    return outcome;
}

#endif
