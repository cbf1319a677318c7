/* The traces of several ranks of one training: what they must have in common, and what only all of
 * them together can tell. */
#ifndef FORETRAIN_TRACE_TRACE_RANKS_H
#define FORETRAIN_TRACE_TRACE_RANKS_H

#include "trace/trace_rank.h"

/* Checks that rank[n] belong together, and sets the world's size of all; `guessed`: by the highest
 * rank, as nothing else tells. */
bool trace_ranks_check(struct trace_rank *rank, size_t n, bool *guessed, struct error *e);

/* Numbers the steps that all ranks hold 1, 2, ... and drops the others. Fails where none is left,
 * or where they were not at one time: the ranks are of different trainings. */
bool trace_ranks_align(struct arena *arena, struct trace_rank *rank, size_t n, struct error *e);

/*
 * The transfer of a collective is its least span over ranks, the rest of a span is waiting. They
 * are matched by their order in a step, process group by process group: no clock of two hosts is
 * compared. Nothing to do for one rank.
 */
void trace_ranks_find_transfers(struct trace_rank *rank, size_t n);

/*
 * Bytes of buckets that a step does not tell, from other steps and ranks; else as given: one for
 * each bucket, or one for all, which is divided as their all-reduces' times are. Marks all_reduce
 * as unknown where nothing tells, and where gradients are all-reduced in groups smaller than the
 * world. Fails where what is given has another number than the buckets, or
 * contradicts the traces.
 */
bool trace_ranks_fill_bytes(struct arena *arena, struct trace_rank *rank, size_t n,
                            const struct trace_options *options, struct error *e);

#endif
