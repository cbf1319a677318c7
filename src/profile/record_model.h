/* The line of a record that describes the model. */
#ifndef FORETRAIN_PROFILE_RECORD_MODEL_H
#define FORETRAIN_PROFILE_RECORD_MODEL_H

#include "profile/node.h"
#include "profile/record.h"

/* Layers of all modules in one row; loss and optimizers as text: "SGD (lr=0.1, momentum=0.9)". */
bool record_read_model(struct arena *arena, const struct node *line, struct record *record,
                       struct error *e);

#endif
