/* The keys of `rounds`, which are the same in a record's line and in a profile. */
#ifndef FORETRAIN_PROFILE_ROUNDS_FIELD_H
#define FORETRAIN_PROFILE_ROUNDS_FIELD_H

#include "profile/node.h"

enum { N_ROUNDS_FIELDS = 8 };

extern const struct field rounds_field[N_ROUNDS_FIELDS]; /* of struct profile_rounds */

#endif
