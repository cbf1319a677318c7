/* The mix that is found, beside trying all of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "lab.h"
#include "plan/size.h"

static double between(struct random *r, double low, double high)
{
    return low * pow(high / low, random_unit(r));
}

/* Two types that take and cost whatever comes. */
static void read_drawn(struct lab *lab, struct random *r)
{
    char yaml[1024];
    bool with_data = random_below(r, 2);
    snprintf(yaml, sizeof yaml,
             "data: {samples: %llu, sample_size: 1 kB}\ndevices:\n"
             "  fast: {count: 3, batch: 16, price: %.3f/h%s}\n"
             "  slow: {count: 3, batch: 16, price: %.3f/h%s}\n"
             "network:\n  links:\n"
             "    - {between: [fast, fast], bandwidth: %.0f kB/s}\n"
             "    - {between: [slow, slow], bandwidth: %.0f kB/s}\n"
             "    - {between: [fast, slow], bandwidth: %.0f kB/s}\n",
             (unsigned long long)between(r, 1e3, 1e7), between(r, 0.5, 5),
             with_data ? ", data: 100 samples" : "", between(r, 0.5, 5),
             with_data ? ", data: 160 kB" : "", between(r, 1e4, 1e6), between(r, 1e4, 1e6),
             between(r, 1e4, 1e6));
    lab_read(lab, yaml);
    for (int t = 0; t < 2; t++)
        cluster_stage(&lab->cluster.profile[t], STAGE_FORWARD, between(r, 0.02, 0.5));
    lab->cluster.model = random_below(r, 2) ? MODEL_TIMELINE : MODEL_CLOSED_FORM;
    lab_start(lab, true);
}

enum { MOST = 9 };

static bool meets(const struct size_goal *goal, const struct outcome *o)
{
    return o->any && (!(goal->deadline_s > 0) || o->total_s <= goal->deadline_s) &&
           (!(goal->budget > 0) || o->cost <= goal->budget);
}

/* INFINITY: nothing meets the goal. */
static double best_of_all(struct lab *lab, const struct size_goal *goal, bool single)
{
    double best = INFINITY;
    struct variant v = lab_variant(lab);
    for (int64_t a = 0; a <= goal->available[0]; a++) {
        for (int64_t b = 0; b <= goal->available[1]; b++) {
            v.job.type[0].count = a;
            v.job.type[1].count = b;
            struct outcome o = lab_forecast(lab, &v);
            if (meets(goal, &o) && !(single && a > 0 && b > 0))
                best = fmin(best, goal->deadline_s > 0 ? o.cost : o.total_s);
        }
    }
    return best;
}

static void expect_best(const struct size_goal *goal, const struct mix *mix, double expected)
{
    double value = goal->deadline_s > 0 ? mix->outcome.cost : mix->outcome.total_s;
    assert_int_equal(mix->known, isfinite(expected));
    if (mix->known && !(value <= expected / (1 - 1.0001e-4)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void expect_exhaustive(uint64_t number, size_t *n_found)
{
    struct random r = random_seed(1, number);
    struct lab lab;
    struct size_answer answer;
    read_drawn(&lab, &r);
    const int64_t available[] = {(int64_t)random_below(&r, MOST) + 1,
                                 (int64_t)random_below(&r, MOST)};
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 1;
    v.job.type[1].count = 0;
    struct outcome one = lab_forecast(&lab, &v);
    struct size_goal goal = {.available = available};
    if (random_below(&r, 2))
        goal.deadline_s = one.total_s * between(&r, 0.1, 1.5);
    if (random_below(&r, 2) || !(goal.deadline_s > 0))
        goal.budget = one.cost * between(&r, 0.7, 4);
    if (!size_find(&lab.cluster.arena, &lab.what_if, &goal, &answer, &lab.cluster.e))
        fail_msg("%s", lab.cluster.e.text);
    expect_best(&goal, &answer.best, best_of_all(&lab, &goal, false));
    expect_best(&goal, &answer.single, best_of_all(&lab, &goal, true));
    assert_false(answer.given_up);
    *n_found += answer.best.known;
    cluster_free(&lab.cluster);
}

static void finds_what_trying_all_mixes_finds(void **state)
{
    (void)state;
    enum { N = 150 };
    size_t n_found = 0;
    for (uint64_t i = 0; i < N; i++)
        expect_exhaustive(i, &n_found);
    assert_true(n_found > N / 3 && n_found < N);
}

#define JOB                                                                                        \
    "data: {samples: 64000}\ndevices:\n"                                                           \
    "  fast: {count: 3, batch: 16%s}\n  slow: {count: 3, batch: 16%s}\n%s"

static void read_priced(struct lab *lab, const char *fast, const char *slow, const char *links)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml, JOB, fast, slow, links);
    lab_read(lab, yaml);
    lab_start(lab, true);
}

static const int64_t THREE[] = {3, 3};

/* A slow link between types: 2 (5/6) 5 MB / 1 MB/s. */
static void says_that_a_type_is_better_left_out(void **state)
{
    (void)state;
    struct lab lab;
    struct size_answer answer;
    read_priced(&lab, ", price: 1/h", ", price: 1/h",
                "network:\n  links:\n"
                "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"
                "    - {between: [slow, slow], bandwidth: 100 MB/s}\n"
                "    - {between: [fast, slow], bandwidth: 1 MB/s}\n");
    struct size_goal goal = {.deadline_s = 1e9, .available = THREE};
    assert_true(size_find(&lab.cluster.arena, &lab.what_if, &goal, &answer, &lab.cluster.e));
    assert_int_equal(answer.fastest_part.count[0], 3);
    assert_int_equal(answer.fastest_part.count[1], 0);
    assert_true(fabs(answer.whole.outcome.step_s - (0.21 + 10.0 / 6 * 5)) < 1e-9);
    assert_true(answer.fastest_single.outcome.total_s < answer.whole.outcome.total_s);
    assert_int_equal(answer.best.outcome.n_devices, 1);
    cluster_free(&lab.cluster);
}

static void counts_device_hours_where_there_is_no_price(void **state)
{
    (void)state;
    struct lab lab;
    struct size_answer answer;
    read_priced(&lab, "", "", LAB_LINKS);
    struct size_goal goal = {.deadline_s = 1e9, .available = THREE};
    assert_true(size_find(&lab.cluster.arena, &lab.what_if, &goal, &answer, &lab.cluster.e));
    assert_false(answer.priced);
    assert_int_equal(answer.best.count[0], 1);
    assert_int_equal(answer.best.count[1], 0);
    assert_true(fabs(answer.best.outcome.cost - 4000 * 0.11 / 3600) < 1e-9);
    cluster_free(&lab.cluster);
}

static void refuse(const char *fast, const char *slow, double budget, const char *holds)
{
    struct lab lab;
    struct size_answer answer;
    read_priced(&lab, fast, slow, LAB_LINKS);
    struct size_goal goal = {.deadline_s = 1, .budget = budget, .available = THREE};
    assert_false(size_find(&lab.cluster.arena, &lab.what_if, &goal, &answer, &lab.cluster.e));
    if (!strstr(lab.cluster.e.text, holds))
        fail_msg("expected '%s' in: %s", holds, lab.cluster.e.text);
    cluster_free(&lab.cluster);
}

static void needs_prices_for_all_types_or_none(void **state)
{
    (void)state;
    refuse(", price: 1/h", "", 0, "'fast' has a price and 'slow' has none");
    refuse("", "", 5, "a budget needs prices");
}

/* 500 of each, too many to try: proven within a ten-thousandth all the same. */
static void proves_large_answers_without_trying_all(void **state)
{
    (void)state;
    struct lab lab;
    struct size_answer answer;
    const int64_t many[] = {500, 500};
    read_priced(&lab, ", price: 2.1/h", ", price: 1/h", LAB_LINKS);
    struct size_goal goal = {.deadline_s = 12, .available = many};
    assert_true(size_find(&lab.cluster.arena, &lab.what_if, &goal, &answer, &lab.cluster.e));
    assert_true(answer.best.known);
    assert_false(answer.given_up);
    assert_true(answer.n_tried < 20000);
    cluster_free(&lab.cluster);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(finds_what_trying_all_mixes_finds),
        cmocka_unit_test(says_that_a_type_is_better_left_out),
        cmocka_unit_test(counts_device_hours_where_there_is_no_price),
        cmocka_unit_test(needs_prices_for_all_types_or_none),
        cmocka_unit_test(proves_large_answers_without_trying_all),
    };
    return cmocka_run_group_tests_name("size", test, NULL, NULL);
}
