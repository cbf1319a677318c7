/* A table of kinds; each line is one JSON object, read by the function of its kind. */
#include "profile/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/node.h"
#include "profile/profile_format.h"
#include "profile/record_model.h"
#include "profile/rounds_field.h"

enum { LARGEST_RECORD_BYTES = 1 << 30 };

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AT(member) offsetof(struct record, member)

static bool check_format(const struct node *line, struct error *e)
{
    struct node format = node_member(line, "format");
    if (!node_expect(&format, JSON_STRING, e))
        return false;
    if (strcmp(json_string_value(format.json), RECORD_FORMAT) == 0)
        return true;
    struct arena arena = {0};
    node_fail(&format, e, "format must be \"%s\", which this version reads (got \"%s\")",
              RECORD_FORMAT, text_printable(&arena, json_string_value(format.json), 0));
    arena_free(&arena);
    return false;
}

static const struct field header_field[] = {
    {"device_type", FIELD_TEXT, true, AT(device_type), 0},
    {"rank", FIELD_INT, true, AT(rank), 0},
    {"world_size", FIELD_INT, true, AT(world_size), 1},
    {"host", FIELD_TEXT, false, AT(host), 0},
    {"backend", FIELD_TEXT, false, AT(backend), 0},
    {"framework", FIELD_TEXT, false, AT(framework), 0},
    {"date", FIELD_TEXT, false, AT(date), 0},
    {"first", FIELD_INT, true, AT(first), 1},
    {"last", FIELD_INT, true, AT(last), 1},
    {"batch", FIELD_NUMBER, false, AT(batch), 1},
};

static const struct field device_field[] = {
    {"kind", FIELD_TEXT, false, AT(device_name), 0},
    {"name", FIELD_TEXT, false, AT(device_name), 0},
};

static bool read_header(struct arena *arena, const struct node *line, struct record *r,
                        struct error *e)
{
    struct node device = node_member(line, "device");
    if (r->device_type)
        return node_fail(line, e, "a second header: two ranks wrote to this file");
    if (!check_format(line, e) ||
        !node_fields(arena, line, header_field, COUNT(header_field), r, e))
        return false;
    if (r->last < r->first)
        return node_fail(line, e, "last must be at least first = %d (got %d)", r->first, r->last);
    if (r->rank >= r->world_size)
        return node_fail(line, e, "rank must be below world_size = %d (got %d)", r->world_size,
                         r->rank);
    return !device.json || node_fields(arena, &device, device_field, COUNT(device_field), r, e);
}

/* Room for at least `n` items, twice as many whenever it is used up; the old ones are copied. */
static void *with_room(struct arena *arena, const void *item, size_t n, size_t *capacity,
                       size_t size)
{
    if (n <= *capacity)
        return (void *)item;
    size_t old = *capacity;
    *capacity = n > 2 * old ? n : 2 * old;
    void *grown = arena_array(arena, *capacity, size);
    if (old > 0)
        memcpy(grown, item, old * size);
    return grown;
}

static bool read_note(struct arena *arena, const struct node *line, struct record *r,
                      struct error *e)
{
    struct node text = node_member(line, "text");
    if (!node_expect(&text, JSON_STRING, e))
        return false;
    r->note_line =
        with_room(arena, r->note_line, r->n_notes + 1, &r->note_capacity, sizeof *r->note_line);
    r->note_line[r->n_notes++] = text_printable(arena, json_string_value(text.json), 0);
    return true;
}

static const struct field bucket_field[] = {
    {"index", FIELD_INT, true, offsetof(struct record_bucket, index), 0},
    {"bytes", FIELD_NUMBER, true, offsetof(struct record_bucket, bytes), 0},
    {"wire_bytes", FIELD_NUMBER, false, offsetof(struct record_bucket, wire_bytes), 0},
    {"ready_s", FIELD_NUMBER, false, offsetof(struct record_bucket, ready_s), 0},
    {"done_s", FIELD_NUMBER, false, offsetof(struct record_bucket, done_s), 0},
};

/* A module may be named by text or number: it only tells buckets of one index apart. */
static const char *module_text(struct arena *arena, const struct node *bucket)
{
    struct node module = node_member(bucket, "module");
    if (!module.json)
        return "";
    char *dumped = json_dumps(module.json, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *text = dumped ? arena_copy(arena, dumped) : "";
    free(dumped);
    return text;
}

static bool read_bucket(struct arena *arena, const struct node *node, struct record_bucket *bucket,
                        struct error *e)
{
    *bucket = (struct record_bucket){
        .wire_bytes = -1, .ready_s = -1, .done_s = -1, .span_s = -1, .transfer_s = -1};
    if (!node_fields(arena, node, bucket_field, COUNT(bucket_field), bucket, e))
        return false;
    bucket->module = module_text(arena, node);
    if (bucket->wire_bytes < 0)
        bucket->wire_bytes = bucket->bytes;
    return true;
}

static bool read_buckets(struct arena *arena, const struct node *line, struct record_iteration *it,
                         struct error *e)
{
    struct node array = node_member(line, "buckets");
    if (!array.json)
        return true;
    if (!node_expect(&array, JSON_ARRAY, e))
        return false;
    it->n_buckets = json_array_size(array.json);
    it->bucket = ARENA_ARRAY(arena, it->n_buckets, struct record_bucket);
    for (size_t i = 0; i < it->n_buckets; i++) {
        struct node item = node_item(&array, i);
        if (!read_bucket(arena, &item, &it->bucket[i], e))
            return false;
    }
    return true;
}

static const struct field collective_field[] = {
    {"op", FIELD_TEXT, true, offsetof(struct record_collective, op), 0},
    {"place", FIELD_TEXT, true, offsetof(struct record_collective, place), 0},
    {"bytes", FIELD_NUMBER, false, offsetof(struct record_collective, bytes), 0},
    {"span_s", FIELD_NUMBER, false, offsetof(struct record_collective, span_s), 0},
};

static bool read_collectives(struct arena *arena, const struct node *line,
                             struct record_iteration *it, struct error *e)
{
    struct node array = node_member(line, "collectives");
    if (!array.json)
        return true;
    if (!node_expect(&array, JSON_ARRAY, e))
        return false;
    it->n_collectives = json_array_size(array.json);
    it->collective = ARENA_ARRAY(arena, it->n_collectives, struct record_collective);
    for (size_t i = 0; i < it->n_collectives; i++) {
        struct node item = node_item(&array, i);
        struct record_collective *collective = &it->collective[i];
        collective->span_s = collective->transfer_s = -1;
        if (!node_fields(arena, &item, collective_field, COUNT(collective_field), collective, e))
            return false;
    }
    return true;
}

static const struct field iteration_field[] = {
    {"i", FIELD_INT, true, offsetof(struct record_iteration, i), 1},
    {"micro_batches", FIELD_NUMBER, false, offsetof(struct record_iteration, micro_batches), 1},
    {"samples", FIELD_NUMBER, false, offsetof(struct record_iteration, samples), 0},
    {"bytes_sent", FIELD_NUMBER, false, offsetof(struct record_iteration, bytes_sent), 0},
    {"edge", FIELD_FLAG, false, offsetof(struct record_iteration, edge), 0},
    {"profiled", FIELD_FLAG, false, offsetof(struct record_iteration, profiled), 0},
    {"counted", FIELD_FLAG, false, offsetof(struct record_iteration, counted), 0},
};

/* The closed form cannot do without these. */
static bool stage_required(enum stage stage)
{
    return stage == STAGE_FORWARD || stage == STAGE_FIRST_BACKWARD || stage == STAGE_STEP;
}

static bool read_times(struct arena *arena, const struct node *line, double *time_s, bool required,
                       struct error *e)
{
    struct field field[N_STAGES];
    for (int i = 0; i < N_STAGES; i++) {
        time_s[i] = -1;
        field[i] = (struct field){.key = stage_key((enum stage)i),
                                  .kind = FIELD_NUMBER,
                                  .required = required && stage_required((enum stage)i),
                                  .offset = (size_t)i * sizeof(double)};
    }
    field[STAGE_LOADER_INTERVAL].kind = FIELD_ELSEWHERE;
    field[STAGE_REST].kind = FIELD_ELSEWHERE;
    return node_fields(arena, line, field, N_STAGES, time_s, e);
}

static const struct field rest_field[] = {
    {"rest_s", FIELD_NUMBER, false, 0, -1e9},
};

/* What is left of the step: below 0 where parts were timed that overlap, or by rounding. */
static bool read_rest(struct arena *arena, const struct node *line, struct record_iteration *it,
                      struct error *e)
{
    struct node rest = node_member(line, rest_field[0].key);
    double rest_s = 0;
    if (!rest.json)
        return true;
    if (!node_fields(arena, line, rest_field, COUNT(rest_field), &rest_s, e))
        return false;
    it->time_s[STAGE_REST] = rest_s > 0 ? rest_s : 0;
    it->overlaps = rest_s < -0.01 * it->time_s[STAGE_STEP];
    return true;
}

/* Times are needed only where the iteration counts: the first ones may be seen in part. */
static bool read_iteration(struct arena *arena, const struct node *line, struct record *r,
                           struct error *e)
{
    struct record_iteration it = {.line = line->source->first_line,
                                  .micro_batches = 1,
                                  .samples = -1,
                                  .bytes_sent = -1,
                                  .counted = true};
    if (!node_fields(arena, line, iteration_field, COUNT(iteration_field), &it, e))
        return false;
    bool in_window = it.i >= r->first && it.i <= r->last;
    bool needed = in_window && it.counted && !it.edge && !it.profiled;
    if (!read_times(arena, line, it.time_s, needed, e) || !read_rest(arena, line, &it, e) ||
        !read_buckets(arena, line, &it, e) || !read_collectives(arena, line, &it, e))
        return false;
    r->iteration =
        with_room(arena, r->iteration, r->n_iterations + 1, &r->iteration_capacity, sizeof it);
    r->iteration[r->n_iterations++] = it;
    return true;
}

static const struct field loader_field[] = {
    {"workers", FIELD_INT, true, 0, 0},
};

static bool read_loader(struct arena *arena, const struct node *line, struct record *r,
                        struct error *e)
{
    struct node fetch = node_member(line, "fetch_s");
    int workers = 0;
    double *fetch_s = NULL;
    size_t n = 0;
    if (!node_fields(arena, line, loader_field, COUNT(loader_field), &workers, e) ||
        (fetch.json && !node_numbers(arena, &fetch, &fetch_s, &n, e)))
        return false;
    r->interval_s =
        with_room(arena, r->interval_s, r->n_intervals + n, &r->interval_capacity, sizeof(double));
    for (size_t i = 0; i < n; i++)
        r->interval_s[r->n_intervals++] = fetch_s[i] / (workers > 1 ? workers : 1);
    r->workers_differ |= r->loader_workers >= 0 && r->loader_workers != workers;
    if (r->loader_workers < 0 || workers < r->loader_workers)
        r->loader_workers = workers;
    return true;
}

static const struct field operator_field[] = {
    {"index", FIELD_INT, true, offsetof(struct record_operator, index), 0},
    {"name", FIELD_TEXT, true, offsetof(struct record_operator, name), 0},
    {"count", FIELD_INT, true, offsetof(struct record_operator, count), 1},
    {"mean_s", FIELD_NUMBER, true, offsetof(struct record_operator, mean_s), 0},
    {"sd_s", FIELD_NUMBER, false, offsetof(struct record_operator, sd_s), 0},
};

static bool read_operator(struct arena *arena, const struct node *node, struct record_operator *op,
                          struct error *e)
{
    struct node samples = node_member(node, "samples_s");
    return node_fields(arena, node, operator_field, COUNT(operator_field), op, e) &&
           (!samples.json || node_numbers(arena, &samples, &op->sample_s, &op->n_samples, e));
}

static bool read_operator_list(struct arena *arena, const struct node *array,
                               struct record_operator **op, size_t *n, struct error *e)
{
    if (!array->json)
        return true;
    if (!node_expect(array, JSON_ARRAY, e))
        return false;
    *n = json_array_size(array->json);
    *op = ARENA_ARRAY(arena, *n, struct record_operator);
    for (size_t i = 0; i < *n; i++) {
        struct node item = node_item(array, i);
        if (!read_operator(arena, &item, &(*op)[i], e))
            return false;
    }
    return true;
}

static bool read_operators(struct arena *arena, const struct node *line, struct record *r,
                           struct error *e)
{
    struct node forward = node_member(line, "forward"), backward = node_member(line, "backward");
    struct node step = node_member(line, "step_s");
    return read_operator_list(arena, &forward, &r->forward_op, &r->n_forward_ops, e) &&
           read_operator_list(arena, &backward, &r->backward_op, &r->n_backward_ops, e) &&
           (!step.json || node_numbers(arena, &step, &r->profiled_step_s, &r->n_profiled_steps, e));
}

struct counted_bytes {
    double bytes;
    int n_iterations;
};

static const struct field io_field[] = {
    {"read_bytes", FIELD_NUMBER, false, offsetof(struct counted_bytes, bytes), 0},
    {"n_iterations", FIELD_INT, true, offsetof(struct counted_bytes, n_iterations), 1},
};

static bool read_io(struct arena *arena, const struct node *line, struct record *r, struct error *e)
{
    struct counted_bytes read = {.bytes = -1};
    if (!node_fields(arena, line, io_field, COUNT(io_field), &read, e))
        return false;
    r->read_bytes = read.bytes < 0 ? -1 : read.bytes / read.n_iterations;
    return true;
}

static const struct field network_field[] = {
    {"interface_sent_bytes", FIELD_NUMBER, false, offsetof(struct counted_bytes, bytes), 0},
    {"n_iterations", FIELD_INT, false, offsetof(struct counted_bytes, n_iterations), 1},
};

static const struct field interface_field[] = {
    {"interface", FIELD_TEXT, false, AT(interface), 0},
};

static bool read_network(struct arena *arena, const struct node *line, struct record *r,
                         struct error *e)
{
    struct node basis = node_member(line, "basis"), n = node_member(line, "n_iterations");
    struct counted_bytes sent = {.bytes = -1};
    if (!node_expect(&basis, JSON_STRING, e) ||
        !node_fields(arena, line, network_field, COUNT(network_field), &sent, e) ||
        !node_fields(arena, line, interface_field, COUNT(interface_field), r, e))
        return false;
    if (sent.bytes >= 0 && !n.json)
        return node_fail(line, e,
                         "n_iterations is missing: over how many interface_sent_bytes "
                         "were counted");
    r->tcp_info = strcmp(json_string_value(basis.json), "tcp_info") == 0;
    if (sent.bytes >= 0 && r->interface)
        r->interface_sent_bytes = sent.bytes / sent.n_iterations;
    return true;
}

static bool read_rounds(struct arena *arena, const struct node *line, struct record *r,
                        struct error *e)
{
    return node_fields(arena, line, rounds_field, N_ROUNDS_FIELDS, &r->rounds, e);
}

static bool read_end(struct arena *arena, const struct node *line, struct record *r,
                     struct error *e)
{
    (void)arena, (void)line, (void)e;
    r->ended = true;
    return true;
}

static bool read_error(struct arena *arena, const struct node *line, struct record *r,
                       struct error *e)
{
    struct node text = node_member(line, "text");
    if (!node_expect(&text, JSON_STRING, e))
        return false;
    r->error_text = text_printable(arena, json_string_value(text.json), 1);
    return true;
}

typedef bool read_kind(struct arena *arena, const struct node *line, struct record *record,
                       struct error *e);

static const struct {
    const char *kind;
    read_kind *read;
} kinds[] = {
    {"header", read_header},
    {"note", read_note},
    {"model", record_read_model},
    {"iteration", read_iteration},
    {"loader", read_loader},
    {"operators", read_operators},
    {"io", read_io},
    {"end", read_end},
    {"network", read_network},
    {"rounds", read_rounds},
    {"error", read_error},
};

static bool fail_headless(const struct node *kind, struct error *e)
{
    struct arena arena = {0};
    node_fail(kind, e, "the first line must be the header (got kind \"%s\")",
              text_printable(&arena, json_string_value(kind->json), 0));
    arena_free(&arena);
    return false;
}

static bool read_object(struct arena *arena, const struct node *line, struct record *record,
                        struct error *e)
{
    struct node kind = node_member(line, "kind");
    if (!node_expect(&kind, JSON_STRING, e))
        return false;
    const char *name = json_string_value(kind.json);
    bool stands_alone = strcmp(name, "header") == 0 || strcmp(name, "error") == 0;
    if (!record->device_type && !stands_alone)
        return fail_headless(&kind, e);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (strcmp(kinds[i].kind, name) == 0)
            return kinds[i].read(arena, line, record, e);
    }
    return true;
}

static bool read_line(struct arena *arena, const struct source *source, struct record *record,
                      struct error *e)
{
    json_t *json = NULL;
    if (!node_load(source, &json, e))
        return false;
    struct node line = node_root(source, json);
    bool ok = read_object(arena, &line, record, e);
    json_decref(json);
    return ok;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r", text[i]))
            return false;
    }
    return true;
}

static bool read_lines(struct arena *arena, const char *text, size_t length, struct record *record,
                       struct error *e)
{
    struct source line = {.file = record->file, .text = text};
    for (const char *end = text + length; line.text < end; line.text += line.length + 1) {
        const char *newline = memchr(line.text, '\n', (size_t)(end - line.text));
        line.length = (size_t)((newline ? newline : end) - line.text);
        line.first_line++;
        if (is_blank(line.text, line.length))
            continue;
        if (!read_line(arena, &line, record, e)) {
            if (newline || !record->device_type)
                return false;
            error_clear(e);
            return true;
        }
        record->n_lines = line.first_line;
    }
    return true;
}

bool record_parse(struct arena *arena, const char *text, size_t length, const char *file,
                  struct record *record, struct error *e)
{
    struct record read = {
        .file = arena_copy(arena, file), .batch = -1, .loader_workers = -1, .read_bytes = -1};
    if (!read_lines(arena, text, length, &read, e))
        return false;
    if (!read.device_type && !read.error_text) {
        error_set(e, ERROR_INPUT, "%s: empty: expected a record (%s)", file, RECORD_FORMAT);
        return false;
    }
    *record = read;
    return true;
}

bool record_read(struct arena *arena, const char *path, struct record *record, struct error *e)
{
    struct arena scratch = {0};
    char *text = NULL;
    size_t length = 0;
    bool ok = file_read(&scratch, path, LARGEST_RECORD_BYTES, &text, &length, e) &&
              record_parse(arena, text, length, path, record, e);
    arena_free(&scratch);
    return ok;
}
