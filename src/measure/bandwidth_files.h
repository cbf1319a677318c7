/* Bandwidth that was measured elsewhere: network files, iperf3's JSON and tables of nccl-tests. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_FILES_H
#define FORETRAIN_MEASURE_BANDWIDTH_FILES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "network/network.h"

/*
 * Reads the files of a job's network.measured into one network. What a file is follows from its
 * content. iperf3's JSON names both ends by their addresses, a table of nccl-tests the hosts of its
 * ranks, each sending to the next; where the job gives `from` and `to` the file is of that link.
 * Fails naming the file where it cannot be read, does not name its hosts, or has a link that
 * another file has too. All such errors are reported together, at most 20.
 */
bool bandwidth_files_read(struct arena *arena, const struct job *job, struct network *network,
                          struct error *e);

/* The same for `path[n]`, n >= 1, as the user named them. */
bool bandwidth_paths_read(struct arena *arena, const char *const *path, size_t n,
                          struct network *network, struct error *e);

#endif
