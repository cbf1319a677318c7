/* A validation as JSON: docs/formats.md, "The validation". */
#include "report/json_values.h"
#include "report/report.h"

#include <stdio.h>

static json_t *number_or_null(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *value_json(const struct validation_value *value, const char *unit)
{
    char key[32];
    json_t *object = json_object();
    snprintf(key, sizeof key, "forecast_%s", unit);
    json_put(object, key, number_or_null(value->forecast_known, value->forecast));
    snprintf(key, sizeof key, "measured_%s", unit);
    json_put(object, key, number_or_null(value->measured_known, value->measured));
    json_put(object, "error", number_or_null(value->error_known, value->error));
    return object;
}

static json_t *stages_json(const struct validation_type *type)
{
    json_t *object = json_object();
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        const struct validation_value *value = &type->stage[s];
        if (value->forecast_known || value->measured_known)
            json_put(object, validation_stage_key((enum validation_stage)s),
                     value_json(value, "s"));
    }
    return object;
}

static json_t *types_json(const struct validation *v)
{
    json_t *array = json_array();
    for (int t = 0; t < v->n_types; t++) {
        json_t *type = json_object();
        json_put(type, "name", json_text_or_null(v->type[t].name));
        json_put_count(type, "n", (double)v->type[t].n_devices);
        json_put(type, "stages", stages_json(&v->type[t]));
        json_put(type, "sent_bytes", value_json(&v->type[t].sent_bytes, "bytes"));
        json_array_append_new(array, type);
    }
    return array;
}

static json_t *forecast_json(const struct validation *v)
{
    json_t *object = json_object();
    json_put(object, "written_at", json_text_or_null(v->written));
    json_put(object, "sha256", json_text_or_null(v->sha256));
    json_put(object, "model", json_text_or_null(v->model));
    json_put_real(object, "step_s", v->step.forecast);
    json_put_real(object, "closed_form_step_s", v->closed_form_s);
    json_put(object, "epoch_s", number_or_null(v->epoch_known, v->epoch.forecast));
    json_put(object, "total_s", number_or_null(v->epoch_known, v->total.forecast));
    if (v->epoch_known)
        json_put_count(object, "iterations", v->iterations);
    else
        json_put(object, "iterations", json_null());
    return object;
}

static json_t *run_json(const struct validation *v, const struct validation_run *run)
{
    json_t *object = json_object();
    json_put(object, "started_at", json_text_or_null(run->started));
    json_put(object, "complete_at", json_text_or_null(run->profile[0].date));
    json_put_real(object, "step_s", run->step_s);
    json_t *types = json_object();
    for (int t = 0; t < v->n_types; t++)
        json_put_real(types, v->type[t].name, run->profile[t].stage[STAGE_STEP].stats.mean);
    json_put(object, "step_s_by_type", types);
    return object;
}

static json_t *truth_json(const struct validation *v)
{
    json_t *object = json_object(), *runs = json_array();
    for (size_t r = 0; r < v->n_runs; r++)
        json_array_append_new(runs, run_json(v, &v->run[r]));
    json_put(object, "runs", runs);
    json_put_count(object, "iterations", v->n_counted);
    json_put_real(object, "step_s", v->step.measured);
    json_put(object, "epoch_s", number_or_null(v->epoch_known, v->epoch.measured));
    json_put(object, "total_s", number_or_null(v->epoch_known, v->total.measured));
    json_put(object, "extrapolated", json_boolean(v->extrapolated));
    json_put(object, "distance", number_or_null(v->n_runs > 1, v->distance));
    return object;
}

static json_t *error_json(const struct validation *v)
{
    json_t *object = json_object();
    json_put(object, "step", number_or_null(v->step.error_known, v->step.error));
    json_put(object, "epoch", number_or_null(v->epoch.error_known, v->epoch.error));
    json_put(object, "total", number_or_null(v->total.error_known, v->total.error));
    return object;
}

void report_validation_json(const struct validation *v, struct text *out)
{
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.validation/1"));
    json_put(root, "name", json_text_or_null(v->name));
    json_put_count(root, "n_devices", (double)v->n_devices);
    json_put(root, "full", json_boolean(!v->smaller));
    json_put(root, "smaller", json_text_or_null(v->smaller));
    json_put(root, "forecast_first", json_boolean(v->forecast_first));
    json_put(root, "shares_host", json_boolean(v->shares_host));
    json_put(root, "forecast", forecast_json(v));
    json_put(root, "truth", truth_json(v));
    json_put(root, "error", error_json(v));
    json_put(root, "types", types_json(v));
    json_print(root, out);
}
