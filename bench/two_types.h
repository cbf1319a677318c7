/* A fast and a slow device type with four buckets, whose rounds and messages cost something. */
#ifndef FORETRAIN_BENCH_TWO_TYPES_H
#define FORETRAIN_BENCH_TWO_TYPES_H

#include "foretrain.h"

static const double fast_ready_s[] = {0.03, 0.06, 0.09, 0.1};
static const double slow_ready_s[] = {0.05, 0.1, 0.15, 0.16};

static const struct ft_timeline_type two_types[] = {
    {.load_s = 0.05,
     .forward_s = 0.05,
     .backward_s = 0.1,
     .ready_s = fast_ready_s,
     .optimizer_s = 0.005,
     .busy_Bps = 1e9,
     .idle_Bps = 4e9,
     .idle_round_s = 5e-6,
     .busy_round_s = 2e-5,
     .message_lost_s = 5e-6,
     .byte_lost_s = 1e-11},
    {.load_s = 0.08,
     .forward_s = 0.08,
     .backward_s = 0.16,
     .ready_s = slow_ready_s,
     .optimizer_s = 0.01,
     .busy_Bps = 0.7e9,
     .idle_Bps = 5e9,
     .idle_round_s = 1e-5,
     .busy_round_s = 4e-5,
     .message_lost_s = 1e-5,
     .byte_lost_s = 2e-11},
};

#endif
