/* An order as JSON: docs/formats.md, "A ring order". */
#include "report/json_values.h"
#include "report/order_report.h"

static json_t *value_json(const struct order_value *value)
{
    json_t *object = json_object();
    json_put_real(object, "forecast_s", value->forecast.step_s);
    json_put_real(object, "step_s", value->step_s);
    json_put_count(object, "between_types", (double)value->n_between_types);
    json_put_count(object, "between_hosts", (double)value->n_between_hosts);
    json_put_count(object, "sharing_uplinks", (double)value->n_sharing);
    return object;
}

static json_t *names_json(const struct job *job, const size_t *device, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        struct arena scratch = {0};
        json_array_append_new(array, json_text_or_null(job_device_name(&scratch, job, device[i])));
        arena_free(&scratch);
    }
    return array;
}

void report_order_json(const struct order *o, const struct job *job, struct text *out)
{
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.order/1"));
    json_put(root, "name", json_text_or_null(job->name));
    json_put(root, "model", json_string(forecast_model_name(o->best.forecast.model)));
    json_put_count(root, "n_devices", (double)o->n_devices);
    json_put(root, "listed", value_json(&o->listed));
    json_put(root, "found", value_json(&o->best));
    json_put_real(root, "bound_s", o->bound_s);
    json_put(root, "optimal", json_boolean(o->optimal));
    json_put(root, "all_tried", json_boolean(o->all_tried));
    json_put_count(root, "unknown_links", o->n_unknown);
    json_put(root, "backend", json_text_or_null(o->backend));
    json_put(root, "ring", names_json(job, o->best.ring, o->n_devices));
    json_put(root, "ranks", names_json(job, o->by_rank, o->n_devices));
    json_t *warnings = json_array();
    for (size_t i = 0; i < o->best.forecast.n_warnings; i++)
        json_array_append_new(warnings, json_text_or_null(o->best.forecast.warning[i]));
    json_put(root, "warnings", warnings);
    json_print(root, out);
}
