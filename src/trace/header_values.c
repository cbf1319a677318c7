#include "trace/header_values.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "trace/unescape.h"

static const struct {
    const char *text;
    enum header_key key;
} words[] = {
    {"traceEvents", HEADER_TRACE_EVENTS},
    {"schemaVersion", HEADER_SCHEMA_VERSION},
    {"baseTimeNanoseconds", HEADER_BASE_TIME},
    {"traceName", HEADER_TRACE_NAME},
    {"host_name", HEADER_HOST_NAME},
    {"distributedInfo", HEADER_DISTRIBUTED_INFO},
    {"deviceProperties", HEADER_DEVICES},
    {"computeProperties", HEADER_DEVICES},
    {"record_shapes", HEADER_RECORD_SHAPES},
    {"roctracer_version", HEADER_ROCM},
    {"hip_runtime_version", HEADER_ROCM},
    {"hip_driver_version", HEADER_ROCM},
    {"nodes", HEADER_NODES},
    {"schema", HEADER_SCHEMA},
    {"entries", HEADER_ENTRIES},
};

enum header_key header_key_of(const char *key, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (unescape_equals(key, length, words[i].text))
            return words[i].key;
    }
    return HEADER_OTHER;
}

void header_keep(struct header_values *values, enum header_key key, unsigned depth,
                 const char *json, size_t length)
{
    struct text *kept = &values->json[key];
    if (kept->data && values->depth[key] < depth)
        return;
    text_free(kept);
    text_add_n(kept, json, length);
    values->depth[key] = depth;
}

static struct trace_value value_of(const struct header_values *values, enum header_key key)
{
    return (struct trace_value){values->json[key].data, values->json[key].length};
}

static void read_int(const struct trace_value *value, int *number)
{
    int64_t whole;
    if (trace_value_int(value, &whole) && whole >= 0 && whole <= INT_MAX)
        *number = (int)whole;
}

static json_t *load(const struct header_values *values, enum header_key key)
{
    const struct text *json = &values->json[key];
    return json->data ? json_loadb(json->data, json->length, JSON_DECODE_ANY, NULL) : NULL;
}

/* A member that is a whole number, or a string that holds one. */
static void member_int(const json_t *object, const char *key, int *number)
{
    json_t *member = json_object_get(object, key);
    char *text = json_dumps(member, JSON_ENCODE_ANY);
    if (text)
        read_int(&(struct trace_value){text, strlen(text)}, number);
    free(text);
}

static void understand_distributed(struct arena *arena, const struct header_values *values,
                                   struct trace_header *header)
{
    json_t *info = load(values, HEADER_DISTRIBUTED_INFO);
    const char *backend = json_string_value(json_object_get(info, "backend"));
    json_t *groups = json_object_get(info, "pg_config");
    char *text = groups ? json_dumps(groups, JSON_COMPACT) : NULL;
    header->backend = backend ? arena_copy(arena, backend) : NULL;
    header->groups_json = text ? arena_copy(arena, text) : NULL;
    free(text);
    member_int(info, "rank", &header->rank);
    member_int(info, "world_size", &header->world_size);
    json_decref(info);
}

static void understand_devices(struct arena *arena, const struct header_values *values,
                               struct trace_header *header)
{
    json_t *devices = load(values, HEADER_DEVICES), *device;
    const char **names = ARENA_ARRAY(arena, json_array_size(devices), const char *);
    size_t i;
    json_array_foreach(devices, i, device)
    {
        const char *name = json_string_value(json_object_get(device, "name"));
        if (name)
            names[header->n_devices++] = arena_copy(arena, name);
    }
    header->device = names;
    json_decref(devices);
}

static const char *text_of(struct arena *arena, const struct header_values *values,
                           enum header_key key)
{
    struct trace_value value = value_of(values, key);
    return trace_value_text(arena, &value);
}

static bool is_set(const struct header_values *values, enum header_key key)
{
    const char *json = values->json[key].data;
    return json && strcmp(json, "0") != 0 && strcmp(json, "false") != 0;
}

void header_understand(struct arena *arena, const struct header_values *values,
                       struct trace_header *header)
{
    struct trace_value schema = value_of(values, HEADER_SCHEMA_VERSION);
    struct trace_value base_time = value_of(values, HEADER_BASE_TIME);
    header->schema_version = header->rank = -1;
    read_int(&schema, &header->schema_version);
    trace_value_int(&base_time, &header->base_time_ns);
    header->trace_name = text_of(arena, values, HEADER_TRACE_NAME);
    header->host_name = text_of(arena, values, HEADER_HOST_NAME);
    understand_distributed(arena, values, header);
    understand_devices(arena, values, header);
    header->has_rocm = is_set(values, HEADER_ROCM);
    header->record_shapes = is_set(values, HEADER_RECORD_SHAPES);
}

void header_values_free(struct header_values *values)
{
    for (size_t i = 0; i < HEADER_N_KEPT; i++)
        text_free(&values->json[i]);
}
