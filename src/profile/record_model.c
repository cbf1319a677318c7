#include "profile/record_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/dtype_sizes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Takes over the text's memory into the arena; NULL where nothing was added. */
static const char *keep_text(struct arena *arena, struct text *text)
{
    const char *kept = text->data ? arena_copy(arena, text->data) : NULL;
    text_free(text);
    return kept;
}

static void add_json(struct text *out, const json_t *json)
{
    char *dumped = json_is_string(json)
                       ? NULL
                       : json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (json_is_string(json))
        text_add(out, json_string_value(json));
    else
        text_add(out, dumped ? dumped : "?");
    free(dumped);
}

/* Whole numbers came as reals: "16", not "16.0". */
static void add_size(struct text *out, const json_t *json)
{
    if (json_is_number(json))
        text_format(out, "%.15g", json_number_value(json));
    else
        add_json(out, json);
}

/* [[16,3,32,32]] as "16x3x32x32", several separated by ", "; NULL where it is not such an array. */
static const char *shapes_text(struct arena *arena, const struct node *layer, const char *key)
{
    struct node shapes = node_member(layer, key);
    struct text text = {0};
    for (size_t i = 0; i < json_array_size(shapes.json); i++) {
        const json_t *shape = json_array_get(shapes.json, i);
        text_add(&text, i > 0 ? ", " : "");
        if (!json_is_array(shape))
            add_size(&text, shape);
        for (size_t k = 0; k < json_array_size(shape); k++) {
            text_add(&text, k > 0 ? "x" : "");
            add_size(&text, json_array_get(shape, k));
        }
    }
    return keep_text(arena, &text);
}

static const struct field layer_field[] = {
    {"name", FIELD_TEXT, true, offsetof(struct profile_layer, name), 0},
    {"kind", FIELD_TEXT, true, offsetof(struct profile_layer, kind), 0},
    {"activation", FIELD_TEXT, false, offsetof(struct profile_layer, activation), 0},
    {"parameters", FIELD_NUMBER, false, offsetof(struct profile_layer, n_parameters), 0},
};

static bool read_layer(struct arena *arena, const struct node *node, struct profile_layer *layer,
                       struct error *e)
{
    if (!node_fields(arena, node, layer_field, COUNT(layer_field), layer, e))
        return false;
    layer->input_shapes = shapes_text(arena, node, "input_shapes");
    layer->output_shapes = shapes_text(arena, node, "output_shapes");
    return true;
}

static bool read_layers(struct arena *arena, const struct node *module, struct record *r,
                        struct error *e)
{
    struct node array = node_member(module, "layers");
    if (!array.json)
        return true;
    if (!node_expect(&array, JSON_ARRAY, e))
        return false;
    size_t n = json_array_size(array.json);
    struct profile_layer *all = ARENA_ARRAY(arena, r->n_layers + n, struct profile_layer);
    for (size_t i = 0; i < r->n_layers; i++)
        all[i] = r->layer[i];
    for (size_t i = 0; i < n; i++) {
        struct node item = node_item(&array, i);
        if (!read_layer(arena, &item, &all[r->n_layers + i], e))
            return false;
    }
    r->layer = all;
    r->n_layers += n;
    return true;
}

struct module_size {
    double parameters;
};

static const struct field module_field[] = {
    {"parameters", FIELD_NUMBER, false, offsetof(struct module_size, parameters), 0},
};

static bool read_module(struct arena *arena, const struct node *module, struct record *r,
                        struct error *e)
{
    struct module_size size = {0};
    struct node parameters = node_member(module, "parameter_bytes");
    struct node gradients = node_member(module, "gradient_bytes");
    if (!node_fields(arena, module, module_field, COUNT(module_field), &size, e) ||
        !dtype_sizes_add(arena, &parameters, &r->parameter_bytes, e) ||
        !dtype_sizes_add(arena, &gradients, &r->model_gradient_bytes, e) ||
        !read_layers(arena, module, r, e))
        return false;
    r->n_parameters += size.parameters;
    return true;
}

static bool read_modules(struct arena *arena, const struct node *line, struct record *r,
                         struct error *e)
{
    struct node array = node_member(line, "modules");
    if (!array.json)
        return true;
    if (!node_expect(&array, JSON_ARRAY, e))
        return false;
    for (size_t i = 0; i < json_array_size(array.json); i++) {
        struct node module = node_item(&array, i);
        if (!read_module(arena, &module, r, e))
            return false;
    }
    return true;
}

static void add_settings(struct text *out, json_t *settings)
{
    const char *lead = " (";
    const char *key;
    json_t *value;
    json_object_foreach(settings, key, value)
    {
        text_format(out, "%s%s=", lead, key);
        add_size(out, value);
        lead = ", ";
    }
    if (json_object_size(settings) > 0)
        text_add(out, ")");
}

static bool read_optimizers(struct arena *arena, const struct node *line, struct record *r,
                            struct error *e)
{
    struct node array = node_member(line, "optimizers");
    struct text text = {0};
    for (size_t i = 0; i < json_array_size(array.json); i++) {
        struct node item = node_item(&array, i), kind = node_member(&item, "kind");
        if (!node_expect(&kind, JSON_STRING, e)) {
            text_free(&text);
            return false;
        }
        text_format(&text, "%s%s", i > 0 ? " and " : "", json_string_value(kind.json));
        add_settings(&text, json_object_get(item.json, "settings"));
    }
    r->optimizer = keep_text(arena, &text);
    return true;
}

static const struct field model_field[] = {
    {"loss", FIELD_TEXT, false, offsetof(struct record, loss), 0},
};

bool record_read_model(struct arena *arena, const struct node *line, struct record *r,
                       struct error *e)
{
    r->n_layers = 0;
    r->n_parameters = 0;
    r->parameter_bytes = r->model_gradient_bytes = (struct dtype_sizes){0};
    return node_fields(arena, line, model_field, COUNT(model_field), r, e) &&
           read_modules(arena, line, r, e) && read_optimizers(arena, line, r, e);
}
