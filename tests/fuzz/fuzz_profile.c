/*
 * Any bytes as a profile: it is refused with a message, or read, and then what is written of it is
 * read again and written the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/profile.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void write_and_read_again(struct arena *arena, const struct profile *profile)
{
    struct error e = {0};
    struct profile again;
    struct text once = {0}, twice = {0};
    profile_format(profile, profile->samples_file, &once);
    require(profile_parse(arena, once.data, once.length, "again.json", &again, &e));
    profile_format(&again, again.samples_file, &twice);
    require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    text_free(&once);
    text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct error e = {0};
    struct profile profile = {0};
    char *text = arena_copy_n(&arena, (const char *)data, size);
    if (profile_parse(&arena, text, size, "fuzz.json", &profile, &e))
        write_and_read_again(&arena, &profile);
    else
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
