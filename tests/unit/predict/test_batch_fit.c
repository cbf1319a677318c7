/* Time by batch: on lines it is exact, between and beyond the measured ones; samples keep their
 * spread; what is said of its error; what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/stats.h"
#include "predict/batch_fit.h"

enum { MOST = 4, SAMPLES = 4 };

struct lab {
    struct arena arena;
    struct profile profile[MOST];
    struct bucket bucket[MOST][1];
    struct profile out;
    struct batch_fit fit;
    struct error e;
};

/* As far around the mean as `spread` says. */
static struct samples samples_of(struct arena *arena, double mean, double spread)
{
    struct samples s = {.known = true, .value = ARENA_ARRAY(arena, SAMPLES, double)};
    for (size_t k = 0; k < SAMPLES; k++)
        s.value[k] = mean * (1 + (k % 2 ? spread : -spread));
    s.stats = stats_of(s.value, SAMPLES);
    return s;
}

static void measure(struct lab *lab, size_t i, double batch, double forward_s)
{
    struct profile *p = &lab->profile[i];
    *p = (struct profile){.file = "p.json",
                          .n_devices = 2,
                          .ring_devices = 2,
                          .batch = batch,
                          .micro_batches = 1,
                          .bytes_read = 100 * batch,
                          .bucket = lab->bucket[i],
                          .n_buckets = 1};
    p->stage[STAGE_FORWARD] = samples_of(&lab->arena, forward_s, 0.1);
    p->stage[STAGE_BACKWARD_COMPUTE] = samples_of(&lab->arena, 2 * forward_s, 0.1);
    p->bucket[0] = (struct bucket){.wire_bytes = 1e6,
                                   .ready = samples_of(&lab->arena, forward_s, 0.1),
                                   .done = samples_of(&lab->arena, forward_s + 1, 0.1)};
}

static void start(struct lab *lab, const double *batch, const double *forward_s, size_t n)
{
    *lab = (struct lab){0};
    for (size_t i = 0; i < n; i++)
        measure(lab, i, batch[i], forward_s[i]);
}

static bool attempt(struct lab *lab, size_t n, double batch)
{
    return batch_profile(&lab->arena, lab->profile, n, batch, &lab->out, &lab->fit, &lab->e);
}

static void fit(struct lab *lab, size_t n, double batch)
{
    if (!attempt(lab, n, batch))
        fail_msg("%s", lab->e.text);
}

static void finish(struct lab *lab)
{
    arena_free(&lab->arena);
    error_clear(&lab->e);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void is_exact_on_a_line(void **state)
{
    (void)state;
    static const double wanted[] = {4, 24, 40, 128};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct lab lab;
        start(&lab, (const double[]){64, 16, 32}, (const double[]){0.66, 0.18, 0.34}, 3);
        fit(&lab, 3, wanted[i]);
        double expected_s = 0.02 + 0.01 * wanted[i];
        assert_near(lab.out.stage[STAGE_FORWARD].stats.mean, expected_s);
        assert_near(lab.out.stage[STAGE_BACKWARD_COMPUTE].stats.mean, 2 * expected_s);
        assert_near(lab.out.bucket[0].ready.stats.mean, expected_s);
        assert_near(lab.out.bucket[0].done.stats.mean, expected_s + 1);
        assert_true(lab.out.batch == wanted[i]);
        assert_near(lab.out.bytes_read, 100 * wanted[i]);
        assert_int_equal(lab.fit.extrapolated, wanted[i] < 16 || wanted[i] > 64);
        assert_ptr_equal(lab.out.fit->batch, lab.fit.batch);
        finish(&lab);
    }
}

static void a_measured_batch_is_taken_as_it_is(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){16, 32}, (const double[]){0.1, 0.9}, 2);
    fit(&lab, 2, 32);
    assert_true(lab.fit.measured);
    assert_null(lab.out.fit);
    assert_ptr_equal(lab.out.stage[STAGE_FORWARD].value, lab.profile[1].stage[STAGE_FORWARD].value);
    assert_int_equal(lab.out.n_notes, 0);
    finish(&lab);
}

static void samples_keep_their_spread(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10, 20}, (const double[]){1, 2}, 2);
    fit(&lab, 2, 18);
    const struct samples *forward = &lab.out.stage[STAGE_FORWARD];
    struct stats stats = stats_of(forward->value, SAMPLES);
    assert_near(stats.mean, 1.8);
    assert_near(forward->stats.mean, 1.8);
    assert_near(stats.sd / stats.mean, lab.profile[1].stage[STAGE_FORWARD].stats.sd / 2);
    assert_near(forward->stats.sd, stats.sd);
    assert_near(forward->stats.max, stats.max);
    finish(&lab);
}

/* Devices that are not full yet: 16 takes as long as 32. Lines between neighbours keep the corner.
 */
static void a_corner_stays_where_it_was_measured(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){16, 32, 64, 128}, (const double[]){0.3, 0.3, 0.6, 1.2}, 4);
    fit(&lab, 4, 24);
    assert_near(lab.out.stage[STAGE_FORWARD].stats.mean, 0.3);
    assert_true(lab.fit.error > 0.1);
    fit(&lab, 4, 96);
    assert_near(lab.out.stage[STAGE_FORWARD].stats.mean, 0.9);
    finish(&lab);
}

/* 32 told by 16 and 64: 0.2 + 0.4 / 3, where 0.4 was measured. */
static void the_error_is_how_far_off_the_others_tell_a_batch(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){16, 32, 64}, (const double[]){0.2, 0.4, 0.6}, 3);
    fit(&lab, 3, 48);
    assert_true(lab.fit.error_known);
    assert_near(lab.fit.error, 1 - (0.2 + 0.4 / 3) / 0.4);
    assert_int_equal(lab.out.n_notes, 1);
    assert_string_equal(lab.out.note_line[0],
                        "times with batch 48 are between those with 16, 32 and 64, give or take "
                        "16.7 %");
    finish(&lab);
}

static void of_two_batches_only_their_means_errors_are_known(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10, 20}, (const double[]){1, 2}, 2);
    fit(&lab, 2, 15);
    double sd =
        lab.profile[0].stage[STAGE_FORWARD].stats.sd; /* of 1; the others 2, 2 and 4 times */
    double variance = sd * sd * (1 + 4 + 4 + 16) / 4 / SAMPLES;
    assert_near(lab.fit.error, sqrt(variance) / 4.5);
    assert_non_null(strstr(lab.out.note_line[0], "if it is a line: a third batch would show"));
    for (size_t i = 0; i < 2; i++)
        lab.profile[i].stage[STAGE_FORWARD].stats.n = 0;
    fit(&lab, 2, 15);
    assert_false(lab.fit.error_known);
    assert_non_null(strstr(lab.out.note_line[0], "how far off is not known"));
    finish(&lab);
}

static void the_error_grows_beyond_what_was_measured(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10, 20}, (const double[]){1, 2}, 2);
    fit(&lab, 2, 25);
    double near = lab.fit.error;
    assert_non_null(strstr(lab.out.note_line[0], "are extrapolated from those with 10 and 20"));
    fit(&lab, 2, 200);
    assert_true(lab.fit.error > near);
    finish(&lab);
}

static void a_stage_that_one_profile_lacks_is_not_known(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10, 20}, (const double[]){1, 2}, 2);
    lab.profile[0].stage[STAGE_OPTIMIZER] = samples_of(&lab.arena, 0.1, 0);
    fit(&lab, 2, 12);
    assert_false(lab.out.stage[STAGE_OPTIMIZER].known);
    finish(&lab);
}

static void assert_refused(struct lab *lab, size_t n, double batch, const char *part)
{
    assert_false(attempt(lab, n, batch));
    if (!strstr(lab->e.text, part))
        fail_msg("%s", lab->e.text);
    assert_null(lab->out.file);
}

static void refuses_profiles_that_differ_in_more_than_batch(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10, 20}, (const double[]){1, 2}, 2);
    lab.profile[1].batch = 10;
    assert_refused(&lab, 2, 12, "were both made with batch 10");
    lab.profile[1].batch = 20;
    lab.profile[1].n_devices = 3;
    assert_refused(&lab, 2, 12, "differ in their number of devices");
    lab.profile[1].n_devices = 2;
    lab.profile[1].micro_batches = 4;
    assert_refused(&lab, 2, 12, "differ in their micro-batches");
    lab.profile[1].micro_batches = 1;
    lab.bucket[1][0].wire_bytes = 2e6;
    assert_refused(&lab, 2, 12, "differ in their buckets");
    finish(&lab);
}

static void refuses_a_single_profile_of_another_batch(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){10}, (const double[]){1}, 1);
    assert_refused(&lab, 1, 12, "was made with batch 10, not 12");
    fit(&lab, 1, 10);
    assert_true(lab.fit.measured);
    finish(&lab);
}

/* 0.1 s at 100 and 1 s at 110 come to nothing at 50. */
static void refuses_what_comes_to_nothing(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, (const double[]){100, 110}, (const double[]){0.1, 1}, 2);
    assert_refused(&lab, 2, 50, "the times come to nothing");
    finish(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact_on_a_line),
        cmocka_unit_test(a_measured_batch_is_taken_as_it_is),
        cmocka_unit_test(samples_keep_their_spread),
        cmocka_unit_test(a_corner_stays_where_it_was_measured),
        cmocka_unit_test(the_error_is_how_far_off_the_others_tell_a_batch),
        cmocka_unit_test(of_two_batches_only_their_means_errors_are_known),
        cmocka_unit_test(the_error_grows_beyond_what_was_measured),
        cmocka_unit_test(a_stage_that_one_profile_lacks_is_not_known),
        cmocka_unit_test(refuses_profiles_that_differ_in_more_than_batch),
        cmocka_unit_test(refuses_a_single_profile_of_another_batch),
        cmocka_unit_test(refuses_what_comes_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
