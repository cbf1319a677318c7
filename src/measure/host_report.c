#include "measure/host_report.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"

enum { LONGEST_SHOWN = 400 };

static const char *text_of(struct arena *arena, const json_t *json)
{
    const char *value = json_string_value(json);
    if (!value)
        return NULL;
    const char *shown = text_printable(arena, value, 0);
    return strlen(shown) <= LONGEST_SHOWN ? shown : arena_copy_n(arena, shown, LONGEST_SHOWN);
}

static const char *text_at(struct arena *arena, const json_t *json, const char *key)
{
    return text_of(arena, json_object_get(json, key));
}

static double number_at(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    double number = json_is_number(value) ? json_number_value(value) : -1;
    return isfinite(number) && number >= 0 ? number : -1;
}

static void read_passed_over(struct arena *arena, const json_t *json, struct type_report *type)
{
    const json_t *pair;
    size_t i;
    type->passed_over = ARENA_ARRAY(arena, json_array_size(json), struct passed_over);
    json_array_foreach(json, i, pair)
    {
        const char *path = text_of(arena, json_array_get(pair, 0));
        const char *complaint = text_of(arena, json_array_get(pair, 1));
        if (path && complaint)
            type->passed_over[type->n_passed_over++] = (struct passed_over){path, complaint};
    }
}

static void read_missing_cpus(struct arena *arena, const json_t *json, struct type_report *type)
{
    const json_t *each;
    size_t i;
    type->missing_cpus = ARENA_ARRAY(arena, json_array_size(json), const char *);
    json_array_foreach(json, i, each)
    {
        const char *list = text_of(arena, each);
        if (list)
            type->missing_cpus[type->n_missing_cpus++] = list;
    }
}

static void read_type(struct arena *arena, const json_t *json, struct type_report *type)
{
    const json_t *device = json_object_get(json, "device");
    type->is_command = json_object_get(json, "program") != NULL;
    type->program = text_at(arena, json, "program");
    type->path = text_at(arena, json, "path");
    type->python = text_at(arena, json, "version");
    type->torch = text_at(arena, json, "torch");
    type->problem = text_at(arena, json, "error");
    if (!type->problem && !type->is_command && (!type->path || !type->python || !type->torch))
        type->problem = "it does not say which torch it has";
    read_passed_over(arena, json_object_get(json, "passed_over"), type);
    read_missing_cpus(arena, json_object_get(json, "missing_cpus"), type);
    type->has_backend = json_is_true(json_object_get(device, "backend"));
    type->n_devices = number_at(device, "count");
    type->device_name = text_at(arena, device, "name");
    type->device_problem = text_at(arena, device, "error");
}

static void read_host(struct arena *arena, const json_t *root, struct host_report *report)
{
    const json_t *load = json_object_get(root, "load"), *iperf3 = json_object_get(root, "iperf3");
    double speed_bps = number_at(root, "speed_bps");
    report->hostname = text_at(arena, root, "hostname");
    report->debian = json_is_true(json_object_get(root, "debian"));
    report->free_bytes = number_at(root, "free_bytes");
    report->speed_Bps = speed_bps < 0 ? -1 : speed_bps / 8;
    report->n_cpus = number_at(load, "cpus");
    report->busy_cpus = number_at(load, "busy_cpus");
    report->busiest = text_at(arena, load, "busiest");
    report->busiest_cpus = number_at(load, "busiest_cpus");
    report->iperf3_version = text_at(arena, iperf3, "version");
    report->iperf3_problem = text_at(arena, iperf3, "error");
}

static void read_lists(struct arena *arena, const json_t *types, const json_t *sources,
                       struct host_report *report)
{
    const json_t *each;
    size_t i;
    report->n_types = json_array_size(types);
    report->n_sources = json_array_size(sources);
    report->type = ARENA_ARRAY(arena, report->n_types, struct type_report);
    report->source = ARENA_ARRAY(arena, report->n_sources, const char *);
    json_array_foreach(types, i, each)
    {
        read_type(arena, each, &report->type[i]);
    }
    json_array_foreach(sources, i, each)
    {
        report->source[i] = text_of(arena, each);
    }
}

bool host_report_read(struct arena *arena, const char *text, size_t n_types, size_t n_sources,
                      struct host_report *report, struct error *e)
{
    json_t *root = json_loads(text, JSON_ALLOW_NUL, NULL);
    const json_t *types = json_object_get(root, "types");
    const json_t *sources = json_object_get(root, "sources");
    bool ok = json_array_size(types) == n_types && json_array_size(sources) == n_sources &&
              json_is_array(types) && json_is_array(sources);
    if (ok) {
        struct host_report read = {0};
        read_host(arena, root, &read);
        read_lists(arena, types, sources, &read);
        *report = read;
    } else {
        error_set(e, ERROR_HOST, "its answer cannot be read");
    }
    json_decref(root);
    return ok;
}
