/* Rounds hold for any set of pairs: each pair once, no host twice, and no more of them than said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "measure/rounds.h"

static struct host_pair *all_pairs(struct arena *arena, int n, size_t *n_pairs)
{
    struct host_pair *pair = ARENA_ARRAY(arena, (size_t)n * (size_t)n, struct host_pair);
    *n_pairs = 0;
    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            if (from != to)
                pair[(*n_pairs)++] = (struct host_pair){from, to};
        }
    }
    return pair;
}

static int most_pairs_of_a_host(const struct host_pair *pair, size_t n_pairs, int n_hosts)
{
    int most = 0;
    for (int host = 0; host < n_hosts; host++) {
        int n = 0;
        for (size_t i = 0; i < n_pairs; i++)
            n += pair[i].from == host || pair[i].to == host;
        most = n > most ? n : most;
    }
    return most;
}

static void check(struct arena *arena, const struct rounds *r, const struct host_pair *pair,
                  size_t n_pairs, int n_hosts)
{
    size_t *round_of_host = ARENA_ARRAY(arena, (size_t)n_hosts, size_t);
    unsigned char *seen = ARENA_ARRAY(arena, n_pairs, unsigned char);
    assert_int_equal(r->n_pairs, n_pairs);
    assert_int_equal(r->first[0], 0);
    assert_int_equal(r->first[r->n_rounds], n_pairs);
    for (size_t k = 0; k < r->n_rounds; k++) {
        assert_true(r->first[k] < r->first[k + 1]);
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            struct host_pair p = pair[r->pair[i]];
            assert_int_equal(seen[r->pair[i]]++, 0);
            assert_true(round_of_host[p.from] != k + 1 && round_of_host[p.to] != k + 1);
            round_of_host[p.from] = round_of_host[p.to] = k + 1;
        }
    }
}

static size_t schedule(const struct host_pair *pair, size_t n_pairs, int n_hosts)
{
    struct arena arena = {0};
    struct rounds r;
    rounds_schedule(&arena, pair, n_pairs, n_hosts, &r);
    check(&arena, &r, pair, n_pairs, n_hosts);
    arena_free(&arena);
    return r.n_rounds;
}

static void all_pairs_take_no_more_rounds_than_a_tournament(void **state)
{
    (void)state;
    for (int n = 2; n <= 65; n++) {
        struct arena arena = {0};
        size_t n_pairs;
        struct host_pair *pair = all_pairs(&arena, n, &n_pairs);
        size_t n_rounds = schedule(pair, n_pairs, n);
        assert_int_equal(n_rounds, n % 2 ? 2 * n : 2 * (n - 1));
        arena_free(&arena);
    }
}

static void a_thousand_hosts_take_1998_rounds_at_once(void **state)
{
    (void)state;
    struct arena arena = {0};
    size_t n_pairs;
    struct host_pair *pair = all_pairs(&arena, 1000, &n_pairs);
    assert_int_equal(n_pairs, 999000);
    double start_s = clock_now_s();
    assert_int_equal(schedule(pair, n_pairs, 1000), 1998);
    assert_true(clock_now_s() - start_s < 5);
    arena_free(&arena);
}

static void neighbours_of_a_ring_take_two_or_three_rounds(void **state)
{
    (void)state;
    struct host_pair pair[300];
    for (int n = 3; n <= 300; n++) {
        for (int i = 0; i < n; i++)
            pair[i] = (struct host_pair){i, (i + 1) % n};
        size_t n_rounds = schedule(pair, (size_t)n, n);
        assert_true(n_rounds >= 2 && n_rounds <= 3);
    }
}

static void any_set_keeps_within_twice_the_busiest_host(void **state)
{
    (void)state;
    struct random random = random_seed(7, 0);
    for (int i = 0; i < 3000; i++) {
        struct host_pair pair[120];
        int n_hosts = 1 + (int)random_below(&random, i % 3 ? 12 : 60);
        size_t n_pairs = random_below(&random, 121);
        for (size_t k = 0; k < n_pairs; k++) {
            pair[k].from = (int)random_below(&random, (uint64_t)n_hosts);
            pair[k].to = (int)random_below(&random, (uint64_t)n_hosts);
        }
        int most = most_pairs_of_a_host(pair, n_pairs, n_hosts);
        size_t n_rounds = schedule(pair, n_pairs, n_hosts);
        assert_true(n_pairs == 0 ? n_rounds == 0 : n_rounds >= (size_t)most);
        assert_true(n_pairs == 0 || n_rounds <= 2 * (size_t)most - 1);
    }
}

static void links_within_hosts_share_a_round(void **state)
{
    (void)state;
    struct host_pair pair[50];
    for (int i = 0; i < 50; i++)
        pair[i] = (struct host_pair){i, i};
    assert_int_equal(schedule(pair, 50, 50), 1);
}

static void one_host_does_one_thing_at_a_time(void **state)
{
    (void)state;
    struct host_pair pair[40] = {{0, 0}};
    assert_int_equal(schedule(pair, 40, 1), 40);
}

static void the_same_pairs_give_the_same_rounds(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rounds first, second;
    size_t n_pairs;
    struct host_pair *pair = all_pairs(&arena, 9, &n_pairs);
    rounds_schedule(&arena, pair, n_pairs / 3, 9, &first);
    rounds_schedule(&arena, pair, n_pairs / 3, 9, &second);
    assert_int_equal(first.n_rounds, second.n_rounds);
    assert_memory_equal(first.pair, second.pair, n_pairs / 3 * sizeof *first.pair);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_take_no_more_rounds_than_a_tournament),
        cmocka_unit_test(a_thousand_hosts_take_1998_rounds_at_once),
        cmocka_unit_test(neighbours_of_a_ring_take_two_or_three_rounds),
        cmocka_unit_test(any_set_keeps_within_twice_the_busiest_host),
        cmocka_unit_test(links_within_hosts_share_a_round),
        cmocka_unit_test(one_host_does_one_thing_at_a_time),
        cmocka_unit_test(the_same_pairs_give_the_same_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
