/* What is kept is moved before the next block's text, where it fits; else both to own memory. */
#include "trace/trace_window.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/scan.h"
#include "trace/trace_read.h"

enum { LINE_SHOWN = 4096 }; /* kept before `keep`, so that an error can show its line */

struct trace_window trace_window_open(struct trace_blocks *blocks)
{
    static const char nothing[SCAN_PADDING];
    return (struct trace_window){.blocks = blocks, .begin = nothing, .end = nothing};
}

static uint64_t count_line_breaks(const char *p, const char *end)
{
    uint64_t n = 0;
    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        n++;
        p++;
    }
    return n;
}

/* Bytes that begin a character; in pieces of one length, which compilers turn into vector code. */
static uint64_t count_characters(const char *p, const char *end)
{
    enum { PIECE = 128 };
    uint64_t sum = 0;
    for (; end - p >= PIECE; p += PIECE) {
        unsigned char n = 0;
        for (int i = 0; i < PIECE; i++)
            n = (unsigned char)(n + ((signed char)p[i] >= -64));
        sum += n;
    }
    for (; p < end; p++)
        sum += (signed char)*p >= -64;
    return sum;
}

/* Where the last line of a text begins; NULL: before it. */
static const char *last_line(const char *begin, const char *end)
{
    const char *line_break = memrchr(begin, '\n', (size_t)(end - begin));
    return line_break ? line_break + 1 : NULL;
}

/* Moves `begin` on to `to`. */
static void drop(struct trace_window *window, const char *to)
{
    const char *line = last_line(window->begin, to);
    if (line)
        window->n_characters = 0;
    window->n_characters += count_characters(line ? line : window->begin, to);
    window->offset_bytes += (uint64_t)(to - window->begin);
    window->begin = to;
}

/* What lies before `keep` goes, except the beginning of its line where that is near. */
static void drop_before(struct trace_window *window, const char *keep)
{
    const char *line = last_line(window->begin, keep);
    drop(window, line && keep - line < LINE_SHOWN ? line : keep);
}

/* Puts what is kept before the block's text. */
static void move_before(struct trace_window *window, struct trace_block *block)
{
    size_t kept = (size_t)(window->end - window->begin);
    memcpy(block->data - kept, window->begin, kept);
    window->begin = block->data - kept;
    window->end = block->data + block->length;
}

/* Puts the text to the start of own memory, with room for `size` bytes in all; `held`: it lies in a
 * block. */
static void move_to_memory(struct trace_window *window, bool held, size_t size)
{
    size_t kept = (size_t)(window->end - window->begin);
    if (!held)
        memmove(window->memory, window->begin, kept);
    if (window->capacity < size) {
        window->memory = memory_resize(window->memory, size, 1);
        window->capacity = size;
    }
    if (held)
        memcpy(window->memory, window->begin, kept);
    window->begin = window->memory;
    window->end = window->memory + kept;
}

static void append(struct trace_window *window, const struct trace_block *block)
{
    size_t kept = (size_t)(window->end - window->begin);
    memcpy(window->memory + kept, block->data, block->length + SCAN_PADDING);
    window->end += block->length;
}

/* `size`: of own memory, where the text goes there. */
static enum trace_window_more add_block(struct trace_window *window, size_t size, struct error *e)
{
    struct trace_block *block;
    bool held = window->holds_block;
    if (!trace_blocks_take(window->blocks, &block, e))
        return WINDOW_FAILED;
    if (!block)
        return WINDOW_END;
    window->n_lines += block->n_lines;
    window->holds_block = window->end - window->begin <= BLOCK_HEADROOM;
    if (window->holds_block) {
        move_before(window, block);
    } else {
        move_to_memory(window, held, size);
        append(window, block);
        trace_blocks_release(window->blocks);
    }
    if (held)
        trace_blocks_release(window->blocks);
    return WINDOW_MORE;
}

enum trace_window_more trace_window_get(struct trace_window *window, const char **keep,
                                        struct error *e)
{
    drop_before(window, *keep);
    size_t before = (size_t)(*keep - window->begin), kept = (size_t)(window->end - window->begin);
    size_t enough = kept + kept / 2, size = enough + BLOCK_BYTES + SCAN_PADDING;
    enum trace_window_more more = WINDOW_MORE;
    if (kept - before > TRACE_LONGEST_BYTES)
        return WINDOW_LONG;
    do {
        more = add_block(window, size, e);
    } while (more == WINDOW_MORE && (size_t)(window->end - window->begin) < enough);
    *keep = window->begin + before;
    bool got = (size_t)(window->end - window->begin) > kept;
    return more == WINDOW_END && got ? WINDOW_MORE : more;
}

struct place trace_window_place(const struct trace_window *window, const char *at)
{
    const char *line = last_line(window->begin, at);
    uint64_t lines = window->n_lines - count_line_breaks(at, window->end);
    uint64_t before = line ? 0 : window->n_characters;
    uint64_t characters = before + count_characters(line ? line : window->begin, at);
    return (struct place){
        .line = (int)(lines < INT_MAX ? lines + 1 : INT_MAX),
        .column = (int)(characters < INT_MAX ? characters + 1 : INT_MAX),
        .line_text = before == 0 ? (line ? line : window->begin) : NULL,
    };
}

void trace_window_close(struct trace_window *window)
{
    free(window->memory);
}
