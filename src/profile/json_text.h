/*
 * JSON written for people: indented, one key a line, long rows of numbers in wrapped lines.
 *
 * Numbers are written with as few digits as bring the same double back; rows of samples with nine.
 */
#ifndef FORETRAIN_PROFILE_JSON_TEXT_H
#define FORETRAIN_PROFILE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* A zeroed struct is an empty document; `text` is the result. */
struct json_text {
    struct text text;
    int depth;
    bool has_entry; /* in the object or array that is open */
    int row_depth;  /* of the object or array that stands in one line; 0: none is open */
};

/* `key` is NULL for the root and for items of an array; `bracket` is '{' or '['. */
void json_text_open(struct json_text *out, const char *key, char bracket);

/* The same, with all that is in it on one line. */
void json_text_open_row(struct json_text *out, const char *key, char bracket);

void json_text_close(struct json_text *out, char bracket);

void json_text_string(struct json_text *out, const char *key, const char *value);
void json_text_number(struct json_text *out, const char *key, double value);
void json_text_flag(struct json_text *out, const char *key, bool value);
void json_text_numbers(struct json_text *out, const char *key, const double *value, size_t n);

#endif
