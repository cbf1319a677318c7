/* Every object of the file is a table of its keys; what is not a plain value has a reader below. */
#include "profile/profile.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/dtype_sizes.h"
#include "profile/node.h"
#include "profile/profile_format.h"
#include "profile/rounds_field.h"

enum { LARGEST_PROFILE_BYTES = 64 << 20 };

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(member) offsetof(struct profile, member)

static bool read_object(struct arena *arena, const struct node *object, const struct field *field,
                        size_t n, void *out, struct error *e)
{
    return node_check_keys(object, field, n, e) && node_fields(arena, object, field, n, out, e);
}

/* Text that must be one of two words; nothing is read where it is not there. */
static bool read_choice(const struct node *node, const char *yes, const char *no, bool *value,
                        struct error *e)
{
    if (!node->json)
        return true;
    if (!node_expect(node, JSON_STRING, e))
        return false;
    const char *text = json_string_value(node->json);
    bool is_yes = strcmp(text, yes) == 0;
    if (!is_yes && strcmp(text, no) != 0) {
        struct arena arena = {0};
        node_fail(node, e, "%s must be \"%s\" or \"%s\" (got \"%s\")", node->key, yes, no,
                  text_printable(&arena, text, 0));
        arena_free(&arena);
        return false;
    }
    *value = is_yes;
    return true;
}

static bool read_texts(struct arena *arena, const struct node *array, const char ***value,
                       size_t *n, struct error *e)
{
    if (!node_expect(array, JSON_ARRAY, e))
        return false;
    *n = json_array_size(array->json);
    *value = ARENA_ARRAY(arena, *n, const char *);
    for (size_t i = 0; i < *n; i++) {
        struct node item = node_item(array, i);
        if (!node_expect(&item, JSON_STRING, e))
            return false;
        (*value)[i] = arena_copy(arena, json_string_value(item.json));
    }
    return true;
}

struct given_stats {
    double mean, sd, min, max;
    int n;
};

static const struct field stats_field[] = {
    {"mean", FIELD_NUMBER, false, offsetof(struct given_stats, mean), 0},
    {"sd", FIELD_NUMBER, false, offsetof(struct given_stats, sd), 0},
    {"min", FIELD_NUMBER, false, offsetof(struct given_stats, min), 0},
    {"max", FIELD_NUMBER, false, offsetof(struct given_stats, max), 0},
    {"n", FIELD_INT, false, offsetof(struct given_stats, n), 0},
    {"samples", FIELD_ELSEWHERE, false, 0, 0},
};

static bool read_stats(struct arena *arena, const struct node *node, struct stats *stats,
                       struct error *e)
{
    struct given_stats given = {.mean = -1, .min = -1, .max = -1};
    if (!read_object(arena, node, stats_field, COUNT(stats_field), &given, e))
        return false;
    if (given.mean < 0)
        return node_fail(node, e, "mean is missing in %s", node->key);
    *stats = (struct stats){.n = (size_t)given.n, .mean = given.mean, .sd = given.sd};
    stats->min = given.min < 0 ? given.mean : given.min;
    stats->max = given.max < 0 ? given.mean : given.max;
    double slack = 1e-9 * given.mean;
    if (stats->min > stats->mean + slack || stats->max < stats->mean - slack)
        return node_fail(node, e, "%s must have min <= mean <= max (got %g, %g, %g)", node->key,
                         stats->min, stats->mean, stats->max);
    return true;
}

/* What is said of the samples must be true of them; samples are written with nine digits. */
static bool check_samples(const struct node *node, const struct stats *found, struct error *e)
{
    struct given_stats said = {0};
    struct node n = node_member(node, "n"), mean = node_member(node, "mean");
    if (!read_object(NULL, node, stats_field, COUNT(stats_field), &said, e))
        return false;
    if (n.json && (size_t)said.n != found->n)
        return node_fail(&n, e, "n is %d, but there are %zu samples", said.n, found->n);
    if (mean.json && fabs(said.mean - found->mean) > 1e-6 * found->mean)
        return node_fail(&mean, e, "mean is %.9g, but that of the samples is %.9g", said.mean,
                         found->mean);
    return true;
}

static bool read_sample_values(struct arena *arena, const struct node *node,
                               struct samples *samples, struct error *e)
{
    struct node values = node_member(node, "samples");
    size_t n = 0;
    if (!node_numbers(arena, &values, &samples->value, &n, e))
        return false;
    if (n == 0)
        return node_fail(&values, e, "samples must not be empty: leave out what is not known");
    samples->stats = stats_of(samples->value, n);
    return true;
}

/* What is given as it is, so that what was written comes back; all else from the samples. */
static struct stats given_or_found(const struct node *node, struct stats given, struct stats found)
{
    found.mean = node_member(node, "mean").json ? given.mean : found.mean;
    found.sd = node_member(node, "sd").json ? given.sd : found.sd;
    found.min = node_member(node, "min").json ? given.min : found.min;
    found.max = node_member(node, "max").json ? given.max : found.max;
    return found;
}

static bool read_samples(struct arena *arena, const struct node *node, struct samples *samples,
                         struct error *e)
{
    struct samples read = {.known = true};
    struct node values = node_member(node, "samples"), mean = node_member(node, "mean");
    struct stats said = {0};
    if (values.json &&
        (!read_sample_values(arena, node, &read, e) || !check_samples(node, &read.stats, e)))
        return false;
    if (mean.json || !values.json) {
        if (!read_stats(arena, node, &said, e))
            return false;
        read.stats = values.json ? given_or_found(node, said, read.stats) : said;
    }
    *samples = read;
    return true;
}

/* A key that is needed must be there, unless "unknown" names it. */
static bool check_needed(const struct node *node, const struct profile *p, struct error *e)
{
    return node->json || profile_why_unknown(p, node->key) ||
           node_fail(node->parent, e, "%s is missing%s%s", node->key,
                     node->parent->key ? " in " : "", node->parent->key ? node->parent->key : "");
}

static bool read_stages(struct arena *arena, const struct node *root, struct profile *p,
                        struct error *e)
{
    struct node stages = node_member(root, "stages");
    struct field field[N_STAGES];
    for (int i = 0; i < N_STAGES; i++)
        field[i] = (struct field){.key = stage_key((enum stage)i)};
    if (!node_check_keys(&stages, field, N_STAGES, e))
        return false;
    for (int i = 0; i < N_STAGES; i++) {
        struct node stage = node_member(&stages, field[i].key);
        bool needed = i == STAGE_FORWARD || i == STAGE_FIRST_BACKWARD;
        if (needed && !check_needed(&stage, p, e))
            return false;
        if (stage.json &&
            (!node_expect(&stage, JSON_OBJECT, e) || !read_samples(arena, &stage, &p->stage[i], e)))
            return false;
    }
    return true;
}

static const struct field subsystem_field[] = {
    {"n", FIELD_INT, true, AT(n_devices), 1},
    {"sampled", FIELD_INT, false, AT(n_sampled), 1},
    {"hosts", FIELD_ELSEWHERE, false, 0, 0},
    {"shares_host", FIELD_FLAG, false, AT(shares_host), 0},
    {"one_ring", FIELD_FLAG, false, AT(one_ring), 0},
    {"ring_devices", FIELD_INT, false, AT(ring_devices), 1},
};

static bool read_hosts(struct arena *arena, const struct node *subsystem, struct profile *p,
                       struct error *e)
{
    struct node hosts = node_member(subsystem, "hosts");
    size_t n = 0;
    if (!hosts.json)
        return true;
    if (!read_texts(arena, &hosts, &p->host, &n, e))
        return false;
    if (n != (size_t)p->n_devices)
        return node_fail(&hosts, e, "hosts must name one host a device, %d (got %zu)", p->n_devices,
                         n);
    return true;
}

static bool read_ring_devices(const struct node *subsystem, struct profile *p, struct error *e)
{
    struct node ring = node_member(subsystem, "ring_devices");
    if (!ring.json && p->one_ring)
        return node_fail(subsystem, e,
                         "ring_devices is missing in subsystem: with one_ring it is "
                         "the number of devices of all types in the ring");
    if (!ring.json)
        p->ring_devices = p->n_devices;
    if (p->one_ring ? p->ring_devices < p->n_devices : p->ring_devices != p->n_devices)
        return node_fail(&ring, e, "ring_devices must be %s%d (got %d)",
                         p->one_ring ? "at least n = " : "n = ", p->n_devices, p->ring_devices);
    return true;
}

static bool check_sampled(const struct node *subsystem, const struct profile *p, struct error *e)
{
    struct node sampled = node_member(subsystem, "sampled");
    return p->n_sampled <= p->n_devices ||
           node_fail(&sampled, e, "sampled must be at most n = %d (got %d)", p->n_devices,
                     p->n_sampled);
}

static bool read_subsystem(struct arena *arena, const struct node *root, struct profile *p,
                           struct error *e)
{
    struct node node = node_member(root, "subsystem");
    return read_object(arena, &node, subsystem_field, COUNT(subsystem_field), p, e) &&
           check_sampled(&node, p, e) && read_hosts(arena, &node, p, e) &&
           read_ring_devices(&node, p, e);
}

struct given_window {
    int first, last, left_out;
};

static const struct field window_field[] = {
    {"first", FIELD_INT, true, offsetof(struct given_window, first), 1},
    {"last", FIELD_INT, true, offsetof(struct given_window, last), 1},
    {"left_out", FIELD_INT, false, offsetof(struct given_window, left_out), 0},
};

static bool read_window(struct arena *arena, const struct node *root, struct profile *p,
                        struct error *e)
{
    struct node node = node_member(root, "window");
    struct given_window w = {0};
    if (!node.json)
        return true;
    if (!read_object(arena, &node, window_field, COUNT(window_field), &w, e))
        return false;
    if (w.last < w.first)
        return node_fail(&node, e, "window must not end before its first iteration (got %d to %d)",
                         w.first, w.last);
    p->first = w.first;
    p->last = w.last;
    p->n_left_out = (size_t)w.left_out;
    return true;
}

static const struct field all_reduce_field[] = {
    {"sent_bytes", FIELD_NUMBER, false, AT(bytes_sent), 0},
    {"basis", FIELD_ELSEWHERE, false, 0, 0},
    {"gradient_bytes", FIELD_NUMBER, false, AT(gradient_bytes), 0},
    {"interface_sent_bytes", FIELD_NUMBER, false, AT(interface_bytes), 0},
};

static bool read_all_reduce(struct arena *arena, const struct node *root, struct profile *p,
                            struct error *e)
{
    struct node node = node_member(root, "all_reduce");
    bool unknown = profile_why_unknown(p, "all_reduce") != NULL;
    if (!node.json && (p->ring_devices == 1 || unknown))
        return true;
    struct node sent = node_member(&node, "sent_bytes");
    struct node gradient = node_member(&node, "gradient_bytes");
    struct node basis = node_member(&node, "basis");
    if (!read_object(arena, &node, all_reduce_field, COUNT(all_reduce_field), p, e) ||
        !read_choice(&basis, "measured", "computed", &p->bytes_measured, e))
        return false;
    if (!sent.json && !gradient.json && p->ring_devices > 1 && !unknown)
        return node_fail(&node, e,
                         "all_reduce must have sent_bytes (per device and step) or "
                         "gradient_bytes (per step)");
    double n = p->ring_devices;
    if (!sent.json)
        p->bytes_sent = 2 * (n - 1) / n * p->gradient_bytes;
    return true;
}

static const struct field bucket_field[] = {
    {"bytes", FIELD_NUMBER, false, offsetof(struct bucket, bytes), 0},
    {"wire_bytes", FIELD_NUMBER, false, offsetof(struct bucket, wire_bytes), 0},
    {"ready_s", FIELD_ELSEWHERE, false, 0, 0},
    {"done_s", FIELD_ELSEWHERE, false, 0, 0},
    {"span_s", FIELD_ELSEWHERE, false, 0, 0},
    {"transfer_s", FIELD_ELSEWHERE, false, 0, 0},
};

static bool read_bucket_time(struct arena *arena, const struct node *node, struct samples *samples,
                             struct error *e)
{
    return !node->json ||
           (node_expect(node, JSON_OBJECT, e) && read_samples(arena, node, samples, e));
}

static bool read_bucket(struct arena *arena, const struct node *node, void *out, struct error *e)
{
    struct bucket *bucket = out;
    const struct {
        const char *key;
        struct samples *samples;
    } time[] = {{"ready_s", &bucket->ready},
                {"done_s", &bucket->done},
                {"span_s", &bucket->span},
                {"transfer_s", &bucket->transfer}};
    bucket->bytes = bucket->wire_bytes = -1;
    if (!read_object(arena, node, bucket_field, COUNT(bucket_field), bucket, e))
        return false;
    for (size_t i = 0; i < COUNT(time); i++) {
        struct node member = node_member(node, time[i].key);
        if (!read_bucket_time(arena, &member, time[i].samples, e))
            return false;
    }
    if (bucket->wire_bytes < 0)
        bucket->wire_bytes = bucket->bytes;
    return true;
}

struct given_operator {
    int index, count;
    const char *name;
    double mean_s, sd_s, min_s, max_s;
};

static const struct field operator_field[] = {
    {"index", FIELD_INT, true, offsetof(struct given_operator, index), 0},
    {"name", FIELD_TEXT, true, offsetof(struct given_operator, name), 0},
    {"count", FIELD_INT, false, offsetof(struct given_operator, count), 0},
    {"mean_s", FIELD_NUMBER, true, offsetof(struct given_operator, mean_s), 0},
    {"sd_s", FIELD_NUMBER, false, offsetof(struct given_operator, sd_s), 0},
    {"min_s", FIELD_NUMBER, false, offsetof(struct given_operator, min_s), 0},
    {"max_s", FIELD_NUMBER, false, offsetof(struct given_operator, max_s), 0},
};

static bool read_operator(struct arena *arena, const struct node *node, void *out, struct error *e)
{
    struct profile_operator *op = out;
    struct given_operator given = {0};
    if (!read_object(arena, node, operator_field, COUNT(operator_field), &given, e))
        return false;
    op->index = given.index;
    op->name = given.name;
    op->time_s = (struct stats){.n = (size_t)given.count,
                                .mean = given.mean_s,
                                .sd = given.sd_s,
                                .min = given.min_s,
                                .max = given.max_s};
    return true;
}

static const struct field collective_field[] = {
    {"op", FIELD_TEXT, true, offsetof(struct profile_collective, op), 0},
    {"place", FIELD_TEXT, true, offsetof(struct profile_collective, place), 0},
    {"bytes", FIELD_NUMBER, false, offsetof(struct profile_collective, bytes), 0},
    {"count_per_step", FIELD_NUMBER, true, offsetof(struct profile_collective, count_per_step), 0},
    {"span_s", FIELD_NUMBER, false, offsetof(struct profile_collective, span_s), 0},
    {"transfer_s", FIELD_NUMBER, false, offsetof(struct profile_collective, transfer_s), 0},
};

static bool read_collective(struct arena *arena, const struct node *node, void *out,
                            struct error *e)
{
    struct profile_collective *collective = out;
    collective->bytes = collective->span_s = collective->transfer_s = -1;
    return read_object(arena, node, collective_field, COUNT(collective_field), collective, e);
}

static const struct field layer_field[] = {
    {"name", FIELD_TEXT, true, offsetof(struct profile_layer, name), 0},
    {"kind", FIELD_TEXT, true, offsetof(struct profile_layer, kind), 0},
    {"activation", FIELD_TEXT, false, offsetof(struct profile_layer, activation), 0},
    {"input_shapes", FIELD_TEXT, false, offsetof(struct profile_layer, input_shapes), 0},
    {"output_shapes", FIELD_TEXT, false, offsetof(struct profile_layer, output_shapes), 0},
    {"parameters", FIELD_NUMBER, false, offsetof(struct profile_layer, n_parameters), 0},
};

static bool read_layer(struct arena *arena, const struct node *node, void *out, struct error *e)
{
    return read_object(arena, node, layer_field, COUNT(layer_field), out, e);
}

typedef bool read_item(struct arena *arena, const struct node *node, void *out, struct error *e);

/* An array of objects that may be left out; `items` becomes structs of `size` bytes. */
static bool read_list(struct arena *arena, const struct node *array, read_item *read, size_t size,
                      void **items, size_t *n, struct error *e)
{
    if (!array->json)
        return true;
    if (!node_expect(array, JSON_ARRAY, e))
        return false;
    size_t n_items = json_array_size(array->json);
    char *item = arena_array(arena, n_items, size);
    for (size_t i = 0; i < n_items; i++) {
        struct node node = node_item(array, i);
        if (!node_expect(&node, JSON_OBJECT, e) || !read(arena, &node, item + i * size, e))
            return false;
    }
    *items = item;
    *n = n_items;
    return true;
}

static bool read_buckets(struct arena *arena, const struct node *root, struct profile *p,
                         struct error *e)
{
    struct node list = node_member(root, "buckets");
    void *items = NULL;
    if (!read_list(arena, &list, read_bucket, sizeof(struct bucket), &items, &p->n_buckets, e))
        return false;
    p->bucket = items;
    for (size_t i = 0; i < p->n_buckets; i++) {
        struct node item = node_item(&list, i), bytes = node_member(&item, "bytes");
        if (p->bucket[i].bytes < 0 && !profile_why_unknown(p, "all_reduce"))
            return node_fail(&item, e, "%s is missing in an item of buckets", bytes.key);
    }
    return true;
}

static const struct field operators_field[] = {
    {"profiler_ratio", FIELD_NUMBER, false, AT(profiler_ratio), 0},
    {"forward", FIELD_ELSEWHERE, false, 0, 0},
    {"backward", FIELD_ELSEWHERE, false, 0, 0},
};

static bool read_operators(struct arena *arena, const struct node *root, struct profile *p,
                           struct error *e)
{
    struct node node = node_member(root, "operators");
    if (!node.json)
        return true;
    struct node forward = node_member(&node, "forward"), backward = node_member(&node, "backward");
    size_t size = sizeof(struct profile_operator);
    void *forward_op = NULL, *backward_op = NULL;
    if (!read_object(arena, &node, operators_field, COUNT(operators_field), p, e) ||
        !read_list(arena, &forward, read_operator, size, &forward_op, &p->n_forward_ops, e) ||
        !read_list(arena, &backward, read_operator, size, &backward_op, &p->n_backward_ops, e))
        return false;
    p->forward_op = forward_op;
    p->backward_op = backward_op;
    return true;
}

static bool read_collectives(struct arena *arena, const struct node *root, struct profile *p,
                             struct error *e)
{
    struct node list = node_member(root, "collectives");
    size_t size = sizeof(struct profile_collective);
    void *items = NULL;
    if (!read_list(arena, &list, read_collective, size, &items, &p->n_collectives, e))
        return false;
    p->collective = items;
    return true;
}

static bool read_rounds(struct arena *arena, const struct node *root, struct profile *p,
                        struct error *e)
{
    struct node node = node_member(root, "rounds");
    return !node.json || read_object(arena, &node, rounds_field, N_ROUNDS_FIELDS, &p->rounds, e);
}

static const struct field model_field[] = {
    {"parameters", FIELD_NUMBER, false, AT(n_parameters), 0},
    {"parameter_bytes", FIELD_ELSEWHERE, false, 0, 0},
    {"gradient_bytes", FIELD_ELSEWHERE, false, 0, 0},
    {"loss", FIELD_TEXT, false, AT(loss), 0},
    {"optimizer", FIELD_TEXT, false, AT(optimizer), 0},
    {"layers", FIELD_ELSEWHERE, false, 0, 0},
};

static bool read_model(struct arena *arena, const struct node *root, struct profile *p,
                       struct error *e)
{
    struct node node = node_member(root, "model");
    if (!node.json)
        return true;
    struct node layers = node_member(&node, "layers");
    struct node parameters = node_member(&node, "parameter_bytes");
    struct node gradients = node_member(&node, "gradient_bytes");
    size_t size = sizeof(struct profile_layer);
    void *items = NULL;
    if (!read_object(arena, &node, model_field, COUNT(model_field), p, e) ||
        !dtype_sizes_add(arena, &parameters, &p->parameter_bytes, e) ||
        !dtype_sizes_add(arena, &gradients, &p->model_gradient_bytes, e) ||
        !read_list(arena, &layers, read_layer, size, &items, &p->n_layers, e))
        return false;
    p->layer = items;
    return true;
}

static bool read_notes(struct arena *arena, const struct node *root, struct profile *p,
                       struct error *e)
{
    struct node notes = node_member(root, "notes");
    return !notes.json || read_texts(arena, &notes, &p->note_line, &p->n_notes, e);
}

static bool read_inputs(struct arena *arena, const struct node *root, struct profile *p,
                        struct error *e)
{
    struct node inputs = node_member(root, "inputs");
    if (!inputs.json)
        return true;
    if (!node_expect(&inputs, JSON_OBJECT, e))
        return false;
    p->input = ARENA_ARRAY(arena, json_object_size(inputs.json), struct profile_input);
    const char *key;
    json_t *value;
    json_object_foreach(inputs.json, key, value)
    {
        struct node member = node_member(&inputs, key);
        if (!node_expect(&member, JSON_STRING, e))
            return false;
        p->input[p->n_inputs++] = (struct profile_input){
            arena_copy(arena, key), arena_copy(arena, json_string_value(value))};
    }
    return true;
}

static bool read_unknown(struct arena *arena, const struct node *root, struct profile *p,
                         struct error *e)
{
    struct node unknown = node_member(root, "unknown"), batch = node_member(root, "batch");
    if (unknown.json && !node_expect(&unknown, JSON_OBJECT, e))
        return false;
    p->unknown = ARENA_ARRAY(arena, json_object_size(unknown.json), struct profile_unknown);
    const char *key;
    json_t *value;
    json_object_foreach(unknown.json, key, value)
    {
        struct node member = node_member(&unknown, key);
        if (!node_expect(&member, JSON_STRING, e))
            return false;
        p->unknown[p->n_unknown++] = (struct profile_unknown){
            arena_copy(arena, key), arena_copy(arena, json_string_value(value))};
    }
    return check_needed(&batch, p, e);
}

static const struct field profile_field[] = {
    {"format", FIELD_ELSEWHERE, false, 0, 0},
    {"device_type", FIELD_TEXT, true, AT(device_type), 0},
    {"basis", FIELD_ELSEWHERE, false, 0, 0},
    {"note", FIELD_TEXT, false, AT(note), 0},
    {"started", FIELD_TEXT, false, AT(started), 0},
    {"date", FIELD_TEXT, false, AT(date), 0},
    {"framework", FIELD_TEXT, false, AT(framework), 0},
    {"device", FIELD_TEXT, false, AT(device_name), 0},
    {"backend", FIELD_TEXT, false, AT(backend), 0},
    {"notes", FIELD_ELSEWHERE, false, 0, 0},
    {"subsystem", FIELD_ELSEWHERE, false, 0, 0},
    {"window", FIELD_ELSEWHERE, false, 0, 0},
    {"batch", FIELD_NUMBER, false, AT(batch), 1},
    {"micro_batches", FIELD_NUMBER, false, AT(micro_batches), 1},
    {"loader_workers", FIELD_INT, false, AT(loader_workers), 0},
    {"sample_bytes", FIELD_NUMBER, false, AT(sample_bytes), 0},
    {"read_bytes", FIELD_NUMBER, false, AT(bytes_read), 0},
    {"all_reduce", FIELD_ELSEWHERE, false, 0, 0},
    {"stages", FIELD_ELSEWHERE, false, 0, 0},
    {"buckets", FIELD_ELSEWHERE, false, 0, 0},
    {"operators", FIELD_ELSEWHERE, false, 0, 0},
    {"collectives", FIELD_ELSEWHERE, false, 0, 0},
    {"rounds", FIELD_ELSEWHERE, false, 0, 0},
    {"model", FIELD_ELSEWHERE, false, 0, 0},
    {"unknown", FIELD_ELSEWHERE, false, 0, 0},
    {"inputs", FIELD_ELSEWHERE, false, 0, 0},
    {"samples_file", FIELD_TEXT, false, AT(samples_file), 0},
};

static bool check_format(const struct node *root, struct error *e)
{
    struct node format = node_member(root, "format");
    if (!node_expect(&format, JSON_STRING, e))
        return false;
    if (strcmp(json_string_value(format.json), PROFILE_FORMAT) == 0)
        return true;
    struct arena arena = {0};
    node_fail(&format, e, "format must be \"%s\", which this version reads (got \"%s\")",
              PROFILE_FORMAT, text_printable(&arena, json_string_value(format.json), 0));
    arena_free(&arena);
    return false;
}

static bool read_basis(const struct node *root, struct profile *p, struct error *e)
{
    struct node basis = node_member(root, "basis");
    return node_expect(&basis, JSON_STRING, e) &&
           read_choice(&basis, "assumed", "measured", &p->assumed, e);
}

typedef bool read_part(struct arena *arena, const struct node *root, struct profile *p,
                       struct error *e);

static bool read_root(struct arena *arena, const struct node *root, struct profile *p,
                      struct error *e)
{
    static read_part *const part[] = {
        read_unknown,   read_subsystem,   read_window, read_all_reduce, read_stages, read_buckets,
        read_operators, read_collectives, read_rounds, read_model,      read_notes,  read_inputs,
    };
    if (!check_format(root, e) ||
        !read_object(arena, root, profile_field, COUNT(profile_field), p, e) ||
        !read_basis(root, p, e))
        return false;
    for (size_t i = 0; i < COUNT(part); i++) {
        if (!part[i](arena, root, p, e))
            return false;
    }
    return true;
}

bool profile_parse(struct arena *arena, const char *text, size_t length, const char *file,
                   struct profile *profile, struct error *e)
{
    const char *content = length >= 3 ? text_after_mark(text) : text;
    length -= (size_t)(content - text);
    struct source source = {.file = file, .text = content, .length = length, .first_line = 1};
    json_t *json = NULL;
    if (!node_load(&source, &json, e))
        return false;
    struct profile read = {.file = arena_copy(arena, file),
                           .micro_batches = 1,
                           .loader_workers = -1,
                           .bytes_read = -1};
    struct node root = node_root(&source, json);
    bool ok = read_root(arena, &root, &read, e);
    json_decref(json);
    if (ok)
        *profile = read;
    return ok;
}

bool profile_read(struct arena *arena, const char *path, struct profile *profile, struct error *e)
{
    struct arena scratch = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = file_read(&scratch, path, LARGEST_PROFILE_BYTES, &text, &length, e) &&
              profile_parse(arena, text, length, path, profile, e);
    arena_free(&scratch);
    return ok;
}
