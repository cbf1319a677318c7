/* A forecast beside runs of the full system. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "validated.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_value(const struct validation_value *value, double forecast, double measured)
{
    assert_true(value->forecast_known && value->measured_known && value->error_known);
    assert_near(value->forecast, forecast);
    assert_near(value->measured, measured);
    assert_near(value->error, forecast / measured - 1);
}

/* S = 4 MB over N = 4: 6 MB over each link, 3 s over 2 MB/s; b: 0.2 + 0.02 + 3. */
static void the_step_is_the_mean_of_what_all_devices_saw(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    assert_value(&c.v.step, 3.22, 4.1);
    assert_int_equal(c.v.n_devices, 4);
    assert_false(c.v.epoch_known);
    assert_false(c.v.epoch.error_known);
    assert_near(c.v.distance + 1, 1);
    assert_true(c.v.forecast_first);
    cluster_free(&c.cluster);
}

static void stages_are_defined_as_the_forecasts_inputs(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    const struct validation_value *a = c.v.type[0].stage, *b = c.v.type[1].stage;
    assert_value(&a[VALIDATION_LOAD], 0.0015, 0.0015);
    assert_value(&a[VALIDATION_FORWARD], 0.1, 0.2);
    assert_value(&b[VALIDATION_FORWARD], 0.2, 0.2);
    assert_value(&b[VALIDATION_FIRST_BACKWARD], 0.02, 0.01);
    assert_value(&a[VALIDATION_STEP], 3.22, 4);
    assert_value(&b[VALIDATION_STEP], 3.22, 4.4);
    assert_value(&c.v.type[0].sent_bytes, 6e6, 6e6);
    assert_int_equal(c.v.type[0].n_devices, 3);
    cluster_free(&c.cluster);
}

/* From 1 to 2 and from 1.5 to 3.5: the time of both at once counts once. */
static void buckets_under_way_at_once_count_once(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    assert_value(&c.v.type[1].stage[VALIDATION_ALL_REDUCE], 3, 2.5);
    c.bucket[1].done.known = false;
    assert_true(validated_try(&c, 1));
    assert_false(c.v.type[1].stage[VALIDATION_ALL_REDUCE].measured_known);
    assert_true(c.v.type[1].stage[VALIDATION_ALL_REDUCE].forecast_known);
    cluster_free(&c.cluster);
}

static void what_has_no_forecast_has_no_error(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    const struct validation_value *optimizer = &c.v.type[0].stage[VALIDATION_OPTIMIZER];
    assert_false(optimizer->forecast_known);
    assert_false(optimizer->error_known);
    assert_near(optimizer->measured, 0.01);
    assert_false(c.v.type[0].stage[VALIDATION_UNSYNCED].measured_known);
    assert_false(c.v.type[0].stage[VALIDATION_REST].measured_known);
    cluster_free(&c.cluster);
}

/* A stage of no time cannot be missed by a share of it. */
static void a_loader_that_takes_no_time_has_no_error(void **state)
{
    (void)state;
    struct validated c;
    validated_start(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    cluster_stage(&c.profile[0][0], STAGE_LOADER_INTERVAL, 0);
    cluster_stage(&c.profile[0][0], STAGE_COPY, 0);
    assert_true(validated_try(&c, 1));
    assert_true(c.v.type[0].stage[VALIDATION_LOAD].measured_known);
    assert_false(c.v.type[0].stage[VALIDATION_LOAD].error_known);
    cluster_free(&c.cluster);
}

static void several_runs_have_a_mean_and_a_distance(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 3);
    assert_near(c.v.run[2].step_s, 4.9);
    assert_near(c.v.step.measured, 4.5);
    assert_near(c.v.distance, 0.8 / 4.5);
    assert_near(c.v.type[0].stage[VALIDATION_STEP].measured, 4.4);
    cluster_free(&c.cluster);
}

static void an_epoch_is_extrapolated_unless_it_was_counted(void **state)
{
    (void)state;
    struct validated c;
    validated_make(
        &c, "training: {epochs: 3}\ndata: {samples: 6400}\n" VALIDATED_DEVICES VALIDATED_LINKS, 1);
    assert_near(c.v.iterations, 100);
    assert_int_equal(c.v.n_counted, 81);
    assert_true(c.v.extrapolated);
    assert_value(&c.v.epoch, 322, 410);
    assert_value(&c.v.total, 966, 1230);
    c.profile[0][0].last = 119;
    assert_true(validated_try(&c, 1));
    assert_false(c.v.extrapolated);
    cluster_free(&c.cluster);
}

static void says_when_the_forecast_came_later(void **state)
{
    (void)state;
    struct validated c;
    validated_make(&c, VALIDATED_DEVICES VALIDATED_LINKS, 2);
    c.v.written = "2026-11-29T12:00:11Z";
    assert_true(validated_try(&c, 2));
    assert_false(c.v.forecast_first);
    c.v.written = "2026-11-29T12:00:10Z";
    assert_true(validated_try(&c, 2));
    assert_true(c.v.forecast_first);
    c.profile[1][0].started = NULL;
    assert_true(validated_try(&c, 2));
    assert_false(c.v.forecast_first);
    cluster_free(&c.cluster);
}

static void refuses_runs_without_steps_and_other_batches(void **state)
{
    (void)state;
    struct validated c;
    validated_start(&c, VALIDATED_DEVICES VALIDATED_LINKS, 1);
    c.profile[0][1].stage[STAGE_STEP].known = false;
    assert_false(validated_try(&c, 1));
    assert_non_null(strstr(c.cluster.e.text, "p.json: the full system's profile lacks step_s"));
    cluster_stage(&c.profile[0][1], STAGE_STEP, 4);
    c.profile[0][1].batch = 8;
    assert_false(validated_try(&c, 1));
    assert_non_null(strstr(c.cluster.e.text, "in the full system"));
    assert_int_equal(c.v.n_runs, 0);
    cluster_free(&c.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_is_the_mean_of_what_all_devices_saw),
        cmocka_unit_test(stages_are_defined_as_the_forecasts_inputs),
        cmocka_unit_test(buckets_under_way_at_once_count_once),
        cmocka_unit_test(what_has_no_forecast_has_no_error),
        cmocka_unit_test(a_loader_that_takes_no_time_has_no_error),
        cmocka_unit_test(several_runs_have_a_mean_and_a_distance),
        cmocka_unit_test(an_epoch_is_extrapolated_unless_it_was_counted),
        cmocka_unit_test(says_when_the_forecast_came_later),
        cmocka_unit_test(refuses_runs_without_steps_and_other_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
