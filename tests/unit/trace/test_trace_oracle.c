/*
 * jansson as the oracle: the same events with the same values, on every sample file and on traces
 * made at random, and the same opinion on what is JSON. And the text may come in any pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/child.h"
#include "base/file.h"
#include "base/random.h"
#include "collected.h"

struct fixture {
    struct collected c;
    struct error e;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    collected_free(&f->c);
    error_clear(&f->e);
    free(f);
    return 0;
}

/* The array "traceEvents" at any depth, or the array at the top level. */
static json_t *events_of(json_t *json)
{
    if (json_is_array(json))
        return json;
    json_t *events = json_object_get(json, "traceEvents");
    if (json_is_array(events))
        return events;
    const char *key;
    json_t *value;
    json_object_foreach(json, key, value)
    {
        events = json_is_object(value) ? events_of(value) : NULL;
        if (events)
            return events;
    }
    return NULL;
}

static void assert_same_text(struct trace_text text, const json_t *expected)
{
    assert_int_equal(text.length, json_is_string(expected) ? json_string_length(expected) : 0);
    assert_memory_equal(text.data, json_is_string(expected) ? json_string_value(expected) : "",
                        text.length);
}

static void assert_same_name(const char *text, const json_t *expected)
{
    char number[32] = "";
    if (json_is_integer(expected))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(expected));
    if (json_is_real(expected))
        snprintf(number, sizeof number, "%.0f", json_real_value(expected));
    assert_string_equal(text, json_is_string(expected) ? json_string_value(expected) : number);
}

/* Times that jansson reads as doubles are as exact as those. */
static void assert_same_time(bool is_there, int64_t time_ns, const json_t *expected)
{
    assert_int_equal(is_there, expected && !json_is_null(expected));
    if (json_is_integer(expected)) {
        assert_int_equal(time_ns, 1000 * json_integer_value(expected));
    } else if (is_there) {
        double us = json_is_string(expected) ? strtod(json_string_value(expected), NULL)
                                             : json_real_value(expected);
        double off_ns = (double)time_ns - 1e3 * us, limit_ns = 0.51 + 1e-15 * 1e3 * us;
        assert_true(off_ns <= limit_ns && off_ns >= -limit_ns);
    }
}

static const char *const arg_names[] = {"External id",
                                        "correlation",
                                        "device",
                                        "stream",
                                        "bytes",
                                        "Collective name",
                                        "In msg nelems",
                                        "Out msg nelems",
                                        "dtype",
                                        "Group size",
                                        "Process Group Name",
                                        "Process Group Description",
                                        "Process Group Ranks",
                                        "Rank",
                                        "Seq",
                                        "Comms Id",
                                        "Input Dims",
                                        "Input type",
                                        "Sequence number",
                                        "Fwd thread id",
                                        "Record function id",
                                        "kernel",
                                        "Task Type",
                                        "Stream Id",
                                        "connection_id",
                                        "name",
                                        "labels",
                                        "sort_index",
                                        "group_id",
                                        "step_num",
                                        "tf_op",
                                        "long_name",
                                        "hlo_op",
                                        "hlo_category"};

static json_t *expected_arg(const json_t *args, enum trace_arg arg)
{
    json_t *value = json_object_get(args, arg_names[arg]);
    if (!value && arg == TRACE_EXTERNAL_ID)
        value = json_object_get(args, "external id");
    if (!value && arg == TRACE_INPUT_DIMS)
        value = json_object_get(args, "Input dims");
    return value;
}

static void assert_same_value(const struct trace_value *value, const json_t *expected)
{
    assert_int_equal(value != NULL && value->json, expected != NULL);
    if (!expected)
        return;
    json_t *json =
        json_loadb(value->json, value->length, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    json_t *whole = json_loadb(value->json, value->length, JSON_DECODE_ANY, NULL);
    assert_true(json_equal(json, expected) || json_equal(whole, expected));
    json_decref(json);
    json_decref(whole);
}

static void assert_same_event(const struct collected *c, size_t i, const json_t *expected)
{
    const struct trace_event *event = &c->event[i];
    const json_t *args = json_object_get(expected, "args");
    const char *phase = json_string_value(json_object_get(expected, "ph"));
    assert_int_equal(event->phase, phase && strlen(phase) == 1 ? phase[0] : '\0');
    assert_same_text(event->name, json_object_get(expected, "name"));
    assert_same_text(event->category, json_object_get(expected, "cat"));
    assert_same_name(c->ending.track[event->track].pid, json_object_get(expected, "pid"));
    assert_same_name(c->ending.track[event->track].tid, json_object_get(expected, "tid"));
    assert_same_time(event->has_start, event->start_ns, json_object_get(expected, "ts"));
    assert_same_time(event->has_duration, event->duration_ns, json_object_get(expected, "dur"));
    assert_same_value(&event->id, json_object_get(expected, "id"));
    for (enum trace_arg arg = 0; arg < TRACE_N_ARGS; arg++)
        assert_same_value(trace_event_arg(event, arg), expected_arg(args, arg));
}

static void assert_same_events(const struct collected *c, json_t *root)
{
    json_t *events = events_of(root);
    assert_int_equal(c->n, json_array_size(events));
    for (size_t i = 0; i < c->n; i++)
        assert_same_event(c, i, json_array_get(events, i));
}

static json_t *load(const char *text, size_t length)
{
    json_t *json = json_loadb(text, length, 0, NULL);
    return json ? json : json_loadb(text, length, JSON_DECODE_INT_AS_REAL, NULL);
}

/* The folder of samples; skips, loudly, where this checkout has none. */
static const char *samples(struct fixture *f)
{
    const char *named = getenv("FORETRAIN_SHARED");
    const char *const place[] = {named ? named : "../shared", "../../shared"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *folder = path_join(&f->c.arena, place[i], "data/kineto");
        if (file_exists(folder))
            return folder;
    }
    fprintf(stderr, "SKIPPED: no sample traces; set FORETRAIN_SHARED to the shared folder\n");
    skip();
    return NULL;
}

/* What a program prints, by way of a file. */
static char *output_of(struct fixture *f, const char *const *argv, size_t *length)
{
    char path[] = "/tmp/trace_oracle.XXXXXX", *text = NULL;
    struct child_end how;
    close(mkstemp(path));
    struct child_options options = {.argv = argv, .output = path};
    assert_true(child_run(&options, &(struct child_limits){.timeout_s = 300}, &how, &f->e));
    assert_true(file_read(&f->c.arena, path, 1 << 28, &text, length, &f->e));
    unlink(path);
    return text;
}

static void compare_file(struct fixture *f, const char *path)
{
    size_t length;
    const char *const argv[] = {"gzip", "-dcf", path, NULL};
    char *text = output_of(f, argv, &length);
    json_t *root = load(text, length);
    if (!root || !events_of(root) || strstr(path, "memory_timeline")) {
        assert_false(collect_file(&f->c, path, false) && f->c.ending.n_unknown_escapes == 0);
    } else {
        if (!collect_file(&f->c, path, false))
            fail_msg("%s", f->c.error.text);
        assert_same_events(&f->c, root);
    }
    json_decref(root);
    collected_free(&f->c);
}

static void every_sample_file_gives_what_jansson_reads(void **state)
{
    struct fixture *f = *state;
    struct arena arena = {0};
    const char *const argv[] = {"find",  samples(f),        "-name", "*.json*", "-not",
                                "-name", "*_measured.json", "-o",    "-name",   "*.gz",
                                NULL};
    size_t length, n = 0;
    char *paths = arena_copy(&arena, output_of(f, argv, &length)), *end;
    for (char *path = strtok_r(paths, "\n", &end); path; path = strtok_r(NULL, "\n", &end)) {
        compare_file(f, path);
        n++;
    }
    assert_true(n > 60);
    arena_free(&arena);
}

/* Random traces. */

static const char *pick(struct random *r, const char *const *word, size_t n)
{
    return word[random_below(r, n)];
}

#define PICK(r, ...)                                                                               \
    pick(r, (const char *const[]){__VA_ARGS__},                                                    \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static const char *blanks(struct random *r)
{
    return PICK(r, "", "", "", " ", " ", "\n  ", "\t", " \r\n");
}

static void add_string(struct text *t, struct random *r)
{
    text_add(t, "\"");
    for (uint64_t n = random_below(r, random_below(r, 20) ? 12 : 400); n > 0; n--)
        text_add(t, PICK(r, "a", "B", "::", "{", "]", ",", ": ", "\\\"", "\\\\", "\\n", "\\/",
                         "\\u00e9", "\xc3\xa9", "\xe2\x82\xac", "\\ud83d\\ude00",
                         "\xf0\x9f\x98\x80", "aten::add", "0123456789abcdef"));
    text_add(t, "\"");
}

static void add_number(struct text *t, struct random *r)
{
    long long whole = (long long)(random_next(r) >> (1 + random_below(r, 63)));
    switch (random_below(r, 4)) {
    case 0:
        text_format(t, "%lld", -whole);
        break;
    case 1:
        text_format(t, "%.17g", (double)whole / 997);
        break;
    case 2:
        text_format(t, "%lld.%03dE%+d", whole % 1000, (int)(whole % 1000), (int)(whole % 100));
        break;
    default:
        text_format(t, "%lld", whole);
    }
}

static void add_value(struct text *t, struct random *r, int depth);

static void add_list(struct text *t, struct random *r, int depth, bool object)
{
    text_add(t, object ? "{" : "[");
    for (uint64_t i = 0, n = random_below(r, 4); i < n; i++) {
        text_format(t, "%s%s", i ? "," : "", blanks(r));
        if (object) {
            add_string(t, r);
            text_format(t, "%s:%s", blanks(r), blanks(r));
        }
        add_value(t, r, depth + 1);
        text_add(t, blanks(r));
    }
    text_add(t, object ? "}" : "]");
}

static void add_value(struct text *t, struct random *r, int depth)
{
    uint64_t kind = random_below(r, depth > 4 ? 3 : 5);
    if (kind == 0)
        add_string(t, r);
    else if (kind == 1)
        add_number(t, r);
    else if (kind == 2)
        text_add(t, PICK(r, "true", "false", "null"));
    else
        add_list(t, r, depth, kind == 3);
}

/* Their "Seq" says the start again, in nanoseconds. */
static void add_args(struct text *t, struct random *r, long long start_ns)
{
    text_add(t, "{");
    for (uint64_t n = random_below(r, 5); n > 0; n--) {
        text_format(t, "%s\"%s\":%s", blanks(r), arg_names[random_below(r, TRACE_N_ARGS)],
                    blanks(r));
        add_value(t, r, 2);
        text_add(t, ", ");
    }
    text_format(t, "\"Seq\": %lld%s}", start_ns, blanks(r));
}

static long long add_time(struct text *t, struct random *r)
{
    long long ns = (long long)(random_next(r) >> (1 + random_below(r, 63)));
    const char *quote = random_below(r, 8) ? "" : "\"";
    bool whole = random_below(r, 3) == 0;
    text_format(t, "%s%lld", quote, ns / 1000);
    if (!whole)
        text_format(t, ".%03d", (int)(ns % 1000));
    text_add(t, quote);
    return whole ? ns / 1000 * 1000 : ns;
}

static void add_event(struct text *t, struct random *r)
{
    static const char *const texts[] = {"name", "cat", "id", "other"}, *const ids[] = {"pid",
                                                                                       "tid"};
    text_format(t, "{%s\"ph\": \"%s\"", blanks(r), PICK(r, "X", "i", "s", "f", "M", "\\u0058"));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_format(t, "%s,%s\"%s\":%s", blanks(r), blanks(r), texts[i], blanks(r));
        if (random_below(r, 2) == 0)
            add_string(t, r);
        else
            text_format(t, "%d", (int)random_below(r, 40));
    }
    for (size_t i = 0; i < 2; i++)
        text_format(t, "%s,\"%s\": %s", blanks(r), ids[i],
                    PICK(r, "1", "\"1\"", "23", "\"stream 7\"", "\"\"", "\"\\u0031\"", "-4"));
    text_add(t, ", \"ts\": ");
    long long start_ns = add_time(t, r);
    if (random_below(r, 3) == 0) {
        text_format(t, "%s,\"dur\" :", blanks(r));
        add_time(t, r);
    }
    text_format(t, ",%s\"args\": ", blanks(r));
    add_args(t, r, start_ns);
    text_format(t, "%s}", blanks(r));
}

static void add_events(struct text *t, struct random *r, uint64_t n)
{
    text_add(t, "[");
    for (uint64_t i = 0; i < n; i++) {
        text_format(t, "%s%s", i ? "," : "", blanks(r));
        add_event(t, r);
    }
    text_format(t, "%s]", blanks(r));
}

static void add_trace(struct text *t, struct random *r, uint64_t n)
{
    text_add(t, blanks(r));
    if (random_below(r, 3) == 0) {
        add_events(t, r, n);
    } else {
        text_add(t, "{\"metadata\": ");
        add_value(t, r, 0);
        text_add(t, ", \"traceEvents\": ");
        add_events(t, r, n);
        text_add(t, ", \"distributedInfo\": ");
        add_value(t, r, 0);
        text_add(t, "}");
    }
    text_add(t, blanks(r));
}

static void assert_times_as_told(const struct collected *c)
{
    for (size_t i = 0; i < c->n; i++) {
        int64_t told_ns;
        assert_true(trace_value_int(trace_event_arg(&c->event[i], TRACE_SEQUENCE), &told_ns));
        assert_int_equal(c->event[i].start_ns, told_ns);
    }
}

static void random_traces_give_what_jansson_reads(void **state)
{
    struct fixture *f = *state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct random r = random_seed(seed, 0);
        struct text t = {0};
        add_trace(&t, &r, 1 + random_below(&r, 100));
        json_t *root = load(t.data, t.length);
        assert_non_null(root);
        size_t piece = random_below(&r, 3) ? SIZE_MAX : 1 + random_below(&r, 5000);
        if (!collect_pieces(&f->c, t.data, t.length, 0, piece, false))
            fail_msg("%s", f->c.error.text);
        assert_same_events(&f->c, root);
        assert_times_as_told(&f->c);
        json_decref(root);
        text_free(&t);
        collected_free(&f->c);
    }
}

static void the_text_may_be_split_anywhere(void **state)
{
    struct fixture *f = *state;
    struct random r = random_seed(7, 0);
    struct text t = {0};
    add_trace(&t, &r, 12);
    json_t *root = load(t.data, t.length);
    for (size_t first = 1; first < t.length; first++) {
        if (!collect_pieces(&f->c, t.data, t.length, first, SIZE_MAX, false))
            fail_msg("%s", f->c.error.text);
        assert_same_events(&f->c, root);
        collected_free(&f->c);
    }
    for (size_t piece = 1; piece < 200; piece++) {
        assert_true(collect_pieces(&f->c, t.data, t.length, 0, piece, false));
        assert_same_events(&f->c, root);
        collected_free(&f->c);
    }
    json_decref(root);
    text_free(&t);
}

/* Refused for what jansson does not judge: JSON that is no trace, or too much of something. */
static bool beyond_jansson(const char *message)
{
    static const char *const pieces[] = {"expected a time", "an event in braces",
                                         "not a profiler trace", "array of arrays"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (strstr(message, pieces[i]))
            return true;
    }
    return false;
}

/* Accepted though jansson refuses: unknown escapes, surrogates, numbers beyond a double, and what
 * is no UTF-8 in strings that are skipped. */
static bool accepted_on_purpose(const struct collected *c, const json_error_t *problem)
{
    return c->ending.n_unknown_escapes > 0 || c->ending.n_broken_characters > 0 ||
           strstr(problem->text, "real number overflow") || strstr(problem->text, "surrogate") ||
           strstr(problem->text, "invalid Unicode") || strstr(problem->text, "escape") ||
           strstr(problem->text, "decode byte");
}

static void judges_broken_json_as_jansson_does(void **state)
{
    struct fixture *f = *state;
    struct text t = {0};
    struct random r = random_seed(11, 0);
    size_t n_accepted = 0, n_refused = 0;
    add_trace(&t, &r, 3);
    for (int i = 0; i < 10000; i++) {
        size_t at = random_below(&r, t.length);
        char kept = t.data[at];
        t.data[at] = "{}[],:\"0123456789.eE+-tfn\\ \n"[random_below(&r, 28)];
        json_error_t problem;
        json_t *root = json_loadb(t.data, t.length, JSON_DECODE_INT_AS_REAL, &problem);
        bool ok = collect_pieces(&f->c, t.data, t.length, 0, SIZE_MAX, false);
        if (root && !ok && !beyond_jansson(f->c.error.text))
            fail_msg("refused: %s", f->c.error.text);
        if (!root && ok && !accepted_on_purpose(&f->c, &problem))
            fail_msg("accepted, but: %s in %s", problem.text, t.data);
        n_accepted += ok;
        n_refused += !ok;
        json_decref(root);
        collected_free(&f->c);
        t.data[at] = kept;
    }
    assert_true(n_accepted > 1000 && n_refused > 1000);
    text_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_sample_file_gives_what_jansson_reads, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(random_traces_give_what_jansson_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(the_text_may_be_split_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(judges_broken_json_as_jansson_does, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
