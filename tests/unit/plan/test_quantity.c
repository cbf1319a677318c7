/* Paths and values as users write them on a command line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "lab.h"
#include "plan/quantity.h"

#define JOB                                                                                        \
    "data: {size: 64 MB, samples: 64000}\ndevices:\n"                                              \
    "  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n" LAB_LINKS

static struct quantity find(struct lab *lab, const char *path)
{
    struct quantity q;
    if (!quantity_find(&lab->cluster.arena, &lab->cluster.job, path, &q, &lab->cluster.e))
        fail_msg("%s", lab->cluster.e.text);
    return q;
}

static void expect_values(const char *path, const char *text, const double *expected, size_t n)
{
    struct lab lab;
    double *value = NULL;
    size_t n_values = 0;
    lab_read(&lab, JOB);
    struct quantity q = find(&lab, path);
    if (!quantity_values(&lab.cluster.arena, &q, text, &value, &n_values, &lab.cluster.e))
        fail_msg("%s", lab.cluster.e.text);
    assert_int_equal(n_values, n);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(value[i] - expected[i]) <= 1e-12 * fabs(expected[i]));
    cluster_free(&lab.cluster);
}

static void refuse_values(const char *path, const char *text, const char *holds)
{
    struct lab lab;
    double *value = NULL;
    size_t n = 0;
    lab_read(&lab, JOB);
    struct quantity q = find(&lab, path);
    assert_false(quantity_values(&lab.cluster.arena, &q, text, &value, &n, &lab.cluster.e));
    assert_int_equal(lab.cluster.e.kind, ERROR_USAGE);
    if (!strstr(lab.cluster.e.text, holds))
        fail_msg("expected '%s' in: %s", holds, lab.cluster.e.text);
    cluster_free(&lab.cluster);
}

static void refuse_path(const char *path, const char *holds)
{
    struct lab lab;
    struct quantity q;
    lab_read(&lab, JOB);
    assert_false(quantity_find(&lab.cluster.arena, &lab.cluster.job, path, &q, &lab.cluster.e));
    if (!strstr(lab.cluster.e.text, holds))
        fail_msg("expected '%s' in: %s", holds, lab.cluster.e.text);
    cluster_free(&lab.cluster);
}

static void a_path_of_two_pairs_of_types_is_refused(void **state)
{
    (void)state;
    struct lab lab = {0};
    struct quantity q;
    cluster_read_job(&lab.cluster,
                     "devices:\n  a: {count: 3, batch: 1}\n  b-c: {count: 3, batch: 1}\n"
                     "  a-b: {count: 3, batch: 1}\n  c: {count: 3, batch: 1}\n");
    assert_false(quantity_find(&lab.cluster.arena, &lab.cluster.job, "network.a-b-c.bandwidth", &q,
                               &lab.cluster.e));
    assert_non_null(strstr(lab.cluster.e.text, "is of the types a and b-c, and of a-b and c"));
    error_clear(&lab.cluster.e);
    q = find(&lab, "network.b-c-a.bandwidth");
    assert_int_equal(q.type[0], 0);
    assert_int_equal(q.type[1], 1);
    cluster_free(&lab.cluster);
}

static void a_range_has_both_its_ends(void **state)
{
    (void)state;
    expect_values("fast.count", "0:20:10", (double[]){0, 10, 20}, 3);
    expect_values("fast.count", "0:25:10", (double[]){0, 10, 20}, 3);
    expect_values("fast.count", "3:5", (double[]){3, 4, 5}, 3);
    expect_values("network.fast-slow.latency", "0:0.3:0.1 ms", (double[]){0, 1e-4, 2e-4, 3e-4}, 4);
}

static void a_list_takes_its_last_unit_where_one_has_none(void **state)
{
    (void)state;
    expect_values("network.fast-slow.bandwidth", "10,25,100Gbit/s",
                  (double[]){1.25e9, 3.125e9, 12.5e9}, 3);
    expect_values("network.fast-slow.bandwidth", "100 Mbit/s,1 Gbit/s", (double[]){12.5e6, 125e6},
                  2);
    expect_values("fast.price", "1,2:4:1/h",
                  (double[]){1.0 / 3600, 2.0 / 3600, 3.0 / 3600, 4.0 / 3600}, 4);
    expect_values("devices.fast.count", "1,5:7:2", (double[]){1, 5, 7}, 3);
}

static void refuses_values_that_cannot_be(void **state)
{
    (void)state;
    refuse_values("fast.count", "-1", "whole number, 0 or more (got '-1')");
    refuse_values("fast.count", "1.5", "whole number");
    refuse_values("fast.count", "nan", "whole number");
    refuse_values("fast.count", "", "whole number");
    refuse_values("fast.count", "99999999", "whole number");
    refuse_values("fast.batch", "0", "1 or more");
    refuse_values("fast.count", "9:1:2", "first:last:step");
    refuse_values("fast.count", "1:9:0", "first:last:step");
    refuse_values("fast.count", "1:9:2:3", "first:last:step");
    refuse_values("fast.count", "0:9999999:1", "more than a million");
    refuse_values("network.fast-slow.bandwidth", "10", "the unit is missing");
    refuse_values("network.fast-slow.bandwidth", "0 Gbit/s", "above 0");
    refuse_values("network.fast-slow.bandwidth", "10,25 GB", "unknown unit 'GB'");
    refuse_values("network.fast-slow.bandwidth", "1 Gbit/s:2 Gbit/s", "first:last:step");
}

static void names_the_nearest_path(void **state)
{
    (void)state;
    refuse_path("fast.cuont", "did you mean 'fast.count'?");
    refuse_path("slwo.batch", "did you mean 'slow.batch'?");
    refuse_path("network.fast-slw.bandwidth", "did you mean 'network.fast-slow.bandwidth'?");
    refuse_path("epochs", "such as fast.count");
}

static void links_are_the_same_in_either_order(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, JOB);
    struct quantity a = find(&lab, "network.fast-slow.latency");
    struct quantity b = find(&lab, "network.slow-fast.latency");
    assert_int_equal(a.type[0], b.type[0]);
    assert_int_equal(a.type[1], b.type[1]);
    cluster_free(&lab.cluster);
}

static void a_larger_set_has_more_samples_of_the_same_size(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, JOB);
    lab_start(&lab, false);
    struct variant v = lab_variant(&lab);
    struct quantity size = find(&lab, "data.size"), samples = find(&lab, "data.samples");
    quantity_set(&size, 128e6, &v);
    assert_true(lab_forecast(&lab, &v).iterations == ceil(128000 / 96.0));
    quantity_set(&samples, 96000, &v);
    assert_true(lab_forecast(&lab, &v).iterations == 1000);
    cluster_free(&lab.cluster);
}

static void shows_values_with_their_units(void **state)
{
    (void)state;
    struct lab lab;
    char text[UNITS_TEXT_SIZE];
    lab_read(&lab, JOB);
    struct quantity rate = find(&lab, "network.fast-fast.bandwidth");
    struct quantity count = find(&lab, "fast.count");
    assert_string_equal(quantity_format(&rate, 1.25e9, text), "10 Gbit/s");
    assert_string_equal(quantity_unit(&rate), "Bps");
    assert_string_equal(quantity_format(&count, 1200, text), "1,200");
    assert_string_equal(quantity_unit(&count), "");
    cluster_free(&lab.cluster);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(a_path_of_two_pairs_of_types_is_refused),
        cmocka_unit_test(a_range_has_both_its_ends),
        cmocka_unit_test(a_list_takes_its_last_unit_where_one_has_none),
        cmocka_unit_test(refuses_values_that_cannot_be),
        cmocka_unit_test(names_the_nearest_path),
        cmocka_unit_test(links_are_the_same_in_either_order),
        cmocka_unit_test(a_larger_set_has_more_samples_of_the_same_size),
        cmocka_unit_test(shows_values_with_their_units),
    };
    return cmocka_run_group_tests_name("quantity", test, NULL, NULL);
}
