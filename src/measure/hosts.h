/* Getting the hosts of a sub-system ready: reached, with all files there that its ranks need. */
#ifndef FORETRAIN_MEASURE_HOSTS_H
#define FORETRAIN_MEASURE_HOSTS_H

#include "base/arena.h"
#include "base/error.h"
#include "measure/launcher.h"
#include "measure/subsystem.h"

/*
 * Brings to the hosts, where they do not see ours: the worker, the job's
 * folder (what git would not ignore; at most 100 MB), the script's where that is elsewhere, the
 * drawn data (dropped from the page cache, unless the job wants it warm). Sets the ranks'
 * interfaces and the sub-system's launcher; for the local launcher nothing else.
 */
bool hosts_prepare(struct launcher *launcher, struct subsystem *subsystem, const char *worker,
                   struct error *e);

/* Gives each rank's host a folder for its records, and its specification. Both exist here. */
bool hosts_place_records(struct launcher *launcher, struct subsystem *subsystem, struct error *e);

/*
 * The records that the process of a rank writes on its host and that must be copied here; returns
 * how many, 0 on a shared file system. A script that spawns its ranks writes those of its host.
 */
size_t hosts_record_files(struct arena *arena, const struct launcher *launcher,
                          const struct subsystem *subsystem, int rank,
                          const struct launch_file **file);

#endif
