#include "trace/trace_words.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_room.h"

/* FNV-1a. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    return hash;
}

static uint32_t *find_slot(const struct trace_words *words, const char *text, size_t length)
{
    uint32_t mask = words->n_slots - 1;
    for (uint32_t at = hash_of(text, length) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &words->slot[at];
        if (*slot == 0)
            return slot;
        const char *word = words->word[*slot - 1];
        if (strncmp(word, text, length) == 0 && word[length] == '\0')
            return slot;
    }
}

static void widen(struct trace_words *words)
{
    words->n_slots = words->n_slots ? 2 * words->n_slots : 256;
    words->slot = memory_resize(words->slot, words->n_slots, sizeof *words->slot);
    memset(words->slot, 0, words->n_slots * sizeof *words->slot);
    for (uint32_t i = 0; i < words->n; i++)
        *find_slot(words, words->word[i], strlen(words->word[i])) = i + 1;
}

uint32_t trace_words_add(struct trace_words *words, const char *text, size_t length)
{
    if (2 * (words->n + 1) > words->n_slots)
        widen(words);
    uint32_t *slot = find_slot(words, text, length);
    if (*slot)
        return *slot - 1;
    size_t capacity = words->capacity;
    words->word = trace_room(words->word, words->n, &capacity, sizeof *words->word);
    words->capacity = (uint32_t)capacity;
    words->word[words->n] = arena_copy_n(words->arena, text, length);
    *slot = ++words->n;
    return words->n - 1;
}

void trace_words_free(struct trace_words *words)
{
    free(words->word);
    free(words->slot);
}
