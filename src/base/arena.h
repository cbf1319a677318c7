/*
 * Memory by lifetime: everything that is read or made for one purpose is freed with it, in one go.
 *
 * Running out of memory prints one line and ends the program with status 70; no caller checks for
 * NULL.
 */
#ifndef FORETRAIN_BASE_ARENA_H
#define FORETRAIN_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

/* A zeroed struct is an empty arena. */
struct arena {
    struct arena_block *block;
};

/* Zeroed memory for `n` items of `size` bytes, aligned for any type, freed with the arena. */
void *arena_array(struct arena *arena, size_t n, size_t size);

#define ARENA_NEW(arena, type) ((type *)arena_array((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, n, type) ((type *)arena_array((arena), (n), sizeof(type)))

char *arena_copy(struct arena *arena, const char *text);
char *arena_copy_n(struct arena *arena, const char *text, size_t length);
__attribute__((format(printf, 2, 3))) char *arena_format(struct arena *arena, const char *format,
                                                         ...);

void arena_free(struct arena *arena);

/* realloc(3) for `n` items of `size` bytes that never fails and checks the product. */
void *memory_resize(void *memory, size_t n, size_t size);

_Noreturn void memory_exhausted(void);

#endif
