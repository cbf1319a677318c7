#include "report/json_values.h"

#include <stdlib.h>

void json_put(json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        memory_exhausted();
}

void json_put_real(json_t *object, const char *key, double value)
{
    json_put(object, key, json_real(value));
}

void json_put_count(json_t *object, const char *key, double value)
{
    bool whole = value >= 0 && value < 9e15;
    json_put(object, key, whole ? json_integer((json_int_t)value) : json_real(value));
}

json_t *json_text_or_null(const char *text)
{
    struct arena scratch = {0};
    json_t *value = text ? json_string(text_printable(&scratch, text, 0)) : json_null();
    arena_free(&scratch);
    return value;
}

void json_print(json_t *document, struct text *out)
{
    char *text =
        json_dumps(document, JSON_REAL_PRECISION(15) | JSON_PRESERVE_ORDER | JSON_INDENT(2));
    if (!text)
        memory_exhausted();
    text_format(out, "%s\n", text);
    free(text);
    json_decref(document);
}

json_t *json_curve(const struct link_curve *curve)
{
    if (!curve)
        return json_null();
    json_t *points = json_array();
    for (size_t i = 0; i < curve->n; i++) {
        json_t *point = json_object();
        json_put_real(point, "bytes", curve->point[i].bytes);
        json_put_real(point, "time_s", curve->point[i].time_s);
        json_array_append_new(points, point);
    }
    return points;
}
