/* What worker/doctor/probe.py says of a host, read with care: the host may say anything. */
#ifndef FORETRAIN_MEASURE_HOST_REPORT_H
#define FORETRAIN_MEASURE_HOST_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* Texts are safe to show and NULL, numbers negative, where the host could not tell. */

/* A Python that was tried, and why it is not the one. */
struct passed_over {
    const char *path, *complaint;
};

/* For one of the device types that were asked for. */
struct type_report {
    bool is_command;     /* a program trains, not Python: all about Python is not known */
    const char *program; /* where it is on the host, or NULL; "": the job brings it along */
    const char *path, *python, *torch; /* of the Python that would train */
    const char *problem;               /* why it has no torch that can be used; NULL: it has */
    struct passed_over *passed_over;   /* [n_passed_over], before it */
    size_t n_passed_over;
    bool has_backend;
    double n_devices;
    const char *device_name, *device_problem;
    const char **missing_cpus; /* [n_missing_cpus], lists of which the host lets us use no CPU */
    size_t n_missing_cpus;
};

struct host_report {
    const char *hostname;
    bool debian;
    double free_bytes, speed_Bps; /* for files of ours; of the interface's link */
    double n_cpus, busy_cpus, busiest_cpus;
    const char *busiest; /* name of the process that keeps most CPUs busy */
    const char *iperf3_version, *iperf3_problem;
    const char **source; /* [n_sources], address from which each peer is reached; NULL: no route */
    size_t n_sources;
    struct type_report *type; /* [n_types] */
    size_t n_types;
};

/* Reads an answer with as many types and sources as were asked for. Fails (ERROR_HOST) where it is
 * not such an answer. */
bool host_report_read(struct arena *arena, const char *text, size_t n_types, size_t n_sources,
                      struct host_report *report, struct error *e);

#endif
