/* What a message takes between, below and beyond the sizes that were measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "network/curve.h"

static const struct ft_message curve[] = {{100, 2}, {200, 3}, {1000, 5}, {2000, 10}};

static void assert_takes(const struct ft_message *point, size_t n, double bytes, double expected_s)
{
    double got_s = curve_message_s(point, n, bytes);
    if (fabs(got_s - expected_s) > 1e-12)
        fail_msg("%g bytes take %g s, not %g", bytes, got_s, expected_s);
}

static void sizes_that_were_measured_take_what_was_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(curve_message_s(curve, 4, curve[i].bytes) == curve[i].time_s);
}

static void sizes_between_lie_on_the_line(void **state)
{
    (void)state;
    assert_takes(curve, 4, 150, 2.5);
    assert_takes(curve, 4, 600, 4);
    assert_takes(curve, 4, 1999, 9.995);
}

static void below_the_first_the_line_goes_on_to_the_latency(void **state)
{
    (void)state;
    assert_takes(curve, 4, 0, 1);
    assert_takes(curve, 4, 50, 1.5);
}

static void no_size_below_the_first_is_faster_than_it(void **state)
{
    (void)state;
    static const struct ft_message steep[] = {{100, 1}, {200, 4}};
    assert_takes(steep, 2, 50, 0.5);
    assert_takes(steep, 2, 0, 0);
    assert_takes(curve, 1, 50, 1);
}

static void beyond_the_last_its_rate_stays(void **state)
{
    (void)state;
    assert_takes(curve, 4, 4000, 20);
    assert_takes(curve, 1, 300, 6);
}

static void a_larger_message_never_takes_less(void **state)
{
    (void)state;
    struct random r = random_seed(11, 0);
    for (int c = 0; c < 500; c++) {
        enum { N = 12 };
        struct ft_message point[N];
        double bytes = 0, time_s = 0, before_s = 0;
        for (size_t i = 0; i < N; i++) {
            bytes += 1 + 1000 * random_unit(&r);
            time_s += random_unit(&r) < 0.3 ? 1e-9 : random_unit(&r);
            point[i] = (struct ft_message){bytes, time_s};
        }
        size_t n = 1 + random_below(&r, N);
        for (double at = 0; at < 1.5 * bytes; at += bytes / 777) {
            double took_s = curve_message_s(point, n, at);
            assert_true(took_s >= before_s * (1 - 1e-12));
            before_s = took_s;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_were_measured_take_what_was_measured),
        cmocka_unit_test(sizes_between_lie_on_the_line),
        cmocka_unit_test(below_the_first_the_line_goes_on_to_the_latency),
        cmocka_unit_test(no_size_below_the_first_is_faster_than_it),
        cmocka_unit_test(beyond_the_last_its_rate_stays),
        cmocka_unit_test(a_larger_message_never_takes_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
