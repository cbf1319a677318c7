/*
 * Models typed in the job: kinds of layers, activations, losses and optimizers, with their keys.
 *
 * The same table is in worker/foretrain_worker/layers.py; a test holds both against each other.
 */
#ifndef FORETRAIN_JOB_LAYER_KINDS_H
#define FORETRAIN_JOB_LAYER_KINDS_H

#include <jansson.h>

#include "job/reading.h"
#include "job/yaml_tree.h"

/*
 * Checks the model section `node` (input, layers, loss, optimizer) and gives it as JSON:
 * {"input":[...],"layers":[{"kind":...}],"loss":"...","optimizer":{"kind":...}}. NULL where
 * something is wrong (noted).
 */
const char *layer_kinds_read(struct reading *r, const struct node *node);

/* The table as JSON, as the worker lists its own: {"layers": {KIND: {KEY: {"type", "required"}}},
 * "activations": [...], "losses": [...], "optimizers": {KIND: {KEY: TYPE}}}; a new reference. */
json_t *layer_kinds_list(void);

#endif
