/* Where each host stands among the device types, for numbering devices and finding them by name. */
#ifndef FORETRAIN_JOB_DEVICE_NUMBERS_H
#define FORETRAIN_JOB_DEVICE_NUMBERS_H

#include <stddef.h>

#include "job/job.h"

/* One entry of a type's host list. */
struct host_entry {
    const char *name;
    int type;
    struct job_host *host;
};

/* All entries by name, then type, then list order; malloc'ed, NULL where there are none. */
struct host_entry *device_numbers_hosts(const struct job *job, size_t *n);

/* The first entry of that name in `entry[n]`, or `n`. */
size_t device_numbers_find(const struct host_entry *entry, size_t n, const char *name);

/* Counts devices, and places on hosts, anew in a job whose hosts are known to be sound. */
void device_numbers_count(struct job *job);

/* Number of the first device of a type. */
size_t device_numbers_first(const struct job *job, int type);

#endif
