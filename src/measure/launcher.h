/*
 * Starting the processes of a sub-system on its hosts: one table entry per kind of launcher.
 *
 * A launcher runs an argument list with an environment on a host, its output in a file here; says
 * whether it still runs; and ends all of them with all that they started.
 */
#ifndef FORETRAIN_MEASURE_LAUNCHER_H
#define FORETRAIN_MEASURE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/child.h"
#include "base/error.h"
#include "job/job.h"

struct launch {
    const char *host;
    const char *const *argv; /* ends with NULL */
    const char *const *env;  /* ends with NULL, as child_options.env */
    const char *folder;      /* working directory on the host */
    const char *output;      /* file here for all that it prints */
    const char *cpus;        /* or NULL */
};

struct launcher {
    const char *name;

    /* Whether processes can be started on a host; fails (ERROR_HOST) saying why not. `address` is
     * where the host's sockets are reached by the others. */
    bool (*reach)(const char *host, char *address, size_t size, struct error *e);

    /* A TCP port that is free on a host that can be reached. */
    bool (*free_port)(const char *host, int *port, struct error *e);

    /* Starts a process; `child` must be given to child_stop, which ends it and all it started. */
    bool (*start)(const struct launch *launch, struct child *child, struct error *e);
};

/* The launcher of a kind; fails (ERROR_USAGE) for a kind that this version cannot run. */
bool launcher_find(enum launcher_kind kind, const struct launcher **launcher, struct error *e);

#endif
