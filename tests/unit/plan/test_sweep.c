/* All combinations, in order; the same by any number of threads, and put together of parts. */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "lab.h"
#include "plan/sweep.h"
#include "plan/sweep_parts.h"

#define JOB                                                                                        \
    "data: {samples: 64000}\ndevices:\n"                                                           \
    "  fast: {count: 3, batch: 16, price: 2/h}\n"                                                  \
    "  slow: {count: 3, batch: 16, price: 1/h}\n" LAB_LINKS

static void start(struct lab *lab, struct sweep *sweep, struct sweep_part part)
{
    static const char *const vary[] = {"fast.count=0:20:2", "slow.count=0:20:2",
                                       "network.fast-slow.bandwidth=10,100 MB/s"};
    lab_read(lab, JOB);
    *sweep = (struct sweep){0};
    for (size_t i = 0; i < 3; i++) {
        if (!sweep_add_axis(&lab->cluster.arena, &lab->cluster.job, vary[i], sweep,
                            &lab->cluster.e))
            fail_msg("%s", lab->cluster.e.text);
    }
    lab_start(lab, sweep_varies_counts(sweep));
    assert_true(sweep_take_part(sweep, part, &lab->cluster.e));
    sweep->what_if = &lab->what_if;
}

static void run(struct lab *lab, struct sweep *sweep)
{
    if (!sweep_run(&lab->cluster.arena, &lab->what_if, sweep, &lab->cluster.e))
        fail_msg("%s", lab->cluster.e.text);
}

static const struct sweep_part WHOLE = {1, 1};

static void every_combination_comes_in_order(void **state)
{
    (void)state;
    struct lab lab;
    struct sweep sweep;
    start(&lab, &sweep, WHOLE);
    run(&lab, &sweep);
    assert_int_equal(sweep.n_systems, 11 * 11 * 2);
    size_t i = 0;
    for (int fast = 0; fast <= 20; fast += 2) {
        for (int slow = 0; slow <= 20; slow += 2, i += 2) {
            assert_int_equal(sweep.outcome[i].n_devices, fast + slow);
            assert_true(sweep_value(&sweep, i, 0) == fast);
            assert_true(sweep_value(&sweep, i, 1) == slow);
            assert_true(sweep_value(&sweep, i, 2) == 10e6);
            assert_true(sweep_value(&sweep, i + 1, 2) == 100e6);
            assert_true(sweep.outcome[i].any == (fast + slow > 0));
            assert_true(sweep.outcome[i].step_s >= sweep.outcome[i + 1].step_s);
        }
    }
    assert_string_equal(sweep_name(&lab.cluster.arena, &sweep, 25),
                        "fast.count = 2, slow.count = 2, network.fast-slow.bandwidth = 800 Mbit/s");
    cluster_free(&lab.cluster);
}

static void the_front_is_what_nothing_beats(void **state)
{
    (void)state;
    struct lab lab;
    struct sweep sweep;
    start(&lab, &sweep, WHOLE);
    run(&lab, &sweep);
    struct sweep_best best = sweep_best(&sweep);
    size_t k = 0;
    for (size_t i = 0; i < sweep.n; i++) {
        bool beaten = !sweep.outcome[i].any, on_front = false;
        for (size_t j = 0; j < sweep.n && !beaten; j++) {
            const struct outcome *a = &sweep.outcome[i], *b = &sweep.outcome[j];
            bool same = a->total_s == b->total_s && a->cost == b->cost;
            beaten = b->any && b->total_s <= a->total_s && b->cost <= a->cost && (!same || j < i);
        }
        for (k = 0; k < best.n_front; k++)
            on_front = on_front || best.front[k] == i;
        assert_int_equal(on_front, !beaten);
    }
    assert_int_equal(best.fastest, best.front[0]);
    assert_int_equal(best.cheapest, best.front[best.n_front - 1]);
    free(best.front);
    cluster_free(&lab.cluster);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    struct lab lab[2];
    struct sweep sweep[2];
    for (int i = 0; i < 2; i++) {
        start(&lab[i], &sweep[i], WHOLE);
        omp_set_num_threads(i ? 1 : 3);
        run(&lab[i], &sweep[i]);
    }
    for (size_t k = 0; k < sweep[0].n; k++)
        assert_memory_equal(&sweep[0].outcome[k], &sweep[1].outcome[k], sizeof(struct outcome));
    cluster_free(&lab[0].cluster);
    cluster_free(&lab[1].cluster);
}

static void names_the_first_system_that_cannot_be(void **state)
{
    (void)state;
    struct lab lab;
    struct sweep sweep = {0};
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 1, batch: 16, subsystem: 1}\n"
                   "  slow: {count: 1, batch: 16, subsystem: 1}\n"
                   "network: {links: [{between: [fast, slow], bandwidth: 100 MB/s}]}\n");
    assert_true(sweep_add_axis(&lab.cluster.arena, &lab.cluster.job, "slow.count=1:500", &sweep,
                               &lab.cluster.e));
    lab_start(&lab, true);
    assert_true(sweep_take_part(&sweep, WHOLE, &lab.cluster.e));
    assert_false(sweep_run(&lab.cluster.arena, &lab.what_if, &sweep, &lab.cluster.e));
    assert_non_null(strstr(lab.cluster.e.text, "the system with slow.count = 2"));
    cluster_free(&lab.cluster);
}

static void refuses_what_cannot_be_varied(void **state)
{
    (void)state;
    struct lab lab;
    struct sweep sweep = {0};
    struct error *e = &lab.cluster.e;
    lab_read(&lab, JOB);
    assert_false(sweep_add_axis(&lab.cluster.arena, &lab.cluster.job, "fast.count", &sweep, e));
    assert_non_null(strstr(e->text, "PATH=VALUES"));
    assert_true(sweep_add_axis(&lab.cluster.arena, &lab.cluster.job, "fast.count=1", &sweep, e));
    assert_false(sweep_add_axis(&lab.cluster.arena, &lab.cluster.job, "fast.count=2", &sweep, e));
    assert_non_null(strstr(e->text, "varied twice"));
    sweep.axis[0].n = 20000000;
    assert_false(sweep_take_part(&sweep, WHOLE, e));
    cluster_free(&lab.cluster);
}

enum { N_PARTS = 5 };

static void write_part(const char *folder, size_t number, char key[SWEEP_KEY_SIZE])
{
    struct lab lab;
    struct sweep sweep;
    start(&lab, &sweep, (struct sweep_part){number, N_PARTS});
    run(&lab, &sweep);
    sweep_key(&lab.what_if, &sweep, key);
    if (!sweep_part_write(folder, key, &sweep, &lab.cluster.e))
        fail_msg("%s", lab.cluster.e.text);
    cluster_free(&lab.cluster);
}

static void parts_join_into_the_whole(void **state)
{
    (void)state;
    char folder[] = "/tmp/foretrain-parts-XXXXXX", key[SWEEP_KEY_SIZE];
    struct lab lab, other;
    struct sweep whole, joined;
    assert_non_null(mkdtemp(folder));
    start(&lab, &whole, WHOLE);
    run(&lab, &whole);
    start(&other, &joined, WHOLE);
    for (size_t k = 1; k <= N_PARTS; k++) {
        if (k == 4)
            continue;
        write_part(folder, k, key);
    }
    struct arena *arena = &other.cluster.arena;
    struct error *e = &other.cluster.e;
    assert_string_equal(sweep_parts_missing(arena, folder, N_PARTS), "4");
    assert_false(sweep_parts_join(arena, folder, key, N_PARTS, &joined, e));
    assert_non_null(strstr(e->text, "of 5 parts these are missing: 4"));
    write_part(folder, 4, key);
    assert_false(sweep_parts_join(arena, folder, "0123456789abcdef", N_PARTS, &joined, e));
    assert_non_null(strstr(e->text, "part of another sweep"));
    error_clear(e);
    if (!sweep_parts_join(arena, folder, key, N_PARTS, &joined, e))
        fail_msg("%s", e->text);
    for (size_t i = 0; i < whole.n; i++)
        assert_memory_equal(&whole.outcome[i], &joined.outcome[i], sizeof(struct outcome));
    assert_true(file_remove_tree(folder, e));
    cluster_free(&lab.cluster);
    cluster_free(&other.cluster);
}

static void refuse_part(const char *text, const char *holds)
{
    struct lab lab;
    struct sweep sweep;
    start(&lab, &sweep, WHOLE);
    sweep.outcome = ARENA_ARRAY(&lab.cluster.arena, sweep.n_systems, struct outcome);
    assert_false(sweep_part_parse(text, "p.json", "00", (struct sweep_part){242, 242}, &sweep,
                                  &lab.cluster.e));
    if (!strstr(lab.cluster.e.text, holds))
        fail_msg("expected '%s' in: %s", holds, lab.cluster.e.text);
    cluster_free(&lab.cluster);
}

#define PART "{\"format\":\"foretrain.sweep_part/1\",\"sweep\":\"00\",\"part\":242,\"of\":242,"

static void refuses_broken_parts(void **state)
{
    (void)state;
    refuse_part("", "p.json:");
    refuse_part("[]", "no part of a sweep");
    refuse_part("{\"format\":\"foretrain.sweep_part/1\",\"sweep\":\"00\",\"part\":1,\"of\":242}",
                "another part");
    refuse_part(PART "\"outcomes\":[]}", "does not hold the outcomes");
    refuse_part(PART "\"outcomes\":[[1,2]]}", "cannot be");
    refuse_part(PART "\"outcomes\":[[1,2,-3]]}", "cannot be");
    refuse_part(PART "\"outcomes\":[[0,2,3]]}", "cannot be");
    refuse_part(PART "\"outcomes\":[[\"1\",2,3]]}", "cannot be");
}

static void other_inputs_have_another_key(void **state)
{
    (void)state;
    struct lab lab;
    struct sweep sweep;
    char key[2][SWEEP_KEY_SIZE];
    for (int i = 0; i < 2; i++) {
        start(&lab, &sweep, WHOLE);
        if (i == 1)
            sweep.axis[2].value[1] *= 1 + 1e-15;
        sweep_key(&lab.what_if, &sweep, key[i]);
        cluster_free(&lab.cluster);
    }
    assert_string_not_equal(key[0], key[1]);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(every_combination_comes_in_order),
        cmocka_unit_test(the_front_is_what_nothing_beats),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(names_the_first_system_that_cannot_be),
        cmocka_unit_test(refuses_what_cannot_be_varied),
        cmocka_unit_test(parts_join_into_the_whole),
        cmocka_unit_test(refuses_broken_parts),
        cmocka_unit_test(other_inputs_have_another_key),
    };
    return cmocka_run_group_tests_name("sweep", test, NULL, NULL);
}
