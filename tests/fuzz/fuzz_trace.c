/*
 * Any bytes as a trace: refused with a message, or read; the same events in whatever pieces the
 * text comes, whose length the first byte says. What begins as gzip data is read as a file too.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/trace_read.h"
#include "trace/trace_stream.h"

struct outcome {
    bool ok;
    uint64_t n_events, hash;
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void add(uint64_t *hash, const void *data, size_t length)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < length; i++)
        *hash = (*hash ^ byte[i]) * 0x100000001b3u;
}

static void require_utf8(struct trace_text text)
{
    for (size_t i = 0; i < text.length;) {
        size_t n = text_utf8_length(text.data + i);
        require(n > 0 && i + n <= text.length && text.data[i] != '\0');
        i += n;
    }
}

static bool take_event(void *data, const struct trace_event *event, struct error *e)
{
    (void)e;
    struct outcome *outcome = data;
    struct arena arena = {0};
    require_utf8(event->name);
    require_utf8(event->category);
    outcome->n_events++;
    add(&outcome->hash, event->name.data, event->name.length);
    add(&outcome->hash, event->category.data, event->category.length);
    add(&outcome->hash, &event->start_ns, sizeof event->start_ns);
    add(&outcome->hash, &event->duration_ns, sizeof event->duration_ns);
    add(&outcome->hash, &event->track, sizeof event->track);
    add(&outcome->hash, &event->offset_bytes, sizeof event->offset_bytes);
    for (enum trace_arg arg = 0; arg < TRACE_N_ARGS; arg++) {
        const struct trace_value *value = trace_event_arg(event, arg);
        int64_t whole = 0;
        double real = 0;
        if (!value)
            continue;
        require(value->length > 0);
        trace_value_int(value, &whole);
        trace_value_number(value, &real);
        const char *text = trace_value_text(&arena, value);
        add(&outcome->hash, text, strlen(text));
        add(&outcome->hash, &whole, sizeof whole);
    }
    arena_free(&arena);
    return true;
}

struct memory_stream {
    struct trace_stream stream;
    const uint8_t *data;
    size_t size, given, piece;
};

static bool fill(struct trace_stream *stream, char *to, size_t capacity, size_t *length,
                 struct error *e)
{
    (void)e;
    struct memory_stream *memory = (struct memory_stream *)stream;
    size_t left = memory->size - memory->given, n = memory->piece < left ? memory->piece : left;
    *length = n < capacity ? n : capacity;
    if (*length > 0)
        memcpy(to, memory->data + memory->given, *length);
    memory->given += *length;
    return true;
}

static struct outcome read_pieces(const uint8_t *data, size_t size, size_t piece, bool partial)
{
    struct memory_stream memory = {{.fill = fill}, data, size, 0, piece};
    struct outcome outcome = {0};
    struct trace_reader reader = {.data = &outcome, .event = take_event, .partial = partial};
    struct trace_ending ending;
    struct arena arena = {0};
    struct error e = {0};
    outcome.ok = trace_read_stream(&arena, "fuzz.json", &memory.stream, &reader, &ending, &e);
    require(outcome.ok || (e.kind != ERROR_NONE && e.text && e.text[0]));
    error_clear(&e);
    arena_free(&arena);
    return outcome;
}

static void read_file(const uint8_t *data, size_t size, bool partial)
{
    struct outcome outcome = {0};
    struct trace_reader reader = {.data = &outcome, .event = take_event, .partial = partial};
    struct trace_ending ending;
    struct arena arena = {0};
    struct error e = {0};
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = trace_read(&arena, path, &reader, &ending, &e);
    require(ok || (e.kind != ERROR_NONE && e.text && e.text[0]));
    close(fd);
    error_clear(&e);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool partial = data[0] & 1;
    size_t piece = 1 + data[0] / 2;
    data++;
    size--;
    struct outcome whole = read_pieces(data, size, SIZE_MAX, partial);
    struct outcome pieces = read_pieces(data, size, piece, partial);
    require(whole.ok == pieces.ok && whole.n_events == pieces.n_events);
    require(whole.hash == pieces.hash);
    if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b)
        read_file(data, size, partial);
    return 0;
}
