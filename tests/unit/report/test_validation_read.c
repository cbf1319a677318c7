/* A validation that was written is read back; what is wrong with one is said with its place. */
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

static void what_was_written_is_read_back(void **state)
{
    (void)state;
    struct validated c;
    struct validation v;
    struct text json = {0};
    struct error e = {0};
    validated_make(&c, JOB, 2);
    report_validation_json(&c.v, &json);
    if (!validation_parse(&c.cluster.arena, json.data, json.length, "v.json", &v, &e))
        fail_msg("%s", e.text);
    assert_string_equal(v.written, c.v.written);
    assert_string_equal(v.model, c.v.model);
    assert_int_equal(v.n_runs, 2);
    assert_int_equal(v.n_devices, c.v.n_devices);
    assert_true(fabs(v.run[1].step_s - c.v.run[1].step_s) < 1e-12);
    assert_true(fabs(v.step.error - c.v.step.error) < 1e-12);
    assert_true(v.epoch_known && v.extrapolated);
    assert_true(fabs(v.total.error - c.v.total.error) < 1e-12);
    assert_int_equal(v.n_types, 2);
    assert_string_equal(v.type[1].name, "b");
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        const struct validation_value *read = &v.type[0].stage[s], *was = &c.v.type[0].stage[s];
        assert_int_equal(read->forecast_known, was->forecast_known);
        assert_int_equal(read->error_known, was->error_known);
        assert_true(fabs(read->measured - was->measured) < 1e-12);
    }
    text_free(&json);
    cluster_free(&c.cluster);
}

static void assert_refused(const char *json, const char *why)
{
    struct arena arena = {0};
    struct validation v;
    struct error e = {0};
    assert_false(validation_parse(&arena, json, strlen(json), "v.json", &v, &e));
    if (!strstr(e.text, why))
        fail_msg("expected '%s' in '%s'", why, e.text);
    error_clear(&e);
    arena_free(&arena);
}

static void what_is_wrong_is_placed(void **state)
{
    (void)state;
    assert_refused("{\"format\": \"foretrain.validation/2\"}", "v.json:1:12: format must be");
    assert_refused("{", "not valid JSON");
    assert_refused("{\"format\": \"foretrain.validation/1\", \"name\": \"x\"}",
                   "forecast_first is missing");
    assert_refused("{\"format\": \"foretrain.validation/1\", \"name\": \"x\", \"forecast_first\": "
                   "true, \"shares_host\": false, \"forecast\": {\"written_at\": \"\", \"sha256\": "
                   "\"\", \"model\": \"\", \"step_s\": -1}}",
                   "step_s must be a number, at least 0 (got -1)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(what_is_wrong_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
