/* What `foretrain doctor` found, as text and as JSON. */
#ifndef FORETRAIN_CLI_DOCTOR_OUTPUT_H
#define FORETRAIN_CLI_DOCTOR_OUTPUT_H

#include "base/text.h"
#include "job/job.h"
#include "measure/doctor.h"

/* A line per check for one machine; for many a row per host, then all that is not well in full. */
void doctor_output_text(const struct job *job, const struct doctor_result *result,
                        struct text *out);

/* foretrain.doctor/1: docs/formats.md, "What doctor found". */
void doctor_output_json(const struct job *job, const struct doctor_result *result,
                        struct text *out);

/* How many checks have a verdict. */
size_t doctor_output_count(const struct doctor_result *result, enum doctor_verdict verdict);

#endif
