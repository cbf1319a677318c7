/* The closed form against cases worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "foretrain.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* S = 120 B over 10 B/s: 2 (2-1) (120/2) / 10 = 12 s. */
static void two_devices_exchange_the_payload_once(void **state)
{
    (void)state;
    struct ft_device_type type = {.load_s = 0, .forward_s = 3, .first_backward_s = 1};
    const double bandwidth[] = {10, 10};
    struct ft_ring ring = {2, (const int[]){0, 0}, bandwidth, 120};
    struct ft_device_forecast device[2];
    struct ft_step_forecast step;
    assert_true(ft_closed_form(&type, 1, &ring, device, &step, NULL));
    assert_near(device[0].ring_s, 12);
    assert_near(device[1].device_s, 16);
    assert_near(step.step_s, 16);
    assert_int_equal(step.deciding, 0);
    assert_false(step.load_decides);
}

/* 2 (4-1) (120/4) / 10 = 18 s on each of four. */
static void devices_of_one_type_take_the_same_time(void **state)
{
    (void)state;
    struct ft_device_type type = {.forward_s = 1, .first_backward_s = 0.5};
    struct ft_ring ring = {4, (const int[4]){0}, (const double[]){10, 10, 10, 10}, 120};
    struct ft_device_forecast device[4];
    struct ft_step_forecast step;
    assert_true(ft_closed_form(&type, 1, &ring, device, &step, NULL));
    for (int i = 0; i < 4; i++)
        assert_near(device[i].step_s, 19.5);
}

static void the_slower_loader_bounds_the_step(void **state)
{
    (void)state;
    struct ft_device_type type[] = {{.load_s = 2, .forward_s = 3}, {.load_s = 40, .forward_s = 1}};
    struct ft_ring ring = {2, (const int[]){0, 1}, (const double[]){10, 10}, 120};
    struct ft_step_forecast step;
    assert_true(ft_closed_form(type, 2, &ring, NULL, &step, NULL));
    assert_near(step.step_s, 40);
    assert_int_equal(step.deciding, 1);
    assert_true(step.load_decides);
}

/* N = 3, S = 90: 2 * 2 * 30 = 120 B over each link. */
static void each_device_sends_over_its_own_link(void **state)
{
    (void)state;
    struct ft_device_type type[] = {{.forward_s = 1, .first_backward_s = 1}, {.forward_s = 10}};
    struct ft_ring ring = {3, (const int[]){0, 1, 0}, (const double[]){10, 40, 5}, 90};
    struct ft_device_forecast device[3];
    struct ft_step_forecast step;
    assert_true(ft_closed_form(type, 2, &ring, device, &step, NULL));
    assert_near(device[0].step_s, 2 + 12);
    assert_near(device[1].step_s, 10 + 3);
    assert_near(device[2].step_s, 2 + 24);
    assert_int_equal(step.deciding, 2);
}

static void a_lone_device_has_no_all_reduce(void **state)
{
    (void)state;
    struct ft_device_type type = {.load_s = 1, .forward_s = 2, .first_backward_s = 3};
    struct ft_ring ring = {1, (const int[]){0}, NULL, 1e9};
    struct ft_device_forecast device;
    struct ft_step_forecast step;
    assert_true(ft_closed_form(&type, 1, &ring, &device, &step, NULL));
    assert_near(step.step_s, 5);
    assert_true(device.ring_s == 0);
}

static void the_first_of_equals_decides(void **state)
{
    (void)state;
    struct ft_device_type type[] = {{.forward_s = 1}, {.forward_s = 2}};
    struct ft_ring ring = {4, (const int[]){0, 1, 0, 1}, (const double[]){1, 1, 1, 1}, 0};
    struct ft_step_forecast step;
    assert_true(ft_closed_form(type, 2, &ring, NULL, &step, NULL));
    assert_int_equal(step.deciding, 1);
}

struct refusal {
    struct ft_device_type type;
    int type_at;
    double bandwidth_Bps, payload_bytes;
    size_t n_devices;
    const char *says;
};

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const struct ft_device_type good = {1, 1, 1};
    const struct refusal refusal[] = {
        {{-1, 1, 1}, 0, 1, 1, 2, "load_s"},
        {{1, NAN, 1}, 0, 1, 1, 2, "forward_s"},
        {{1, 1, INFINITY}, 0, 1, 1, 2, "first_backward_s"},
        {good, 1, 1, 1, 2, "type 1"},
        {good, -1, 1, 1, 2, "type -1"},
        {good, 0, 0, 1, 2, "bandwidth"},
        {good, 0, -4, 1, 2, "got -4"},
        {good, 0, NAN, 1, 2, "bandwidth"},
        {good, 0, INFINITY, 1, 2, "bandwidth"},
        {good, 0, 1, -1, 2, "payload_bytes"},
        {good, 0, 1, NAN, 2, "payload_bytes"},
        {good, 0, 1, 1, 0, "at least one device"},
        {good, 0, 1e-300, 1e300, 2, "too long"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        const struct refusal *r = &refusal[i];
        const int type_at[] = {0, r->type_at};
        const double bandwidth[] = {1, r->bandwidth_Bps};
        struct ft_ring ring = {r->n_devices, type_at, bandwidth, r->payload_bytes};
        struct ft_device_forecast device[2] = {{.step_s = 7}, {.step_s = 7}};
        struct ft_step_forecast step = {.step_s = 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_closed_form(&r->type, 1, &ring, device, &step, message));
        assert_non_null(strstr(message, r->says));
        assert_true(step.step_s == 7 && device[0].step_s == 7);
        assert_false(ft_closed_form(&r->type, 1, &ring, device, &step, NULL));
    }
}

static void refuses_a_ring_without_bandwidths(void **state)
{
    (void)state;
    struct ft_device_type type = {1, 1, 1};
    struct ft_step_forecast step;
    struct ft_ring ring = {2, (const int[]){0, 0}, NULL, 1};
    assert_false(ft_closed_form(&type, 1, &ring, NULL, &step, NULL));
    assert_false(ft_closed_form(NULL, 0, &ring, NULL, &step, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_devices_exchange_the_payload_once),
        cmocka_unit_test(devices_of_one_type_take_the_same_time),
        cmocka_unit_test(the_slower_loader_bounds_the_step),
        cmocka_unit_test(each_device_sends_over_its_own_link),
        cmocka_unit_test(a_lone_device_has_no_all_reduce),
        cmocka_unit_test(the_first_of_equals_decides),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_a_ring_without_bandwidths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
