/* From one job to the other, group by group. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"
#include "plan/compare.h"

#define FIRST                                                                                      \
    "data: {samples: 64000}\ndevices:\n"                                                           \
    "  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n" LAB_LINKS

struct two {
    struct lab lab[2];
    struct comparison comparison;
};

static void read_two(struct two *two, const char *second)
{
    lab_read(&two->lab[0], FIRST);
    lab_read(&two->lab[1], second);
}

static bool try_compare(struct two *two)
{
    struct compare_side side[2];
    for (int i = 0; i < 2; i++) {
        struct cluster *c = &two->lab[i].cluster;
        side[i] = (struct compare_side){i ? "b" : "a", &c->job, c->profile,
                                        c->network.n ? &c->network : NULL};
    }
    struct cluster *c = &two->lab[0].cluster;
    return compare_jobs(&c->arena, side, MODEL_CLOSED_FORM, &two->comparison, &c->e);
}

static void compare(struct two *two)
{
    if (!try_compare(two))
        fail_msg("%s", two->lab[0].cluster.e.text);
}

static void free_two(struct two *two)
{
    cluster_free(&two->lab[0].cluster);
    cluster_free(&two->lab[1].cluster);
}

static void expect_difference(const struct two *two, const char *what, const char *a, const char *b)
{
    for (size_t i = 0; i < two->comparison.n_differences; i++) {
        const struct difference *d = &two->comparison.difference[i];
        if (strcmp(d->what, what) != 0)
            continue;
        assert_string_equal(d->is[0], a);
        assert_string_equal(d->is[1], b);
        return;
    }
    fail_msg("no difference '%s'", what);
}

/* The last step is the second job: nothing that matters is left over. */
static void expect_arrival(const struct two *two)
{
    const struct comparison *c = &two->comparison;
    const struct compare_step *last = &c->step[c->n_steps - 1];
    assert_true(last->known);
    assert_true(last->step_s == c->forecast[1].step_s);
    assert_true(last->total_s == c->forecast[1].total_s);
}

static void the_same_job_twice_has_no_differences(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, FIRST);
    compare(&two);
    assert_int_equal(two.comparison.n_differences, 0);
    assert_int_equal(two.comparison.n_steps, 0);
    free_two(&two);
}

static void each_group_is_taken_over_by_itself(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, "data: {samples: 32000}\ntraining: {epochs: 2}\ndevices:\n"
                   "  fast: {count: 5, batch: 32}\n  slow: {count: 3, batch: 16}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s, latency: 1 ms}\n"
                   "    - {between: [slow, slow], bandwidth: 80 MB/s, latency: 2 ms}\n"
                   "    - {from: fast, to: slow, bandwidth: 5 MB/s, latency: 3 ms}\n"
                   "    - {from: slow, to: fast, bandwidth: 50 MB/s, latency: 3 ms}\n");
    two.lab[1].cluster.profile[0].batch = 32;
    cluster_stage(&two.lab[1].cluster.profile[0], STAGE_FORWARD, 0.4);
    compare(&two);
    const struct comparison *c = &two.comparison;
    expect_difference(&two, "fast count", "3", "5");
    expect_difference(&two, "fast batch", "16", "32");
    expect_difference(&two, "fast forward_s", "100 ms", "400 ms");
    expect_difference(&two, "fast to slow bandwidth", "400 Mbit/s", "40 Mbit/s");
    expect_difference(&two, "epochs", "1", "2");
    expect_difference(&two, "data samples", "64,000", "32,000");
    assert_int_equal(c->n_differences, 6);
    assert_int_equal(c->n_steps, N_COMPARE_GROUPS);
    assert_true(fabs(c->step[0].step_s - (0.21 + 14.0 / 8 * 0.1)) < 1e-9);
    assert_true(fabs(c->step[1].step_s - (0.41 + 14.0 / 8 * 0.1)) < 1e-9);
    assert_true(fabs(c->step[2].step_s - (0.41 + 14.0 / 8 * 1)) < 1e-9);
    assert_true(c->step[3].step_s == c->step[2].step_s);
    expect_arrival(&two);
    free_two(&two);
}

static void what_is_seldom_given_is_compared_too(void **state)
{
    (void)state;
    struct two two;
    read_two(&two,
             "data: {samples: 64000, sample_size: 1 MB}\nstorage: {bandwidth: 100 MB/s}\n"
             "training: {evaluation: 10 s, checkpoint: 20 s, last_batch: drop, collective: tree}\n"
             "devices:\n  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n"
             "network:\n  links:\n"
             "    - {between: [fast, fast], bandwidth: 100 MB/s, latency: 1 ms}\n"
             "    - {between: [slow, slow], bandwidth: 80 MB/s, latency: 2 ms}\n"
             "    - {between: [fast, slow], bandwidth: 50 MB/s, latency: 3 ms, spread: 40 %,\n"
             "       both_ways: 60 MB/s}\n");
    compare(&two);
    expect_difference(&two, "fast to slow spread", "-", "40 %");
    expect_difference(&two, "slow to fast both ways", "-", "480 Mbit/s");
    expect_difference(&two, "evaluation", "-", "10 s");
    expect_difference(&two, "checkpoint", "-", "20 s");
    expect_difference(&two, "collective", "ring", "tree");
    expect_difference(&two, "last batch", "as it is", "dropped");
    expect_difference(&two, "storage bandwidth", "-", "800 Mbit/s");
    assert_true(two.comparison.forecast[1].step_s > two.comparison.forecast[0].step_s);
    expect_arrival(&two);
    free_two(&two);
}

static void tables_of_links_and_times_of_buckets_are_compared(void **state)
{
    (void)state;
    struct two two;
    static const struct ft_message point[] = {{1e5, 0.01}, {1e7, 0.2}};
    static const struct link_curve curve = {point, 2};
    static const char *name[] = {"fast-0", "fast-1"};
    struct link link[4] = {{0},
                           {.bandwidth_Bps = 1e8, .source = LINK_MEASURED},
                           {.bandwidth_Bps = 1e8, .source = LINK_MEASURED},
                           {0}};
    struct link other[4] = {link[0], link[1], link[2], link[3]};
    other[1].curve = &curve;
    read_two(&two, FIRST);
    two.lab[0].cluster.network = (struct network){.name = name, .n = 2, .link = link};
    two.lab[1].cluster.network = (struct network){.name = name, .n = 2, .link = other};
    two.lab[1].bucket[0][0].ready.stats.mean *= 2;
    compare(&two);
    expect_difference(&two, "fast times and sizes of buckets", "as measured there",
                      "as measured here");
    assert_int_equal(two.comparison.difference[1].group, COMPARE_NETWORK);
    free_two(&two);
}

static void another_ring_is_seen_beside_other_differences_of_devices(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, "data: {samples: 64000}\ndevices:\n  fast: {count: 3, batch: 16, price: 2/h}\n"
                   "  slow: {count: 3, batch: 16}\n" LAB_LINKS);
    size_t ring[] = {0, 3, 1, 4, 2, 5};
    two.lab[1].cluster.job.ring = ring;
    compare(&two);
    expect_difference(&two, "fast price", "-", "2/h");
    expect_difference(&two, "ring", "as listed", "in its own order");
    expect_arrival(&two);
    free_two(&two);
}

static void a_new_type_comes_with_its_profile_and_links(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, "data: {samples: 64000}\ndevices:\n"
                   "  fast: {count: 3, batch: 16}\n  new: {count: 3, batch: 16}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s, latency: 1 ms}\n"
                   "    - {between: [new, new], bandwidth: 80 MB/s, latency: 2 ms}\n"
                   "    - {between: [fast, new], bandwidth: 50 MB/s, latency: 3 ms}\n");
    compare(&two);
    expect_difference(&two, "slow count", "3", "-");
    expect_difference(&two, "new count", "-", "3");
    expect_difference(&two, "fast to new bandwidth", "-", "400 Mbit/s");
    assert_false(two.comparison.step[0].known);
    assert_non_null(strstr(two.comparison.step[0].why_not, "has no value"));
    assert_int_equal(two.comparison.step[1].group, COMPARE_NETWORK);
    expect_arrival(&two);
    free_two(&two);
}

static void another_order_of_the_ring_is_told(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, FIRST "ring: [fast-0, slow-0, fast-1, slow-1, fast-2, slow-2]\n");
    compare(&two);
    expect_difference(&two, "ring", "as listed", "in its own order");
    expect_arrival(&two);
    free_two(&two);
}

static void measured_links_differ_even_where_the_worst_is_the_same(void **state)
{
    (void)state;
    static const char job[] =
        "data: {samples: 64000}\ndevices:\n"
        "  fast: {count: 2, batch: 16, hosts: \"n[1-2]\", allow_full: true}\n";
    struct two two;
    lab_read(&two.lab[0], job);
    lab_read(&two.lab[1], job);
    cluster_read_network(&two.lab[0].cluster, "from,to,bandwidth\nn1,n2,5 MB/s\nn2,n1,9 MB/s\n");
    cluster_read_network(&two.lab[1].cluster, "from,to,bandwidth\nn1,n2,8 MB/s\nn2,n1,5 MB/s\n");
    compare(&two);
    expect_difference(&two, "links between hosts", "as measured there", "as measured here");
    expect_arrival(&two);
    free_two(&two);
}

static void says_which_of_the_two_cannot_be_forecast(void **state)
{
    (void)state;
    struct two two;
    read_two(&two, FIRST);
    two.lab[1].cluster.profile[0].batch = 99;
    assert_false(try_compare(&two));
    assert_non_null(strstr(two.lab[0].cluster.e.text, "in b"));
    free_two(&two);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(the_same_job_twice_has_no_differences),
        cmocka_unit_test(each_group_is_taken_over_by_itself),
        cmocka_unit_test(what_is_seldom_given_is_compared_too),
        cmocka_unit_test(tables_of_links_and_times_of_buckets_are_compared),
        cmocka_unit_test(another_ring_is_seen_beside_other_differences_of_devices),
        cmocka_unit_test(a_new_type_comes_with_its_profile_and_links),
        cmocka_unit_test(another_order_of_the_ring_is_told),
        cmocka_unit_test(measured_links_differ_even_where_the_worst_is_the_same),
        cmocka_unit_test(says_which_of_the_two_cannot_be_forecast),
    };
    return cmocka_run_group_tests_name("compare", test, NULL, NULL);
}
