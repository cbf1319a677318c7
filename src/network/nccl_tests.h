/* The tables that all_reduce_perf of nccl-tests and rccl-tests prints. */
#ifndef FORETRAIN_NETWORK_NCCL_TESTS_H
#define FORETRAIN_NETWORK_NCCL_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "network/network.h"

struct nccl_table {
    size_t n_ranks;
    const char **host;       /* [n_ranks], of each rank; NULL: the table does not list them */
    double largest_bytes;    /* that was reduced */
    double bandwidth_Bps;    /* of each link of the ring ("busbw") at that size */
    struct link_curve curve; /* of a round of the ring: size / n_ranks bytes over each link take
                                1 / (2 (n_ranks - 1)) of the time */
};

/* Whether a text is for nccl_tests_read: a table of whatever collective, or what it refuses by
 * name. */
bool nccl_tests_is_table(const char *text);

/*
 * Reads the times in place, as trainings reduce. The number of ranks is that of the list above the
 * table, else follows from busbw over algbw. A size takes no longer than a larger one. Fails
 * (ERROR_INPUT, text only: the caller knows the file) on tables of other collectives, naming them,
 * since their busbw is not the rate of a link; on reductions inside switches (NVLS, CollNet,
 * SHARP); on logs of perftest; on several tables in one; where the number of ranks is not certain,
 * or one is listed twice; where only the program's name could tell the collective, and is not
 * there (two ranks of which nothing was checked in place); where times are in other units, or no
 * row has numbers. O(length).
 */
bool nccl_tests_read(struct arena *arena, const char *text, struct nccl_table *table,
                     struct error *e);

/* The same from a file, its errors with its name. */
bool nccl_tests_read_file(struct arena *arena, const char *path, struct nccl_table *table,
                          struct error *e);

/* What each link of the ring is; its curve lives in the table's arena. */
struct link nccl_tests_link(struct arena *arena, const struct nccl_table *table);

#endif
