#include "report/json_values.h"
#include "report/plan_report.h"

static json_t *counts_json(const struct job *job, const int64_t *count)
{
    json_t *object = json_object();
    for (int t = 0; t < job->n_types; t++)
        json_put(object, job->type[t].name, json_integer((json_int_t)count[t]));
    return object;
}

static json_t *mix_json(const struct job *job, const struct mix *mix)
{
    if (!mix->known)
        return json_null();
    json_t *object = json_object();
    json_put(object, "count", counts_json(job, mix->count));
    json_put_count(object, "devices", (double)mix->outcome.n_devices);
    json_put_real(object, "step_s", mix->outcome.step_s);
    json_put_count(object, "iterations", mix->outcome.iterations);
    json_put_real(object, "total_s", mix->outcome.total_s);
    json_put_real(object, "cost", mix->outcome.cost);
    return object;
}

static json_t *positive_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *goal_json(const struct size_answer *a)
{
    json_t *object = json_object();
    json_put(object, "deadline_s", positive_or_null(a->goal.deadline_s));
    json_put(object, "budget", positive_or_null(a->goal.budget));
    json_put(object, "available", counts_json(&a->what_if->job, a->goal.available));
    return object;
}

void report_size_json(const struct size_answer *a, struct text *out)
{
    struct arena scratch = {0};
    const struct job *job = &a->what_if->job;
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.size/1"));
    json_put(root, "name", json_text_or_null(job->name));
    json_put(root, "model", json_string(forecast_model_name(a->what_if->model)));
    json_put(root, "how", json_text_or_null(report_what_if_model(&scratch, a->what_if)));
    json_put(root, "ring", json_string(report_what_if_links(a->what_if)));
    json_put(root, "goal", goal_json(a));
    json_put(root, "cost_in", json_string(a->priced ? "the prices' currency" : "device-hours"));
    json_put(root, "best", mix_json(job, &a->best));
    json_put(root, "gap", a->best.known ? json_real(a->gap) : json_null());
    json_put_real(root, "waiting", a->waiting);
    json_put_count(root, "forecasts", (double)a->n_tried);
    json_put(root, "given_up", json_boolean(a->given_up));
    json_put(root, "best_single_type", mix_json(job, &a->single));
    json_put(root, "all_available", mix_json(job, &a->whole));
    json_put(root, "fastest_single_type", mix_json(job, &a->fastest_single));
    json_put(root, "fastest_part", mix_json(job, &a->fastest_part));
    json_print(root, out);
    arena_free(&scratch);
}
