/* Arguments of a collective's events: how many bytes it moves, among whom. */
#ifndef FORETRAIN_TRACE_TRACE_ARGUMENTS_H
#define FORETRAIN_TRACE_TRACE_ARGUMENTS_H

#include "trace/trace_collect.h"

/* All that the event says of a collective; `op` is NULL where it is none, or only waits for one. */
struct trace_comm trace_comm_of(struct trace_collected *collected, const struct trace_event *event);

#endif
