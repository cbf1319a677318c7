#include "job/layer_kinds.h"

#include <string.h>

#include "job/fields.h"
#include "job/yaml_json.h"

/* What a key of a layer or an optimizer holds. */
enum value_form {
    FORM_SIZE,  /* a whole number, 1 or more */
    FORM_SIZES, /* one, or a list of them: one for each axis */
    FORM_WHOLE, /* 0 or more, or a list of them */
    FORM_NUMBER,
    FORM_NUMBERS, /* a list of numbers */
    FORM_FLAG,
};

struct key {
    const char *name;
    enum value_form form;
    bool required;
};

enum { MOST_KEYS = 8 };

struct kind {
    const char *name;
    struct key key[MOST_KEYS]; /* up to one without a name */
};

static const struct kind layer_kind[] = {
    {"linear", {{"out", FORM_SIZE, true}, {"bias", FORM_FLAG, false}}},
    {"flatten", {{0}}},
};
enum { N_LAYER_KINDS = sizeof layer_kind / sizeof *layer_kind };

static const struct kind optimizer_kind[] = {
    {"sgd", {{"lr", FORM_NUMBER, false}, {"momentum", FORM_NUMBER, false}}},
    {"adam", {{"lr", FORM_NUMBER, false}}},
};
enum { N_OPTIMIZER_KINDS = sizeof optimizer_kind / sizeof *optimizer_kind };

static const char *const activation[] = {"relu", "gelu", "tanh", "sigmoid"};
enum { N_ACTIVATIONS = sizeof activation / sizeof *activation };

static const char *const loss[] = {"cross_entropy", "mse"};
enum { N_LOSSES = sizeof loss / sizeof *loss };

static bool is_word(const char *const *word, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(word[i], text) == 0)
            return true;
    }
    return false;
}

static bool check_word(struct reading *r, const struct node *node, const char *const *word,
                       size_t n)
{
    if (node->kind == NODE_SCALAR && is_word(word, n, node->text))
        return true;
    char *hint = node->kind == NODE_SCALAR ? reading_nearest(r, node->text, word, n) : NULL;
    reading_refuse(r, node, hint, "%s must be %s (got %s)", node->name, field_words(r, word, n),
                   node_found(r, node));
    return false;
}

static bool is_number_from(const json_t *value, double least, bool whole)
{
    if (whole)
        return json_is_integer(value) && (double)json_integer_value(value) >= least;
    return json_is_number(value) && json_number_value(value) >= least;
}

static bool all_from(const json_t *list, double least, bool whole)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!is_number_from(json_array_get(list, i), least, whole))
            return false;
    }
    return json_array_size(list) > 0;
}

static bool fits(const json_t *value, enum value_form form)
{
    switch (form) {
    case FORM_SIZE:
        return is_number_from(value, 1, true);
    case FORM_SIZES:
        return is_number_from(value, 1, true) || all_from(value, 1, true);
    case FORM_WHOLE:
        return is_number_from(value, 0, true) || all_from(value, 0, true);
    case FORM_NUMBER:
        return is_number_from(value, 0, false);
    case FORM_NUMBERS:
        return all_from(value, 0, false);
    case FORM_FLAG:
        return json_is_boolean(value);
    }
    return false;
}

static const char *form_text(enum value_form form)
{
    static const char *const text[] = {
        [FORM_SIZE] = "a whole number, 1 or more",
        [FORM_SIZES] = "a whole number, 1 or more, or a list of them",
        [FORM_WHOLE] = "a whole number, 0 or more, or a list of them",
        [FORM_NUMBER] = "a number, 0 or more",
        [FORM_NUMBERS] = "a list of numbers, 0 or more",
        [FORM_FLAG] = "true or false",
    };
    return text[form];
}

static json_t *checked_value(struct reading *r, const struct node *node, enum value_form form)
{
    json_t *value = yaml_json(r, node);
    if (!value || fits(value, form))
        return value;
    json_decref(value);
    reading_refuse(r, node, NULL, "%s must be %s (got %s)", node->name, form_text(form),
                   node_found(r, node));
    return NULL;
}

static size_t n_keys(const struct kind *kind)
{
    size_t n = 0;
    while (n < MOST_KEYS && kind->key[n].name)
        n++;
    return n;
}

static const struct key *find_key(const struct kind *kind, const char *name)
{
    for (size_t i = 0; i < n_keys(kind); i++) {
        if (strcmp(kind->key[i].name, name) == 0)
            return &kind->key[i];
    }
    return NULL;
}

static void refuse_key(struct reading *r, const struct node *value, const struct kind *kind,
                       const char *extra)
{
    const char *word[MOST_KEYS + 2] = {"kind"};
    size_t n = 1;
    for (size_t i = 0; i < n_keys(kind); i++)
        word[n++] = kind->key[i].name;
    if (extra)
        word[n++] = extra;
    char *hint = reading_nearest(r, value->key->text, word, n);
    reading_refuse(r, value->key,
                   hint ? hint : arena_format(r->arena, "known here: %s", field_words(r, word, n)),
                   "unknown key '%s' of %s", value->name, kind->name);
}

/* Adds a kind's keys to `out`; `extra` is a key that the caller reads. */
static bool read_keys(struct reading *r, const struct node *node, const struct kind *kind,
                      const char *extra, json_t *out)
{
    bool ok = true;
    for (const struct node *value = node->first; value; value = value->next) {
        const char *name = value->key->text;
        const struct key *key = find_key(kind, name);
        if (strcmp(name, "kind") == 0 || (extra && strcmp(name, extra) == 0))
            continue;
        json_t *json = key ? checked_value(r, value, key->form) : NULL;
        if (!key)
            refuse_key(r, value, kind, extra);
        if (json)
            json_object_set_new(out, name, json);
        ok = ok && json;
    }
    for (size_t i = 0; i < n_keys(kind); i++) {
        if (!kind->key[i].required || node_find(node, kind->key[i].name))
            continue;
        reading_refuse(r, node, NULL, "'%s' of %s is missing", kind->key[i].name, kind->name);
        ok = false;
    }
    return ok;
}

static const struct kind *find_kind(struct reading *r, const struct node *node,
                                    const struct kind *table, size_t n)
{
    const char *word[64];
    for (size_t i = 0; i < n; i++)
        word[i] = table[i].name;
    if (!check_word(r, node, word, n))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, node->text) == 0)
            return &table[i];
    }
    return NULL;
}

/* The kind in a mapping's key `kind`, or NULL (noted). */
static const struct kind *kind_of(struct reading *r, const struct node *node,
                                  const struct kind *table, size_t n)
{
    const struct node *word = node->kind == NODE_MAPPING ? node_find(node, "kind") : NULL;
    if (word)
        return find_kind(r, word, table, n);
    reading_refuse(r, node, NULL, "%s must be a mapping with 'kind', such as {kind: %s} (got %s)",
                   node->name, table[0].name, node_found(r, node));
    return NULL;
}

static bool add_activation(struct reading *r, const struct node *node, json_t *out)
{
    const struct node *word = node_find(node, "activation");
    if (!word)
        return true;
    if (!check_word(r, word, activation, N_ACTIVATIONS))
        return false;
    json_object_set_new(out, "activation", json_string(word->text));
    return true;
}

static bool add_layer(struct reading *r, const struct node *node, json_t *layers)
{
    const struct kind *kind = kind_of(r, node, layer_kind, N_LAYER_KINDS);
    if (!kind)
        return false;
    json_t *layer = json_pack("{s:s}", "kind", kind->name);
    bool ok = read_keys(r, node, kind, "activation", layer);
    ok = add_activation(r, node, layer) && ok;
    json_array_append_new(layers, layer);
    return ok;
}

static bool add_layers(struct reading *r, const struct node *node, json_t *model)
{
    const struct node *list = node_find(node, "layers");
    json_t *layers = json_array();
    json_object_set_new(model, "layers", layers);
    if (list->kind != NODE_LIST || list->n == 0) {
        reading_refuse(r, list, NULL, "layers must be a list of layers (got %s)",
                       list->kind == NODE_LIST ? "an empty one" : node_found(r, list));
        return false;
    }
    bool ok = true;
    for (const struct node *item = list->first; item; item = item->next)
        ok = add_layer(r, item, layers) && ok;
    return ok;
}

static const struct node *required(struct reading *r, const struct node *node, const char *key)
{
    const struct node *value = node_find(node, key);
    if (!value)
        reading_refuse(r, node_find(node, "layers")->key, NULL,
                       "'%s' is missing in a model made of layers", key);
    return value;
}

static bool add_input(struct reading *r, const struct node *node, json_t *model)
{
    const struct node *input = required(r, node, "input");
    if (!input)
        return false;
    json_t *shape = input->kind == NODE_LIST ? checked_value(r, input, FORM_SIZES) : NULL;
    if (shape)
        json_object_set_new(model, "input", shape);
    else if (input->kind != NODE_LIST)
        reading_refuse(r, input, NULL,
                       "input must be the shape of one sample, such as [3, 32, 32] (got %s)",
                       node_found(r, input));
    return shape != NULL;
}

static bool add_loss(struct reading *r, const struct node *node, json_t *model)
{
    const struct node *word = required(r, node, "loss");
    if (!word || !check_word(r, word, loss, N_LOSSES))
        return false;
    json_object_set_new(model, "loss", json_string(word->text));
    return true;
}

/* `optimizer: sgd` or `optimizer: {kind: sgd, lr: 0.1}` */
static bool add_optimizer(struct reading *r, const struct node *node, json_t *model)
{
    const struct node *value = required(r, node, "optimizer");
    if (!value)
        return false;
    bool word = value->kind == NODE_SCALAR;
    const struct kind *kind = word ? find_kind(r, value, optimizer_kind, N_OPTIMIZER_KINDS)
                                   : kind_of(r, value, optimizer_kind, N_OPTIMIZER_KINDS);
    if (!kind)
        return false;
    json_t *optimizer = json_pack("{s:s}", "kind", kind->name);
    json_object_set_new(model, "optimizer", optimizer);
    return word || read_keys(r, value, kind, NULL, optimizer);
}

const char *layer_kinds_read(struct reading *r, const struct node *node)
{
    json_t *model = json_object();
    bool ok = add_input(r, node, model);
    ok = add_layers(r, node, model) && ok;
    ok = add_loss(r, node, model) && ok;
    ok = add_optimizer(r, node, model) && ok;
    if (ok)
        return yaml_json_text(r, model);
    json_decref(model);
    return NULL;
}

static json_t *list_kinds(const struct kind *table, size_t n)
{
    json_t *out = json_object();
    for (size_t i = 0; i < n; i++) {
        json_t *keys = json_array();
        for (size_t k = 0; k < n_keys(&table[i]); k++)
            json_array_append_new(keys, json_string(table[i].key[k].name));
        json_object_set_new(out, table[i].name, keys);
    }
    return out;
}

static json_t *list_words(const char *const *word, size_t n)
{
    json_t *out = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, json_string(word[i]));
    return out;
}

json_t *layer_kinds_list(void)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "layers", list_kinds(layer_kind, N_LAYER_KINDS),
                     "activations", list_words(activation, N_ACTIVATIONS), "losses",
                     list_words(loss, N_LOSSES), "optimizers",
                     list_kinds(optimizer_kind, N_OPTIMIZER_KINDS));
}
