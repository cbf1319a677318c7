/* Mean, deviation, quantiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/stats.h"

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-14 * fmax(1, fabs(expected))))
        fail_msg("got %.17g, expected %.17g", value, expected);
}

static void known_samples_have_known_statistics(void **state)
{
    (void)state;
    static const double value[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct stats s = stats_of(value, 8);
    assert_int_equal(s.n, 8);
    near(s.mean, 5);
    near(s.sd, sqrt(32.0 / 7));
    near(s.min, 2);
    near(s.max, 9);
}

static void nothing_and_one_have_no_deviation(void **state)
{
    (void)state;
    static const double value[] = {3};
    struct stats none = stats_of(NULL, 0), one = stats_of(value, 1);
    assert_int_equal(none.n, 0);
    assert_true(none.mean == 0 && none.sd == 0 && none.min == 0 && none.max == 0);
    assert_true(one.mean == 3 && one.sd == 0 && one.min == 3 && one.max == 3);
}

static void a_small_deviation_survives_a_large_mean(void **state)
{
    (void)state;
    static const double value[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
    near(stats_of(value, 3).sd, 1);
}

static void quantiles_are_interpolated_between_sorted_values(void **state)
{
    (void)state;
    double value[] = {40, 10, 30, 20};
    near(stats_quantile(value, 4, 0), 10);
    near(stats_quantile(value, 4, 1), 40);
    near(stats_quantile(value, 4, 0.5), 25);
    near(stats_quantile(value, 4, 0.9), 37);
    assert_true(value[0] == 40 && value[3] == 20);
    assert_true(stats_quantile(value, 0, 0.5) == 0);
    near(stats_quantile(value, 1, 0.7), 40);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(known_samples_have_known_statistics),
        cmocka_unit_test(nothing_and_one_have_no_deviation),
        cmocka_unit_test(a_small_deviation_survives_a_large_mean),
        cmocka_unit_test(quantiles_are_interpolated_between_sorted_values),
    };
    return cmocka_run_group_tests_name("stats", test, NULL, NULL);
}
