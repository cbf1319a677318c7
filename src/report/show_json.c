/* Jobs, tables of all_reduce_perf, topologies, and what was measured, as JSON: docs/formats.md,
 * "What show prints". */
#include "report/json_values.h"
#include "report/report.h"

static json_t *positive_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *amount_json(struct amount amount)
{
    if (amount.unit == AMOUNT_NONE)
        return json_null();
    json_t *object = json_object();
    json_put_real(object, amount.unit == AMOUNT_BYTES ? "bytes" : "samples", amount.value);
    return object;
}

static json_t *texts_json(const char *const *text, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_text_or_null(text[i]));
    return array;
}

static json_t *hosts_json(const struct job_device_type *type)
{
    json_t *array = json_array();
    for (size_t i = 0; i < type->n_hosts; i++) {
        json_t *host = json_object();
        json_put(host, "name", json_text_or_null(type->host[i].name));
        json_put_count(host, "devices", type->host[i].n_devices);
        json_array_append_new(array, host);
    }
    return array;
}

static json_t *type_json(const struct job_device_type *type)
{
    json_t *object = json_object();
    json_put(object, "name", json_text_or_null(type->name));
    json_put_count(object, "count", (double)type->count);
    json_put_count(object, "batch", (double)type->batch);
    json_put(object, "data", amount_json(type->data));
    json_put_count(object, "subsystem_devices", type->subsystem_devices);
    json_put(object, "backend", json_text_or_null(type->backend));
    json_put(object, "price_per_s", type->price.given ? json_real(type->price.per_s) : json_null());
    json_put(object, "profiles", texts_json(type->profile, type->n_profiles));
    json_put(object, "hosts", hosts_json(type));
    return object;
}

static json_t *training_json(const struct job_training *training)
{
    json_t *object = json_object();
    json_put_count(object, "epochs", training->epochs);
    json_put(object, "collective", json_string(ft_collective_name(training->collective)));
    json_put_count(object, "first_iteration", training->first);
    json_put_count(object, "last_iteration", training->last);
    json_put(object, "evaluation_s", positive_or_null(training->evaluation_s));
    json_put(object, "checkpoint_s", positive_or_null(training->checkpoint_s));
    json_put(object, "drops_last", json_boolean(training->drops_last));
    return object;
}

static json_t *data_json(const struct job_data *data)
{
    json_t *object = json_object();
    json_put(object, "size", amount_json(data->size));
    json_put(object, "samples", positive_or_null(data->n_samples));
    json_put(object, "sample_bytes", positive_or_null(data->sample_bytes));
    return object;
}

void report_job_json(const struct job *job, struct text *out)
{
    json_t *root = json_object(), *types = json_array();
    json_put(root, "format", json_string("foretrain.job/1"));
    json_put(root, "name", json_text_or_null(job->name));
    json_put_count(root, "n_devices", (double)job->n_devices);
    json_put(root, "as_listed", json_boolean(!job->ring));
    json_put(root, "data", data_json(&job->data));
    json_put(root, "training", training_json(&job->training));
    json_put(root, "storage_Bps", positive_or_null(job->storage.bandwidth_Bps));
    for (int t = 0; t < job->n_types; t++)
        json_array_append_new(types, type_json(&job->type[t]));
    json_put(root, "types", types);
    json_print(root, out);
}

void report_nccl_tests_json(const struct nccl_table *table, struct text *out)
{
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.curve/1"));
    json_put_count(root, "n_ranks", (double)table->n_ranks);
    json_put_real(root, "bandwidth_Bps", table->bandwidth_Bps);
    json_put(root, "curve", json_curve(&table->curve));
    json_print(root, out);
}

void report_topology_json(const struct topology *topology, struct text *out)
{
    json_t *root = json_object(), *rows = json_array();
    json_put(root, "format", json_string("foretrain.topology/1"));
    json_put_count(root, "n_devices", (double)topology->n);
    for (size_t i = 0; i < topology->n; i++)
        json_array_append_new(rows, texts_json(topology->class + i * topology->n, topology->n));
    json_put(root, "classes", rows);
    json_print(root, out);
}

void report_measured_json(const char *job_name, const char *const *path, size_t n, struct text *out)
{
    json_t *root = json_object();
    json_put(root, "format", json_string("foretrain.measured/1"));
    json_put(root, "name", json_text_or_null(job_name));
    json_put(root, "profiles", texts_json(path, n));
    json_print(root, out);
}
