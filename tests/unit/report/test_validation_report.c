/* Forecast and truth as people and programs read them. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../predict/validated.h"
#include "base/text.h"
#include "report/report.h"

#define JOB "training: {epochs: 3}\ndata: {samples: 6400}\n" VALIDATED_DEVICES VALIDATED_LINKS

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("expected '%s' in:\n%s", part, text);
}

static void assert_width(const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > 80)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void a_person_sees_both_times_and_the_error(void **state)
{
    (void)state;
    struct validated c;
    struct text out = {0};
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    report_validation_text(&c.v, &out);
    assert_text(out.data, "the full system of 4 devices beside its forecast, closed-form");
    assert_text(out.data, "Forecast written: 2026-11-29T12:00:00Z\n");
    assert_text(out.data, "Full run:         started 2026-11-29T12:00:10Z, a step took 4.10 s\n");
    assert_text(out.data, "a           3  load             1.50 ms   1.50 ms    +0.0 %\n");
    assert_text(out.data, "               forward           100 ms    200 ms   -50.0 %\n");
    assert_text(out.data, "               optimizer (b)          -     10 ms         -\n");
    assert_null(strstr(out.data, "Warnings"));
    assert_null(strstr(out.data, "epoch"));
    assert_width(out.data);
    text_free(&out);
    cluster_free(&c.cluster);
}

static void a_person_is_told_what_takes_from_its_worth(void **state)
{
    (void)state;
    struct validated c;
    struct text out = {0};
    validated_make(&c, JOB, 2);
    c.v.smaller = "a 3 of 100";
    c.v.n_devices_whole = 101;
    c.v.forecast_first = false;
    c.v.shares_host = true;
    report_validation_text(&c.v, &out);
    assert_text(out.data, "smaller than the job's 101 devices");
    assert_text(out.data, "shared a host");
    assert_text(out.data, "the forecast was written after the full system had run");
    assert_text(out.data, "Full run 2:");
    assert_text(out.data, "Runs apart:       9.3 %");
    assert_text(out.data, "epoch, extrapolated");
    assert_null(strchr(out.data, '\x1b'));
    assert_width(out.data);
    text_free(&out);
    cluster_free(&c.cluster);
}

static double number(const json_t *root, const char *object, const char *key)
{
    return json_number_value(json_object_get(json_object_get(root, object), key));
}

static void a_program_reads_it_all(void **state)
{
    (void)state;
    struct validated c;
    struct text out = {0};
    validated_make(&c, JOB, 2);
    report_validation_json(&c.v, &out);
    json_t *root = json_loads(out.data, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "format")),
                        "foretrain.validation/1");
    assert_true(json_is_true(json_object_get(root, "full")));
    assert_near(number(root, "forecast", "step_s"), 3.22);
    assert_near(number(root, "truth", "step_s"), 4.3);
    assert_near(number(root, "error", "total"), 3.22 / 4.3 - 1);
    const json_t *runs = json_object_get(json_object_get(root, "truth"), "runs");
    assert_int_equal(json_array_size(runs), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(runs, 1), "started_at")),
                        "2026-11-29T12:00:10Z");
    const json_t *type = json_array_get(json_object_get(root, "types"), 0);
    const json_t *stages = json_object_get(type, "stages");
    assert_near(number(stages, "forward", "measured_s"), 0.2);
    assert_true(json_is_null(json_object_get(json_object_get(stages, "optimizer"), "forecast_s")));
    assert_null(json_object_get(stages, "rest"));
    json_decref(root);
    text_free(&out);
    cluster_free(&c.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_sees_both_times_and_the_error),
        cmocka_unit_test(a_person_is_told_what_takes_from_its_worth),
        cmocka_unit_test(a_program_reads_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
