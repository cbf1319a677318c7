/* Mini-batches that were found, as text and JSON. */
#ifndef FORETRAIN_REPORT_SPLIT_REPORT_H
#define FORETRAIN_REPORT_SPLIT_REPORT_H

#include "base/text.h"
#include "plan/split.h"

/* A row per type, what it does to the step, what must be changed with it, and where times are from.
 */
void report_split_text(const struct split *split, struct text *out);

/* foretrain.split/1 (docs/formats.md, "A batch split"). */
void report_split_json(const struct split *split, struct text *out);

#endif
