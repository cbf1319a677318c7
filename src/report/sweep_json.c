/* A sweep as JSON: a list of values for each column, as tables of data take them. */
#include "report/json_values.h"
#include "report/plan_report.h"

enum column { DEVICES, STEP, THROUGHPUT, ITERATIONS, EPOCH, TOTAL, COST, N_COLUMNS };

static json_t *real_or_null(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *value_json(const struct outcome *o, enum column column)
{
    switch (column) {
    case DEVICES:
        return json_integer((json_int_t)o->n_devices);
    case STEP:
        return real_or_null(o->any, o->step_s);
    case THROUGHPUT:
        return real_or_null(o->any, o->samples_per_s);
    case ITERATIONS:
        return real_or_null(o->epoch_known, o->iterations);
    case EPOCH:
        return real_or_null(o->epoch_known, o->epoch_s);
    case TOTAL:
        return real_or_null(o->epoch_known, o->total_s);
    default:
        return real_or_null(o->cost_known, o->cost);
    }
}

static json_t *columns_json(const struct sweep *sweep)
{
    static const char *const name[N_COLUMNS] = {[DEVICES] = "devices",
                                                [STEP] = "step_s",
                                                [THROUGHPUT] = "samples_per_s",
                                                [ITERATIONS] = "iterations",
                                                [EPOCH] = "epoch_s",
                                                [TOTAL] = "total_s",
                                                [COST] = "cost"};
    json_t *object = json_object();
    for (size_t a = 0; a < sweep->n_axes; a++) {
        json_t *array = json_array();
        for (size_t i = 0; i < sweep->n_systems; i++)
            json_array_append_new(array, json_real(sweep_value(sweep, i, a)));
        json_put(object, sweep->axis[a].quantity.path, array);
    }
    for (int c = 0; c < N_COLUMNS; c++) {
        json_t *array = json_array();
        for (size_t i = 0; i < sweep->n_systems; i++)
            json_array_append_new(array, value_json(&sweep->outcome[i], (enum column)c));
        json_put(object, name[c], array);
    }
    return object;
}

static json_t *axes_json(const struct sweep *sweep)
{
    json_t *array = json_array();
    for (size_t a = 0; a < sweep->n_axes; a++) {
        json_t *object = json_object();
        json_put(object, "path", json_text_or_null(sweep->axis[a].quantity.path));
        json_put(object, "unit", json_string(quantity_unit(&sweep->axis[a].quantity)));
        json_put_count(object, "n_values", (double)sweep->axis[a].n);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *number_or_null(size_t system)
{
    return system == SWEEP_NONE ? json_null() : json_integer((json_int_t)system);
}

void report_sweep_json(const struct sweep *sweep, const struct sweep_best *best, struct text *out)
{
    const struct what_if *w = sweep->what_if;
    struct arena scratch = {0};
    json_t *root = json_object(), *front = json_array();
    for (size_t k = 0; k < best->n_front; k++)
        json_array_append_new(front, json_integer((json_int_t)best->front[k]));
    json_put(root, "format", json_string("foretrain.sweep/1"));
    json_put(root, "name", json_text_or_null(w->job.name));
    json_put(root, "model", json_string(forecast_model_name(w->model)));
    json_put(root, "how", json_text_or_null(report_what_if_model(&scratch, w)));
    json_put(root, "ring", json_string(report_what_if_links(w)));
    json_put_real(root, "job_step_s", w->base.step_s);
    json_put(root, "axes", axes_json(sweep));
    json_put_count(root, "n_systems", (double)sweep->n_systems);
    json_put(root, "fastest", number_or_null(best->fastest));
    json_put(root, "cheapest", number_or_null(best->cheapest));
    json_put(root, "front", front);
    json_put(root, "columns", columns_json(sweep));
    json_print(root, out);
    arena_free(&scratch);
}
