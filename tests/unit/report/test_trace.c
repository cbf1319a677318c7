/* Trace events: valid JSON whatever names say, tracks in order, slices that nest. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../predict/timeline_lab.h"
#include "report/report.h"
#include "report/trace_events.h"

static json_t *written(FILE *out, char **data)
{
    json_error_t error;
    assert_int_equal(fclose(out), 0);
    json_t *json = json_loads(*data, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s at %d: %s", error.text, error.position, *data);
    free(*data);
    return json;
}

/* The trace of the lab's two steps; of position 5 alone where asked for. */
static json_t *trace(struct lab *lab, bool one, bool measured)
{
    struct cluster *c = &lab->cluster;
    struct step_record record;
    const int rank[] = {0, 5, 4, 3, 2, 1};
    const bool shown[] = {false, false, false, false, false, true};
    char *data = NULL;
    size_t size = 0;
    cluster_forecast(c);
    assert_true(step_record_make(&c->arena, c->forecast.timeline.ring, 2, &record, NULL));
    struct run_report run = {
        .job = &c->job, .profile = c->profile, .forecast = &c->forecast, .record = &record};
    struct trace_choice choice = {one ? shown : NULL, rank, measured};
    FILE *out = open_memstream(&data, &size);
    report_trace(&run, &choice, out);
    return written(out, &data);
}

static const char *text_of(const json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

static double number_of(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

/* The first event of that phase and name from index `*at` on, which moves behind it; or NULL. */
static json_t *find(json_t *json, const char *phase, const char *name, size_t *at)
{
    json_t *events = json_object_get(json, "traceEvents");
    for (; *at < json_array_size(events); ++*at) {
        json_t *event = json_array_get(events, *at);
        if (strcmp(text_of(event, "ph"), phase) == 0 && strcmp(text_of(event, "name"), name) == 0) {
            ++*at;
            return event;
        }
    }
    return NULL;
}

static size_t count(json_t *json, const char *phase, const char *name)
{
    size_t n = 0, at = 0;
    while (find(json, phase, name, &at))
        n++;
    return n;
}

static void assert_us(double value, double expected)
{
    if (!(fabs(value - expected) <= 0.0011))
        fail_msg("%.6f us is not %.6f us", value, expected);
}

static void devices_and_links_have_their_tracks(void **state)
{
    (void)state;
    struct lab lab;
    size_t at = 0;
    lab_start(&lab);
    json_t *json = trace(&lab, false, false);
    assert_int_equal(count(json, "M", "process_name"), 1);
    assert_int_equal(count(json, "M", "thread_name"), 6 * 3);
    assert_int_equal(count(json, "X", "forward"), 6 * 2);
    assert_int_equal(count(json, "X", "bucket 1"), 6 * 2);
    assert_int_equal(count(json, "s", "bucket 0"), count(json, "f", "bucket 0"));
    json_t *forward = find(json, "X", "forward", &at);
    assert_us(number_of(forward, "ts"), 0);
    assert_us(number_of(forward, "dur"), 1e5);
    at = 0;
    json_t *bucket = find(json, "X", "bucket 0", &at);
    assert_us(number_of(bucket, "ts"), 2e5);
    assert_us(number_of(bucket, "dur"), 2e5 + 1e6 / 15);
    json_decref(json);
    cluster_free(&lab.cluster);
}

static void ranks_are_chosen_and_named(void **state)
{
    (void)state;
    struct lab lab;
    size_t at = 0;
    lab_start(&lab);
    json_t *json = trace(&lab, true, false);
    json_t *name = find(json, "M", "thread_name", &at);
    assert_string_equal(text_of(json_object_get(name, "args"), "name"), "rank 1: slow-2");
    assert_int_equal(count(json, "M", "thread_name"), 3);
    json_decref(json);
    cluster_free(&lab.cluster);
}

static void measured_steps_stand_below(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    json_t *json = trace(&lab, false, true);
    assert_int_equal(count(json, "M", "process_name"), 3);
    assert_int_equal(count(json, "X", "backward, all-reduce"), 0); /* no backward_s in the lab */
    assert_int_equal(count(json, "X", "optimizer"), 6 * 2 + 2 * 2);
    assert_int_equal(count(json, "X", "bucket 0"), 6 * 2 + 2 * 2);
    json_decref(json);
    cluster_stage(&lab.cluster.profile[0], STAGE_BACKWARD, 0.25);
    json = trace(&lab, false, true);
    assert_int_equal(count(json, "X", "backward, all-reduce"), 2);
    json_decref(json);
    cluster_free(&lab.cluster);
}

/* On one track a slice ends before the next begins, or holds it whole. */
static void slices_of_a_track_nest(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    json_t *json = trace(&lab, false, false), *events = json_object_get(json, "traceEvents");
    for (size_t a = 0; a < json_array_size(events); a++) {
        for (size_t b = 0; b < json_array_size(events); b++) {
            json_t *x = json_array_get(events, a), *y = json_array_get(events, b);
            if (a == b || strcmp(text_of(x, "ph"), "X") != 0 ||
                strcmp(text_of(y, "ph"), "X") != 0 || number_of(x, "tid") != number_of(y, "tid"))
                continue;
            double from = number_of(x, "ts"), to = from + number_of(x, "dur");
            double begin = number_of(y, "ts"), end = begin + number_of(y, "dur");
            const double ns = 0.0005;
            assert_true(end <= from + ns || begin >= to - ns || (begin >= from && end <= to + ns) ||
                        (from >= begin && to <= end + ns));
        }
    }
    json_decref(json);
    cluster_free(&lab.cluster);
}

static void any_name_is_valid_json(void **state)
{
    (void)state;
    static const char *const name[] = {"\"},{\"", "\\", "a\x01\x1f\x7f", "\xff\xfe", "]]>", ""};
    char *data = NULL;
    size_t size = 0;
    struct trace_events events = {.out = open_memstream(&data, &size)};
    trace_events_begin(&events);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        trace_events_name_process(&events, i + 1, name[i]);
        trace_events_slice(&events, (struct trace_track){i + 1, 1}, name[i], 1e-9, 0.5);
    }
    trace_events_end(&events);
    json_t *json = written(events.out, &data);
    assert_int_equal(count(json, "X", "\"},{\""), 1);
    assert_int_equal(count(json, "X", "a\\x01\\x1f\\x7f"), 1);
    json_decref(json);
}

static void what_takes_no_time_is_no_slice(void **state)
{
    (void)state;
    char *data = NULL;
    size_t size = 0;
    struct trace_events events = {.out = open_memstream(&data, &size)};
    trace_events_begin(&events);
    trace_events_slice(&events, (struct trace_track){1, 1}, "x", 1, 1 + 1e-10);
    trace_events_slice(&events, (struct trace_track){1, 1}, "x", 1, 0.5);
    trace_events_end(&events);
    json_t *json = written(events.out, &data);
    assert_int_equal(json_array_size(json_object_get(json, "traceEvents")), 0);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_and_links_have_their_tracks),
        cmocka_unit_test(ranks_are_chosen_and_named),
        cmocka_unit_test(measured_steps_stand_below),
        cmocka_unit_test(slices_of_a_track_nest),
        cmocka_unit_test(any_name_is_valid_json),
        cmocka_unit_test(what_takes_no_time_is_no_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
