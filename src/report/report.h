/*
 * What was computed or measured, as text, JSON or CSV. Nothing here computes; names and paths of
 * the user's are made safe to show.
 */
#ifndef FORETRAIN_REPORT_REPORT_H
#define FORETRAIN_REPORT_REPORT_H

#include <stdio.h>

#include "base/text.h"
#include "job/job.h"
#include "network/bandwidth_map.h"
#include "network/nccl_tests.h"
#include "network/network.h"
#include "network/topology.h"
#include "predict/forecast.h"
#include "predict/scaling.h"
#include "predict/steadiness.h"
#include "predict/step_record.h"
#include "predict/validation.h"
#include "profile/profile.h"

/* One look, 80 columns: a row per type, what decides, step, epoch, total, throughput, warnings. */
void report_forecast_text(const struct forecast *forecast, struct text *out);

/* foretrain.forecast/1 (docs/formats.md, "The forecast"). */
void report_forecast_json(const struct forecast *forecast, struct text *out);

/* A row per device in ring order (docs/formats.md, "The forecast"). */
void report_forecast_csv(const struct forecast *forecast, const struct job *job, struct text *out);

/* Forecast and truth: a row per type and stage, the whole, when each was made, what must be known.
 */
void report_validation_text(const struct validation *validation, struct text *out);

/* foretrain.validation/1 (docs/formats.md, "The validation"). */
void report_validation_json(const struct validation *validation, struct text *out);

/* For `foretrain show`: what a profile, a network, a table of nccl-tests or nvidia-smi, a job
 * holds. */
void report_profile_text(const struct profile *profile, struct text *out);
void report_network_text(const struct network *network, struct text *out);
void report_network_json(const struct network *network, struct text *out);
void report_nccl_tests_text(const struct nccl_table *table, struct text *out);
void report_topology_text(const struct topology *topology, struct text *out);
void report_job_text(const struct job *job, struct text *out);

/* The same as JSON, and where profiles were measured into, `path[n]` (docs/formats.md, "What show
 * prints"). */
void report_nccl_tests_json(const struct nccl_table *table, struct text *out);
void report_topology_json(const struct topology *topology, struct text *out);
void report_job_json(const struct job *job, struct text *out);
void report_measured_json(const char *job_name, const char *const *path, size_t n,
                          struct text *out);

/* A run's folder: its job, what was measured, its forecast or, where that is NULL, why there is
 * none. `profile` [n_profiles]. */
void report_run_text(const struct job *job, const struct profile *profile, size_t n_profiles,
                     const struct network *network, const struct forecast *forecast,
                     const char *why_no_forecast, struct text *out);

/* All that is known of a run. */
struct run_report {
    const struct job *job;
    const char *job_path, *run_path; /* as its commands are repeated with */
    const struct profile *profile;   /* [job->n_types] */
    const struct forecast *forecast;
    const struct step_record *record;    /* NULL: no timeline */
    const struct step_parts *parts;      /* [job->n_types], with a record */
    const struct steadiness *steadiness; /* [job->n_types] */
    const struct bandwidth_map *map;
    const struct scaling *scaling;
    const struct validation *validation; /* or NULL */
};

/* One HTML page that needs nothing else: docs/formats.md, "The report". */
void report_run_html(const struct run_report *run, struct text *out);

/* What a trace shows. */
struct trace_choice {
    const bool *shown; /* [n_devices], by position; NULL: all */
    const int *rank;   /* [n_devices], by position */
    bool measured;     /* the sub-systems' own steps below the forecast's */
};

/*
 * The recorded steps, and those that were measured, as trace events for Perfetto and
 * chrome://tracing: docs/formats.md, "The trace". Written as it goes, so that its size costs no
 * memory; whether all of it could be written, the stream tells.
 */
void report_trace(const struct run_report *run, const struct trace_choice *choice, FILE *out);

#endif
