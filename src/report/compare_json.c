#include "report/json_values.h"
#include "report/plan_report.h"

static json_t *real_or_null(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *side_json(const char *name, const struct forecast *f)
{
    json_t *object = json_object();
    json_put(object, "path", json_text_or_null(name));
    json_put(object, "name", json_text_or_null(f->name));
    json_put(object, "model", json_string(forecast_model_name(f->model)));
    json_put_count(object, "n_devices", (double)f->n_devices);
    json_put_real(object, "step_s", f->step_s);
    json_put(object, "total_s", real_or_null(f->epoch_known, f->total_s));
    json_put_real(object, "samples_per_s", f->samples_per_s);
    return object;
}

static json_t *difference_json(const struct difference *d)
{
    json_t *object = json_object();
    json_put(object, "group", json_string(compare_group_name(d->group)));
    json_put(object, "what", json_text_or_null(d->what));
    json_put(object, "first", json_text_or_null(d->is[0]));
    json_put(object, "second", json_text_or_null(d->is[1]));
    return object;
}

static json_t *step_json(const struct compare_step *step)
{
    json_t *object = json_object();
    json_put(object, "group", json_string(compare_group_name(step->group)));
    json_put(object, "step_s", real_or_null(step->known, step->step_s));
    json_put(object, "total_s", real_or_null(step->total_known, step->total_s));
    json_put(object, "why_not", json_text_or_null(step->why_not));
    return object;
}

void report_compare_json(const struct comparison *c, struct text *out)
{
    json_t *root = json_object(), *differences = json_array(), *steps = json_array();
    for (size_t i = 0; i < c->n_differences; i++)
        json_array_append_new(differences, difference_json(&c->difference[i]));
    for (size_t i = 0; i < c->n_steps; i++)
        json_array_append_new(steps, step_json(&c->step[i]));
    json_put(root, "format", json_string("foretrain.comparison/1"));
    json_put(root, "first", side_json(c->name[0], &c->forecast[0]));
    json_put(root, "second", side_json(c->name[1], &c->forecast[1]));
    json_put(root, "differences", differences);
    json_put(root, "steps", steps);
    json_print(root, out);
}
