/* Whether steps stayed the same while they were counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stats.h"
#include "cluster.h"
#include "predict/steadiness.h"

enum { ITERATIONS = 20, SAMPLES = 2 * ITERATIONS };

/* Two devices, 0.1 s apart; the second half of the steps is longer by `more_s`, each by `noise_s`
 * more or less. */
static struct steadiness steadiness(struct arena *arena, double more_s, double noise_s)
{
    double value[SAMPLES];
    struct profile p = {.n_devices = 2};
    for (size_t d = 0; d < 2; d++) {
        for (size_t k = 0; k < ITERATIONS; k++)
            value[d * ITERATIONS + k] = 1 + 0.1 * (double)d + (k >= ITERATIONS / 2 ? more_s : 0) +
                                        (k % 2 ? noise_s : -noise_s);
    }
    p.stage[STAGE_STEP] = (struct samples){true, value, stats_of(value, SAMPLES)};
    return steadiness_of(arena, &p);
}

static void a_change_beyond_the_noise_is_seen(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct steadiness s = steadiness(&arena, 0.21, 0.01);
    assert_true(s.known);
    assert_false(s.steady);
    assert_int_equal(s.n, ITERATIONS);
    assert_true(fabs(s.change - 0.2) < 1e-12);
    assert_true(fabs(s.first_s - 1.05) < 1e-12);
    assert_true(fabs(s.step_s[19] - 1.27) < 1e-12);
    arena_free(&arena);
}

static void a_change_within_the_noise_is_none(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_true(steadiness(&arena, 0.03, 0).steady);
    assert_true(steadiness(&arena, 0.21, 0.5).steady);
    arena_free(&arena);
}

static void means_alone_say_nothing(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct profile p = {.n_devices = 2};
    cluster_stage(&p, STAGE_STEP, 1);
    assert_false(steadiness_of(&arena, &p).known);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_beyond_the_noise_is_seen),
        cmocka_unit_test(a_change_within_the_noise_is_none),
        cmocka_unit_test(means_alone_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
