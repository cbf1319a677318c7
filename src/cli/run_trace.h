/* The trace of a forecast: which ranks, and the file. */
#ifndef FORETRAIN_CLI_RUN_TRACE_H
#define FORETRAIN_CLI_RUN_TRACE_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/workspace.h"

/* Writes --trace FILE where the command line asks for it. Fails where there is no timeline, or
 * --trace-ranks names none that is there. */
bool run_trace_write(struct workspace *w, const struct options *options,
                     const struct forecast *forecast, struct error *e);

#endif
