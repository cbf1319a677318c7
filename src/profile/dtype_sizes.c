#include "profile/dtype_sizes.h"

#include <string.h>

static struct dtype_bytes *find(struct dtype_sizes *sizes, const char *dtype)
{
    for (size_t i = 0; i < sizes->n; i++) {
        if (strcmp(sizes->item[i].dtype, dtype) == 0)
            return &sizes->item[i];
    }
    return NULL;
}

/* Those known before, with room for as many more as the object has. */
static struct dtype_sizes with_room(struct arena *arena, const struct dtype_sizes *sizes,
                                    size_t n_more)
{
    struct dtype_sizes roomy = {ARENA_ARRAY(arena, sizes->n + n_more, struct dtype_bytes),
                                sizes->n};
    for (size_t i = 0; i < sizes->n; i++)
        roomy.item[i] = sizes->item[i];
    return roomy;
}

bool dtype_sizes_add(struct arena *arena, const struct node *object, struct dtype_sizes *sizes,
                     struct error *e)
{
    if (!object->json)
        return true;
    if (!node_expect(object, JSON_OBJECT, e))
        return false;
    struct dtype_sizes sum = with_room(arena, sizes, json_object_size(object->json));
    const char *dtype;
    json_t *value;
    json_object_foreach(object->json, dtype, value)
    {
        struct node member = node_member(object, dtype);
        double bytes = json_number_value(value);
        if (!json_is_number(value) || !(bytes >= 0))
            return node_fail(&member, e, "expected bytes, a number that is at least 0");
        struct dtype_bytes *known = find(&sum, dtype);
        if (known)
            known->bytes += bytes;
        else
            sum.item[sum.n++] = (struct dtype_bytes){arena_copy(arena, dtype), bytes};
    }
    *sizes = sum;
    return true;
}
