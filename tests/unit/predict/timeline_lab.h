/* Three fast and three slow devices in a ring, with two buckets, known by means: for tests. */
#ifndef FORETRAIN_TESTS_TIMELINE_LAB_H
#define FORETRAIN_TESTS_TIMELINE_LAB_H

#include "cluster.h"

#define LAB_JOB                                                                                    \
    "name: lab\n"                                                                                  \
    "data: {samples: 6400}\n"                                                                      \
    "devices:\n"                                                                                   \
    "  fast: {count: 3, batch: 16}\n"                                                              \
    "  slow: {count: 3, batch: 16}\n"                                                              \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"                                         \
    "    - {between: [slow, slow], bandwidth: 100 MB/s}\n"                                         \
    "    - {between: [fast, slow], bandwidth: 100 MB/s}\n"

struct lab {
    struct cluster cluster;
    struct bucket bucket[2][2];
};

static inline struct samples lab_mean(double seconds)
{
    return (struct samples){.known = true,
                            .stats = {.n = 81, .mean = seconds, .min = seconds, .max = seconds}};
}

/*
 * Forward `part_s`, backward twice that, with 4 MB ready in its middle and 1 MB at its end, done as
 * fast as 100 MB/s allow.
 */
static inline struct profile lab_profile(const char *name, double part_s, struct bucket *bucket)
{
    struct profile p = cluster_profile(name, 16, part_s, 0.01, 5e6);
    cluster_stage(&p, STAGE_BACKWARD_COMPUTE, 2 * part_s);
    cluster_stage(&p, STAGE_OPTIMIZER, 0.01);
    cluster_stage(&p, STAGE_REST, 0.001);
    cluster_stage(&p, STAGE_STEP, 3 * part_s + 0.01 + 0.01 + 0.001 + 0.0005);
    bucket[0] = (struct bucket){4e6, 4e6, lab_mean(part_s), lab_mean(part_s + 0.04)};
    bucket[1] = (struct bucket){1e6, 1e6, lab_mean(2 * part_s), lab_mean(2 * part_s + 0.01)};
    p.bucket = bucket;
    p.n_buckets = 2;
    return p;
}

static inline void lab_start(struct lab *lab)
{
    struct cluster *c = &lab->cluster;
    *lab = (struct lab){0};
    cluster_read_job(c, LAB_JOB);
    c->model = MODEL_TIMELINE;
    c->profile[0] = lab_profile("fast", 0.1, lab->bucket[0]);
    c->profile[1] = lab_profile("slow", 0.2, lab->bucket[1]);
}

#endif
