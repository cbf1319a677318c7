/*
 * The forecast for smaller and larger systems of the same device types at the same ratio:
 * docs/model.md, "Other counts".
 */
#ifndef FORETRAIN_PREDICT_SCALING_H
#define FORETRAIN_PREDICT_SCALING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "predict/forecast.h"

struct scaling_point {
    double factor; /* of every type's count */
    size_t n_devices;
    double step_s, closed_form_s;
    double samples_per_s; /* of the whole system */
    bool epoch_known;
    double epoch_s, total_s;
};

struct scaling {
    const char *why_not;         /* NULL: there are points */
    const char *assumed;         /* of the links that such a system would have; a sentence */
    struct scaling_point *point; /* [n], smallest system first; factor 1 is among them */
    size_t n;
};

/*
 * From a quarter to four times as many devices, as far as the counts' ratio comes out in whole
 * devices, up to 100,000. Nothing is measured or fitted again. `profile` [job->n_types].
 */
void scaling_make(struct arena *arena, const struct job *job, const struct profile *profile,
                  const struct forecast *forecast, struct scaling *scaling);

#endif
