/* The tables that all_reduce_perf of nccl-tests prints. */
#ifndef FORETRAIN_MEASURE_NCCL_TESTS_H
#define FORETRAIN_MEASURE_NCCL_TESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct nccl_table {
    size_t n_ranks;
    const char **host;    /* [n_ranks], of each rank; NULL: the table does not list them */
    double size_bytes;    /* the largest that was reduced */
    double bandwidth_Bps; /* of each link of the ring ("busbw"): 2(n-1)/n of size over time */
};

/* Whether a text holds such a table, of whatever collective. */
bool nccl_tests_is_table(const char *text);

/*
 * Reads the row of the largest size, in place as trainings reduce. The number of ranks is that of
 * the list above the table, else follows from busbw over algbw. Fails (ERROR_INPUT, text only: the
 * caller knows the file) on tables of other collectives, naming them, since their busbw is not the
 * rate of a link; on reductions inside switches (NVLS, CollNet, SHARP); and where no row has
 * numbers. O(length).
 */
bool nccl_tests_read(struct arena *arena, const char *text, struct nccl_table *table,
                     struct error *e);

#endif
