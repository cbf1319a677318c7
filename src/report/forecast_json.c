/*
 * A forecast as JSON. All but the devices is one document of jansson's; a million devices are
 * written one by one, so that they need no tree.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static const size_t FLAGS = JSON_REAL_PRECISION(15) | JSON_PRESERVE_ORDER;

static json_t *string_or_null(const char *text)
{
    struct arena scratch = {0};
    json_t *value = text ? json_string(text_printable(&scratch, text, 0)) : json_null();
    arena_free(&scratch);
    return value;
}

static void set(json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        memory_exhausted();
}

static void set_real(json_t *object, const char *key, double value)
{
    set(object, key, json_real(value));
}

static void set_count(json_t *object, const char *key, double value)
{
    bool whole = value >= 0 && value < 9e15;
    set(object, key, whole ? json_integer((json_int_t)value) : json_real(value));
}

static json_t *link_json(const struct link *link)
{
    json_t *object = json_object();
    set_real(object, "bandwidth_Bps", link->bandwidth_Bps);
    set_real(object, "latency_s", link->latency_s);
    set(object, "source", json_string(link_source_name(link->source)));
    return object;
}

static json_t *link_or_null(const struct link *link)
{
    return link->source == LINK_UNKNOWN ? json_null() : link_json(link);
}

static json_t *self_json(const struct type_forecast *type)
{
    json_t *object = json_object();
    set(object, "known", json_boolean(type->self_known));
    if (!type->self_known) {
        set(object, "why_not", string_or_null(type->self_why_not));
        return object;
    }
    set_real(object, "forecast_s", type->self_forecast_s);
    set_real(object, "measured_s", type->self_measured_s);
    set_real(object, "relative_error", type->self_error);
    set(object, "link", link_or_null(&type->self_link));
    return object;
}

static json_t *type_json(const struct type_forecast *type)
{
    json_t *object = json_object();
    set(object, "name", string_or_null(type->name));
    set_count(object, "count", (double)type->count);
    set(object, "assumed", json_boolean(type->assumed));
    set_real(object, "batch_samples", type->batch);
    set_real(object, "load_s", type->load_s);
    set(object, "loading_in_step", json_boolean(type->loading_in_step));
    set_real(object, "forward_s", type->forward_s);
    set_real(object, "backward_unsynced_s", type->unsynced_s);
    set_real(object, "first_backward_s", type->first_backward_s);
    set_real(object, "all_reduce_s", type->ring_s);
    set_real(object, "step_s", type->step_s);
    set_count(object, "slowest_position", (double)type->slowest);
    set_real(object, "samples_per_s", type->samples_per_s);
    set_real(object, "sent_bytes", type->bytes_sent);
    set_real(object, "payload_bytes", type->payload_bytes);
    set_count(object, "ring_devices", type->ring_devices);
    set(object, "own_subsystem", self_json(type));
    return object;
}

static json_t *deciding_json(const struct forecast *f)
{
    json_t *object = json_object();
    set_count(object, "position", (double)f->step.deciding);
    set(object, "device", string_or_null(f->deciding_device));
    set(object, "next", string_or_null(f->deciding_next));
    set(object, "stage", json_string(f->deciding_stage));
    set(object, "link", link_or_null(&f->deciding_link));
    return object;
}

static json_t *epoch_json(const struct forecast *f)
{
    json_t *object = json_object();
    set_count(object, "iterations", f->epoch.iterations);
    set_real(object, "rounds", f->epoch.rounds);
    set(object, "unbalanced", json_boolean(f->epoch.unbalanced));
    set(object, "last_to_finish", string_or_null(f->type[f->epoch.last_to_finish].name));
    set_real(object, "samples", f->total_samples);
    set_real(object, "epoch_s", f->epoch_s);
    set_count(object, "epochs", f->epochs);
    set_real(object, "total_s", f->total_s);
    return object;
}

static json_t *sample_size_json(const struct forecast *f)
{
    if (!f->sample_basis)
        return json_null();
    json_t *object = json_object();
    set_real(object, "bytes", f->sample_bytes);
    set(object, "basis", json_string(f->sample_basis));
    return object;
}

static json_t *links_json(const struct forecast *f)
{
    json_t *object = json_object();
    for (int s = LINK_MEASURED; s <= LINK_FILLED; s++)
        set_count(object, link_source_name((enum link_source)s), (double)f->n_links[s]);
    return object;
}

static json_t *types_json(const struct forecast *f)
{
    json_t *array = json_array();
    for (int t = 0; t < f->n_types; t++)
        json_array_append_new(array, type_json(&f->type[t]));
    return array;
}

static json_t *warnings_json(const struct forecast *f)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->n_warnings; i++)
        json_array_append_new(array, string_or_null(f->warning[i]));
    return array;
}

static json_t *forecast_json(const struct forecast *f)
{
    json_t *root = json_object();
    set(root, "format", json_string("foretrain.forecast/1"));
    set(root, "name", string_or_null(f->name));
    set(root, "model", json_string(f->model));
    set_count(root, "n_devices", (double)f->n_devices);
    set_real(root, "payload_bytes", f->payload_bytes);
    set_real(root, "step_s", f->step.step_s);
    set(root, "deciding", deciding_json(f));
    set(root, "epoch", f->epoch_known ? epoch_json(f) : json_null());
    set(root, "why_no_epoch", string_or_null(f->why_no_epoch));
    set_real(root, "samples_per_s", f->samples_per_s);
    set(root, "sample_size", sample_size_json(f));
    set(root, "links", links_json(f));
    set(root, "types", types_json(f));
    set(root, "warnings", warnings_json(f));
    return root;
}

void report_forecast_json(const struct forecast *f, struct text *out)
{
    json_t *document = forecast_json(f);
    char *text = json_dumps(document, FLAGS | JSON_INDENT(2));
    if (!text)
        memory_exhausted();
    text_format(out, "%s\n", text);
    free(text);
    json_decref(document);
}
