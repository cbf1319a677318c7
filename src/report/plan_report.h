/* What was planned, as text, CSV, JSON or a page. Nothing here computes; names and paths of the
 * user's are made safe to show. */
#ifndef FORETRAIN_REPORT_PLAN_REPORT_H
#define FORETRAIN_REPORT_PLAN_REPORT_H

#include "base/text.h"
#include "plan/compare.h"
#include "plan/size.h"
#include "plan/sweep.h"

/* A row per system, as many as fit a look; what is fastest and cheapest. */
void report_sweep_text(const struct sweep *sweep, const struct sweep_best *best, struct text *out);

/* A row per system (docs/formats.md, "The sweep"). */
void report_sweep_csv(const struct sweep *sweep, const struct sweep_best *best, struct text *out);

/* foretrain.sweep/1: a list of values for each column. */
void report_sweep_json(const struct sweep *sweep, const struct sweep_best *best, struct text *out);

/* A page with the curves, and time against cost. */
void report_sweep_html(const struct sweep *sweep, const struct sweep_best *best, struct text *out);

/* Which devices to take, beside the best single type. */
void report_size_text(const struct size_answer *answer, struct text *out);
void report_size_json(const struct size_answer *answer, struct text *out);

/* Two forecasts, what differs between them, and what each of it does to the step. */
void report_compare_text(const struct comparison *comparison, struct text *out);
void report_compare_json(const struct comparison *comparison, struct text *out);

/* A cost, with cents where it is small; `text` has UNITS_TEXT_SIZE bytes and is returned. */
char *report_cost(double cost, char *text);

/* How systems were forecast, and over which links; sentences in the arena. */
const char *report_what_if_model(struct arena *arena, const struct what_if *what_if);
const char *report_what_if_links(const struct what_if *what_if);

#endif
