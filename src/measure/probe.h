/*
 * One question to many hosts at once: worker/doctor/probe.py runs on each, and its answers are
 * taken as they come.
 */
#ifndef FORETRAIN_MEASURE_PROBE_H
#define FORETRAIN_MEASURE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "measure/launcher.h"
#include "measure/progress.h"

/* What is asked of a host, and what came back. */
struct probe {
    const char *host;
    const char *question;           /* JSON for the program; NULL: the host is not asked */
    const char *const *interpreter; /* Pythons to run it with, the first that can be started; ends
                                       with NULL */
    const char *answer;             /* out: the JSON that it printed, or NULL */
    const char *failure;            /* out: why there is none, safe to show */
    bool has_clock;
    double clock_ahead_s, clock_error_s; /* out: of the host's clock before ours, give or take */
};

/*
 * Asks all, a bounded number at a time, each within its own deadline of a minute, so that one that
 * is silent does not keep the others. Ends early when the user wants so; nothing of ours runs on
 * any host when this returns.
 *
 *   source   text of probe.py
 */
void probe_hosts(struct arena *arena, struct launcher *launcher, const char *source,
                 struct probe *probe, size_t n, const struct progress *progress);

/*
 * Takes the answer out of what the program printed, whatever else stands there: the last line that
 * begins with its mark. NULL where there is none.
 */
char *probe_find_answer(struct arena *arena, const char *printed);

/* The host's clock when the program began, as it printed it; false where it is not there yet. */
bool probe_find_clock(const char *printed, double *clock_s);

#endif
