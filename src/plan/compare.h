/* Two jobs side by side: what differs in what they are made of, and what each of it does to the
 * forecast. */
#ifndef FORETRAIN_PLAN_COMPARE_H
#define FORETRAIN_PLAN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "network/network.h"
#include "predict/forecast.h"
#include "profile/profile.h"

struct compare_side {
    const char *name; /* as the user called it */
    const struct job *job;
    const struct profile *profile; /* [job->n_types] */
    const struct network *network; /* or NULL */
};

/* What goes from one job to the other together, in the order in which it does. */
enum compare_group {
    COMPARE_DEVICES,  /* types, how many, their data and ring */
    COMPARE_PROFILES, /* what was measured of a type, with its batch */
    COMPARE_NETWORK,
    COMPARE_TRAINING, /* training set, its storage, epochs, collective */
    N_COMPARE_GROUPS
};

/* "devices", "profiles", "network", "training". */
const char *compare_group_name(enum compare_group group);

struct difference {
    enum compare_group group;
    const char *what;  /* "a100 forward" */
    const char *is[2]; /* "26.2 ms"; "-" where a side does not have it */
};

/* The first job once a group, too, is the second's. */
struct compare_step {
    enum compare_group group;
    bool known;
    const char *why_not; /* then it cannot be forecast, and the next step has both */
    double step_s;
    bool total_known;
    double total_s;
};

struct comparison {
    const char *name[2];
    struct forecast forecast[2];
    struct difference *difference; /* [n_differences], by group */
    size_t n_differences;
    struct compare_step step[N_COMPARE_GROUPS]; /* [n_steps], of groups that differ */
    size_t n_steps;
};

/* Fails where one of the two cannot be forecast, saying which. */
bool compare_jobs(struct arena *arena, const struct compare_side *side, enum forecast_model model,
                  struct comparison *comparison, struct error *e);

#endif
