/* validation.json read back: each object of the file is a table of its keys. */
#include "predict/validation.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/node.h"

enum { MOST = 1000 }; /* device types, runs */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define V(member) offsetof(struct validation, member)

static const struct field root_field[] = {
    {"name", FIELD_TEXT, true, V(name), 0},
    {"smaller", FIELD_TEXT, false, V(smaller), 0},
    {"forecast_first", FIELD_FLAG, true, V(forecast_first), 0},
    {"shares_host", FIELD_FLAG, true, V(shares_host), 0},
};

static const struct field forecast_field[] = {
    {"written_at", FIELD_TEXT, true, V(written), 0},
    {"sha256", FIELD_TEXT, true, V(sha256), 0},
    {"model", FIELD_TEXT, true, V(model), 0},
    {"step_s", FIELD_NUMBER, true, V(step.forecast), 0},
    {"closed_form_step_s", FIELD_NUMBER, true, V(closed_form_s), 0},
    {"epoch_s", FIELD_NUMBER, false, V(epoch.forecast), 0},
    {"total_s", FIELD_NUMBER, false, V(total.forecast), 0},
    {"iterations", FIELD_NUMBER, false, V(iterations), 0},
};

static const struct field truth_field[] = {
    {"iterations", FIELD_INT, true, V(n_counted), 0},
    {"step_s", FIELD_NUMBER, true, V(step.measured), 0},
    {"epoch_s", FIELD_NUMBER, false, V(epoch.measured), 0},
    {"total_s", FIELD_NUMBER, false, V(total.measured), 0},
    {"extrapolated", FIELD_FLAG, true, V(extrapolated), 0},
    {"distance", FIELD_NUMBER, false, V(distance), 0},
};

static const struct field run_field[] = {
    {"started_at", FIELD_TEXT, false, offsetof(struct validation_run, started), 0},
    {"step_s", FIELD_NUMBER, true, offsetof(struct validation_run, step_s), 0},
};

/* Numbers that are null are not known. */
struct pair {
    double forecast, measured;
};

static const struct field stage_field[] = {
    {"forecast_s", FIELD_NUMBER, false, offsetof(struct pair, forecast), 0},
    {"measured_s", FIELD_NUMBER, false, offsetof(struct pair, measured), 0},
};

static const struct field bytes_field[] = {
    {"forecast_bytes", FIELD_NUMBER, false, offsetof(struct pair, forecast), 0},
    {"measured_bytes", FIELD_NUMBER, false, offsetof(struct pair, measured), 0},
};

struct named {
    const char *name;
    double n;
};

static const struct field type_field[] = {
    {"name", FIELD_TEXT, true, offsetof(struct named, name), 0},
    {"n", FIELD_NUMBER, true, offsetof(struct named, n), 1},
};

static bool read_pair(struct arena *arena, const struct node *node, const struct field *field,
                      struct validation_value *value, struct error *e)
{
    struct pair pair = {-1, -1};
    if (!node->json)
        return true;
    if (!node_fields(arena, node, field, 2, &pair, e))
        return false;
    value->forecast_known = pair.forecast >= 0;
    value->measured_known = pair.measured >= 0;
    value->forecast = value->forecast_known ? pair.forecast : 0;
    value->measured = value->measured_known ? pair.measured : 0;
    validation_compare(value);
    return true;
}

static bool read_type(struct arena *arena, const struct node *node, struct validation_type *type,
                      struct error *e)
{
    const double most = 1e7;
    struct named named = {0};
    struct node stages = node_member(node, "stages");
    struct node bytes = node_member(node, "sent_bytes");
    if (!node_fields(arena, node, type_field, COUNT(type_field), &named, e) ||
        !node_expect(&stages, JSON_OBJECT, e))
        return false;
    if (named.n > most)
        return node_fail(node, e, "n must be at most %g devices (got %g)", most, named.n);
    type->name = named.name;
    type->n_devices = (int64_t)named.n;
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        struct node stage = node_member(&stages, validation_stage_key((enum validation_stage)s));
        if (!read_pair(arena, &stage, stage_field, &type->stage[s], e))
            return false;
    }
    return read_pair(arena, &bytes, bytes_field, &type->sent_bytes, e);
}

static bool read_types(struct arena *arena, const struct node *root, struct validation *v,
                       struct error *e)
{
    struct node types = node_member(root, "types");
    if (!node_expect(&types, JSON_ARRAY, e))
        return false;
    size_t n = json_array_size(types.json);
    if (n > MOST)
        return node_fail(&types, e, "at most %d types can be (got %zu)", MOST, n);
    v->type = ARENA_ARRAY(arena, n, struct validation_type);
    v->n_types = (int)n;
    for (size_t t = 0; t < n; t++) {
        struct node type = node_item(&types, t);
        if (!read_type(arena, &type, &v->type[t], e))
            return false;
        v->n_devices += (size_t)v->type[t].n_devices;
    }
    return true;
}

static bool read_runs(struct arena *arena, const struct node *truth, struct validation *v,
                      struct error *e)
{
    struct node runs = node_member(truth, "runs");
    if (!node_expect(&runs, JSON_ARRAY, e))
        return false;
    v->n_runs = json_array_size(runs.json);
    if (v->n_runs > MOST)
        return node_fail(&runs, e, "at most %d runs can be (got %zu)", MOST, v->n_runs);
    v->run = ARENA_ARRAY(arena, v->n_runs, struct validation_run);
    for (size_t r = 0; r < v->n_runs; r++) {
        struct node run = node_item(&runs, r);
        if (!node_fields(arena, &run, run_field, COUNT(run_field), &v->run[r], e))
            return false;
    }
    return true;
}

static bool check_format(const struct node *root, struct error *e)
{
    static const char expected[] = "foretrain.validation/1";
    struct node format = node_member(root, "format");
    if (!node_expect(&format, JSON_STRING, e))
        return false;
    return strcmp(json_string_value(format.json), expected) == 0 ||
           node_fail(&format, e, "format must be \"%s\"", expected);
}

static bool read_root(struct arena *arena, const struct node *root, struct validation *v,
                      struct error *e)
{
    struct node forecast = node_member(root, "forecast"), truth = node_member(root, "truth");
    v->epoch.forecast = v->epoch.measured = -1;
    if (!check_format(root, e) || !node_fields(arena, root, root_field, COUNT(root_field), v, e) ||
        !node_fields(arena, &forecast, forecast_field, COUNT(forecast_field), v, e) ||
        !node_fields(arena, &truth, truth_field, COUNT(truth_field), v, e) ||
        !read_runs(arena, &truth, v, e) || !read_types(arena, root, v, e))
        return false;
    v->epoch_known = v->epoch.forecast >= 0 && v->epoch.measured >= 0;
    struct validation_value *whole[] = {&v->step, &v->epoch, &v->total};
    for (size_t i = 0; i < COUNT(whole) && (i == 0 || v->epoch_known); i++) {
        whole[i]->forecast_known = whole[i]->measured_known = true;
        validation_compare(whole[i]);
    }
    return true;
}

bool validation_parse(struct arena *arena, const char *text, size_t length, const char *file,
                      struct validation *validation, struct error *e)
{
    struct source source = {.file = file, .text = text, .length = length, .first_line = 1};
    struct validation read = {0};
    json_t *json = NULL;
    if (!node_load(&source, &json, e))
        return false;
    struct node root = node_root(&source, json);
    bool ok = read_root(arena, &root, &read, e);
    json_decref(json);
    if (ok)
        *validation = read;
    return ok;
}

bool validation_read(struct arena *arena, const char *path, struct validation *validation,
                     struct error *e)
{
    enum { LARGEST = 64 << 20 };
    char *text = NULL;
    size_t length = 0;
    return file_read(arena, path, LARGEST, &text, &length, e) &&
           validation_parse(arena, text, length, path, validation, e);
}
