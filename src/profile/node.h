/*
 * JSON values that know where they stand, so that whatever is wrong with one is said with its line
 * and column; and tables of fields that are read by key.
 *
 * A key that is null counts as not there.
 */
#ifndef FORETRAIN_PROFILE_NODE_H
#define FORETRAIN_PROFILE_NODE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* A JSON text; `first_line` is the number of its first line in `file`. */
struct source {
    const char *file;
    const char *text;
    size_t length;
    int first_line;
};

/* A value, and the way to it; `json` is NULL where it is not there. Parents must outlive it. */
struct node {
    const struct source *source;
    const struct node *parent;
    const char *key; /* in an object; NULL: in an array, or the root */
    size_t index;    /* in an array */
    json_t *json;
};

/*
 * Reads one object from the text; the caller drops it with json_decref. Refuses text that is not
 * JSON, duplicate keys, and numbers that are not finite, by name. Whole numbers are read as reals.
 */
bool node_load(const struct source *source, json_t **json, struct error *e);

struct node node_root(const struct source *source, json_t *json);
struct node node_member(const struct node *object, const char *key);
struct node node_item(const struct node *array, size_t index);

/* Describes what is wrong with a value (with its key: node_fail_key); always returns false. */
__attribute__((format(printf, 3, 4))) bool node_fail(const struct node *node, struct error *e,
                                                     const char *format, ...);
__attribute__((format(printf, 3, 4))) bool node_fail_key(const struct node *node, struct error *e,
                                                         const char *format, ...);

/* Fails unless the value is there and of that type (JSON_OBJECT, JSON_ARRAY, JSON_STRING). */
bool node_expect(const struct node *node, json_type type, struct error *e);

/* An array of numbers that are at least 0. */
bool node_numbers(struct arena *arena, const struct node *array, double **value, size_t *n,
                  struct error *e);

enum field_kind {
    FIELD_ELSEWHERE, /* known, read by other code */
    FIELD_TEXT,      /* const char * */
    FIELD_FLAG,      /* bool */
    FIELD_NUMBER,    /* double, at least `least` */
    FIELD_INT,       /* int, whole, at least `least` */
};

/* One key of an object and the member of a struct that takes its value. */
struct field {
    const char *key;
    enum field_kind kind;
    bool required;
    size_t offset;
    double least;
};

/* Reads all fields that are there into the struct at `out`; the others keep what they hold. */
bool node_fields(struct arena *arena, const struct node *object, const struct field *field,
                 size_t n, void *out, struct error *e);

/* Refuses keys that look like a misspelled field; keys unlike any are left for later versions. */
bool node_check_keys(const struct node *object, const struct field *field, size_t n,
                     struct error *e);

#endif
