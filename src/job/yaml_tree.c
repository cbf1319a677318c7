/* Built from libyaml's events with a stack of its own: depth is bounded, nothing recurses. */
#include "job/yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEEPEST = 32 };

struct builder {
    struct reading *r;
    struct node *open[DEEPEST]; /* lists and mappings that have not ended, outermost first */
    struct node *key[DEEPEST];  /* key read in a mapping whose value comes next */
    size_t depth;
    struct node *root;
    bool started; /* a document began */
    bool ok;
};

static struct node *new_node(struct builder *b, enum node_kind kind, const yaml_event_t *event)
{
    struct node *node = ARENA_NEW(b->r->arena, struct node);
    node->kind = kind;
    node->line = (int)event->start_mark.line + 1;
    node->column = (int)event->start_mark.column + 1;
    return node;
}

static void stop(struct builder *b, const yaml_event_t *event, const char *hint,
                 const char *message)
{
    struct place place =
        reading_place(b->r, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1);
    reading_refuse_at(b->r, &place, hint, "%s", message);
    b->ok = false;
}

static void append(struct node *parent, struct node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->n++;
}

/* A scalar in a mapping where a key stands. */
static bool take_key(struct builder *b, struct node *node, const yaml_event_t *event)
{
    struct node *parent = b->depth ? b->open[b->depth - 1] : NULL;
    if (!parent || parent->kind != NODE_MAPPING || b->key[b->depth - 1])
        return false;
    if (node->kind != NODE_SCALAR)
        stop(b, event, NULL, "a key must be a word, not a list or a mapping");
    else if (strcmp(node->text, "<<") == 0 && !node->quoted)
        stop(b, event, "write the keys out", "merge keys (<<) are not read in a job file");
    b->key[b->depth - 1] = node;
    return true;
}

static void place_node(struct builder *b, struct node *node)
{
    struct node *parent = b->depth ? b->open[b->depth - 1] : NULL;
    if (!parent) {
        b->root = node;
        node->name = "job file";
        return;
    }
    struct node **key = &b->key[b->depth - 1];
    node->key = *key;
    node->name = *key ? reading_shown(b->r, (*key)->text) : parent->name;
    *key = NULL;
    append(parent, node);
}

static void open_node(struct builder *b, struct node *node, const yaml_event_t *event)
{
    if (b->depth == DEEPEST) {
        stop(b, event, NULL, "nested too deeply for a job file");
        return;
    }
    b->open[b->depth] = node;
    b->key[b->depth] = NULL;
    b->depth++;
}

static void take_node(struct builder *b, struct node *node, const yaml_event_t *event)
{
    if (take_key(b, node, event))
        return;
    place_node(b, node);
    if (node->kind != NODE_SCALAR)
        open_node(b, node, event);
}

static bool plain(struct builder *b, const yaml_event_t *event, const void *anchor, const void *tag)
{
    if (anchor)
        stop(b, event, "write the value out where it is needed",
             "anchors (&name) are not read in a job file");
    else if (tag)
        stop(b, event, NULL, "tags (!name) are not read in a job file");
    return b->ok;
}

static void take_scalar(struct builder *b, const yaml_event_t *event)
{
    if (!plain(b, event, event->data.scalar.anchor, event->data.scalar.tag))
        return;
    const char *value = (const char *)event->data.scalar.value;
    if (memchr(value, '\0', event->data.scalar.length)) {
        stop(b, event, NULL, "text must not contain a zero byte");
        return;
    }
    struct node *node = new_node(b, NODE_SCALAR, event);
    node->text = arena_copy_n(b->r->arena, value, event->data.scalar.length);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    take_node(b, node, event);
}

/* One use of a key in a mapping. */
struct key_use {
    const struct node *key;
};

static int by_text(const void *a, const void *b)
{
    const struct node *x = ((const struct key_use *)a)->key, *y = ((const struct key_use *)b)->key;
    int order = strcmp(x->text, y->text);
    if (order != 0)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static void refuse_duplicate_keys(struct builder *b, const struct node *mapping)
{
    struct key_use *use = memory_resize(NULL, mapping->n, sizeof *use);
    size_t n = 0, original = 0;
    for (const struct node *child = mapping->first; child; child = child->next)
        use[n++].key = child->key;
    qsort(use, n, sizeof *use, by_text);
    for (size_t i = 1; i < n; i++) {
        const struct node *first = use[original].key, *key = use[i].key;
        if (strcmp(first->text, key->text) == 0)
            reading_refuse(b->r, key, NULL, "key '%s' is given twice (first in line %d)",
                           reading_shown(b->r, key->text), first->line);
        else
            original = i;
    }
    free(use);
}

static void close_node(struct builder *b)
{
    const struct node *node = b->open[--b->depth];
    if (node && node->kind == NODE_MAPPING && node->n > 1)
        refuse_duplicate_keys(b, node);
}

static void take_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->started)
            stop(b, event, "keep one document a file", "a second YAML document starts here");
        b->started = true;
        break;
    case YAML_ALIAS_EVENT:
        stop(b, event, "write the value out", "aliases (*name) are not read in a job file");
        break;
    case YAML_SCALAR_EVENT:
        take_scalar(b, event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        if (plain(b, event, event->data.sequence_start.anchor, event->data.sequence_start.tag))
            take_node(b, new_node(b, NODE_LIST, event), event);
        break;
    case YAML_MAPPING_START_EVENT:
        if (plain(b, event, event->data.mapping_start.anchor, event->data.mapping_start.tag))
            take_node(b, new_node(b, NODE_MAPPING, event), event);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_node(b);
        break;
    default:
        break;
    }
}

/* The place of a byte that libyaml could not decode; its line is not shown, as it may hold
 * anything. */
static struct place place_of_byte(const struct reading *r, const char *text, size_t offset)
{
    size_t line = 0;
    while (line + 1 < r->n_lines && r->line[line + 1] <= text + offset)
        line++;
    return (struct place){
        .file = r->file, .line = (int)line + 1, .column = (int)(text + offset - r->line[line]) + 1};
}

static void refuse_bytes(struct builder *b, const yaml_parser_t *parser, const char *text)
{
    struct place place = place_of_byte(b->r, text, parser->problem_offset);
    const char *problem = parser->problem ? parser->problem : "";
    if (strcmp(problem, "control characters are not allowed") == 0)
        reading_refuse_at(b->r, &place, NULL, "control character 0x%02x in the file",
                          (unsigned)parser->problem_value);
    else
        reading_refuse_at(b->r, &place, "save the file as UTF-8", "not UTF-8 text (%s)", problem);
}

static const char *syntax_hint(const char *problem)
{
    static const struct {
        const char *problem, *hint;
    } known[] = {
        {"found character that cannot start any token",
         "YAML indents with spaces, not tabs; text that starts with @, ` or % needs quotes"},
        {"did not find expected key", "check the indentation here and in the line above"},
        {"mapping values are not allowed in this context",
         "text that holds ': ' needs quotes; else check the indentation"},
        {"could not find expected ':'", "a key is written 'key: value'"},
        {"did not find expected ',' or ']'", "a list in brackets ends with ']'"},
        {"did not find expected ',' or '}'", "a mapping in braces ends with '}'"},
        {"found unexpected end of stream", "a quote or bracket is not closed"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(problem, known[i].problem) == 0)
            return known[i].hint;
    }
    return NULL;
}

static void refuse_syntax(struct builder *b, const yaml_parser_t *parser, const char *text)
{
    if (parser->error == YAML_MEMORY_ERROR)
        memory_exhausted();
    b->ok = false;
    if (parser->error == YAML_READER_ERROR) {
        refuse_bytes(b, parser, text);
        return;
    }
    const char *problem = parser->problem ? parser->problem : "not YAML";
    struct place place = reading_place(b->r, (int)parser->problem_mark.line + 1,
                                       (int)parser->problem_mark.column + 1);
    const char *hint = syntax_hint(problem);
    if (parser->context)
        reading_refuse_at(b->r, &place, hint, "not YAML: %s %s (begun in line %d)", problem,
                          parser->context, (int)parser->context_mark.line + 1);
    else
        reading_refuse_at(b->r, &place, hint, "not YAML: %s", problem);
}

static void build(struct builder *b, yaml_parser_t *parser, const char *text)
{
    for (bool ended = false; b->ok && !ended;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            refuse_syntax(b, parser, text);
            return;
        }
        take_event(b, &event);
        ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
}

struct node *yaml_tree_read(struct reading *r, const char *text, size_t length)
{
    struct builder b = {.r = r, .ok = true};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        memory_exhausted();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    build(&b, &parser, text);
    yaml_parser_delete(&parser);
    if (b.ok && (!b.root || node_is_null(b.root))) {
        struct place place = {.file = r->file};
        reading_refuse_at(r, &place, "'foretrain init' writes one to start from",
                          "the file is empty; expected a job");
        return NULL;
    }
    return b.ok ? b.root : NULL;
}

struct node *node_find(const struct node *mapping, const char *key)
{
    for (struct node *value = mapping->first; value; value = value->next) {
        if (value->key && strcmp(value->key->text, key) == 0)
            return value;
    }
    return NULL;
}

bool node_is_null(const struct node *node)
{
    static const char *const null[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != NODE_SCALAR || node->quoted)
        return false;
    for (size_t i = 0; i < sizeof null / sizeof *null; i++) {
        if (strcmp(node->text, null[i]) == 0)
            return true;
    }
    return false;
}

const char *node_found(struct reading *r, const struct node *node)
{
    if (node->kind != NODE_SCALAR)
        return node->kind == NODE_LIST ? "a list" : "a mapping";
    if (node_is_null(node))
        return "nothing";
    const char *shown = reading_shown(r, node->text);
    return node->quoted ? arena_format(r->arena, "\"%s\"", shown) : shown;
}
