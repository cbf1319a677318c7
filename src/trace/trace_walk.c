/*
 * One token at a time, except events and values of the header, which are read as a whole. Where the
 * text in memory ends within one, it is read again from its beginning when there is more.
 */
#include "trace/trace_walk.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"

static bool is_event_array(const struct trace_walker *w)
{
    return w->event_arrays[w->nest.depth / 64] >> w->nest.depth % 64 & 1;
}

static bool expects_value(const struct trace_walker *w, const char *p)
{
    return w->nest.expects == NEST_VALUE || (w->nest.expects == NEST_VALUE_OR_END && *p != ']');
}

static struct place place_of(const struct trace_walker *w, const char *at)
{
    struct place place = trace_window_place(&w->window, at);
    place.file = w->path;
    return place;
}

/* What the scanner found instead of what it expected. */
static void describe(const struct trace_walker *w, struct error *e)
{
    enum { SHOWN = 24 };
    const struct scan *s = &w->scanner.scan;
    struct arena arena = {0};
    struct place place = place_of(w, s->at);
    size_t length = (size_t)(w->window.end - s->at);
    const char *found = arena_copy_n(&arena, s->at, length < SHOWN ? length : SHOWN);
    error_at(e, &place, "expected %s, found: %s (byte %" PRIu64 ")", s->expected,
             text_printable(&arena, found, 0), trace_window_offset(&w->window, s->at));
    arena_free(&arena);
    error_hint(e, "no profiler writes this: record or export the trace again%s",
               w->stream->compressed ? ", or copy it again: `gzip -t` checks a copy" : "");
}

static void describe_long(const struct trace_walker *w, struct error *e)
{
    struct place place = place_of(w, w->p);
    place.line_text = NULL;
    error_at(e, &place, "what begins here is longer than 16 MiB (byte %" PRIu64 ")",
             trace_window_offset(&w->window, w->p));
    error_hint(e, "no event of a profiler is that long: a quote or bracket may be missing");
}

static void describe_cut_off(const struct trace_walker *w, struct error *e)
{
    struct place place = place_of(w, w->window.end);
    place.line_text = NULL;
    error_at(e, &place, "the %s is cut off (at byte %" PRIu64 "%s)",
             w->stream->cut_off ? "gzip data" : "trace",
             trace_window_offset(&w->window, w->window.end),
             w->stream->cut_off ? " of its text" : "");
    if (w->findings.n_events > 0)
        error_hint(e,
                   "copy it again, or let --partial use the %" PRIu64 " events before that place",
                   w->findings.n_events);
    else
        error_hint(e, "copy it again: there is no whole event before that place");
}

/* More text at w->p; false at its end, too, which then is too early. */
static bool get_more(struct trace_walker *w, struct error *e)
{
    enum trace_window_more more = trace_window_get(&w->window, &w->p, e);
    w->scanner.scan.end = w->window.end;
    if (more == WINDOW_LONG)
        describe_long(w, e);
    if (more == WINDOW_MORE && w->reader->progress)
        w->reader->progress(w->reader->data, w->stream->done_bytes, w->stream->total_bytes);
    return more == WINDOW_MORE;
}

/* A bracket, a comma, or a value that means nothing. */
static const char *step_token(struct trace_walker *w, const char *p)
{
    bool holds_events =
        *p == '[' && expects_value(w, p) && (w->nest.depth == 0 || w->key == HEADER_TRACE_EVENTS);
    const char *end = nest_step(&w->scanner.scan, &w->nest, p);
    if (!end)
        return NULL;
    w->key = HEADER_OTHER;
    if (*p != '[' && *p != '{')
        return end;
    uint64_t bit = (uint64_t)1 << w->nest.depth % 64;
    uint64_t *arrays = &w->event_arrays[w->nest.depth / 64];
    *arrays = holds_events ? *arrays | bit : *arrays & ~bit;
    w->findings.has_events |= holds_events;
    return end;
}

static void count_event(struct trace_walker *w)
{
    char phase = w->event.phase;
    w->findings.n_events += phase != '\0';
    w->findings.n_async += phase == 'b' || phase == 'e';
}

/* Hands on an event; returns the place behind it and a comma that follows at once. */
static const char *hand_on_event(struct trace_walker *w, const char *begin, const char *end,
                                 struct error *e)
{
    w->event.offset_bytes = trace_window_offset(&w->window, begin);
    w->whole_bytes = trace_window_offset(&w->window, end);
    count_event(w);
    nest_value_read(&w->nest);
    bool going = w->reader->event(w->reader->data, &w->event, e);
    assert(going || e->kind != ERROR_NONE);
    if (!going)
        return NULL;
    return *end == ',' ? nest_step(&w->scanner.scan, &w->nest, end) : end;
}

static const char *step_event(struct trace_walker *w, const char *p, struct error *e)
{
    if (*p == '{') {
        const char *end = event_scan(&w->scanner, p, &w->event);
        if (end)
            return hand_on_event(w, p, end, e);
        return w->scanner.holds_events ? step_token(w, p) : NULL;
    }
    if (*p != '[' || w->nest.depth != 1)
        return scan_fail(&w->scanner.scan, p, "an event in braces");
    struct place place = place_of(w, p);
    trace_foreign_timeline(&place, e);
    return NULL;
}

static const char *step_kept_value(struct trace_walker *w, const char *p)
{
    const char *end = scan_value(&w->scanner.scan, p);
    if (end) {
        header_keep(&w->header, w->key, w->nest.depth, p, (size_t)(end - p));
        nest_value_read(&w->nest);
        w->key = HEADER_OTHER;
    }
    return end;
}

static const char *step_key(struct trace_walker *w, const char *p)
{
    const char *end = nest_key(&w->scanner.scan, &w->nest, p);
    if (!end)
        return NULL;
    const char *quote = memrchr(p, '"', (size_t)(end - p));
    w->key = header_key_of(p + 1, (size_t)(quote - p - 1));
    if (w->nest.depth == 1)
        w->findings.keys |= 1u << w->key;
    return end;
}

static const char *step(struct trace_walker *w, const char *p, struct error *e)
{
    enum nest_expects expects = w->nest.expects;
    if (expects_value(w, p) && is_event_array(w))
        return step_event(w, p, e);
    if (expects == NEST_VALUE && w->key < HEADER_N_KEPT)
        return step_kept_value(w, p);
    if (expects == NEST_KEY || (expects == NEST_KEY_OR_END && *p != '}'))
        return step_key(w, p);
    return step_token(w, p);
}

/* One step, with as much more text as it needs. */
static bool whole_step(struct trace_walker *w, struct error *e)
{
    struct scan *s = &w->scanner.scan;
    for (;;) {
        uint64_t escapes_before = s->unknown_escapes;
        w->p = scan_blanks(w->p);
        s->more = false;
        const char *end = step(w, w->p, e);
        if (end) {
            w->p = end;
            return true;
        }
        s->unknown_escapes = escapes_before;
        if (e->kind != ERROR_NONE)
            return false;
        if (!s->more) {
            describe(w, e);
            return false;
        }
        if (!get_more(w, e))
            return false;
    }
}

/* Goes to the first byte that is no blank; false at the end of the text. */
static bool pass_blanks(struct trace_walker *w, struct error *e)
{
    do {
        w->p = scan_blanks(w->p);
    } while (w->p == w->window.end && get_more(w, e));
    return w->p < w->window.end;
}

/* To the bracket or brace that a trace begins with; false without an error where gzip data is cut
 * off before. */
static bool begin(struct trace_walker *w, struct error *e)
{
    static const char mark[] = "\xef\xbb\xbf";
    while (w->window.end - w->p < (ptrdiff_t)strlen(mark) && get_more(w, e))
        ;
    if (strncmp(w->p, mark, strlen(mark)) == 0)
        w->p += strlen(mark);
    bool there = e->kind == ERROR_NONE && pass_blanks(w, e);
    if (there && (*w->p == '[' || *w->p == '{')) {
        w->findings.is_array = *w->p == '[';
        return true;
    }
    if (e->kind == ERROR_NONE && (there || !w->stream->cut_off)) {
        struct place place = place_of(w, w->p);
        trace_foreign_text(&place, w->p, (size_t)(w->window.end - w->p), e);
    }
    return false;
}

static bool end(struct trace_walker *w, struct error *e)
{
    if (pass_blanks(w, e)) {
        scan_fail(&w->scanner.scan, w->p, "nothing behind the end of the trace");
        describe(w, e);
    }
    return e->kind == ERROR_NONE;
}

bool trace_walk(struct trace_walker *w, struct error *e)
{
    w->p = w->window.begin;
    w->key = HEADER_OTHER;
    w->scanner.scan.end = w->window.end;
    bool going = begin(w, e);
    while (going && w->nest.expects != NEST_NOTHING)
        going = whole_step(w, e);
    if (going && !end(w, e))
        return false;
    if (e->kind != ERROR_NONE)
        return false;
    w->truncated = !going || w->stream->cut_off;
    if (w->truncated && !w->reader->partial)
        describe_cut_off(w, e);
    return e->kind == ERROR_NONE && (w->truncated || trace_foreign_check(w->path, &w->findings, e));
}

void trace_walker_free(struct trace_walker *w)
{
    trace_window_close(&w->window);
    event_scanner_free(&w->scanner);
    header_values_free(&w->header);
}
