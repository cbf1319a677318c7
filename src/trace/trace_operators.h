/* Operators of the steps that count: outermost ones, so that nested ones are counted once. */
#ifndef FORETRAIN_TRACE_TRACE_OPERATORS_H
#define FORETRAIN_TRACE_TRACE_OPERATORS_H

#include "trace/trace_stages.h"

/* Fills in forward_op and backward_op from the steps with counts[n steps]. */
void trace_operators_fill(struct arena *arena, const struct trace *trace, const bool *counts,
                          struct record *record);

#endif
