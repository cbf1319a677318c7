/* Who made a trace: rank, world, device, when. */
#ifndef FORETRAIN_TRACE_TRACE_IDENTITY_H
#define FORETRAIN_TRACE_TRACE_IDENTITY_H

#include "trace/trace_rank.h"

/* The number behind "rank" or "worker" in a file's name ("rank-34.Jul_15.json"); -1: none. */
int trace_rank_of_name(const char *file);

/*
 * Fills in rank and world: as given, else distributedInfo, else the file's name; and the world's
 * size also by the largest process group. Fails where collectives are there, but no rank is, and
 * where what is given contradicts the trace.
 */
bool trace_identify(const struct trace *trace, const struct trace_options *options,
                    struct trace_rank *rank, struct error *e);

/* When its steps were, since 1970; NULL where its times count from some start. */
const struct trace_window *trace_when(struct arena *arena, const struct trace *trace);

/* Names of the device and the host, backend and date into the record. */
void trace_describe(struct arena *arena, const struct trace *trace, struct record *record);

#endif
