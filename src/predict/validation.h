/*
 * A forecast beside the truth: the full system as it ran, its stages defined as the forecast's
 * inputs are.
 *
 * docs/model.md, "The truth beside the forecast".
 */
#ifndef FORETRAIN_PREDICT_VALIDATION_H
#define FORETRAIN_PREDICT_VALIDATION_H

#include "predict/forecast.h"

/* What is compared for each device type. */
enum validation_stage {
    VALIDATION_LOAD,           /* L */
    VALIDATION_FORWARD,        /* forward of all micro-batches */
    VALIDATION_UNSYNCED,       /* accumulation's backward; F is the sum of both */
    VALIDATION_FIRST_BACKWARD, /* B1 */
    VALIDATION_ALL_REDUCE,     /* T_ring; measured: while any bucket is ready and not done */
    VALIDATION_BACKWARD,       /* all backward calls */
    VALIDATION_OPTIMIZER,
    VALIDATION_WAIT, /* for data */
    VALIDATION_REST,
    VALIDATION_STEP, /* of the system, as this type's devices saw it */
    N_VALIDATION_STAGES
};

/* Key of a stage in validation.json: "forward". */
const char *validation_stage_key(enum validation_stage stage);

struct validation_value {
    bool forecast_known, measured_known, error_known;
    double forecast, measured; /* seconds or bytes */
    double error;              /* forecast / measured - 1 */
};

/* Sets the error where forecast and measured are known. */
void validation_compare(struct validation_value *value);

struct validation_type {
    const char *name;
    int64_t n_devices;
    struct validation_value stage[N_VALIDATION_STAGES];
    struct validation_value sent_bytes; /* by one device in a step */
};

/* One run of the full system. */
struct validation_run {
    const struct profile *profile; /* [n_types], one for each type of the system */
    const char *started;           /* date, of the first profile; or NULL */
    double step_s;                 /* mean over all devices and counted iterations */
};

struct validation {
    /* The caller's to set before: */
    const char *written;    /* when the forecast was written */
    const char *sha256;     /* of its file */
    const char *smaller;    /* what of the job did not run; NULL: nothing */
    size_t n_devices_whole; /* of the whole job */
    /* What follows from forecast and runs: */
    const char *name, *model;
    double closed_form_s; /* step by the closed form, whatever the model */
    size_t n_devices;
    struct validation_run *run; /* [n_runs] */
    size_t n_runs;
    double distance;     /* largest difference of two runs' steps over their mean; 0 for one */
    bool forecast_first; /* the forecast was written before the first run started */
    bool shares_host;    /* two of the devices that ran are on one host */
    bool epoch_known;    /* else `epoch` and `total` are not */
    bool extrapolated;   /* the counted iterations are fewer than those of an epoch */
    double iterations;   /* of an epoch */
    int n_counted;       /* iterations of a run */
    struct validation_value step, epoch, total;
    struct validation_type *type; /* [n_types] */
    int n_types;
};

/*
 * Sets `run[n_runs]` beside a forecast of the same job; values are means over the runs. Fills in
 * the runs' `step_s` and `started` from their profiles. Fails where a profile does not hold the
 * steps, or what the closed form needs.
 */
bool validation_make(struct arena *arena, const struct job *job, const struct forecast *forecast,
                     struct validation_run *run, size_t n_runs, struct validation *validation,
                     struct error *e);

/*
 * Reads foretrain.validation/1 (docs/formats.md, "The validation"); errors are computed anew, and
 * `run` has no profiles. Fails at the line and column of what is wrong.
 */
bool validation_read(struct arena *arena, const char *path, struct validation *validation,
                     struct error *e);

/* The same from text in memory; `file` is for messages. */
bool validation_parse(struct arena *arena, const char *text, size_t length, const char *file,
                      struct validation *validation, struct error *e);

#endif
