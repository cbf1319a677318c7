/* What is no trace, or a broken one: one message each, with the place and what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/file.h"
#include "collected.h"

struct fixture {
    struct collected c;
    char folder[32];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    strcpy(f->folder, "/tmp/trace.XXXXXX");
    return mkdtemp(f->folder) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    error_clear(&f->c.error);
    file_remove_tree(f->folder, &f->c.error);
    collected_free(&f->c);
    free(f);
    return 0;
}

static void assert_has(const char *text, const char *piece)
{
    if (!strstr(text, piece))
        fail_msg("no \"%s\" in: %s", piece, text);
}

/* The message's first line is `first`; somewhere in it is `piece`. */
static void assert_refused(struct fixture *f, const char *text, const char *first,
                           const char *piece)
{
    assert_false(collect_text(&f->c, text));
    assert_int_equal(f->c.error.kind, ERROR_INPUT);
    char *line = arena_copy_n(&f->c.arena, f->c.error.text, strcspn(f->c.error.text, "\n"));
    assert_string_equal(line, first);
    assert_has(f->c.error.text, piece);
}

static void broken_json_is_placed(void **state)
{
    static const struct {
        const char *text, *first, *piece;
    } cases[] = {
        {"[{\"ts\": 1,\ntid\": 0}]",
         "t.json:2:1: expected a key in double quotes, found: tid\": 0}] (byte 11)",
         "\n    tid\": 0}]\n    ^\n"},
        {"[{\"name\": \"a(\"b\")\"}]",
         "t.json:1:15: expected ',' or '}' behind a value, found: b\")\"}] (byte 14)", "hint: "},
        {"[{\"a\": 1 \"b\": 2}]",
         "t.json:1:10: expected ',' or '}' behind a value, found: \"b\": 2}] (byte 9)", ""},
        {"[{\"a\" 1}]", "t.json:1:7: expected ':' behind a key, found: 1}] (byte 6)", ""},
        {"[{\"a\": }]", "t.json:1:8: expected a value, found: }] (byte 7)", ""},
        {"[{\"a\": 1,}]", "t.json:1:10: expected a key in double quotes, found: }] (byte 9)", ""},
        {"[{\"a\": 1},]", "t.json:1:11: expected an event in braces, found: ] (byte 10)", ""},
        {"[{\"a\": [1 2]}]",
         "t.json:1:11: expected ',' or ']' behind a value, found: 2]}] (byte 10)", ""},
        {"[{\"a\": [1}]}]", "t.json:1:10: expected ',' or ']' behind a value, found: }]}] (byte 9)",
         ""},
        {"[{\"a\": 01}]",
         "t.json:1:8: expected a number without leading zeros, found: 01}] (byte 7)", ""},
        {"[{\"a\": 1.}]", "t.json:1:10: expected a digit, found: }] (byte 9)", ""},
        {"[{\"a\": -}]", "t.json:1:9: expected a digit, found: }] (byte 8)", ""},
        {"[{\"a\": 1e}]", "t.json:1:10: expected a digit, found: }] (byte 9)", ""},
        {"[{\"a\": NaN}]", "t.json:1:8: expected a value, found: NaN}] (byte 7)", ""},
        {"[{\"a\": trueish}]",
         "t.json:1:12: expected ',' or '}' behind a value, found: ish}] (byte 11)", ""},
        {"[{\"a\": nul}]", "t.json:1:11: expected true, false or null, found: }] (byte 10)", ""},
        {"[{\"ts\": \"soon\"}]",
         "t.json:1:9: expected a time in microseconds, found: \"soon\"}] (byte 8)", ""},
        {"[{\"ts\": 1e30}]",
         "t.json:1:9: expected a time below 9.2e15 microseconds, found: 1e30}] (byte 8)", ""},
        {"[{\"name\": \"a\nb\"}]",
         "t.json:1:13: expected no control character in a string, but a closing quote, found: "
         "\\x0ab\"}] (byte 12)",
         ""},
        {"{\"a\": 1}}",
         "t.json:1:9: expected nothing behind the end of the trace, found: } (byte 8)", ""},
        {"[{\"\xc3\xa9\xc3\xa9\": x}]", "t.json:1:9: expected a value, found: x}] (byte 10)", ""},
        {"[]\n\n x", "t.json:3:2: expected nothing behind the end of the trace, found: x (byte 5)",
         ""},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(f, cases[i].text, cases[i].first, cases[i].piece);
}

static void other_files_are_recognised(void **state)
{
    static const struct {
        const char *text, *first, *piece;
    } cases[] = {
        {"", "t.json: there is no trace in it: it is empty, or holds only blanks", "hint: "},
        {" \n\n ", "t.json: there is no trace in it: it is empty, or holds only blanks", "hint: "},
        {"<!DOCTYPE html><html>", "t.json: this is an HTML or XML page, not a trace",
         "a server's error page"},
        {"PK\3\4.....", "t.json: this is a zip archive", "unpack"},
        {"hello world", "t.json:1:1: expected '{' or '[', as traces begin, found: hello world",
         "export_chrome_trace"},
        {"{\"schema\": \"1.0.1\", \"nodes\": [{\"id\": 2}]}",
         "t.json: this is a PyTorch execution trace (keys nodes and schema), not a profiler trace",
         "hint: "},
        {"[[-1, 1, 37888, 7], [1]]",
         "t.json:1:2: this is an array of arrays, such as PyTorch's memory timeline, not a trace",
         "export_memory_timeline"},
        {"{\"version\": \"2.4\", \"entries\": []}",
         "t.json: this is a dump such as NCCL's flight recorder writes (key entries), not a "
         "profiler trace",
         "hint: "},
        {"{\"a\": 5}", "t.json: this is JSON without traceEvents, not a profiler trace", "hint: "},
        {"[{\"ph\": \"b\", \"cat\": \"NET\"}, {\"ph\": \"e\"}, {}]",
         "t.json: this is a dump of NCCL's profiler (phases b and e only), not a profiler trace of "
         "the training",
         "hint: "},
        {"[1, 2]", "t.json:1:2: expected an event in braces, found: 1, 2] (byte 1)", ""},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(f, cases[i].text, cases[i].first, cases[i].piece);
}

static void nesting_has_a_limit(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    text_add(&text, "{\"a\": ");
    for (int i = 0; i < 600; i++)
        text_add(&text, "[");
    assert_false(collect_text(&f->c, text.data));
    assert_has(f->c.error.text, "expected no deeper nesting");
    text_free(&text);
}

static char *with_long_name(struct fixture *f, size_t length)
{
    char *text = arena_array(&f->c.arena, length + 64, 1);
    size_t lead = (size_t)sprintf(text, "[{\"ph\": \"X\", \"name\": \"");
    memset(text + lead, 'x', length);
    strcpy(text + lead + length, "\"}, {\"ph\": \"i\"}]");
    return text;
}

static void an_event_may_have_megabytes_but_not_more_than_16(void **state)
{
    struct fixture *f = *state;
    if (!collect_text(&f->c, with_long_name(f, 15 << 20)))
        fail_msg("%s", f->c.error.text);
    assert_int_equal(f->c.n, 2);
    assert_int_equal(f->c.event[0].name.length, 15 << 20);
    assert_false(collect_text(&f->c, with_long_name(f, 40 << 20)));
    assert_has(f->c.error.text, "t.json:1:2: what begins here is longer than 16 MiB (byte 1)");
}

static void what_is_skipped_may_have_any_size(void **state)
{
    struct fixture *f = *state;
    struct text text = {0};
    text_add(&text, "{\"metadata\": [");
    for (int i = 0; i < 2000000; i++)
        text_add(&text, "{\"a\": [1, 2.5]},\n");
    text_add(&text, "0], \"traceEvents\": [{\"ph\": \"X\"}, x]}");
    assert_false(collect_text(&f->c, text.data));
    assert_int_equal(f->c.n, 1);
    assert_has(f->c.error.text, "t.json:2000001:34: expected an event in braces");
    text_free(&text);
}

static void a_cut_off_trace_is_read_as_far_as_asked_for(void **state)
{
    static const char text[] = "{\"traceEvents\": [{\"ph\": \"X\"}, {\"ph\": \"i\"}, {\"ph";
    struct fixture *f = *state;
    assert_refused(f, text, "t.json:1:48: the trace is cut off (at byte 47)",
                   "--partial use the 2 events before");
    struct collected partial = {0};
    assert_true(collect_pieces(&partial, text, strlen(text), 0, SIZE_MAX, true));
    assert_int_equal(partial.n, 2);
    assert_true(partial.ending.truncated);
    assert_int_equal(partial.ending.truncated_at_bytes,
                     strlen("{\"traceEvents\": [{\"ph\": \"X\"}, "
                            "{\"ph\": \"i\"}"));
    collected_free(&partial);
}

static void every_cut_of_a_trace_is_noticed(void **state)
{
    static const char text[] =
        "{\"schemaVersion\": 1, \"metadata\": {\"a\": [true, -1.5e3]},\n\"traceEvents\": "
        "[\n{\"ph\": "
        "\"X\", \"name\": \"a\\u00e9\", \"ts\": 12.5, \"args\": {\"grid\": [1, 2]}},\n{\"ph\": "
        "\"i\"}]}";
    (void)state;
    for (size_t length = 1; length < strlen(text); length++) {
        struct collected whole = {0}, partial = {0};
        assert_false(collect_pieces(&whole, text, length, 0, SIZE_MAX, false));
        assert_has(whole.error.text, "the trace is cut off");
        assert_true(collect_pieces(&partial, text, length, 0, 1, true));
        assert_int_equal(partial.n, whole.n);
        assert_true(partial.ending.truncated);
        collected_free(&whole);
        collected_free(&partial);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    struct fixture *f = *state;
    assert_false(collect_file(&f->c, "/no/such/trace.json", false));
    assert_int_equal(f->c.error.kind, ERROR_FILE);
    assert_string_equal(f->c.error.text,
                        "cannot read /no/such/trace.json: No such file or directory");
    assert_false(collect_file(&f->c, f->folder, false));
    assert_has(f->c.error.text, "Is a directory");
}

/* gzip data of a text, made by gzip. */
static char *gzip(struct fixture *f, const char *text, size_t length, size_t *gzip_length)
{
    struct error *e = &f->c.error;
    struct child_end how;
    char *plain = path_join(&f->c.arena, f->folder, "plain"), *data = NULL;
    char *packed = path_join(&f->c.arena, f->folder, "packed");
    const char *const argv[] = {"gzip", "-nc", plain, NULL};
    struct child_options options = {.argv = argv, .output = packed};
    unlink(packed);
    assert_true(file_write(plain, text, length, e));
    assert_true(child_run(&options, &(struct child_limits){.timeout_s = 60}, &how, e));
    assert_int_equal(how.how, CHILD_EXITED);
    assert_true(file_read(&f->c.arena, packed, 1 << 26, &data, gzip_length, e));
    return data;
}

static bool read_bytes(struct fixture *f, const char *data, size_t length, bool partial)
{
    char *path = path_join(&f->c.arena, f->folder, "t.json");
    f->c.n = 0;
    assert_true(file_write(path, data, length, &f->c.error));
    return collect_file(&f->c, path, partial);
}

/* An array of `n` events, not all alike. */
static char *many_events(struct fixture *f, size_t n)
{
    struct text text = {0};
    for (size_t i = 0; i < n; i++)
        text_format(&text, "%s{\"ph\": \"X\", \"name\": \"op %zu\", \"ts\": %zu.%zu, \"dur\": 3}",
                    i ? ",\n" : "[", i * i % 7919, i, i % 10);
    text_add(&text, "]");
    char *copy = arena_copy(&f->c.arena, text.data);
    text_free(&text);
    return copy;
}

static void gzip_data_is_read_in_one_member_or_several(void **state)
{
    struct fixture *f = *state;
    char *text = many_events(f, 50000);
    size_t length = strlen(text), cut = length / 3, n, n_more;
    char *data = gzip(f, text, length, &n);
    assert_true(read_bytes(f, data, n, false));
    assert_int_equal(f->c.n, 50000);
    assert_true(f->c.ending.is_gzip);
    assert_int_equal(f->c.ending.n_bytes, length);
    assert_int_equal(f->c.done_bytes, n);
    assert_int_equal(f->c.total_bytes, n);
    struct text members = {0};
    data = gzip(f, text, cut, &n);
    text_add_n(&members, data, n);
    data = gzip(f, text + cut, length - cut, &n_more);
    text_add_n(&members, data, n_more);
    text_add_n(&members, "\0\0\0\0", 4);
    assert_true(read_bytes(f, members.data, members.length, false));
    text_free(&members);
    assert_int_equal(f->c.n, 50000);
    assert_true(trace_text_is(f->c.event[49999].name, "op 6324"));
}

static void bytes_behind_gzip_data_are_passed_over(void **state)
{
    static const char *const behind[] = {"\n", "garbage", "\x1f is no member",
                                         "much more than a header would take"};
    struct fixture *f = *state;
    char *text = many_events(f, 1000);
    size_t n;
    char *data = gzip(f, text, strlen(text), &n);
    assert_true(read_bytes(f, data, n, false));
    assert_false(f->c.ending.is_followed);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        struct text followed = {0};
        text_add_n(&followed, data, n);
        text_add(&followed, behind[i]);
        if (!read_bytes(f, followed.data, followed.length, false))
            fail_msg("%s", f->c.error.text);
        assert_int_equal(f->c.n, 1000);
        assert_true(f->c.ending.is_followed);
        assert_false(f->c.ending.truncated);
        text_free(&followed);
    }
}

static void gzip_data_cut_off_before_its_text_is_not_called_empty(void **state)
{
    struct fixture *f = *state;
    char *text = many_events(f, 1000);
    size_t n;
    char *data = gzip(f, text, strlen(text), &n);
    for (size_t length = 2; length < 20; length++) {
        assert_false(read_bytes(f, data, length, false));
        assert_has(f->c.error.text, "the gzip data is cut off (at byte 0 of its text)");
        assert_has(f->c.error.text, "copy it again: there is no whole event");
    }
}

static void damaged_gzip_data_is_refused(void **state)
{
    struct fixture *f = *state;
    char *text = many_events(f, 50000);
    size_t n;
    char *data = gzip(f, text, strlen(text), &n);
    data[n - 6] ^= 1;
    assert_false(read_bytes(f, data, n, false));
    assert_has(f->c.error.text, "t.json: the gzip checksum does not match");
    data[n - 6] ^= 1;
    assert_false(read_bytes(f, data, n / 2, false));
    assert_has(f->c.error.text, "the gzip data is cut off (at byte ");
    assert_true(f->c.n > 10000);
    assert_true(read_bytes(f, data, n / 2, true));
    assert_true(f->c.ending.truncated);
    assert_false(read_bytes(f, data, n - 3, false));
    assert_has(f->c.error.text, "the gzip data is cut off");
    memset(data + n / 2, 0x55, 64);
    assert_false(read_bytes(f, data, n, false));
    assert_has(f->c.error.text, "gzip -t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broken_json_is_placed, setup, teardown),
        cmocka_unit_test_setup_teardown(other_files_are_recognised, setup, teardown),
        cmocka_unit_test_setup_teardown(nesting_has_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(an_event_may_have_megabytes_but_not_more_than_16, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_skipped_may_have_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cut_off_trace_is_read_as_far_as_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(every_cut_of_a_trace_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_there_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(gzip_data_is_read_in_one_member_or_several, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(bytes_behind_gzip_data_are_passed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(gzip_data_cut_off_before_its_text_is_not_called_empty,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_gzip_data_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
