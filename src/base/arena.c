/* Blocks of growing size in a list; large requests get a block of their own behind the current one.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char data[];
};

_Noreturn void memory_exhausted(void)
{
    fputs("foretrain: out of memory\n", stderr);
    exit(70);
}

static size_t checked_product(size_t n, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        memory_exhausted();
    return bytes;
}

void *memory_resize(void *memory, size_t n, size_t size)
{
    size_t bytes = checked_product(n, size);
    void *resized = realloc(memory, bytes ? bytes : 1);
    if (!resized)
        memory_exhausted();
    return resized;
}

static struct arena_block *new_block(size_t size)
{
    struct arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        memory_exhausted();
    block->size = size;
    return block;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
    enum { FIRST = 4096, LARGEST = 1 << 20 };
    const size_t align = alignof(max_align_t);
    size_t bytes = (checked_product(n, size) + align - 1) / align * align;
    struct arena_block *block = arena->block;
    if (!block || block->size - block->used < bytes) {
        size_t next_size = block ? 2 * block->size : FIRST;
        if (next_size > LARGEST)
            next_size = LARGEST;
        struct arena_block *fresh = new_block(bytes > next_size ? bytes : next_size);
        if (block && bytes > next_size) {
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->block = fresh;
        }
        block = fresh;
    }
    void *memory = block->data + block->used;
    block->used += bytes;
    return memory;
}

char *arena_copy_n(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_array(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_copy(struct arena *arena, const char *text)
{
    return arena_copy_n(arena, text, strlen(text));
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        memory_exhausted();
    char *copy = arena_copy_n(arena, text, (size_t)length);
    free(text);
    return copy;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->block; block;) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->block = NULL;
}
