/* Any bytes as a validation: it is refused with a message, or read. */
#include <stdint.h>
#include <stdlib.h>

#include "predict/validation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct error e = {0};
    struct validation v = {0};
    char *text = arena_copy_n(&arena, (const char *)data, size);
    bool read = validation_parse(&arena, text, size, "fuzz.json", &v, &e);
    if (!read && (e.kind != ERROR_INPUT || !e.text || !e.text[0]))
        abort();
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
