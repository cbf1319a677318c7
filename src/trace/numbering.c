#include "trace/numbering.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static size_t hash(const char *data, size_t length)
{
    uint64_t h = length;
    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    uint64_t word = 0;
    memcpy(&word, data, length);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 32);
}

const char *numbering_text(const struct numbering *numbering, uint32_t number, size_t *length)
{
    *length = numbering->begin[number + 1] - numbering->begin[number];
    return numbering->texts.data + numbering->begin[number];
}

static bool is_text(const struct numbering *numbering, uint32_t number, const char *data,
                    size_t length)
{
    size_t its_length;
    const char *text = numbering_text(numbering, number, &its_length);
    return its_length == length && memcmp(text, data, length) == 0;
}

/* The slot of a text, or the empty one where it belongs. */
static uint32_t *find(const struct numbering *numbering, const char *data, size_t length)
{
    size_t i = hash(data, length) % numbering->n_slots;
    while (numbering->slot[i] && !is_text(numbering, numbering->slot[i] - 1, data, length))
        i = (i + 1) % numbering->n_slots;
    return &numbering->slot[i];
}

static void grow(struct numbering *numbering)
{
    numbering->capacity = numbering->capacity ? 2 * numbering->capacity : 64;
    numbering->begin =
        memory_resize(numbering->begin, numbering->capacity + 1, sizeof *numbering->begin);
    numbering->begin[0] = 0;
    numbering->n_slots = 2 * numbering->capacity;
    numbering->slot = memory_resize(numbering->slot, numbering->n_slots, sizeof *numbering->slot);
    memset(numbering->slot, 0, numbering->n_slots * sizeof *numbering->slot);
    for (uint32_t i = 0; i < numbering->n; i++) {
        size_t length;
        const char *text = numbering_text(numbering, i, &length);
        *find(numbering, text, length) = i + 1;
    }
}

uint32_t numbering_of(struct numbering *numbering, const char *data, size_t length)
{
    if (numbering->n == numbering->capacity)
        grow(numbering);
    uint32_t *slot = find(numbering, data, length);
    if (!*slot) {
        text_add_n(&numbering->texts, data, length);
        *slot = (uint32_t)++numbering->n;
        numbering->begin[numbering->n] = numbering->texts.length;
    }
    return *slot - 1;
}

void numbering_free(struct numbering *numbering)
{
    text_free(&numbering->texts);
    free(numbering->begin);
    free(numbering->slot);
    *numbering = (struct numbering){0};
}
