/* Bytes by dtype: of a model's parameters, and of their gradients. */
#ifndef FORETRAIN_PROFILE_DTYPE_SIZES_H
#define FORETRAIN_PROFILE_DTYPE_SIZES_H

#include "profile/node.h"
#include "profile/profile.h"

/*
 * Adds an object such as {"float32": 400, "bfloat16": 20} to what `sizes` holds; nothing where the
 * object is not there. Fails unless it is an object of numbers that are at least 0.
 */
bool dtype_sizes_add(struct arena *arena, const struct node *object, struct dtype_sizes *sizes,
                     struct error *e);

#endif
