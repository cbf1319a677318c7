/* What is trained: a script, any program, a function that builds the model, or layers. */
#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "job/arguments.h"
#include "job/layer_kinds.h"
#include "job/sections.h"
#include "job/yaml_json.h"

struct model_form {
    const char *key; /* the key that says which form it is */
    enum model_kind kind;
    const char *others[4]; /* keys that may stand beside it, NULL at the end */
    void (*read)(struct reading *r, const struct node *node, struct job_model *model);
};

static struct place place_of(const struct reading *r, const struct node *node)
{
    return reading_place(r, node->line, node->column);
}

static void check_placeholders(struct reading *r, const struct node *node)
{
    const char *word = NULL, *meant = NULL;
    size_t length = job_argument_near_miss(node->text, &word, &meant);
    if (length == 0)
        return;
    const char *shown = arena_copy_n(r->arena, word, length);
    reading_refuse(
        r, node,
        arena_format(r->arena, "did you mean {%s}? To pass it on as it is write {%s", meant, shown),
        "%s: unknown placeholder %s", node->name, shown);
}

static bool is_argument(struct reading *r, const struct node *node)
{
    if (node->kind == NODE_SCALAR && !node_is_null(node))
        return true;
    reading_refuse(r, node, NULL, "%s must be a list of texts (got %s in it)", node->name,
                   node_found(r, node));
    return false;
}

static void read_args(struct reading *r, const struct node *args, struct job_model *model)
{
    model->args_place = place_of(r, args);
    model->args = ARENA_ARRAY(r->arena, args->n, const char *);
    for (const struct node *item = args->first; item; item = item->next) {
        if (!is_argument(r, item))
            continue;
        check_placeholders(r, item);
        model->args[model->n_args++] = item->text;
    }
}

static void read_script_args(struct reading *r, const struct node *args, struct job_model *model)
{
    if (args->kind == NODE_LIST)
        read_args(r, args, model);
    else
        reading_refuse(r, args, "write args: [\"--batch-size\", \"{batch}\"]",
                       "%s of a script must be a list of texts (got %s)", args->name,
                       node_found(r, args));
}

static void refuse_words(struct reading *r, const struct node *args, const char *const *word,
                         size_t n, const char *why)
{
    for (const struct node *item = args->first; item; item = item->next) {
        for (size_t i = 0; i < n && item->kind == NODE_SCALAR; i++) {
            if (job_argument_uses(item->text, word[i]))
                reading_refuse(r, item, NULL, "{%s} has no value where %s", word[i], why);
        }
    }
}

/* The worker writes a script's record; one that starts its own ranks has one set of arguments a
 * host. */
static void refuse_script_words(struct reading *r, const struct node *args, bool spawns_ranks)
{
    static const char *const of_command[] = {"record", "device_type", "first", "last"};
    static const char *const of_rank[] = {"rank", "local_rank", "device_data"};
    refuse_words(r, args, of_command, 4, "the worker writes the record: it is for a 'command'");
    if (spawns_ranks)
        refuse_words(r, args, of_rank, 3, "the script starts its own ranks (spawns_ranks)");
}

static void read_script(struct reading *r, const struct node *node, struct job_model *model)
{
    const struct node *args = node_find(node, "args");
    const struct node *spawns = node_find(node, "spawns_ranks");
    field_text(r, node_find(node, "script"), &model->script);
    if (args)
        read_script_args(r, args, model);
    if (spawns)
        field_bool(r, spawns, &model->spawns_ranks);
    if (args)
        refuse_script_words(r, args, model->spawns_ranks);
}

/* The program first; it may not be an option's or a placeholder's text. */
static void read_command(struct reading *r, const struct node *node, struct job_model *model)
{
    const struct node *command = node_find(node, "command");
    if (command->kind != NODE_LIST || !command->first) {
        reading_refuse(r, command, "write command: [./train, \"--data\", \"{data}\"]",
                       "%s must be a list of a program and its arguments (got %s)", command->name,
                       node_found(r, command));
        return;
    }
    const char *program = field_word(r, command->first);
    if (program && (program[0] == '-' || program[0] == '{'))
        reading_refuse(r, command->first, NULL, "%s begins with the program (got %s)",
                       command->name, reading_shown(r, program));
    read_args(r, command, model);
}

static bool is_identifier(const char *text)
{
    if (!isalpha((unsigned char)text[0]) && text[0] != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}

static void read_entry_name(struct reading *r, const struct node *node, struct job_model *model)
{
    const char *text = field_word(r, node);
    if (!text)
        return;
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || !is_identifier(colon + 1)) {
        reading_refuse(r, node, NULL, "%s must be FILE:FUNCTION such as model.py:build (got %s)",
                       node->name, node_found(r, node));
        return;
    }
    model->entry_file = arena_copy_n(r->arena, text, (size_t)(colon - text));
    model->entry_function = colon + 1;
}

static void read_entry(struct reading *r, const struct node *node, struct job_model *model)
{
    const struct node *args = node_find(node, "args");
    read_entry_name(r, node_find(node, "entry"), model);
    model->json = "{}";
    if (!args)
        return;
    model->args_place = place_of(r, args);
    if (args->kind != NODE_MAPPING) {
        reading_refuse(r, args, NULL,
                       "%s of an entry must be a mapping of names to values (got %s)", args->name,
                       node_found(r, args));
        return;
    }
    json_t *json = yaml_json(r, args);
    if (json)
        model->json = yaml_json_text(r, json);
}

static void read_layers(struct reading *r, const struct node *node, struct job_model *model)
{
    const char *json = layer_kinds_read(r, node);
    if (json)
        model->json = json;
}

static const struct model_form form[] = {
    {"script", MODEL_SCRIPT, {"args", "spawns_ranks"}, read_script},
    {"command", MODEL_COMMAND, {NULL}, read_command},
    {"entry", MODEL_ENTRY, {"args"}, read_entry},
    {"layers", MODEL_LAYERS, {"input", "loss", "optimizer"}, read_layers},
};
enum { N_FORMS = sizeof form / sizeof *form };

static bool belongs(const struct model_form *f, const char *key)
{
    for (size_t i = 0; i < 4 && f->others[i]; i++) {
        if (strcmp(f->others[i], key) == 0)
            return true;
    }
    return strcmp(f->key, key) == 0;
}

static const char *form_of_key(const char *key)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        if (belongs(&form[i], key))
            return form[i].key;
    }
    return NULL;
}

static void refuse_key(struct reading *r, const struct node *value, const struct model_form *f)
{
    static const char *const known[] = {"script", "args",  "spawns_ranks", "command",  "entry",
                                        "layers", "input", "loss",         "optimizer"};
    const char *other = form_of_key(value->key->text);
    if (!other)
        reading_refuse(r, value->key,
                       reading_nearest(r, value->key->text, known, sizeof known / sizeof *known),
                       "unknown key '%s'", value->name);
    else if (strcmp(other, value->key->text) == 0)
        reading_refuse(r, value->key, NULL, "model has both '%s' and '%s'; expected one of them",
                       f->key, other);
    else
        reading_refuse(r, value->key, NULL, "'%s' belongs to a model with '%s', not '%s'",
                       value->name, other, f->key);
}

static const struct model_form *find_form(const struct node *node)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        if (node_find(node, form[i].key))
            return &form[i];
    }
    return NULL;
}

bool job_model_is_program(const struct job_model *model)
{
    return model->kind == MODEL_SCRIPT || model->kind == MODEL_COMMAND;
}

const char *job_model_own_program(const struct job_model *model)
{
    const char *program = model->kind == MODEL_COMMAND ? model->args[0] : "";
    return program[0] != '/' && strchr(program, '/') ? program : NULL;
}

void section_model(struct reading *r, const struct node *node, void *out)
{
    struct job_model *model = out;
    const struct model_form *f = node->kind == NODE_MAPPING ? find_form(node) : NULL;
    if (!f) {
        reading_refuse(r, node, NULL,
                       "model must be a mapping with 'script', 'command', 'entry' or 'layers' (got "
                       "%s)",
                       node->kind == NODE_MAPPING ? "none of them" : node_found(r, node));
        return;
    }
    for (const struct node *value = node->first; value; value = value->next) {
        if (!belongs(f, value->key->text))
            refuse_key(r, value, f);
    }
    model->kind = f->kind;
    model->place = place_of(r, node_find(node, f->key));
    f->read(r, node, model);
}
