/* Where a value stands in a JSON text: jansson keeps no positions, so an error looks for its own.
 */
#ifndef FORETRAIN_PROFILE_JSON_LOCATE_H
#define FORETRAIN_PROFILE_JSON_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

/* One step down: to a member of an object, or with a NULL key to an item of an array. */
struct json_step {
    const char *key;
    size_t index;
};

/*
 * Offset of the value at the end of `step[n]` in `text`, and of its key (of the value itself where
 * it has none). Returns false where the text, which jansson has read, holds no such value. O(length
 * of the text).
 */
bool json_locate(const char *text, size_t length, const struct json_step *step, size_t n,
                 size_t *key_at, size_t *value_at);

#endif
