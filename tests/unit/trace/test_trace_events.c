/* Events in every layout that profilers write, and what their values mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collected.h"

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct collected));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    collected_free(*state);
    free(*state);
    return 0;
}

static void read_text(struct collected *c, const char *text)
{
    if (!collect_text(c, text))
        fail_msg("%s", c->error.text);
}

#define EVENT "{\"ph\": \"X\", \"name\": \"aten::add\", \"ts\": 1, \"dur\": 2}"

static void assert_one_event(struct collected *c)
{
    assert_int_equal(c->n, 1);
    assert_int_equal(c->event[0].phase, 'X');
    assert_true(trace_text_is(c->event[0].name, "aten::add"));
    assert_int_equal(c->event[0].start_ns, 1000);
    assert_int_equal(c->event[0].duration_ns, 2000);
}

static void finds_events_in_every_layout(void **state)
{
    static const char *const layouts[] = {
        "[" EVENT "]",
        "\n\n \t[\r\n" EVENT "\n]\n",
        "\xef\xbb\xbf[" EVENT "]",
        "{\"traceEvents\":[" EVENT "]}",
        "{\"traceEvents\": [" EVENT "], \"traceName\": \"x\", \"a\": [{}]}",
        "{\"metadata\": {\"a\": [1, {\"b\": []}], \"c\": null}, \"traceEvents\":[" EVENT "]}",
        "{\"a\": {\"b\": {\"traceEvents\": [" EVENT "]}}}",
        "{\"a\": [1, [], {\"traceEvents\": [" EVENT "]}, 2]}",
        "[{\"x\": 1, \"traceEvents\": [" EVENT "]}]",
        "{\"trace\\u0045vents\": [" EVENT "]}",
        "{\"traceEvents\": 5, \"traceEvents\": {}, \"traceEvents\": [" EVENT "]}",
    };
    struct collected *c = *state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        read_text(c, layouts[i]);
        assert_one_event(c);
        collected_free(c);
    }
}

static void events_may_be_none(void **state)
{
    struct collected *c = *state;
    read_text(c, "{\"traceEvents\": []}");
    assert_int_equal(c->n, 0);
    read_text(c, "[ ]");
    assert_int_equal(c->ending.n_events, 0);
}

static void an_empty_object_is_an_event_without_phase(void **state)
{
    struct collected *c = *state;
    read_text(c, "[" EVENT ", {}]");
    assert_int_equal(c->n, 2);
    assert_int_equal(c->event[1].phase, '\0');
    assert_false(c->event[1].has_start);
    assert_int_equal(c->event[1].name.length, 0);
    assert_int_equal(c->ending.n_events, 1);
}

static int64_t time_of(struct collected *c, const char *json)
{
    read_text(c, arena_format(&c->arena, "[{\"ts\": %s}]", json));
    assert_true(c->event[c->n - 1].has_start);
    return c->event[c->n - 1].start_ns;
}

static void times_are_exact_to_the_nanosecond(void **state)
{
    static const struct {
        const char *json;
        int64_t time_ns;
    } times[] = {
        {"0", 0},
        {"-0", 0},
        {"5", 5000},
        {"63.265", 63265},
        {"13.159999999999854", 13160},
        {"0.0005", 1},
        {"0.00049999999999999999999", 0},
        {"-0.0005", -1},
        {"-12.5", -12500},
        {"7", 7000},
        {"12345678", 12345678000},
        {"123456789", 123456789000},
        {"123456789012345", 123456789012345000},
        {"123456789012345.678", 123456789012345678},
        {"1606910596297023", 1606910596297023000},
        {"9199999999999999.999", 9199999999999999999},
        {"\"1704161511420306.491\"", 1704161511420306491},
        {"1712195495406752.801", 1712195495406752801},
        {"1712195495406752.80149", 1712195495406752801},
        {"5094064644537.960", 5094064644537960},
        {"1e3", 1000000},
        {"1.5E+2", 150000},
        {"25e-4", 3},
        {"0.000000000000000000000001e21", 1},
        {"12345678901234567890123e-10", 1234567890123457},
        {"9223372036854775.807", INT64_MAX},
        {"0e999999999999999", 0},
        {"1e-999999999999999", 0},
    };
    struct collected *c = *state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(time_of(c, times[i].json), times[i].time_ns);
}

static void a_time_that_is_none_is_not_there(void **state)
{
    struct collected *c = *state;
    read_text(c, "[{\"ts\": 5, \"ts\": null, \"dur\": null}]");
    assert_false(c->event[0].has_start);
    assert_false(c->event[0].has_duration);
}

static void pid_and_tid_are_numbered_whatever_their_type(void **state)
{
    struct collected *c = *state;
    read_text(c, "[{\"pid\": 1, \"tid\": \"7\"}, {\"pid\": 1, \"tid\": 7},"
                 " {\"pid\": 2, \"tid\": 7}, {\"tid\": \"stream 7\", \"pid\": \"1\"},"
                 " {\"pid\": \"\", \"tid\": \"\"}, {}, {\"pid\": \"\\u0031\", \"tid\": 7}]");
    const uint32_t track[] = {0, 0, 1, 2, 3, 3, 0}, process[] = {0, 0, 1, 0, 2, 2, 0};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(c->event[i].track, track[i]);
        assert_int_equal(c->event[i].process, process[i]);
    }
    assert_int_equal(c->ending.n_tracks, 4);
    assert_int_equal(c->ending.n_processes, 3);
    assert_string_equal(c->ending.track[2].pid, "1");
    assert_string_equal(c->ending.track[2].tid, "stream 7");
    assert_int_equal(c->ending.track[3].process, 2);
}

static void thousands_of_threads_are_told_apart(void **state)
{
    struct collected *c = *state;
    struct text text = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3000; i++)
            text_format(&text, "%c{\"pid\": %d, \"tid\": \"a long name of thread %d\"}",
                        text.length ? ',' : '[', i % 50, i);
    }
    text_add(&text, "]");
    read_text(c, text.data);
    text_free(&text);
    assert_int_equal(c->ending.n_tracks, 3000);
    assert_int_equal(c->ending.n_processes, 50);
    for (uint32_t i = 0; i < 6000; i++) {
        assert_int_equal(c->event[i].track, i % 3000);
        assert_int_equal(c->event[i].process, i % 50);
    }
}

static void escapes_are_decoded(void **state)
{
    struct collected *c = *state;
    read_text(c,
              "[{\"name\": \"a\\\"\\\\\\/\\b\\f\\n\\r\\tb\", \"cat\": \"\\u00e9\\ud83d\\ude00z\"},"
              " {\"cat\": \"\xc3\xa9\", \"ph\": \"\\u0058\"}]");
    assert_true(trace_text_is(c->event[0].name, "a\"\\/\b\f\n\r\tb"));
    assert_true(trace_text_is(c->event[0].category, "\xc3\xa9\xf0\x9f\x98\x80z"));
    assert_true(trace_text_is(c->event[1].category, "\xc3\xa9"));
    assert_int_equal(c->event[1].phase, 'X');
    assert_int_equal(c->ending.n_unknown_escapes, 0);
    assert_int_equal(c->ending.n_broken_characters, 0);
}

static void unknown_escapes_are_kept_and_counted(void **state)
{
    struct collected *c = *state;
    read_text(c, "[{\"name\": \"C:\\Users\\x\\u12\", \"args\": {\"Call stack\": \"\\site\\q\"}}]");
    assert_true(trace_text_is(c->event[0].name, "C:\\Users\\x\\u12"));
    assert_int_equal(c->ending.n_unknown_escapes, 5);
}

static void what_is_no_utf8_is_replaced_and_counted(void **state)
{
    struct collected *c = *state;
    read_text(c, "[{\"name\": \"a\xff\xc3z\\ud800\\u0000\", \"cat\": \"\xed\xa0\x80\"},"
                 " {\"args\": {\"x\": \"\xff\"}}]");
    assert_true(
        trace_text_is(c->event[0].name, "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd"));
    assert_true(trace_text_is(c->event[0].category, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"));
    assert_int_equal(c->ending.n_broken_characters, 7);
}

static void assert_arg(struct collected *c, size_t i, enum trace_arg arg, const char *json)
{
    const struct trace_value *value = trace_event_arg(&c->event[i], arg);
    assert_non_null(value);
    assert_string_equal(value->json, json);
}

static void keeps_the_arguments_that_mean_something(void **state)
{
    struct collected *c = *state;
    read_text(c,
              "[{\"args\": {\"External id\": 5, \"grid\": [64, 1, 1], \"Input Dims\": [[8, 512], "
              "[]], \"x\": {\"External id\": 6}, \"Process Group Ranks\": \"[0, 1]\","
              " \"dtype\": \"Float\"}, \"id\": \"0x1f\", \"bind_id\": 7},"
              " {\"args\": {\"external id\": 7, \"correlation\": 8}},"
              " {\"args\": []}, {\"args\": {\"stream\": 1}, \"args\": {\"device\": 2}}]");
    assert_arg(c, 0, TRACE_EXTERNAL_ID, "5");
    assert_arg(c, 0, TRACE_INPUT_DIMS, "[[8, 512], []]");
    assert_arg(c, 0, TRACE_GROUP_RANKS, "\"[0, 1]\"");
    assert_string_equal(c->event[0].id.json, "\"0x1f\"");
    assert_string_equal(c->event[0].bind_id.json, "7");
    assert_arg(c, 1, TRACE_EXTERNAL_ID, "7");
    assert_arg(c, 1, TRACE_CORRELATION, "8");
    assert_null(trace_event_arg(&c->event[1], TRACE_DTYPE));
    assert_int_equal(c->event[2].arg_mask, 0);
    assert_int_equal(c->event[3].arg_mask, 1u << TRACE_DEVICE);
}

static struct trace_value value(const char *json)
{
    return (struct trace_value){json, strlen(json)};
}

static void values_are_read_when_asked_for(void **state)
{
    struct collected *c = *state;
    int64_t whole = 0;
    double real = 0;
    struct trace_value v = value("-12");
    assert_true(trace_value_int(&v, &whole) && whole == -12);
    v = value("\"9223372036854775807\"");
    assert_true(trace_value_int(&v, &whole) && whole == INT64_MAX);
    static const char *const no_integers[] = {
        "10159970886766084423", "1.5", "\"\"", "\"x\"", "[1]", "\" 7\"", "null"};
    for (size_t i = 0; i < sizeof no_integers / sizeof *no_integers; i++) {
        v = value(no_integers[i]);
        assert_false(trace_value_int(&v, &whole));
    }
    v = value("\"2.5\"");
    assert_true(trace_value_number(&v, &real) && real == 2.5);
    v = value("1e999");
    assert_false(trace_value_number(&v, &real));
    assert_false(trace_value_int(NULL, &whole) || trace_value_number(NULL, &real));
    v = value("\"all\\u0072educe\"");
    assert_true(trace_value_is(&v, "allreduce"));
    assert_false(trace_value_is(&v, "allreduc") || trace_value_is(NULL, ""));
    assert_string_equal(trace_value_text(&c->arena, &v), "allreduce");
    v = value("[1, 2]");
    assert_string_equal(trace_value_text(&c->arena, &v), "[1, 2]");
    assert_null(trace_value_text(&c->arena, NULL));
}

static void blanks_and_order_of_keys_may_change_from_event_to_event(void **state)
{
    struct collected *c = *state;
    read_text(c, "[{\"ph\": \"X\", \"ts\": 1, \"args\": {\"stream\": 1, \"device\": 2}},"
                 "{\"ph\":   \"X\", \"ts\"  :\n 2 , \"args\": {\"stream\":3 ,\"device\" : 4 } },"
                 "{\"ts\": 3, \"ph\": \"X\", \"args\": {\"device\": 6, \"stream\": 5}},"
                 "{\"ph\": \"X\", \"ts\": 4, \"args\": {\"stream\": 7, \"device\":\t 8}},"
                 "{\"ph\": \"X\", \"tsx\": 9, \"args\": {\"stream\": 7, \"dev\": 8}, \"ts\": 5}]");
    static const char *const streams[] = {"1", "3", "5", "7", "7"}, *const devices[] = {"2", "4",
                                                                                        "6", "8"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(c->event[i].phase, 'X');
        assert_int_equal(c->event[i].start_ns, 1000 * (int64_t)(i + 1));
        assert_arg(c, i, TRACE_STREAM, streams[i]);
        if (i < 4)
            assert_arg(c, i, TRACE_DEVICE, devices[i]);
    }
}

static void more_kinds_of_keys_than_are_learned_are_read(void **state)
{
    struct collected *c = *state;
    struct text text = {0};
    for (int i = 0; i < 3000; i++)
        text_format(&text, "%c{\"key %d\": 1,%*s \"ts\": %d}", i ? ',' : '[', i, i % 100, "", i);
    text_add(&text, "]");
    read_text(c, text.data);
    text_free(&text);
    assert_int_equal(c->n, 3000);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(c->event[i].start_ns, 1000 * i);
}

static void the_header_may_come_before_and_after(void **state)
{
    struct collected *c = *state;
    read_text(c,
              "{\"schemaVersion\": 1, \"metadata\": {\"traceName\": \"inner\", \"rank\": 9},"
              "\"deviceProperties\": [{\"id\": 0, \"name\": \"A100\"}, {\"name\": \"V100\"}],"
              "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": \"8\","
              " \"pg_config\": [{\"ranks\": [0, 1]}]}, \"record_shapes\": 1,"
              "\"traceEvents\": [], \"traceName\": \"C:\\tmp\\x.json\", \"roctracer_version\": 4,"
              "\"baseTimeNanoseconds\": 1711964646000000000, \"host_name\": \"h\"}");
    const struct trace_header *header = &c->ending.header;
    assert_false(header->is_array);
    assert_int_equal(header->schema_version, 1);
    assert_int_equal(header->base_time_ns, 1711964646000000000);
    assert_string_equal(header->trace_name, "C:\tmp\\x.json");
    assert_string_equal(header->host_name, "h");
    assert_string_equal(header->backend, "nccl");
    assert_int_equal(header->rank, 3);
    assert_int_equal(header->world_size, 8);
    assert_string_equal(header->groups_json, "[{\"ranks\":[0,1]}]");
    assert_int_equal(header->n_devices, 2);
    assert_string_equal(header->device[1], "V100");
    assert_true(header->has_rocm && header->record_shapes);
}

static void what_the_header_lacks_is_unknown(void **state)
{
    struct collected *c = *state;
    read_text(c, "[]");
    const struct trace_header *header = &c->ending.header;
    assert_true(header->is_array);
    assert_int_equal(header->schema_version, -1);
    assert_int_equal(header->rank, -1);
    assert_int_equal(header->world_size, 0);
    assert_int_equal(header->n_devices, 0);
    assert_null(header->trace_name);
    assert_null(header->backend);
}

static void a_callback_can_end_the_reading(void **state)
{
    struct collected *c = *state;
    c->stop_after = 2;
    assert_false(collect_text(c, "[" EVENT "," EVENT "," EVENT "]"));
    assert_int_equal(c->n, 2);
    assert_string_equal(c->error.text, "enough");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_events_in_every_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(events_may_be_none, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_object_is_an_event_without_phase, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_exact_to_the_nanosecond, setup, teardown),
        cmocka_unit_test_setup_teardown(a_time_that_is_none_is_not_there, setup, teardown),
        cmocka_unit_test_setup_teardown(pid_and_tid_are_numbered_whatever_their_type, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(thousands_of_threads_are_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(escapes_are_decoded, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_escapes_are_kept_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_utf8_is_replaced_and_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(keeps_the_arguments_that_mean_something, setup, teardown),
        cmocka_unit_test_setup_teardown(values_are_read_when_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(blanks_and_order_of_keys_may_change_from_event_to_event,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(more_kinds_of_keys_than_are_learned_are_read, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_header_may_come_before_and_after, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_header_lacks_is_unknown, setup, teardown),
        cmocka_unit_test_setup_teardown(a_callback_can_end_the_reading, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
