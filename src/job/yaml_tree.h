/*
 * A YAML document as a tree in which every value knows its line and column.
 *
 * The part of YAML that a job file needs: one document of mappings, lists and scalars. Anchors,
 * aliases, merge keys and tags are refused by name, so that no small file becomes a large tree.
 */
#ifndef FORETRAIN_JOB_YAML_TREE_H
#define FORETRAIN_JOB_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "job/reading.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAPPING };

struct node {
    enum node_kind kind;
    bool quoted;               /* a scalar in quotes or a block: text, whatever it looks like */
    int line, column;          /* from 1 */
    const char *text;          /* of a scalar, else NULL */
    const char *name;          /* what messages call it: its key, or the key of the list it is in */
    struct node *key;          /* of a mapping's value, else NULL */
    struct node *first, *last; /* items of a list, values of a mapping, in file order */
    struct node *next;
    size_t n; /* of those */
};

/* What the text holds, or NULL where it cannot be read as YAML or is empty (noted in `r`).
 * Duplicate keys are noted; the first one counts. */
struct node *yaml_tree_read(struct reading *r, const char *text, size_t length);

/* The value of a key, or NULL. */
struct node *node_find(const struct node *mapping, const char *key);

/* A value that is not there: nothing, ~ or null without quotes. */
bool node_is_null(const struct node *node);

/* "a list", "a mapping", "text in quotes", ... for messages about what was found. */
const char *node_found(struct reading *r, const struct node *node);

#endif
