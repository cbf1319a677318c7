/* The worker's specification, spec.json: docs/formats.md, "The worker's specification". */
#ifndef FORETRAIN_MEASURE_SPEC_H
#define FORETRAIN_MEASURE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "job/job.h"

/* Where sub-systems that are measured together meet. */
struct spec_meeting {
    const char *host;
    int port;
    bool server;
    int n_ranks;
    double timeout_s; /* how long they wait while nothing moves */
};

struct spec {
    const char *record_dir, *device_type;
    int n_devices;
    const char *const *types_by_rank; /* [n_devices] */
    const int64_t *batch_by_rank;     /* [n_devices] */
    int64_t batch;
    int first, last, n_profiled;
    const char *device, *backend;
    uint64_t seed;
    double end_timeout_s;
    const char *data_dir;               /* or NULL */
    double samples_per_device;          /* 0: not known, and so for the next two */
    double samples_before;              /* drawn for the types measured before this one */
    int devices_before, devices_in_all; /* of the types before, and of all that are measured */
    double bytes_per_device;
    double sample_bytes;
    int workers;
    const struct job_model *model;
    const char *entry_file;             /* absolute; entry only */
    const struct spec_meeting *meeting; /* or NULL */
};

/* Writes the file, complete or not at all. */
bool spec_write(const char *path, const struct spec *spec, struct error *e);

#endif
