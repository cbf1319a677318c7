/* Iterations of an epoch, in both cases of the method. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "foretrain.h"

static struct ft_epoch_forecast epoch_of(double data_a, double data_b, double total)
{
    struct ft_share share[] = {{.n_devices = 100, .batch = 256, .data = data_a},
                               {.n_devices = 100, .batch = 64, .data = data_b}};
    struct ft_epoch_forecast epoch;
    char message[FT_MESSAGE_SIZE];
    if (!ft_epoch(share, 2, total, &epoch, message))
        fail_msg("%s", message);
    return epoch;
}

/* method.md: 200 million samples, 100 + 100 devices, batches 256 and 64. */
static void equal_data_gives_15625_iterations(void **state)
{
    (void)state;
    struct ft_epoch_forecast epoch = epoch_of(1e6, 1e6, 200e6);
    assert_true(epoch.iterations == 15625);
    assert_true(epoch.rounds == 1);
    assert_true(epoch.unbalanced);
    assert_int_equal(epoch.last_to_finish, 1);
}

static void data_in_proportion_to_batch_gives_6250_iterations(void **state)
{
    (void)state;
    struct ft_epoch_forecast epoch = epoch_of(1.6e6, 0.4e6, 200e6);
    assert_true(epoch.iterations == 6250);
    assert_false(epoch.unbalanced);
}

static void without_data_it_goes_in_proportion_to_batch(void **state)
{
    (void)state;
    struct ft_epoch_forecast epoch = epoch_of(0, 0, 200e6);
    assert_true(epoch.iterations == 6250);
    assert_true(epoch.rounds == 0);
    assert_false(epoch.unbalanced);
}

/* Ten rounds of 20 million make 200 million: 10 * 10^5/64 = 15,625. */
static void smaller_parts_take_more_rounds(void **state)
{
    (void)state;
    struct ft_epoch_forecast epoch = epoch_of(1e5, 1e5, 200e6);
    assert_true(epoch.iterations == 15625);
    assert_true(epoch.rounds == 10);
}

static void a_started_iteration_counts(void **state)
{
    (void)state;
    assert_true(epoch_of(0, 0, 200e6 + 1).iterations == 6251);
    assert_true(epoch_of(0, 0, 1).iterations == 1);
}

static void the_last_iteration_may_have_few_samples(void **state)
{
    (void)state;
    assert_true(epoch_of(0, 0, 200e6).last_share == 1);
    assert_true(epoch_of(0, 0, 8000).last_share == 0.25);
    assert_true(epoch_of(0, 0, 40000).last_share == 0.25);
    assert_true(epoch_of(6400, 6400, 1.28e6 * 1.25).last_share == 1);
    assert_true(epoch_of(6400, 6400, 1.28e6 * 1.125).last_share == 0.5);
}

/* 0.1 * 3 is above 0.3 in binary; that must not cost an iteration. */
static void rounding_costs_no_iteration(void **state)
{
    (void)state;
    struct ft_share share[] = {{3, 0.1, 0}};
    struct ft_epoch_forecast epoch;
    for (int n = 1; n < 2000; n++) {
        assert_true(ft_epoch(share, 1, 0.3 * n, &epoch, NULL));
        assert_true(epoch.iterations == n);
    }
}

static void one_percent_apart_still_counts_as_balanced(void **state)
{
    (void)state;
    assert_false(epoch_of(1.6e6 * 1.009, 0.4e6, 200e6).unbalanced);
    assert_true(epoch_of(1.6e6 * 1.011, 0.4e6, 200e6).unbalanced);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const struct {
        struct ft_share share[2];
        double total;
        const char *says;
    } refusal[] = {
        {{{0, 1, 1}, {1, 1, 1}}, 1, "n_devices of type 0"},
        {{{1, 1, 1}, {1, 0, 1}}, 1, "batch of type 1"},
        {{{1, NAN, 1}, {1, 1, 1}}, 1, "batch of type 0"},
        {{{1, 1, 1}, {1, 1, -1}}, 1, "data of type 1"},
        {{{1, 1, 1}, {1, 1, 0}}, 1, "type 0 has data per device and type 1 has none"},
        {{{1, 1, 0}, {1, 1, 1}}, 1, "type 1 has data per device and type 0 has none"},
        {{{1, 1, 1}, {1, 1, 1}}, 0, "training data"},
        {{{1, 1, 1}, {1, 1, 1}}, INFINITY, "training data"},
        {{{1e300, 1e300, 0}, {1, 1, 0}}, 1, "too many"},
        {{{1e300, 1, 1e300}, {1, 1, 1}}, 1, "too many"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        struct ft_epoch_forecast epoch = {.iterations = 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_epoch(refusal[i].share, 2, refusal[i].total, &epoch, message));
        assert_non_null(strstr(message, refusal[i].says));
        assert_true(epoch.iterations == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_data_gives_15625_iterations),
        cmocka_unit_test(data_in_proportion_to_batch_gives_6250_iterations),
        cmocka_unit_test(without_data_it_goes_in_proportion_to_batch),
        cmocka_unit_test(smaller_parts_take_more_rounds),
        cmocka_unit_test(a_started_iteration_counts),
        cmocka_unit_test(the_last_iteration_may_have_few_samples),
        cmocka_unit_test(rounding_costs_no_iteration),
        cmocka_unit_test(one_percent_apart_still_counts_as_balanced),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
