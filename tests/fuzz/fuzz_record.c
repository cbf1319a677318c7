/*
 * Any bytes as the records of a sub-system's ranks, separated by zero bytes: refused with a
 * message, or made into a profile that can be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/record.h"

enum { MOST_RANKS = 4 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static size_t parse_records(struct arena *arena, const char *text, size_t size,
                            struct record *record, struct error *e)
{
    size_t n = 0;
    for (const char *end = text + size; n < MOST_RANKS && text < end;) {
        const char *zero = memchr(text, '\0', (size_t)(end - text));
        size_t length = (size_t)((zero ? zero : end) - text);
        if (!record_parse(arena, text, length, "rank.jsonl", &record[n], e))
            return 0;
        n++;
        text += length + 1;
    }
    return n;
}

static void read_profile(struct arena *arena, const struct profile *profile)
{
    struct error e = {0};
    struct profile read;
    struct text text = {0};
    profile_format(profile, NULL, &text);
    require(profile_parse(arena, text.data, text.length, "made.json", &read, &e));
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct error e = {0};
    struct profile profile = {.one_ring = size % 2 == 1};
    struct record record[MOST_RANKS];
    char *text = arena_copy_n(&arena, (const char *)data, size);
    size_t n = parse_records(&arena, text, size, record, &e);
    if (n > 0 && record_merge(&arena, record, n, &profile, &e))
        read_profile(&arena, &profile);
    else
        require(size == 0 || (e.kind != ERROR_NONE && e.text && e.text[0]));
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
