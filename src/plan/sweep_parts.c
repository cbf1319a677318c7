#include "plan/sweep_parts.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

static const char FORMAT[] = "foretrain.sweep_part/1";

static void add_links(const struct link *link, size_t n, struct text *out)
{
    for (size_t i = 0; i < n; i++)
        text_format(out, "%.17g %.17g\n", link[i].bandwidth_Bps, link[i].latency_s);
}

/* All that outcomes depend on, in few words. */
static void describe(const struct what_if *w, const struct sweep *sweep, struct text *out)
{
    const struct forecast *f = &w->base;
    size_t n_pairs = w->classes.n_types * w->classes.n_types;
    text_format(out, "%s\n%d %d %.17g %.17g\n", w->job.text ? w->job.text : "", (int)w->model,
                w->counts_vary, f->step_s, f->payload_bytes);
    for (int t = 0; t < f->n_types; t++) {
        const struct type_forecast *type = &f->type[t];
        text_format(out, "%.17g %.17g %.17g %.17g\n", type->load_s, type->forward_s,
                    type->first_backward_s, type->backward_s);
    }
    add_links(w->classes.across, n_pairs, out);
    add_links(w->classes.within, n_pairs, out);
    for (size_t a = 0; a < sweep->n_axes; a++) {
        text_format(out, "%s", sweep->axis[a].quantity.path);
        for (size_t i = 0; i < sweep->axis[a].n; i++)
            text_format(out, " %.17g", sweep->axis[a].value[i]);
    }
}

/* FNV-1a: it tells folders apart, nobody attacks it. */
static uint64_t hash_of(const struct text *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text->length; i++)
        hash = (hash ^ (unsigned char)text->data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void sweep_key(const struct what_if *w, const struct sweep *sweep, char key[SWEEP_KEY_SIZE])
{
    struct text text = {0};
    describe(w, sweep, &text);
    snprintf(key, SWEEP_KEY_SIZE, "%016llx", (unsigned long long)hash_of(&text));
    text_free(&text);
}

char *sweep_part_path(struct arena *arena, const char *folder, struct sweep_part part)
{
    return arena_format(arena, "%s/part-%zu-of-%zu.json", folder, part.number, part.n);
}

static void add_outcome(const struct outcome *o, struct text *out)
{
    if (!o->any) {
        text_add(out, "null");
        return;
    }
    text_format(out, "[%zu,%.17g,%.17g", o->n_devices, o->step_s, o->samples_per_s);
    if (o->epoch_known)
        text_format(out, ",%.17g,%.17g,%.17g", o->iterations, o->epoch_s, o->total_s);
    if (o->cost_known)
        text_format(out, ",%.17g", o->cost);
    text_add(out, "]");
}

bool sweep_part_write(const char *folder, const char *key, const struct sweep *sweep,
                      struct error *e)
{
    struct arena scratch = {0};
    struct text out = {0};
    text_format(&out,
                "{\"format\":\"%s\",\"sweep\":\"%s\",\"part\":%zu,\"of\":%zu,\n\"outcomes\":[",
                FORMAT, key, sweep->part.number, sweep->part.n);
    for (size_t i = 0; i < sweep->n; i++) {
        text_add(&out, i ? ",\n" : "\n");
        add_outcome(&sweep->outcome[i], &out);
    }
    text_add(&out, "]}\n");
    const char *path = sweep_part_path(&scratch, folder, sweep->part);
    bool ok = file_make_folders(folder, e) && file_write(path, out.data, out.length, e);
    text_free(&out);
    arena_free(&scratch);
    return ok;
}

static bool refuse_part(const char *file, const char *what, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s: %s", file, what);
    error_hint(e, "remove it, and do this part again");
    return false;
}

static bool read_number(const json_t *array, size_t i, double *value)
{
    const json_t *item = json_array_get(array, i);
    *value = json_number_value(item);
    return json_is_number(item) && isfinite(*value) && *value >= 0;
}

/* Devices, step and throughput; then the epoch's three; then the cost. */
static bool read_outcome(const json_t *item, struct outcome *outcome)
{
    double value[7];
    size_t n = json_array_size(item);
    if (json_is_null(item)) {
        *outcome = (struct outcome){0};
        return true;
    }
    if (n != 3 && n != 6 && n != 7)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!read_number(item, i, &value[i]))
            return false;
    }
    struct outcome o = {.any = true, .n_devices = (size_t)value[0], .step_s = value[1]};
    o.samples_per_s = value[2];
    o.epoch_known = n > 3;
    o.iterations = n > 3 ? value[3] : 0;
    o.epoch_s = n > 3 ? value[4] : 0;
    o.total_s = n > 3 ? value[5] : 0;
    o.cost_known = n > 6;
    o.cost = n > 6 ? value[6] : 0;
    *outcome = o;
    return value[0] >= 1 && value[0] <= 1e15;
}

static bool is_text(const json_t *root, const char *key, const char *expected)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text && strcmp(text, expected) == 0;
}

static bool is_number(const json_t *root, const char *key, size_t expected)
{
    const json_t *value = json_object_get(root, key);
    return json_is_integer(value) && json_integer_value(value) == (json_int_t)expected;
}

/* NULL, or what is wrong. */
static const char *read_part(const json_t *root, const char *key, struct sweep_part part,
                             struct outcome *outcome, size_t n)
{
    const json_t *outcomes = json_object_get(root, "outcomes");
    if (!is_text(root, "format", FORMAT))
        return "is no part of a sweep (foretrain.sweep_part/1)";
    if (!is_text(root, "sweep", key))
        return "is part of another sweep";
    if (!is_number(root, "part", part.number) || !is_number(root, "of", part.n))
        return "is another part than its name says";
    if (!json_is_array(outcomes) || json_array_size(outcomes) != n)
        return "does not hold the outcomes of its systems";
    for (size_t i = 0; i < n; i++) {
        if (!read_outcome(json_array_get(outcomes, i), &outcome[i]))
            return "holds an outcome that cannot be";
    }
    return NULL;
}

bool sweep_part_parse(const char *text, const char *file, const char *key, struct sweep_part part,
                      struct sweep *sweep, struct error *e)
{
    json_error_t where;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        error_set(e, ERROR_INPUT, "%s:%d:%d: %s", file, where.line, where.column, where.text);
        return false;
    }
    struct sweep own = *sweep;
    struct error none = {0};
    bool counted = sweep_take_part(&own, part, &none);
    error_clear(&none);
    const char *wrong = counted ? read_part(root, key, part, sweep->outcome + own.first, own.n)
                                : "has too many systems";
    json_decref(root);
    return !wrong || refuse_part(file, wrong, e);
}

const char *sweep_parts_missing(struct arena *arena, const char *folder, size_t n)
{
    enum { MOST_NAMED = 20 };
    const char *missing = NULL;
    size_t n_missing = 0;
    for (size_t k = 1; k <= n; k++) {
        if (file_exists(sweep_part_path(arena, folder, (struct sweep_part){k, n})))
            continue;
        if (n_missing++ < MOST_NAMED)
            missing = missing ? arena_format(arena, "%s, %zu", missing, k)
                              : arena_format(arena, "%zu", k);
    }
    if (n_missing > MOST_NAMED)
        missing = arena_format(arena, "%s and %zu more", missing, n_missing - MOST_NAMED);
    return missing;
}

static bool read_file(const char *path, const char *key, struct sweep_part part,
                      struct sweep *sweep, struct error *e)
{
    const size_t limit_bytes = (size_t)4 << 30;
    struct arena scratch = {0};
    char *text = NULL;
    bool ok = file_read(&scratch, path, limit_bytes, &text, NULL, e) &&
              sweep_part_parse(text, path, key, part, sweep, e);
    arena_free(&scratch);
    return ok;
}

bool sweep_parts_join(struct arena *arena, const char *folder, const char *key, size_t n,
                      struct sweep *sweep, struct error *e)
{
    const char *missing = sweep_parts_missing(arena, folder, n);
    if (missing) {
        error_set(e, ERROR_FILE, "%s: of %zu parts these are missing: %s", folder, n, missing);
        error_hint(e, "do each again alone: the same command with --part NUMBER/%zu", n);
        return false;
    }
    sweep->outcome = ARENA_ARRAY(arena, sweep->n_systems, struct outcome);
    for (size_t k = 1; k <= n; k++) {
        struct sweep_part part = {k, n};
        if (!read_file(sweep_part_path(arena, folder, part), key, part, sweep, e))
            return false;
    }
    return true;
}
