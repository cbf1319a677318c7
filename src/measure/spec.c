#include "measure/spec.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/file.h"

static json_t *string_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *number_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *whole_or_null(double value)
{
    return value > 0 ? json_integer((json_int_t)value) : json_null();
}

static json_t *types_by_rank(const struct spec *spec)
{
    json_t *types = json_array();
    for (int rank = 0; rank < spec->n_devices; rank++)
        json_array_append_new(types, json_string(spec->types_by_rank[rank]));
    return types;
}

static json_t *batch_by_rank(const struct spec *spec)
{
    json_t *batches = json_array();
    for (int rank = 0; rank < spec->n_devices; rank++)
        json_array_append_new(batches, json_integer(spec->batch_by_rank[rank]));
    return batches;
}

static json_t *make_data(const struct spec *spec)
{
    json_t *data = json_object();
    json_object_set_new(data, "dir", string_or_null(spec->data_dir));
    json_object_set_new(data, "samples_per_device", whole_or_null(spec->samples_per_device));
    json_object_set_new(data, "samples_before", json_integer((json_int_t)spec->samples_before));
    json_object_set_new(data, "devices_before", json_integer(spec->devices_before));
    json_object_set_new(data, "devices_in_all", json_integer(spec->devices_in_all));
    json_object_set_new(data, "bytes_per_device", number_or_null(spec->bytes_per_device));
    json_object_set_new(data, "sample_bytes", number_or_null(spec->sample_bytes));
    json_object_set_new(data, "workers", json_integer(spec->workers));
    return data;
}

/* The job's own JSON; it was checked when the job was read. */
static json_t *job_json(const struct job_model *model)
{
    json_t *json = model->json ? json_loads(model->json, 0, NULL) : NULL;
    return json ? json : json_object();
}

static json_t *make_script(const struct spec *spec)
{
    (void)spec;
    return json_object();
}

static json_t *make_entry(const struct spec *spec)
{
    json_t *model = json_object();
    json_object_set_new(model, "file", string_or_null(spec->entry_file));
    json_object_set_new(model, "function", string_or_null(spec->model->entry_function));
    json_object_set_new(model, "args", job_json(spec->model));
    return model;
}

static json_t *make_layers(const struct spec *spec)
{
    return job_json(spec->model);
}

static json_t *make_model(const struct spec *spec)
{
    static const struct {
        const char *kind;
        json_t *(*make)(const struct spec *);
    } kinds[] = {
        [MODEL_NONE] = {"script", make_script},     [MODEL_SCRIPT] = {"script", make_script},
        [MODEL_COMMAND] = {"command", make_script}, [MODEL_ENTRY] = {"entry", make_entry},
        [MODEL_LAYERS] = {"layers", make_layers},
    };
    json_t *model = kinds[spec->model->kind].make(spec);
    json_object_set_new(model, "kind", json_string(kinds[spec->model->kind].kind));
    return model;
}

static json_t *make_together(const struct spec_meeting *meeting)
{
    if (!meeting)
        return json_null();
    json_t *together = json_object();
    json_object_set_new(together, "host", json_string(meeting->host));
    json_object_set_new(together, "port", json_integer(meeting->port));
    json_object_set_new(together, "server", json_boolean(meeting->server));
    json_object_set_new(together, "n_ranks", json_integer(meeting->n_ranks));
    json_object_set_new(together, "timeout_s", number_or_null(meeting->timeout_s));
    return together;
}

static json_t *make_root(const struct spec *spec)
{
    json_t *root = json_object();
    json_object_set_new(root, "format", json_string("foretrain.spec/1"));
    json_object_set_new(root, "record_dir", json_string(spec->record_dir));
    json_object_set_new(root, "device_type", json_string(spec->device_type));
    json_object_set_new(root, "types_by_rank", types_by_rank(spec));
    json_object_set_new(root, "n_devices", json_integer(spec->n_devices));
    json_object_set_new(root, "first", json_integer(spec->first));
    json_object_set_new(root, "last", json_integer(spec->last));
    json_object_set_new(root, "n_profiled", json_integer(spec->n_profiled));
    json_object_set_new(root, "device", json_string(spec->device));
    json_object_set_new(root, "backend", json_string(spec->backend));
    json_object_set_new(root, "batch", json_integer(spec->batch));
    json_object_set_new(root, "batch_by_rank", batch_by_rank(spec));
    json_object_set_new(root, "seed", json_integer((json_int_t)(spec->seed & INT64_MAX)));
    json_object_set_new(root, "end_timeout_s", json_real(spec->end_timeout_s));
    json_object_set_new(root, "data", make_data(spec));
    json_object_set_new(root, "model", make_model(spec));
    json_object_set_new(root, "together", make_together(spec->meeting));
    return root;
}

/* JSON holds UTF-8 only; file names and variables may be anything. */
static bool is_utf8(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    json_decref(json);
    return !text || json;
}

static bool check_texts(const char *path, const struct spec *spec, struct error *e)
{
    const struct {
        const char *what, *text;
    } texts[] = {
        {"the records' folder", spec->record_dir},
        {"the device type", spec->device_type},
        {"the device", spec->device},
        {"the backend", spec->backend},
        {"the data's folder", spec->data_dir},
        {"the entry's file", spec->entry_file},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!is_utf8(texts[i].text)) {
            error_set(e, ERROR_INPUT, "%s cannot be written: %s is not UTF-8", path, texts[i].what);
            return false;
        }
    }
    return true;
}

bool spec_write(const char *path, const struct spec *spec, struct error *e)
{
    if (!check_texts(path, spec, e))
        return false;
    json_t *root = make_root(spec);
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (!text) {
        error_set(e, ERROR_INPUT, "%s cannot be written as JSON", path);
        return false;
    }
    bool ok = file_write(path, text, strlen(text), e);
    free(text);
    return ok;
}
