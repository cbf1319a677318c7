#include "trace/event_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/event_keys.h"
#include "trace/event_time.h"
#include "trace/trace_read.h"
#include "trace/unescape.h"

enum { LONGEST_TRACK = 1024 };

static int key_number(enum glue_level level, const char *key, size_t length)
{
    return level == GLUE_EVENT ? (int)event_key_of(key, length) : (int)event_arg_of(key, length);
}

/* What is glue, token by token: from `p`, where a value has ended or an object has begun, to the
 * next value or behind the end of the object. */
static const char *read_glue(struct scan *s, enum glue_level level, bool first, const char *p,
                             int *key)
{
    p = scan_blanks(p);
    if (*p == '}') {
        *key = GLUE_OBJECT_END;
        return p + 1;
    }
    if (!first && *p != ',')
        return scan_fail(s, p, "',' or '}' behind a value");
    p = first ? p : scan_blanks(p + 1);
    if (*p != '"')
        return scan_fail(s, p, "a key in double quotes");
    bool plain;
    const char *name = p + 1;
    p = scan_string(s, name, &plain);
    if (!p)
        return NULL;
    *key = key_number(level, name, (size_t)(p - name));
    p = scan_blanks(p + 1);
    return *p == ':' ? scan_blanks(p + 1) : scan_fail(s, p, "':' behind a key");
}

static struct glue *learn(struct event_scanner *es, struct glue *from, const char **p)
{
    int key = 0;
    bool first = from == &es->book.start[from->level];
    const char *end = read_glue(&es->scan, from->level, first, *p, &key);
    if (!end)
        return NULL;
    if (key != GLUE_OBJECT_END && end >= es->scan.end) {
        scan_fail(&es->scan, end, "a value");
        return NULL;
    }
    struct glue *glue = glue_learn(&es->book, from, *p, (size_t)(end - *p), key);
    *p = end;
    return glue;
}

static inline struct glue *next_glue(struct event_scanner *es, struct glue *from, const char **p)
{
    struct glue *glue = glue_follow(from, *p);
    if (!glue)
        return learn(es, from, p);
    *p += glue->length;
    if (glue->key != GLUE_OBJECT_END)
        *p = scan_blanks(*p);
    return glue;
}

static const char *read_value(struct scan *s, const char *p, struct trace_value *value)
{
    const char *end = scan_value(s, p);
    if (end)
        *value = (struct trace_value){p, (size_t)(end - p)};
    return end;
}

static struct trace_text decode(struct event_scanner *es, struct text *memory, const char *written,
                                size_t length)
{
    size_t size = unescape_size(length);
    if (memory->capacity < size) {
        memory->data = memory_resize(memory->data, 2 * size, 1);
        memory->capacity = 2 * size;
    }
    memory->length = unescape(written, length, memory->data, &es->n_broken);
    return (struct trace_text){memory->data, memory->length};
}

/* A string; any other value counts as none. */
static const char *read_text(struct event_scanner *es, const char *p, struct text *memory,
                             struct trace_text *text)
{
    *text = (struct trace_text){"", 0};
    if (*p != '"')
        return scan_value(&es->scan, p);
    bool plain;
    const char *begin = p + 1, *end = scan_string(&es->scan, begin, &plain);
    if (!end)
        return NULL;
    size_t length = (size_t)(end - begin);
    *text = plain ? (struct trace_text){begin, length} : decode(es, memory, begin, length);
    return end + 1;
}

static const char *read_phase(struct event_scanner *es, const char *p, char *phase)
{
    bool plain = p[0] == '"' && p[1] > ' ' && p[1] != '"' && p[1] != '\\' && p[2] == '"';
    if (plain) {
        *phase = p[1];
        return p + 3;
    }
    struct trace_text text;
    p = read_text(es, p, &es->key, &text);
    *phase = text.length == 1 ? text.data[0] : '\0';
    return p;
}

/* The number in a string, without blanks around it; NULL where there is anything else. */
static const char *number_within(struct scan *s, const char *string)
{
    struct scan inner = {.end = s->end};
    const char *number = string + 1, *end = scan_number(&inner, number);
    return end && *end == '"' ? number : NULL;
}

/* Microseconds, as a number or in a string; null counts as none. */
static const char *read_time(struct scan *s, const char *p, bool *is_there, int64_t *time_ns)
{
    const char *end = event_time_short(p, time_ns);
    *is_there = end != NULL;
    if (end)
        return end;
    end = scan_value(s, p);
    if (!end || *p == 'n')
        return end;
    const char *number = *p == '"' ? number_within(s, p) : p;
    if (!number || *number == '[' || *number == '{' || *number == 't' || *number == 'f')
        return scan_fail(s, p, "a time in microseconds");
    if (!event_time_ns(number, time_ns))
        return scan_fail(s, p, "a time below 9.2e15 microseconds");
    *is_there = true;
    return end;
}

static const char *read_args(struct event_scanner *es, const char *p, struct trace_event *event)
{
    event->arg_mask = 0;
    if (*p != '{')
        return scan_value(&es->scan, p);
    struct glue *at = glue_start(&es->book, GLUE_ARGS);
    p++;
    while ((at = next_glue(es, at, &p)) && at->key != GLUE_OBJECT_END) {
        const char *end = scan_value(&es->scan, p);
        if (!end)
            return NULL;
        if (at->key < TRACE_N_ARGS) {
            event->arg[at->key] = (struct trace_value){p, (size_t)(end - p)};
            event->arg_mask |= (uint64_t)1 << at->key;
        }
        p = end;
    }
    return at ? p : NULL;
}

static const char *read_member(struct event_scanner *es, enum event_key key, const char *p,
                               struct trace_event *event)
{
    struct scan *s = &es->scan;
    switch (key) {
    case EVENT_PHASE:
        return read_phase(es, p, &event->phase);
    case EVENT_NAME:
        return read_text(es, p, &es->name, &event->name);
    case EVENT_CATEGORY:
        return read_text(es, p, &es->category, &event->category);
    case EVENT_PROCESS:
        return read_value(s, p, &es->pid);
    case EVENT_THREAD:
        return read_value(s, p, &es->tid);
    case EVENT_START:
        return read_time(s, p, &event->has_start, &event->start_ns);
    case EVENT_DURATION:
        return read_time(s, p, &event->has_duration, &event->duration_ns);
    case EVENT_ID:
        return read_value(s, p, &event->id);
    case EVENT_BIND_ID:
        return read_value(s, p, &event->bind_id);
    case EVENT_ARGS:
        return read_args(es, p, event);
    case EVENT_TRACE_EVENTS:
        es->holds_events = *p == '[';
        return es->holds_events ? NULL : scan_value(s, p);
    default:
        return scan_value(s, p);
    }
}

/* A pid or tid as text: "7" and 7 are the same. */
static void add_part(struct text *key, const struct trace_value *value)
{
    bool string = value->length >= 2 && value->json[0] == '"';
    if (!string) {
        text_add_n(key, value->json ? value->json : "", value->length);
    } else if (!memchr(value->json, '\\', value->length)) {
        text_add_n(key, value->json + 1, value->length - 2);
    } else {
        char decoded[3 * LONGEST_TRACK + 1];
        text_add_n(key, decoded, unescape(value->json + 1, value->length - 2, decoded, NULL));
    }
}

/* A new track's process. */
static void add_track(struct event_scanner *es, size_t pid_length)
{
    uint32_t *process_of =
        memory_resize(es->process_of, es->tracks.capacity, sizeof *es->process_of);
    process_of[es->tracks.n - 1] = numbering_of(&es->processes, es->key.data, pid_length);
    es->process_of = process_of;
}

static bool look_up_track(struct event_scanner *es, uint32_t *track)
{
    struct text *key = &es->key;
    key->length = 0;
    add_part(key, &es->pid);
    size_t pid_length = key->length, n = es->tracks.n;
    text_add_n(key, "", 1);
    add_part(key, &es->tid);
    *track = numbering_of(&es->tracks, key->data, key->length);
    if (*track == n)
        add_track(es, pid_length);
    return *track < TRACE_MOST_TRACKS;
}

/* Remembers tracks by pid and tid as they are written, where these are short. */
static bool number_track(struct event_scanner *es, uint32_t *track)
{
    const struct trace_value *pid = &es->pid, *tid = &es->tid;
    if (pid->length == 0 || pid->length > 8 || tid->length == 0 || tid->length > 16)
        return look_up_track(es, track);
    struct known_track key = {
        .pid = simd16_word(pid->json, pid->length),
        .tid = simd16_word(tid->json, tid->length),
        .more_tid = tid->length > 8 ? simd16_word(tid->json + 8, tid->length - 8) : 0,
    };
    uint64_t hash = (key.pid + 31 * key.tid + 97 * key.more_tid) * 0x9e3779b97f4a7c15u;
    struct known_track *known = &es->known[hash >> 32 & (N_KNOWN_TRACKS - 1)];
    bool same = known->pid == key.pid && known->tid == key.tid && known->more_tid == key.more_tid;
    if (!same || known->track_plus_1 == 0) {
        if (!look_up_track(es, track))
            return false;
        *known = key;
        known->track_plus_1 = *track + 1;
    }
    *track = known->track_plus_1 - 1;
    return true;
}

static void clear(struct event_scanner *es, struct trace_event *event)
{
    es->pid = es->tid = event->id = event->bind_id = (struct trace_value){0};
    event->phase = '\0';
    event->has_start = event->has_duration = false;
    event->start_ns = event->duration_ns = 0;
    event->name = event->category = (struct trace_text){"", 0};
    event->arg_mask = 0;
    es->holds_events = false;
}

const char *event_scan(struct event_scanner *es, const char *p, struct trace_event *event)
{
    const char *begin = p;
    uint64_t escapes_before = es->scan.unknown_escapes, broken_before = es->n_broken;
    struct glue *at = glue_start(&es->book, GLUE_EVENT);
    clear(es, event);
    p++;
    while (p && (at = next_glue(es, at, &p)) && at->key != GLUE_OBJECT_END)
        p = read_member(es, (enum event_key)at->key, p, event);
    if (!p || !at) {
        es->scan.unknown_escapes = escapes_before;
        es->n_broken = broken_before;
        return NULL;
    }
    if (es->pid.length > LONGEST_TRACK || es->tid.length > LONGEST_TRACK)
        return scan_fail(&es->scan, begin, "a pid and tid of less than 1024 bytes");
    if (!number_track(es, &event->track))
        return scan_fail(&es->scan, begin, "at most 65536 different threads");
    event->process = es->process_of[event->track];
    return p;
}

void event_scanner_free(struct event_scanner *es)
{
    numbering_free(&es->tracks);
    numbering_free(&es->processes);
    free(es->process_of);
    text_free(&es->key);
    text_free(&es->name);
    text_free(&es->category);
}
