/*
 * YAML values as JSON: plain scalars are numbers, booleans or null as YAML 1.2's core schema says,
 * text in quotes is text.
 */
#ifndef FORETRAIN_JOB_YAML_JSON_H
#define FORETRAIN_JOB_YAML_JSON_H

#include <jansson.h>

#include "job/yaml_tree.h"

/* A new reference, or NULL where a number does not fit JSON (noted). Recurses as deep as the tree,
 * which is bounded. */
json_t *yaml_json(struct reading *r, const struct node *node);

/* The JSON value as text in the arena; takes over the reference. */
const char *yaml_json_text(struct reading *r, json_t *value);

#endif
