/* Seeded random numbers: the same everywhere, different by seed and stream, without bias. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

static void follows_the_published_generator(void **state)
{
    (void)state;
    /* xoshiro256** from the state 1, 2, 3, 4, as its reference implementation gives it. */
    static const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    struct random r = {{1, 2, 3, 4}};
    for (int i = 0; i < 4; i++)
        assert_true(random_next(&r) == expected[i]);
}

static void repeats_by_seed_and_stream(void **state)
{
    (void)state;
    struct random a = random_seed(7, 3), b = random_seed(7, 3);
    for (int i = 0; i < 100; i++)
        assert_true(random_next(&a) == random_next(&b));
}

static void differs_by_seed_and_by_stream(void **state)
{
    (void)state;
    uint64_t first[4];
    for (uint64_t i = 0; i < 4; i++) {
        struct random r = random_seed(i / 2, i % 2);
        first[i] = random_next(&r);
        for (uint64_t j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
    }
}

static void below_is_uniform(void **state)
{
    (void)state;
    enum { BINS = 10, DRAWS = 100000 };
    int count[BINS] = {0};
    struct random r = random_seed(1, 0);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t value = random_below(&r, BINS);
        assert_true(value < BINS);
        count[value]++;
    }
    double chi = 0, mean = (double)DRAWS / BINS;
    for (int i = 0; i < BINS; i++)
        chi += (count[i] - mean) * (count[i] - mean) / mean;
    assert_true(chi < 27.9); /* 9 degrees of freedom, p = 0.001 */
}

static void below_has_no_bias_at_large_bounds(void **state)
{
    (void)state;
    /* Of a bound of 3/4 of the range, a plain remainder would favour its first third 2:1. */
    const uint64_t bound = UINT64_C(3) << 62;
    struct random r = random_seed(2, 0);
    int first_third = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t value = random_below(&r, bound);
        assert_true(value < bound);
        first_third += value < bound / 3;
    }
    assert_in_range(first_third, 9600, 10400);
}

static void below_one_is_zero(void **state)
{
    (void)state;
    struct random r = random_seed(3, 0);
    for (int i = 0; i < 10; i++)
        assert_true(random_below(&r, 1) == 0);
}

static void unit_stays_below_one(void **state)
{
    (void)state;
    struct random r = random_seed(4, 0);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double value = random_unit(&r);
        assert_true(value >= 0 && value < 1);
        sum += value;
    }
    assert_true(sum > 49500 && sum < 50500);
}

/* Mean, deviation and tails of a hundred thousand, within four of their standard errors. */
static void normal_is_normal(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    struct random r = random_seed(2, 0);
    double sum = 0, squares = 0, beyond = 0;
    for (int i = 0; i < DRAWS; i++) {
        double value = random_normal(&r);
        assert_true(isfinite(value));
        sum += value;
        squares += value * value;
        beyond += fabs(value) > 1.2815515655446004;
    }
    assert_true(fabs(sum / DRAWS) < 4 * sqrt(1.0 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1) < 4 * sqrt(2.0 / DRAWS));
    assert_true(fabs(beyond / DRAWS - 0.2) < 4 * sqrt(0.16 / DRAWS));
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(follows_the_published_generator),
        cmocka_unit_test(repeats_by_seed_and_stream),
        cmocka_unit_test(differs_by_seed_and_by_stream),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_bias_at_large_bounds),
        cmocka_unit_test(normal_is_normal),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(unit_stays_below_one),
    };
    return cmocka_run_group_tests_name("random", test, NULL, NULL);
}
