/* Which steps of a trace that is cut off are whole. */
#ifndef FORETRAIN_TRACE_TRACE_CUT_H
#define FORETRAIN_TRACE_TRACE_CUT_H

#include "trace/trace_stages.h"

/*
 * whole[n steps]: all that a step launched has its work, all work its launch (as far as that is so
 * in any step: a memory set may have none), and the same holds of the step behind it, which must be
 * there: the events of the last one were cut. All, where the trace is not cut off.
 */
bool *trace_cut_whole(struct arena *arena, const struct trace *trace);

#endif
