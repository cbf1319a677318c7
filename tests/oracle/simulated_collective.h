/*
 * Collectives in SimGrid: actors that send each other what textbooks and MPICH, NCCL and FlagCX
 * say. Nothing here is the library's: schedules are made anew, rank by rank.
 */
#ifndef FORETRAIN_TESTS_SIMULATED_COLLECTIVE_H
#define FORETRAIN_TESTS_SIMULATED_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"

struct simulated_collective {
    enum ft_collective_kind kind;
    size_t n_devices;
    const int *group_of; /* [n_devices], numbered from 0: hosts of FT_HIERARCHICAL, vendors of
                            FT_BRIDGE */
    const struct ft_link *link; /* [n_devices][n_devices], from row to column */
    long payload_bytes;
    const double *start_s; /* [n_devices] */
    bool shared_ports;     /* SimGrid shares one link out of and one into each host (row 0's link 1)
                              among all; else each pair has one of its own, as fast as if they took
                              turns at the port that has most to pass */
    double *end_s;         /* [n_devices], out */
};

/* Runs it; once in a process, after simgrid_init. */
bool simulated_collective_run(const struct simulated_collective *collective);

#endif
