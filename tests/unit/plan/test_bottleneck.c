/* Rings by their dearest hop, held against all rings of small systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "plan/bottleneck.h"
#include "plan/polish.h"

enum { MOST_KINDS = 7, MOST_NODES = 8 };

struct system {
    double cost_s[MOST_KINDS * MOST_KINDS];
    size_t count[MOST_KINDS];
    struct hops hops;
};

static void draw(struct random *r, struct system *s)
{
    static const double few[] = {1, 2, 3, 5};
    size_t n = 1 + random_below(r, MOST_KINDS), n_nodes = 0;
    bool ties = random_below(r, 2), gaps = random_below(r, 4) == 0;
    for (size_t k = 0; k < n; k++) {
        s->count[k] = n_nodes + (n - k) < MOST_NODES ? 1 + random_below(r, 2) : 1;
        n_nodes += s->count[k];
    }
    for (size_t i = 0; i < n * n; i++) {
        s->cost_s[i] = ties ? few[random_below(r, 4)] : random_unit(r);
        if (gaps && random_below(r, 4) == 0)
            s->cost_s[i] = INFINITY;
    }
    s->hops = (struct hops){n, s->count, n_nodes, s->cost_s};
}

static double dearest(const struct hops *hops, const uint32_t *ring)
{
    double dearest_s = 0;
    for (size_t i = 0; i < hops->n_nodes; i++)
        dearest_s =
            fmax(dearest_s, hops->cost_s[ring[i] * hops->n + ring[(i + 1) % hops->n_nodes]]);
    return dearest_s;
}

/* The dearest hop of the best ring, by trying all. */
static double best_ring(const struct hops *hops, uint32_t *ring, size_t *left, size_t at)
{
    double best_s = INFINITY;
    if (at == hops->n_nodes)
        return dearest(hops, ring);
    for (uint32_t k = 0; k < hops->n; k++) {
        if (left[k] == 0)
            continue;
        left[k]--;
        ring[at] = k;
        best_s = fmin(best_s, best_ring(hops, ring, left, at + 1));
        left[k]++;
    }
    return best_s;
}

static double try_all(const struct system *s)
{
    uint32_t ring[MOST_NODES] = {0};
    size_t left[MOST_KINDS];
    memcpy(left, s->count, sizeof left);
    left[0]--;
    return best_ring(&s->hops, ring, left, 1);
}

static void assert_holds_all_nodes(const struct hops *hops, const uint32_t *ring)
{
    size_t met[MOST_KINDS] = {0};
    for (size_t i = 0; i < hops->n_nodes; i++) {
        assert_true(ring[i] < hops->n);
        met[ring[i]]++;
    }
    for (size_t k = 0; k < hops->n; k++)
        assert_int_equal(met[k], hops->count[k]);
}

static void the_bound_is_never_above_the_best_ring(void **state)
{
    (void)state;
    struct random r = random_seed(1, 1);
    size_t n_met = 0, n_cases = 0;
    for (int trial = 0; trial < 600; trial++) {
        struct arena arena = {0};
        struct system s;
        struct hop_cover cover;
        draw(&r, &s);
        if (s.hops.n_nodes < 2)
            continue;
        bottleneck_cover(&arena, &s.hops, &cover);
        double best_s = try_all(&s), bound_s = bottleneck_bound(&s.hops, &cover);
        if (!(bound_s <= best_s))
            fail_msg("trial %d: bound %.17g, best ring %.17g", trial, bound_s, best_s);
        n_cases++;
        n_met += bound_s == best_s;
        arena_free(&arena);
    }
    assert_true(n_cases > 400);
    assert_true(n_met > n_cases / 2);
}

static void a_joined_ring_holds_every_node_and_polishing_makes_it_no_dearer(void **state)
{
    (void)state;
    struct random r = random_seed(2, 1);
    size_t n_best = 0, n_cases = 0;
    for (int trial = 0; trial < 600; trial++) {
        struct arena arena = {0};
        struct system s;
        struct hop_cover cover;
        uint32_t ring[MOST_NODES];
        draw(&r, &s);
        bottleneck_cover(&arena, &s.hops, &cover);
        if (s.hops.n_nodes >= 2 && isfinite(cover.dearest_s)) {
            bottleneck_join(&s.hops, &cover, ring);
            assert_holds_all_nodes(&s.hops, ring);
            double joined_s = dearest(&s.hops, ring);
            polish_ring(&s.hops, ring, 100000);
            assert_holds_all_nodes(&s.hops, ring);
            assert_true(dearest(&s.hops, ring) <= joined_s);
            n_best += dearest(&s.hops, ring) == try_all(&s);
            n_cases++;
        }
        arena_free(&arena);
    }
    assert_true(n_cases > 300);
    assert_true(n_best > n_cases * 9 / 10);
}

/* 0 and 1 like each other, 2 and 3 too: the cover is two pairs, but a ring must cross over. */
static void a_ring_must_get_everywhere(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const size_t count[] = {1, 1, 1, 1};
    static const double cost_s[] = {0, 1, 8, 9, 1, 0, 7, 9, 9, 9, 0, 1, 9, 6, 1, 0};
    struct hops hops = {4, count, 4, cost_s};
    struct hop_cover cover;
    bottleneck_cover(&arena, &hops, &cover);
    assert_true(cover.dearest_s == 1);
    assert_true(bottleneck_bound(&hops, &cover) == 7);
    uint32_t ring[4];
    bottleneck_join(&hops, &cover, ring);
    assert_true(dearest(&hops, ring) == 8);
    arena_free(&arena);
}

/* 0 and 1 both want to hop to 2 only: one of them has to take the dear hop. */
static void every_node_has_a_hop_of_its_own(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const size_t count[] = {1, 1, 1};
    static const double cost_s[] = {0, 4, 1, 5, 0, 1, 1, 1, 0};
    struct hops hops = {3, count, 3, cost_s};
    struct hop_cover cover;
    bottleneck_cover(&arena, &hops, &cover);
    assert_true(cover.dearest_s == 4);
    arena_free(&arena);
}

static void where_a_node_has_no_hop_there_is_no_cover(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const size_t count[] = {1, 2};
    const double cost_s[] = {0, INFINITY, 1, 1};
    struct hops hops = {2, count, 3, cost_s};
    struct hop_cover cover;
    bottleneck_cover(&arena, &hops, &cover);
    assert_true(isinf(cover.dearest_s));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_never_above_the_best_ring),
        cmocka_unit_test(a_joined_ring_holds_every_node_and_polishing_makes_it_no_dearer),
        cmocka_unit_test(a_ring_must_get_everywhere),
        cmocka_unit_test(every_node_has_a_hop_of_its_own),
        cmocka_unit_test(where_a_node_has_no_hop_there_is_no_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
