/*
 * When collectives ran that run on threads of the CPU. A process group has threads of its own
 * (gloo: two), which take from one queue: the i-th of a group to run is the i-th that was called.
 * Its calls may name their group, its runs never do.
 */
#ifndef FORETRAIN_TRACE_TRACE_RUNS_H
#define FORETRAIN_TRACE_TRACE_RUNS_H

#include "trace/trace_calls.h"

/*
 * Gives calls of gloo's and MPI's their spans. Where calls of several groups wait, the thread tells
 * the group, as soon as it ran something when only one group's calls did; else the number of
 * elements may. Those of which nothing tells are given in the order of the calls; returns how many.
 */
size_t trace_runs_match(const struct trace_collected *collected, const struct trace_steps *steps,
                        struct trace_calls *calls);

#endif
