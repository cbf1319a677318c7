/* The same types at the same ratio, fewer and more. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/scaling.h"
#include "timeline_lab.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void scale(struct lab *lab, struct scaling *s)
{
    cluster_forecast(&lab->cluster);
    scaling_make(&lab->cluster.arena, &lab->cluster.job, lab->cluster.profile,
                 &lab->cluster.forecast, s);
}

static const struct scaling_point *find(const struct scaling *s, size_t n_devices)
{
    for (size_t k = 0; k < s->n; k++) {
        if (s->point[k].n_devices == n_devices)
            return &s->point[k];
    }
    fail_msg("no point of %zu devices", n_devices);
    return NULL;
}

/* Three of each: whole devices at 1/3, 2/3, 1, 4/3 (for 1.5), 2, 3 and 4 times. */
static void only_whole_devices_at_the_same_ratio(void **state)
{
    (void)state;
    struct lab lab;
    struct scaling s;
    lab_start(&lab);
    scale(&lab, &s);
    assert_null(s.why_not);
    for (size_t k = 0; k < s.n; k++) {
        assert_int_equal(s.point[k].n_devices % 2, 0);
        assert_near(s.point[k].factor, (double)s.point[k].n_devices / 6);
        assert_true(k == 0 || s.point[k].n_devices > s.point[k - 1].n_devices);
    }
    assert_int_equal(s.point[0].n_devices, 2);
    assert_int_equal(s.point[s.n - 1].n_devices, 24);
    cluster_free(&lab.cluster);
}

/* 0.6 s until the last bucket is ready; its 1 MB then takes 2 (N-1)/N of a hundredth of a second.
 */
static void steps_and_epochs_by_hand(void **state)
{
    (void)state;
    struct lab lab;
    struct scaling s;
    lab_start(&lab);
    scale(&lab, &s);
    const struct scaling_point *twice = find(&s, 12), *now = find(&s, 6);
    assert_near(twice->step_s, 0.6 + 2 * 11.0 / 12 * 0.01 + 0.0115);
    assert_near(twice->closed_form_s, 0.2 + 0.01 + 2 * 11.0 / 12 * 0.05);
    assert_near(twice->epoch_s, 34 * twice->step_s); /* 6,400 samples over 12 times 16 */
    assert_near(twice->samples_per_s, 6400 / twice->epoch_s);
    assert_near(now->step_s, lab.cluster.forecast.step_s);
    assert_near(now->epoch_s, lab.cluster.forecast.epoch_s);
    cluster_free(&lab.cluster);
}

/* 100 kB to two devices in one message, to six in three, to twelve in four, each of a millisecond.
 */
static void other_collectives_take_what_they_take_among_all(void **state)
{
    (void)state;
    struct lab lab;
    struct scaling s;
    struct profile_collective broadcast = {
        .op = "broadcast", .place = "forward", .bytes = 1e5, .count_per_step = 1};
    lab_start(&lab);
    for (int t = 0; t < 2; t++) {
        lab.cluster.profile[t].collective = &broadcast;
        lab.cluster.profile[t].n_collectives = 1;
    }
    scale(&lab, &s);
    assert_near(find(&s, 6)->step_s, 0.6 + 2 * 5.0 / 6 * 0.01 + 0.0115 + 2 * 0.001);
    assert_near(find(&s, 12)->step_s, 0.6 + 2 * 11.0 / 12 * 0.01 + 0.0115 + 3 * 0.001);
    cluster_free(&lab.cluster);
}

static void a_type_of_one_device_cannot_be_multiplied(void **state)
{
    (void)state;
    struct lab lab;
    struct scaling s;
    lab_start(&lab);
    lab.cluster.job.n_types = 1;
    lab.cluster.job.n_devices = 1;
    lab.cluster.job.type[0].count = 1;
    scale(&lab, &s);
    assert_non_null(s.why_not);
    assert_int_equal(s.n, 0);
    cluster_free(&lab.cluster);
}

/* Every second device is of the other type: only whole rings can be repeated. */
static void an_order_of_its_own_is_repeated(void **state)
{
    (void)state;
    struct lab lab;
    struct scaling s;
    size_t order[] = {0, 3, 1, 4, 2, 5};
    lab_start(&lab);
    lab.cluster.job.ring = order;
    scale(&lab, &s);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.point[0].n_devices, 6);
    assert_near(find(&s, 24)->closed_form_s, 0.2 + 0.01 + 2 * 23.0 / 24 * 0.05);
    cluster_free(&lab.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_whole_devices_at_the_same_ratio),
        cmocka_unit_test(steps_and_epochs_by_hand),
        cmocka_unit_test(other_collectives_take_what_they_take_among_all),
        cmocka_unit_test(a_type_of_one_device_cannot_be_multiplied),
        cmocka_unit_test(an_order_of_its_own_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
