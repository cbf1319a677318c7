/* Lists that grow. */
#ifndef FORETRAIN_TRACE_TRACE_ROOM_H
#define FORETRAIN_TRACE_TRACE_ROOM_H

#include <stddef.h>

#include "base/arena.h"

/* `item[n]` with room for one more, moved where it had none. */
static inline void *trace_room(void *item, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity)
        return item;
    *capacity = *capacity ? 2 * *capacity : 64;
    return memory_resize(item, *capacity, size);
}

#endif
