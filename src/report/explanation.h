/* Where a forecast's step goes, as text and as JSON. */
#ifndef FORETRAIN_REPORT_EXPLANATION_H
#define FORETRAIN_REPORT_EXPLANATION_H

#include "base/text.h"
#include "job/job.h"
#include "predict/explain.h"
#include "predict/forecast.h"

/* The critical path, each type's step, loading, and what would help most; 80 columns. */
void report_explanation_text(const struct job *job, const struct forecast *forecast,
                             const struct explanation *explanation, struct text *out);

/* foretrain.explanation/1 (docs/formats.md, "The explanation"). */
void report_explanation_json(const struct job *job, const struct forecast *forecast,
                             const struct explanation *explanation, struct text *out);

#endif
