/* A split as JSON: docs/formats.md, "A batch split". */
#include "report/json_values.h"
#include "report/split_report.h"

static json_t *value_json(const struct split_value *value)
{
    json_t *object = json_object();
    json_put_count(object, "global_batch", value->global_batch);
    json_put_real(object, "step_s", value->step_s);
    json_put_real(object, "samples_per_s", value->samples_per_s);
    return object;
}

static json_t *data_json(const struct amount *data)
{
    if (data->unit == AMOUNT_NONE)
        return json_null();
    json_t *object = json_object();
    json_put_real(object, data->unit == AMOUNT_BYTES ? "bytes" : "samples", data->value);
    return object;
}

static json_t *type_json(const struct split_type *type)
{
    static const char *const basis[] = {[SPLIT_MEASURED] = "measured",
                                        [SPLIT_FITTED] = "fitted",
                                        [SPLIT_EXTRAPOLATED] = "extrapolated",
                                        [SPLIT_ASSUMED] = "assumed"};
    json_t *object = json_object();
    json_put(object, "name", json_text_or_null(type->name));
    json_put_count(object, "count", (double)type->count);
    json_put_count(object, "given_batch", type->given);
    json_put_count(object, "batch", type->found);
    json_put(object, "most_batch",
             type->most > 0 ? json_integer((json_int_t)type->most) : json_null());
    json_put(object, "most_given", json_boolean(type->most_given));
    json_put_real(object, "given_compute_s", type->given_alone_s);
    json_put_real(object, "compute_s", type->alone_s);
    json_put_real(object, "weight", type->weight);
    json_put(object, "data", data_json(&type->data));
    json_put(object, "basis", json_string(basis[type->basis]));
    json_put(object, "assumed_profile", json_boolean(type->assumed));
    json_put(object, "fit_error", type->fit_error >= 0 ? json_real(type->fit_error) : json_null());
    return object;
}

void report_split_json(const struct split *split, struct text *out)
{
    json_t *root = json_object(), *types = json_array(), *warnings = json_array();
    json_put(root, "format", json_string("foretrain.split/1"));
    json_put(root, "name", json_text_or_null(split->forecast.name));
    json_put(root, "model", json_string(forecast_model_name(split->forecast.model)));
    json_put(root, "fastest", json_boolean(split->fastest));
    json_put_count(root, "n_devices", (double)split->n_devices);
    json_put(root, "given", value_json(&split->given));
    json_put(root, "found", value_json(&split->found));
    json_put(root, "exact", json_boolean(split->exact));
    json_put_real(root, "most_samples_per_s", split->most_samples_per_s);
    for (int t = 0; t < split->n_types; t++)
        json_array_append_new(types, type_json(&split->type[t]));
    json_put(root, "types", types);
    for (size_t i = 0; i < split->forecast.n_warnings; i++)
        json_array_append_new(warnings, json_text_or_null(split->forecast.warning[i]));
    json_put(root, "warnings", warnings);
    json_print(root, out);
}
