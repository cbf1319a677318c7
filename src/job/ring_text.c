#include "job/ring_text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "job/device_numbers.h"

enum { LONGEST_LINE = 100 };

/* Names that are still to be added as one: alone, or "stem[from-to]" with `width` digits. */
struct run {
    const char *name;
    size_t stem, width;
    long from, to;
};

struct list {
    const struct job *job;
    struct host_entry *host;
    size_t n_hosts;
    struct text *out;
    struct run run;
    bool any; /* a run is open */
};

/* Digits at the end of a name that can count on: up to nine, not of a "host:slot". */
static struct run run_of(const char *name)
{
    size_t length = strlen(name), stem = length;
    while (stem > 0 && length - stem < 9 && strchr("0123456789", name[stem - 1]))
        stem--;
    struct run run = {name, stem, length - stem, 0, 0};
    if (!strchr(name, ':') && run.width > 0)
        run.from = run.to = strtol(name + stem, NULL, 10);
    else
        run.width = 0;
    return run;
}

static bool follows(const struct run *run, const struct run *next)
{
    bool zeros = run->width > 1 && run->name[run->stem] == '0';
    bool same_width = run->width == next->width || (!zeros && run->width < next->width);
    return run->width > 0 && next->width > 0 && same_width && run->stem == next->stem &&
           strncmp(run->name, next->name, run->stem) == 0 && next->from == run->to + 1;
}

static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return strspn(text, safe) == strlen(text) && strspn(text, "0123456789._-") == 0;
}

static void add_item(struct list *list, const char *item)
{
    const char *quote = is_plain(item) ? "" : "\"";
    text_format(list->out, "%s%s%s%s", list->out->length ? ", " : "", quote, item, quote);
}

static void end_run(struct list *list)
{
    const struct run *r = &list->run;
    struct arena scratch = {0};
    const char *item = r->name;
    if (list->any && r->to > r->from)
        item = arena_format(&scratch, "%.*s[%.*s-%0*ld]", (int)r->stem, r->name, (int)r->width,
                            r->name + r->stem, (int)r->width, r->to);
    if (list->any)
        add_item(list, item);
    list->any = false;
    arena_free(&scratch);
}

static void add_name(struct list *list, const char *name)
{
    struct run next = run_of(name);
    if (list->any && follows(&list->run, &next)) {
        list->run.to = next.to;
        return;
    }
    end_run(list);
    list->run = next;
    list->any = true;
}

/* How many positions from `at` on are the slots of one host, all of them and in order; else 0. */
static size_t whole_host(const struct list *list, const size_t *ring, size_t at)
{
    const char *host = job_device_host(list->job, ring[at], NULL);
    if (!host)
        return 0;
    size_t entry = device_numbers_find(list->host, list->n_hosts, host);
    size_t n = (size_t)list->host[entry].host->n_on_host;
    for (size_t i = 0; i < n; i++) {
        int slot = 0;
        const char *there =
            at + i < list->job->n_devices ? job_device_host(list->job, ring[at + i], &slot) : NULL;
        if (!there || strcmp(there, host) != 0 || slot != (int)i)
            return 0;
    }
    return n;
}

void ring_text_format(const struct job *job, const size_t *ring, struct text *out)
{
    struct arena scratch = {0};
    struct list list = {.job = job, .out = out};
    list.host = device_numbers_hosts(job, &list.n_hosts);
    for (size_t i = 0; i < job->n_devices;) {
        size_t n = whole_host(&list, ring, i);
        add_name(&list, n > 0 ? job_device_host(job, ring[i], NULL)
                              : job_device_name(&scratch, job, ring[i]));
        i += n > 0 ? n : 1;
    }
    end_run(&list);
    free(list.host);
    arena_free(&scratch);
}

/* Where the order goes into a job's text; bytes. */
struct gap {
    size_t from, to; /* what the order takes the place of */
    bool has_key;    /* the key stands before it */
    bool in_braces;  /* the whole job is one { } */
};

struct scan {
    struct gap gap;
    size_t depth;
    bool key_next;   /* at depth 1: a key comes next */
    bool in_ring;    /* in the value of the key `ring` */
    size_t last_end; /* of the last word or bracket; in characters, as all of these */
};

static void take_word(struct scan *s, const yaml_event_t *event)
{
    bool is_key = s->depth == 1 && s->key_next;
    if (is_key && strcmp((const char *)event->data.scalar.value, "ring") == 0) {
        s->in_ring = s->gap.has_key = true;
        s->gap.from = event->end_mark.index;
    }
    if (s->depth == 1)
        s->key_next = !is_key;
}

static bool begins(const yaml_event_t *event)
{
    return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool ends(const yaml_event_t *event)
{
    return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

static void take_event(struct scan *s, const yaml_event_t *event)
{
    bool is_word = event->type == YAML_SCALAR_EVENT;
    if (begins(event) && s->depth++ == 0) {
        s->key_next = true;
        s->gap.in_braces = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    }
    if (is_word)
        take_word(s, event);
    if (ends(event) && --s->depth == 0 && !s->gap.has_key)
        s->gap.from = s->gap.to = event->start_mark.index;
    if ((is_word || ends(event)) && event->end_mark.index > event->start_mark.index)
        s->last_end = event->end_mark.index;
    if (ends(event) && s->depth == 1)
        s->key_next = true;
    if (s->in_ring && s->depth == 1 && s->key_next) {
        s->gap.to = s->last_end;
        s->in_ring = false;
    }
}

/* Bytes of the first `n` characters. */
static size_t bytes_of(const char *text, size_t n)
{
    size_t i = 0;
    while (text[i] && (n > 0 || ((unsigned char)text[i] & 0xc0) == 0x80))
        n -= ((unsigned char)text[i++] & 0xc0) != 0x80;
    return i;
}

/* The text was read as a job before, so it is YAML. */
static struct gap find_gap(const char *text)
{
    struct scan s = {0};
    yaml_parser_t parser;
    yaml_event_t event;
    if (!yaml_parser_initialize(&parser))
        memory_exhausted();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    bool more = true;
    while (more && yaml_parser_parse(&parser, &event)) {
        take_event(&s, &event);
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    s.gap.from = bytes_of(text, s.gap.from);
    s.gap.to = bytes_of(text, s.gap.to);
    return s.gap;
}

/* "[...]" in lines. */
static void add_brackets(const struct job *job, const size_t *ring, struct text *out)
{
    struct text names = {0};
    size_t column = 0;
    ring_text_format(job, ring, &names);
    text_add(out, "[");
    for (const char *at = names.data; *at;) {
        const char *comma = strstr(at, ", ");
        size_t length = comma ? (size_t)(comma - at) + 1 : strlen(at);
        bool breaks = column > 0 && column + length > LONGEST_LINE;
        text_add(out, breaks ? "\n  " : column > 0 ? " " : "");
        text_add_n(out, at, length);
        column = (breaks ? 0 : column) + length + 1;
        at += length + (comma ? 1 : 0);
    }
    text_add(out, "]");
    text_free(&names);
}

static bool has_order(const struct job *job, const struct job *other, const size_t *ring)
{
    bool same = other->n_devices == job->n_devices;
    for (size_t i = 0; same && i < job->n_devices; i++)
        same = job_ring_device(other, i) == ring[i];
    return same;
}

static bool check_order(const struct job *job, const size_t *ring, const struct text *text,
                        struct error *e)
{
    struct arena scratch = {0};
    struct error why = {0};
    struct job read;
    bool same =
        job_parse(&scratch, text->data, text->length, job->file, job->folder, &read, &why) &&
        has_order(job, &read, ring);
    if (!same) {
        error_set(e, ERROR_INPUT, "%s: another order cannot be written into this file", job->file);
        error_hint(e, "write its top level as lines of 'key: value'");
    }
    error_clear(&why);
    arena_free(&scratch);
    return same;
}

bool ring_text_replace(const struct job *job, const size_t *ring, struct text *out, struct error *e)
{
    const char *text = text_after_mark(job->text);
    size_t mark = (size_t)(text - job->text);
    struct gap gap = find_gap(text);
    struct text made = {0};
    text_add_n(&made, job->text, mark + gap.from);
    if (gap.has_key)
        text_add(&made, ": ");
    else if (gap.in_braces)
        text_add(&made, ", ring: ");
    else
        text_add(&made, gap.from > 0 && text[gap.from - 1] != '\n' ? "\nring: " : "ring: ");
    add_brackets(job, ring, &made);
    if (!gap.has_key && !gap.in_braces)
        text_add(&made, "\n");
    text_add(&made, text + gap.to);
    bool ok = check_order(job, ring, &made, e);
    if (ok)
        text_add_n(out, made.data, made.length);
    text_free(&made);
    return ok;
}
