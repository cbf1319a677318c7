/* Members of JSON objects, as all reports write them. */
#ifndef FORETRAIN_REPORT_JSON_VALUES_H
#define FORETRAIN_REPORT_JSON_VALUES_H

#include <jansson.h>
#include <stddef.h>

#include "base/text.h"
#include "network/network.h"

/* Adds a member; takes over `value`. */
void json_put(json_t *object, const char *key, json_t *value);
void json_put_real(json_t *object, const char *key, double value);

/* A whole number where it can be. */
void json_put_count(json_t *object, const char *key, double value);

/* A string that is safe to show; null for NULL. */
json_t *json_text_or_null(const char *text);

/* [{"bytes", "time_s"}, ...]; null for NULL. */
json_t *json_curve(const struct link_curve *curve);

/* The whole document, indented, and a newline. Frees `document`. */
void json_print(json_t *document, struct text *out);

#endif
