/* The steps of a sub-system, and what another run's would differ by. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/stats.h"
#include "cluster.h"
#include "predict/measured_steps.h"

static struct profile of_steps(int n_devices, double *value, size_t n)
{
    struct profile p = {.n_devices = n_devices};
    p.stage[STAGE_STEP] = (struct samples){true, value, stats_of(value, n)};
    return p;
}

static void a_step_is_the_mean_over_devices(void **state)
{
    (void)state;
    struct arena arena = {0};
    double value[] = {1, 2, 3, 3, 4, 7};
    struct profile p = of_steps(2, value, 6);
    struct measured_steps steps = measured_steps_of(&arena, &p);
    assert_int_equal(steps.n, 3);
    assert_true(steps.mean_s[0] == 2 && steps.mean_s[1] == 3 && steps.mean_s[2] == 5);
    arena_free(&arena);
}

static void without_samples_of_each_device_nothing_is_known(void **state)
{
    (void)state;
    struct arena arena = {0};
    double value[] = {1, 2, 3};
    struct profile p = of_steps(2, value, 3), means = {.n_devices = 2};
    cluster_stage(&means, STAGE_STEP, 1);
    assert_int_equal(measured_steps_of(&arena, &p).n, 0);
    assert_int_equal(measured_steps_of(&arena, &means).n, 0);
    assert_true(measured_steps_between_runs(measured_steps_of(&arena, &means)) == 0);
    arena_free(&arena);
}

/* Four parts of four: 0.9, 1.1, 0.9, 1.1. */
static void runs_differ_as_parts_of_a_run_do(void **state)
{
    (void)state;
    double value[16];
    for (size_t k = 0; k < 16; k++)
        value[k] = (k / 4 % 2 ? 1.1 : 0.9) + (k % 2 ? 0.3 : -0.3);
    struct measured_steps steps = {value, 16};
    assert_true(fabs(measured_steps_between_runs(steps) - sqrt(0.04 / 3)) < 1e-12);
    steps.n = 3;
    assert_true(measured_steps_between_runs(steps) == 0);
}

/* Where steps do not hang together, parts of √n differ by n^(-1/4) of what steps do. */
static void independent_steps_differ_little(void **state)
{
    (void)state;
    enum { N = 81, RUNS = 400 };
    struct random r = random_seed(3, 0);
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        double value[N];
        for (size_t k = 0; k < N; k++)
            value[k] = 1 + 0.03 * random_normal(&r);
        double relative = measured_steps_between_runs((struct measured_steps){value, N});
        sum += relative * relative;
    }
    assert_true(fabs(sqrt(sum / RUNS) - 0.01) < 0.0005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_mean_over_devices),
        cmocka_unit_test(without_samples_of_each_device_nothing_is_known),
        cmocka_unit_test(runs_differ_as_parts_of_a_run_do),
        cmocka_unit_test(independent_steps_differ_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
