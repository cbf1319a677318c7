/* Whether a job can run on its hosts: checks of this machine and of every host that it names. */
#ifndef FORETRAIN_MEASURE_DOCTOR_H
#define FORETRAIN_MEASURE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "job/job.h"
#include "measure/host_report.h"
#include "measure/launcher.h"
#include "measure/progress.h"

enum doctor_verdict { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

/* Texts may hold what hosts and the job say: they are escaped where they are shown. */
struct doctor_check {
    const char *host;  /* NULL: this machine, or all hosts of the type */
    const char *type;  /* device type, or NULL */
    const char *what;  /* "python", "backend", "iperf3", ... */
    const char *found; /* what was found, or what is wrong and what to do */
    enum doctor_verdict verdict;
};

struct doctor_checks {
    struct doctor_check *item; /* [n] */
    size_t n, capacity;
};

/* What a host does for one device type. */
struct doctor_role {
    int type;                  /* of the job */
    int n_ranks;               /* devices of its sub-system there; 0: the host is not in it */
    int n_devices;             /* devices of the type there in the full system */
    const char *const *python; /* those that may train, the first with torch; ends with NULL */
    const char *named_by;      /* who named the only one, or NULL */
};

struct doctor_host {
    const char *name;
    struct doctor_role *role; /* [n_roles], a type each */
    size_t n_roles;
    bool networked; /* the bandwidth to and from it is to be measured */
    bool is_here;   /* this machine, by the local launcher */

    bool reached, answered;
    char address[LAUNCHER_ADDRESS_SIZE]; /* by which others reach it; "": not known */
    char interface[LAUNCHER_INTERFACE_SIZE];
    struct host_report report; /* where it answered; its types as the roles */
    bool has_clock;
    double clock_ahead_s, clock_error_s; /* of its clock before ours, give or take */
    enum doctor_verdict verdict;         /* the worst of its checks */
};

struct doctor_result {
    struct doctor_checks checks;
    struct doctor_host *host; /* [n_hosts], as the job lists them; local: one, "here" */
    size_t n_hosts;
    bool is_local;
};

/* The name of a verdict: "ok", "warn", "FAIL". */
const char *doctor_verdict_name(enum doctor_verdict verdict);

/* Adds a check; `found` is copied. */
void doctor_add(struct arena *arena, struct doctor_checks *checks, struct doctor_check check);

/*
 * Checks this machine (the job's files, the worker's folder, space for `run_folder`), then all
 * hosts at once. Takes as long as reaching the hosts and importing torch on the slowest, each
 * within its deadline. The result lives in the arena.
 */
void doctor_examine(struct arena *arena, const struct job *job, const char *worker_folder,
                    const char *run_folder, const struct progress *progress,
                    struct doctor_result *result);

#endif
