/*
 * A mixed system: half of N devices fast, half slow, four buckets, three kinds of links; nothing
 * slows a device that computes. S = 102.4 MB, as in a ResNet-50's gradients.
 */
#ifndef FORETRAIN_TESTS_MIXED_STEP_H
#define FORETRAIN_TESTS_MIXED_STEP_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "foretrain.h"

enum { MIXED_BUCKETS = 4, MIXED_TYPES = 2 };

struct mixed_step {
    struct ft_timeline timeline;
    struct ft_timeline_type type[MIXED_TYPES];
    double ready_s[MIXED_TYPES][MIXED_BUCKETS], bucket_bytes[MIXED_BUCKETS];
    int *type_of;
    struct ft_link *link;
};

static inline struct ft_timeline_type mixed_step_type(struct mixed_step *m, int t)
{
    double slower = t == 0 ? 1 : 1.6;
    for (int b = 0; b < MIXED_BUCKETS; b++)
        m->ready_s[t][b] = slower * 0.012 * (b + 1);
    return (struct ft_timeline_type){.load_s = 0.0007 * slower,
                                     .load_inside = true,
                                     .forward_s = 0.026 * slower,
                                     .backward_s = 0.05 * slower,
                                     .ready_s = m->ready_s[t],
                                     .optimizer_s = 0.003 * slower,
                                     .rest_s = 0.001,
                                     .busy_Bps = INFINITY,
                                     .idle_Bps = INFINITY};
}

/* False where memory is short; call mixed_step_free in any case. */
static inline bool mixed_step_make(struct mixed_step *m, size_t n)
{
    static const double share[MIXED_BUCKETS] = {0.1, 0.25, 0.25, 0.4};
    m->type_of = calloc(n, sizeof *m->type_of);
    m->link = calloc(n, sizeof *m->link);
    for (int t = 0; t < MIXED_TYPES; t++)
        m->type[t] = mixed_step_type(m, t);
    for (int b = 0; b < MIXED_BUCKETS; b++)
        m->bucket_bytes[b] = round(102.4e6 * share[b] / (double)n) * (double)n;
    for (size_t i = 0; m->type_of && m->link && i < n; i++) {
        bool between = i == n / 2 - 1 || i == n - 1;
        m->type_of[i] = i >= n / 2;
        m->link[i].bandwidth_Bps = between ? 3.125e9 : i < n / 2 ? 12.5e9 : 10e9;
        m->link[i].latency_s = between ? 10e-6 : 5e-6;
    }
    m->timeline = (struct ft_timeline){.type = m->type,
                                       .n_types = MIXED_TYPES,
                                       .type_of = m->type_of,
                                       .link = m->link,
                                       .n_devices = n,
                                       .bucket_bytes = m->bucket_bytes,
                                       .n_buckets = MIXED_BUCKETS};
    return m->type_of && m->link;
}

static inline void mixed_step_free(struct mixed_step *m)
{
    free(m->type_of);
    free(m->link);
}

/* What a step takes in the end, and how much devices differ in it: begin_s[n_steps+1][n_devices].
 */
static inline double mixed_step_last_s(const double *begin_s, size_t n_steps, size_t n,
                                       double *differ_s)
{
    double most_s = 0, least_s = INFINITY;
    for (size_t i = 0; i < n; i++) {
        double step_s = begin_s[n_steps * n + i] - begin_s[(n_steps - 1) * n + i];
        most_s = fmax(most_s, step_s);
        least_s = fmin(least_s, step_s);
    }
    *differ_s = most_s - least_s;
    return most_s;
}

#endif
