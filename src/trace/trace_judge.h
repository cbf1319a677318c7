/* Which steps of a trace count: those that are complete, and steady. */
#ifndef FORETRAIN_TRACE_TRACE_JUDGE_H
#define FORETRAIN_TRACE_TRACE_JUDGE_H

#include "profile/record.h"

enum trace_verdict {
    STEP_COUNTS,
    STEP_CUT,        /* its events end where the trace is cut off */
    STEP_SEVERAL,    /* gradients of several of its passes are all-reduced */
    STEP_INCOMPLETE, /* lacks a stage that most steps have */
    STEP_UNMATCHED,  /* collectives were called of which the trace does not hold when they ran */
    STEP_UNSTEADY,   /* at the beginning, unlike those behind it */
    STEP_OUTLIER,
    N_TRACE_VERDICTS
};

/* Why, as in "is left out: ...". */
const char *trace_verdict_text(enum trace_verdict verdict);

/*
 * verdict[n] of the steps of a trace in their order (docs/import.md, "Steps that count"); those
 * that do not count for what is known beforehand are given as such, all others as STEP_COUNTS.
 * `runs_known`: the trace tells when collectives ran, so that a step that lacks one is unmatched.
 */
void trace_judge(const struct record_iteration *iteration, size_t n, bool runs_known,
                 enum trace_verdict *verdict);

#endif
