/* What a reading of a trace gave, kept: for tests that look at it afterwards. */
#ifndef FORETRAIN_TESTS_COLLECTED_H
#define FORETRAIN_TESTS_COLLECTED_H

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "trace/trace_read.h"
#include "trace/trace_stream.h"

struct collected {
    struct arena arena;
    struct error error;
    struct trace_event *event; /* [n], pointing to copies */
    size_t n, capacity;
    struct trace_ending ending;
    size_t stop_after; /* events; 0: never */
    uint64_t done_bytes, total_bytes;
    size_t n_progress;
};

static inline struct trace_text copy_text(struct arena *arena, struct trace_text text)
{
    return (struct trace_text){arena_copy_n(arena, text.data, text.length), text.length};
}

static inline struct trace_value copy_value(struct arena *arena, struct trace_value value)
{
    if (!value.json)
        return value;
    return (struct trace_value){arena_copy_n(arena, value.json, value.length), value.length};
}

static inline bool collect_event(void *data, const struct trace_event *event, struct error *e)
{
    struct collected *c = data;
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->event = memory_resize(c->event, c->capacity, sizeof *c->event);
    }
    struct trace_event *kept = &c->event[c->n++];
    memset(kept, 0, sizeof *kept);
    memcpy(kept, event, offsetof(struct trace_event, arg));
    kept->name = copy_text(&c->arena, event->name);
    kept->category = copy_text(&c->arena, event->category);
    kept->id = copy_value(&c->arena, event->id);
    kept->bind_id = copy_value(&c->arena, event->bind_id);
    for (enum trace_arg arg = 0; arg < TRACE_N_ARGS; arg++) {
        const struct trace_value *value = trace_event_arg(event, arg);
        if (value)
            kept->arg[arg] = copy_value(&c->arena, *value);
    }
    if (c->stop_after > 0 && c->n == c->stop_after) {
        error_set(e, ERROR_CHECK, "enough");
        return false;
    }
    return true;
}

static inline void collect_progress(void *data, uint64_t done_bytes, uint64_t total_bytes)
{
    struct collected *c = data;
    c->done_bytes = done_bytes;
    c->total_bytes = total_bytes;
    c->n_progress++;
}

static inline void collected_free(struct collected *c)
{
    arena_free(&c->arena);
    error_clear(&c->error);
    free(c->event);
    *c = (struct collected){0};
}

static inline bool collect_file(struct collected *c, const char *path, bool partial)
{
    struct trace_reader reader = {
        .data = c, .event = collect_event, .progress = collect_progress, .partial = partial};
    return trace_read(&c->arena, path, &reader, &c->ending, &c->error);
}

/* Text in memory, given in pieces: one of `first` bytes, where it is not 0, then ones of `piece`.
 */
struct memory_stream {
    struct trace_stream stream;
    const char *text;
    size_t length, given, first, piece;
};

static inline bool memory_fill(struct trace_stream *stream, char *to, size_t capacity,
                               size_t *length, struct error *e)
{
    (void)e;
    struct memory_stream *memory = (struct memory_stream *)stream;
    size_t piece = memory->given == 0 && memory->first > 0 ? memory->first : memory->piece;
    size_t left = memory->length - memory->given;
    size_t n = piece < left ? piece : left;
    n = n < capacity ? n : capacity;
    memcpy(to, memory->text + memory->given, n);
    memory->given += n;
    *length = n;
    return true;
}

static inline bool collect_pieces(struct collected *c, const char *text, size_t length,
                                  size_t first, size_t piece, bool partial)
{
    struct memory_stream memory = {.stream = {.fill = memory_fill},
                                   .text = text,
                                   .length = length,
                                   .first = first,
                                   .piece = piece};
    struct trace_reader reader = {.data = c, .event = collect_event, .partial = partial};
    return trace_read_stream(&c->arena, "t.json", &memory.stream, &reader, &c->ending, &c->error);
}

static inline bool collect_text(struct collected *c, const char *text)
{
    return collect_pieces(c, text, strlen(text), 0, SIZE_MAX, false);
}

#endif
