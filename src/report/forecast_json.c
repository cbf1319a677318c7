/*
 * A forecast as JSON. All but the devices is one document of jansson's; a million devices are
 * written one by one, so that they need no tree.
 */
#include <math.h>

#include "predict/batch_fit.h"
#include "report/json_values.h"
#include "report/report.h"

static json_t *link_json(const struct link *link)
{
    json_t *object = json_object();
    json_put_real(object, "bandwidth_Bps", link->bandwidth_Bps);
    json_put_real(object, "latency_s", link->latency_s);
    json_put(object, "source", json_string(link_source_name(link->source)));
    return object;
}

static json_t *link_or_null(const struct link *link)
{
    return link->source == LINK_UNKNOWN ? json_null() : link_json(link);
}

static json_t *self_json(const struct type_forecast *type)
{
    json_t *object = json_object();
    json_put(object, "known", json_boolean(type->self_known));
    if (!type->self_known) {
        json_put(object, "why_not", json_text_or_null(type->self_why_not));
        return object;
    }
    json_put_real(object, "forecast_s", type->self_forecast_s);
    json_put_real(object, "measured_s", type->self_measured_s);
    json_put_real(object, "relative_error", type->self_error);
    json_put(object, "link", link_or_null(&type->self_link));
    return object;
}

/* null: no ceiling was found below the link. */
static json_t *rate_or_null(double rate_Bps)
{
    return isfinite(rate_Bps) ? json_real(rate_Bps) : json_null();
}

static json_t *ceilings_json(const struct type_forecast *type)
{
    json_t *object = json_object();
    json_put(object, "known", json_boolean(!type->why_no_ceilings));
    if (type->why_no_ceilings) {
        json_put(object, "why_not", json_string(type->why_no_ceilings));
        return object;
    }
    json_put(object, "busy_Bps", rate_or_null(type->ceilings.busy_Bps));
    json_put(object, "idle_Bps", rate_or_null(type->ceilings.idle_Bps));
    json_put_real(object, "busy_round_s", type->busy_round_s);
    json_put_real(object, "idle_round_s", type->idle_round_s);
    return object;
}

/* What only the timeline knows of a type. */
static json_t *timeline_type_json(const struct type_forecast *type)
{
    json_t *object = json_object();
    json_put_real(object, "backward_s", type->backward_s);
    json_put_real(object, "optimizer_s", type->optimizer_s);
    json_put_real(object, "rest_s", type->rest_s);
    json_put(object, "ceilings", ceilings_json(type));
    return object;
}

static json_t *batch_fit_json(const struct batch_fit *fit)
{
    json_t *object = json_object(), *batches = json_array();
    for (size_t i = 0; i < fit->n; i++)
        json_array_append_new(batches, json_real(fit->batch[i]));
    json_put(object, "batches", batches);
    json_put(object, "extrapolated", json_boolean(fit->extrapolated));
    json_put(object, "relative_error", fit->error_known ? json_real(fit->error) : json_null());
    return object;
}

static json_t *type_json(const struct forecast *f, const struct type_forecast *type)
{
    json_t *object = json_object();
    json_put(object, "name", json_text_or_null(type->name));
    json_put_count(object, "count", (double)type->count);
    json_put(object, "assumed", json_boolean(type->assumed));
    json_put_real(object, "batch_samples", type->batch);
    json_put(object, "batch_fit", type->fit ? batch_fit_json(type->fit) : json_null());
    json_put_real(object, "load_s", type->load_s);
    json_put(object, "loading_in_step", json_boolean(type->loading_in_step));
    json_put_real(object, "forward_s", type->forward_s);
    json_put_real(object, "backward_unsynced_s", type->unsynced_s);
    json_put_real(object, "first_backward_s", type->first_backward_s);
    json_put_real(object, "all_reduce_s", type->ring_s);
    json_put_real(object, "step_s", type->step_s);
    json_put_count(object, "slowest_position", (double)type->slowest);
    json_put_real(object, "samples_per_s", type->samples_per_s);
    json_put_real(object, "sent_bytes", type->bytes_sent);
    json_put_real(object, "payload_bytes", type->payload_bytes);
    json_put_count(object, "ring_devices", type->ring_devices);
    json_put(object, "timeline", f->timeline.known ? timeline_type_json(type) : json_null());
    json_put(object, "own_subsystem", self_json(type));
    return object;
}

static json_t *deciding_json(const struct forecast *f)
{
    json_t *object = json_object();
    json_put_count(object, "position", (double)f->deciding);
    json_put(object, "device", json_text_or_null(f->deciding_device));
    json_put(object, "next", json_text_or_null(f->deciding_next));
    json_put(object, "stage", json_string(f->deciding_stage));
    json_put(object, "link", link_or_null(&f->deciding_link));
    json_put(object, "step_without_s",
             f->step_without_s > 0 ? json_real(f->step_without_s) : json_null());
    return object;
}

static json_t *span_json(const struct span *span)
{
    json_t *object = json_object();
    json_put_real(object, "mean", span->mean);
    json_put_real(object, "p10", span->low);
    json_put_real(object, "p90", span->high);
    return object;
}

static json_t *timeline_json(const struct forecast *f)
{
    const struct timeline_forecast *timeline = &f->timeline;
    json_t *object = json_object();
    json_put(object, "known", json_boolean(timeline->known));
    if (!timeline->known) {
        json_put(object, "why_not", json_text_or_null(timeline->why_not));
        return object;
    }
    json_put(object, "step_s", span_json(&timeline->step_s));
    json_put(object, "spread_known", json_boolean(timeline->spread_known));
    json_put_count(object, "drawn_steps", (double)timeline->n_steps);
    json_put_real(object, "step_deviation", timeline->step_deviation);
    json_put_real(object, "between_runs_deviation", timeline->between_runs);
    json_put_real(object, "model_deviation", timeline->model_error);
    if (f->epoch_known) {
        json_put(object, "epoch_s", span_json(&f->epoch_span_s));
        json_put(object, "total_s", span_json(&f->total_span_s));
    }
    return object;
}

static json_t *closed_form_json(const struct forecast *f)
{
    json_t *object = json_object();
    json_put_real(object, "step_s", f->closed_form.step_s);
    json_put_count(object, "deciding_position", (double)f->closed_form.deciding);
    return object;
}

static json_t *epoch_json(const struct forecast *f)
{
    json_t *object = json_object();
    json_put_count(object, "iterations", f->epoch.iterations);
    json_put_real(object, "last_share", f->epoch.last_share);
    json_put_real(object, "rounds", f->epoch.rounds);
    json_put(object, "unbalanced", json_boolean(f->epoch.unbalanced));
    json_put(object, "last_to_finish", json_text_or_null(f->type[f->epoch.last_to_finish].name));
    json_put_real(object, "samples", f->total_samples);
    json_put_real(object, "evaluation_s", f->evaluation_s);
    json_put_real(object, "checkpoint_s", f->checkpoint_s);
    json_put_real(object, "epoch_s", f->epoch_s);
    json_put_count(object, "epochs", f->epochs);
    json_put_real(object, "total_s", f->total_s);
    return object;
}

static json_t *sample_size_json(const struct forecast *f)
{
    if (!f->sample_basis)
        return json_null();
    json_t *object = json_object();
    json_put_real(object, "bytes", f->sample_bytes);
    json_put(object, "basis", json_string(f->sample_basis));
    return object;
}

static json_t *links_json(const struct forecast *f)
{
    json_t *object = json_object();
    for (int s = LINK_MEASURED; s <= LINK_FILLED; s++)
        json_put_count(object, link_source_name((enum link_source)s), (double)f->n_links[s]);
    return object;
}

static json_t *collective_json(const struct forecast *f)
{
    json_t *object = json_object(), *stages = json_array();
    json_put(object, "name", json_string(f->collective_name));
    for (size_t s = 0; s < f->n_stages; s++) {
        const struct ft_collective_stage *stage = &f->stage[s];
        json_t *one = json_object();
        json_put(one, "what", json_string(stage->what));
        json_put_count(one, "groups", (double)stage->n_groups);
        json_put_count(one, "fewest_devices", (double)stage->fewest_devices);
        json_put_count(one, "most_devices", (double)stage->most_devices);
        json_put_real(one, "payload_bytes", f->payload_bytes * stage->payload_share);
        json_array_append_new(stages, one);
    }
    json_put(object, "stages", stages);
    return object;
}

static json_t *types_json(const struct forecast *f)
{
    json_t *array = json_array();
    for (int t = 0; t < f->n_types; t++)
        json_array_append_new(array, type_json(f, &f->type[t]));
    return array;
}

static json_t *warnings_json(const struct forecast *f)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->n_warnings; i++)
        json_array_append_new(array, json_text_or_null(f->warning[i]));
    return array;
}

static json_t *forecast_json(const struct forecast *f)
{
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.forecast/1"));
    json_put(root, "name", json_text_or_null(f->name));
    json_put(root, "model", json_string(forecast_model_name(f->model)));
    json_put_count(root, "n_devices", (double)f->n_devices);
    json_put_real(root, "payload_bytes", f->payload_bytes);
    json_put(root, "collective", f->n_devices > 1 ? collective_json(f) : json_null());
    json_put_real(root, "step_s", f->step_s);
    json_put(root, "timeline",
             f->model == MODEL_TIMELINE || f->timeline.why_not ? timeline_json(f) : json_null());
    json_put(root, "closed_form", closed_form_json(f));
    json_put(root, "deciding", deciding_json(f));
    json_put(root, "epoch", f->epoch_known ? epoch_json(f) : json_null());
    json_put(root, "why_no_epoch", json_text_or_null(f->why_no_epoch));
    json_put_real(root, "samples_per_s", f->samples_per_s);
    json_put(root, "sample_size", sample_size_json(f));
    json_put(root, "storage_s", f->storage_s > 0 ? json_real(f->storage_s) : json_null());
    json_put(root, "links", links_json(f));
    json_put(root, "types", types_json(f));
    json_put(root, "warnings", warnings_json(f));
    return root;
}

void report_forecast_json(const struct forecast *f, struct text *out)
{
    json_print(forecast_json(f), out);
}
