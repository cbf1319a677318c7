/* Hosts h0, h1, ... and their links, as SimGrid reads them. */
#ifndef FORETRAIN_TESTS_SIMULATED_PLATFORM_H
#define FORETRAIN_TESTS_SIMULATED_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "foretrain.h"

/* For simgrid_init: links are not shared by directions, TCP's window is no limit. */
#define SIMULATED_FLAGS                                                                            \
    "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0",       \
        "--log=root.thres:warning"

/* Loads a platform of `n_hosts` with the links and routes that `write` writes. */
bool simulated_platform_load(size_t n_hosts, void (*write)(FILE *file));

/* One whose host i has a link to host i+1 (mod n). */
bool simulated_platform_ring(const struct ft_link *link, size_t n);

void simulated_sleep_until(double time_s);

/* Starts an actor on each host with the host's number as its argument. */
void simulated_start(size_t n_hosts, void (*run)(int argc, char *argv[]));

#endif
