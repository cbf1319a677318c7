/* What the commands share: the job, its run's folder, and what lies in it. */
#ifndef FORETRAIN_CLI_WORKSPACE_H
#define FORETRAIN_CLI_WORKSPACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/options.h"
#include "job/job.h"
#include "measure/progress.h"
#include "network/network.h"
#include "predict/forecast.h"
#include "profile/profile.h"

struct workspace {
    struct arena arena; /* everything below lives here */
    struct job job;
    const char *run; /* the run's folder; it need not exist */
    enum forecast_model model;
    struct profile *profile; /* [job.n_types], and */
    struct network *network; /* or NULL: what a forecast is made from, once it was loaded */
    struct progress progress;
};

/* Reads the job that the command line names, with the model that it asks for. Call workspace_close
 * in any case. */
bool workspace_open(struct workspace *w, const struct options *options, struct error *e);

/* The same for the copy of a job that a run's folder holds. */
bool workspace_open_run(struct workspace *w, const char *folder, const struct options *options,
                        struct error *e);

void workspace_close(struct workspace *w);

/* The worker's folder: FORETRAIN_WORKER where it is set, else the one that belongs to this program.
 */
const char *workspace_worker(struct workspace *w);

/* A path in the run's folder. */
char *workspace_path(struct workspace *w, const char *name);

/* Makes the run's folder, takes it for this process alone and keeps a copy of the job in it. */
bool workspace_claim(struct workspace *w, struct error *e);

/* Measures the sub-systems that are not measured yet (or all `again`) into the run's folder, which
 * it claims. */
bool workspace_measure(struct workspace *w, const struct options *options, struct error *e);

/*
 * The network that a forecast uses: the job's file, else the run's measured one; `*network` is NULL
 * where there is neither, and the job's classes must say all.
 */
bool workspace_network(struct workspace *w, struct network **network, struct error *e);

/* Paths of a type's profiles, [*n]: those that the job gives, else those that are measured. */
const char **workspace_profile_paths(struct workspace *w, int type, size_t *n);

/* The profile of a device type at the job's batch, from those. */
bool workspace_profile(struct workspace *w, int type, struct profile *profile, struct error *e);

/* Reads all that a forecast needs, into `profile` and `network`; fails naming the types that are
 * not measured. */
bool workspace_load(struct workspace *w, struct error *e);

/* All profiles of a device type, [n] of different batches; one where it was measured. */
bool workspace_batches(struct workspace *w, int type, struct profile **profile, size_t *n,
                       struct error *e);

/* Forecasts from the job's given profiles and those measured in the run's folder. */
bool workspace_forecast(struct workspace *w, struct forecast *forecast, struct error *e);

/* Keeps a forecast in the run's folder where that exists; warns where it cannot be written. */
void workspace_keep_forecast(struct workspace *w, const struct forecast *forecast);

/* Prints a forecast as the options ask, and keeps it in the run's folder where that exists. */
bool workspace_show_forecast(struct workspace *w, const struct options *options,
                             const struct forecast *forecast, struct error *e);

/* Writes text to standard output, or to the file that the options name. */
bool workspace_print(const struct options *options, const struct text *text, struct error *e);

#endif
