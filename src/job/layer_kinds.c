#include "job/layer_kinds.h"

#include <string.h>

#include "job/fields.h"
#include "job/yaml_json.h"

/* What a key of a layer or an optimizer holds. */
enum value_form {
    FORM_SIZE,   /* a whole number, 1 or more */
    FORM_SIZES,  /* one, or a list of two: one for each axis */
    FORM_WHOLES, /* the same, from 0 */
    FORM_NUMBER, /* 0 or more */
    FORM_FLAG,
};

struct form {
    const char *type; /* as the worker's table says it */
    const char *text; /* for messages */
};

static const struct form form[] = {
    [FORM_SIZE] = {"integer", "a whole number, 1 or more"},
    [FORM_SIZES] = {"integer or pair", "a whole number, 1 or more, or a list of two"},
    [FORM_WHOLES] = {"integer or pair", "a whole number, 0 or more, or a list of two"},
    [FORM_NUMBER] = {"number", "a number, 0 or more"},
    [FORM_FLAG] = {"boolean", "true or false"},
};

struct key {
    const char *name;
    enum value_form form;
    bool required;
};

enum { MOST_KEYS = 8, MOST_KINDS = 32 };

struct kind {
    const char *name;
    struct key key[MOST_KEYS]; /* up to one without a name */
};

#define CONVOLUTION                                                                                \
    {                                                                                              \
        {"out", FORM_SIZE, true}, {"kernel", FORM_SIZES, true}, {"stride", FORM_SIZES, false},     \
            {"padding", FORM_WHOLES, false}, {"dilation", FORM_SIZES, false},                      \
            {"groups", FORM_SIZE, false}, {"bias", FORM_FLAG, false},                              \
    }
#define POOL                                                                                       \
    {                                                                                              \
        {"kernel", FORM_SIZES, true}, {"stride", FORM_SIZES, false},                               \
            {"padding", FORM_WHOLES, false},                                                       \
    }

static const struct kind layer_kind[] = {
    {"linear", {{"out", FORM_SIZE, true}, {"bias", FORM_FLAG, false}}},
    {"conv1d", CONVOLUTION},
    {"conv2d", CONVOLUTION},
    {"batch_norm1d", {{0}}},
    {"batch_norm2d", {{0}}},
    {"layer_norm", {{0}}},
    {"max_pool2d", POOL},
    {"avg_pool2d", POOL},
    {"adaptive_avg_pool2d", {{"size", FORM_SIZES, true}}},
    {"flatten", {{0}}},
    {"dropout", {{"p", FORM_NUMBER, false}}},
    {"embedding", {{"size", FORM_SIZE, true}, {"dim", FORM_SIZE, true}}},
    {"lstm",
     {{"hidden", FORM_SIZE, true}, {"layers", FORM_SIZE, false}, {"last", FORM_FLAG, false}}},
    {"transformer_encoder_layer",
     {{"heads", FORM_SIZE, true}, {"ff", FORM_SIZE, false}, {"dropout", FORM_NUMBER, false}}},
};
enum { N_LAYER_KINDS = sizeof layer_kind / sizeof *layer_kind };

static const struct kind optimizer_kind[] = {
    {"sgd",
     {{"lr", FORM_NUMBER, false},
      {"momentum", FORM_NUMBER, false},
      {"weight_decay", FORM_NUMBER, false},
      {"nesterov", FORM_FLAG, false}}},
    {"adam",
     {{"lr", FORM_NUMBER, false},
      {"weight_decay", FORM_NUMBER, false},
      {"eps", FORM_NUMBER, false},
      {"amsgrad", FORM_FLAG, false}}},
    {"adamw",
     {{"lr", FORM_NUMBER, false},
      {"weight_decay", FORM_NUMBER, false},
      {"eps", FORM_NUMBER, false},
      {"amsgrad", FORM_FLAG, false}}},
    {"rmsprop",
     {{"lr", FORM_NUMBER, false},
      {"momentum", FORM_NUMBER, false},
      {"weight_decay", FORM_NUMBER, false},
      {"alpha", FORM_NUMBER, false}}},
    {"adagrad",
     {{"lr", FORM_NUMBER, false},
      {"weight_decay", FORM_NUMBER, false},
      {"lr_decay", FORM_NUMBER, false}}},
};
enum { N_OPTIMIZER_KINDS = sizeof optimizer_kind / sizeof *optimizer_kind };

/* Each may follow a layer, or be a layer of its own. In alphabetical order. */
static const char *const activation[] = {
    "elu",   "gelu", "hardswish", "leaky_relu", "log_softmax", "mish",     "relu",
    "relu6", "selu", "sigmoid",   "silu",       "softmax",     "softplus", "tanh",
};
enum { N_ACTIVATIONS = sizeof activation / sizeof *activation };

static const char *const loss[] = {"bce_with_logits", "cross_entropy", "l1", "mse", "nll"};
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
    if (hint)
        reading_refuse(r, node, hint, "unknown %s '%s'", node->name, reading_shown(r, node->text));
    else
        reading_refuse(r, node, NULL, "%s must be %s (got %s)", node->name, field_words(r, word, n),
                       node_found(r, node));
    return false;
}

static bool is_whole_from(const json_t *value, json_int_t least)
{
    return json_is_integer(value) && json_integer_value(value) >= least;
}

static bool all_whole_from(const json_t *list, json_int_t least)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!is_whole_from(json_array_get(list, i), least))
            return false;
    }
    return json_array_size(list) > 0;
}

static bool one_or_two_from(const json_t *value, json_int_t least)
{
    return is_whole_from(value, least) ||
           (json_array_size(value) <= 2 && all_whole_from(value, least));
}

static bool fits(const json_t *value, enum value_form f)
{
    switch (f) {
    case FORM_SIZE:
        return is_whole_from(value, 1);
    case FORM_SIZES:
        return one_or_two_from(value, 1);
    case FORM_WHOLES:
        return one_or_two_from(value, 0);
    case FORM_NUMBER:
        return json_is_number(value) && json_number_value(value) >= 0;
    case FORM_FLAG:
        return json_is_boolean(value);
    }
    return false;
}

static json_t *checked_value(struct reading *r, const struct node *node, enum value_form f)
{
    json_t *value = yaml_json(r, node);
    if (!value || fits(value, f))
        return value;
    json_decref(value);
    reading_refuse(r, node, NULL, "%s must be %s (got %s)", node->name, form[f].text,
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
    for (size_t i = 0; i < MOST_KEYS && kind->key[i].name; i++) {
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

/* `extra[n_extra]` are words that may stand there too. */
static const struct kind *find_kind(struct reading *r, const struct node *node,
                                    const struct kind *table, size_t n, const char *const *extra,
                                    size_t n_extra)
{
    const char *word[MOST_KINDS];
    size_t n_words = 0;
    for (size_t i = 0; i < n; i++)
        word[n_words++] = table[i].name;
    for (size_t i = 0; i < n_extra; i++)
        word[n_words++] = extra[i];
    if (!check_word(r, node, word, n_words))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(table[i].name, node->text) == 0)
            return &table[i];
    }
    return NULL;
}

/* The value of a mapping's key `kind`, or NULL (noted). */
static const struct node *kind_word(struct reading *r, const struct node *node, const char *example)
{
    const struct node *word = node->kind == NODE_MAPPING ? node_find(node, "kind") : NULL;
    if (!word)
        reading_refuse(r, node, NULL,
                       "%s must be a mapping with 'kind', such as {kind: %s} (got %s)", node->name,
                       example, node->kind == NODE_MAPPING ? "no kind" : node_found(r, node));
    return word;
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

/* A layer that is an activation: a kind without keys. */
static bool add_activation_layer(struct reading *r, const struct node *node, const char *name,
                                 json_t *layers)
{
    const struct kind kind = {.name = name};
    json_t *layer = json_pack("{s:s}", "kind", name);
    json_array_append_new(layers, layer);
    return read_keys(r, node, &kind, NULL, layer);
}

static bool add_layer(struct reading *r, const struct node *node, json_t *layers)
{
    const struct node *word = kind_word(r, node, layer_kind[0].name);
    if (!word)
        return false;
    if (word->kind == NODE_SCALAR && is_word(activation, N_ACTIVATIONS, word->text))
        return add_activation_layer(r, node, word->text, layers);
    const struct kind *kind =
        find_kind(r, word, layer_kind, N_LAYER_KINDS, activation, N_ACTIVATIONS);
    json_t *layer = json_pack("{s:s}", "kind", kind ? kind->name : "");
    json_array_append_new(layers, layer);
    bool ok = kind && read_keys(r, node, kind, "activation", layer);
    return add_activation(r, node, layer) && ok;
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
    json_t *shape = input ? yaml_json(r, input) : NULL;
    if (!shape)
        return false;
    if (all_whole_from(shape, 1)) {
        json_object_set_new(model, "input", shape);
        return true;
    }
    json_decref(shape);
    reading_refuse(r, input, NULL,
                   "input must be the shape of one sample, such as [3, 32, 32] (got %s)",
                   node_found(r, input));
    return false;
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
    const struct node *word =
        value->kind == NODE_SCALAR ? value : kind_word(r, value, optimizer_kind[0].name);
    const struct kind *kind =
        word ? find_kind(r, word, optimizer_kind, N_OPTIMIZER_KINDS, NULL, 0) : NULL;
    if (!kind)
        return false;
    json_t *optimizer = json_pack("{s:s}", "kind", kind->name);
    json_object_set_new(model, "optimizer", optimizer);
    return word == value || read_keys(r, value, kind, NULL, optimizer);
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

static json_t *list_layers(void)
{
    json_t *out = json_object();
    for (size_t i = 0; i < N_LAYER_KINDS; i++) {
        json_t *keys = json_object();
        for (size_t k = 0; k < n_keys(&layer_kind[i]); k++) {
            const struct key *key = &layer_kind[i].key[k];
            json_object_set_new(
                keys, key->name,
                json_pack("{s:s,s:b}", "type", form[key->form].type, "required", key->required));
        }
        json_object_set_new(out, layer_kind[i].name, keys);
    }
    return out;
}

static json_t *list_optimizers(void)
{
    json_t *out = json_object();
    for (size_t i = 0; i < N_OPTIMIZER_KINDS; i++) {
        json_t *keys = json_object();
        for (size_t k = 0; k < n_keys(&optimizer_kind[i]); k++) {
            const struct key *key = &optimizer_kind[i].key[k];
            json_object_set_new(keys, key->name, json_string(form[key->form].type));
        }
        json_object_set_new(out, optimizer_kind[i].name, keys);
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
    return json_pack("{s:o,s:o,s:o,s:o}", "layers", list_layers(), "activations",
                     list_words(activation, N_ACTIVATIONS), "losses", list_words(loss, N_LOSSES),
                     "optimizers", list_optimizers());
}
