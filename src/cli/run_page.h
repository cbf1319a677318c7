/* The page of a run: everything that it shows, gathered, and the file written. */
#ifndef FORETRAIN_CLI_RUN_PAGE_H
#define FORETRAIN_CLI_RUN_PAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/workspace.h"
#include "report/report.h"

/* The forecast that workspace_forecast made, with `n_steps` steps of mean times where the timeline
 * is known. */
bool run_page_steps(struct workspace *w, const struct forecast *forecast, size_t n_steps,
                    struct run_report *run, struct error *e);

/* The whole page. Fails where the run's validation.json cannot be read. */
bool run_page_make(struct workspace *w, const struct forecast *forecast, struct text *page,
                   struct error *e);

/* Writes it into the run's folder and says where; only warns where that cannot be done. */
void run_page_keep(struct workspace *w, const struct forecast *forecast);

#endif
