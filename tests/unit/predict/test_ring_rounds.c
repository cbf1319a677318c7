/* The ring without its rounds against the plain recurrence, and against cases worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "foretrain.h"

enum { LARGE = 200, MOST_DEVICES = 2000, CASES_OF_A_KIND = 60 };

struct ring {
    size_t n_devices, n_rounds;
    double cost_s[MOST_DEVICES], start_s[MOST_DEVICES];
};

/* The definition: every device in every round, N R operations. */
static void walk(const struct ring *ring, double *ready_s)
{
    size_t n = ring->n_devices;
    memcpy(ready_s, ring->start_s, n * sizeof *ready_s);
    for (size_t r = 0; r < ring->n_rounds; r++) {
        double sent_s[MOST_DEVICES];
        for (size_t i = 0; i < n; i++)
            sent_s[i] = ready_s[i] + ring->cost_s[i];
        for (size_t i = 0; i < n; i++)
            ready_s[i] = fmax(sent_s[i], sent_s[(i + n - 1) % n]);
    }
}

static void ring_ends(const struct ring *ring, double *end_s)
{
    char message[FT_MESSAGE_SIZE];
    if (!ft_ring_rounds(ring->cost_s, ring->start_s, ring->n_devices, ring->n_rounds, end_s,
                        message))
        fail_msg("%s", message);
}

static void assert_as_walked(const struct ring *ring, const char *costs, const char *starts)
{
    double expected_s[MOST_DEVICES], end_s[MOST_DEVICES], last_s = 0;
    walk(ring, expected_s);
    ring_ends(ring, end_s);
    for (size_t i = 0; i < ring->n_devices; i++)
        last_s = fmax(last_s, expected_s[i]);
    for (size_t i = 0; i < ring->n_devices; i++) {
        if (!(fabs(end_s[i] - expected_s[i]) <= 1e-13 * last_s))
            fail_msg("%s costs, %s starts, %zu devices, %zu rounds: position %zu ends at %.17g, "
                     "walked %.17g",
                     costs, starts, ring->n_devices, ring->n_rounds, i, end_s[i], expected_s[i]);
    }
}

/* Kinds of values; position i of n, `chosen` a position drawn once for a case. */
typedef double make_value(struct random *r, size_t i, size_t n, size_t chosen);

static double any(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)i, (void)n, (void)chosen;
    return random_unit(r);
}

static double one_of_three(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)i, (void)n, (void)chosen;
    return 1 + (double)random_below(r, 3);
}

static double equal(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)r, (void)i, (void)n, (void)chosen;
    return 0.7;
}

static double zero(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)r, (void)i, (void)n, (void)chosen;
    return 0;
}

static double one_large(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)n;
    return i == chosen ? 50 : random_unit(r);
}

/* Late just behind the chosen one: with one_large costs its paths go round a second time. */
static double one_late(struct random *r, size_t i, size_t n, size_t chosen)
{
    return i == (chosen + 1) % n ? 1000 : random_unit(r);
}

static double far_apart(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)i, (void)chosen;
    return 20 * (double)n * random_unit(r);
}

static double rising(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)r;
    return (double)((i + n - chosen) % n) * 0.1;
}

static double falling(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)r;
    return (double)(n - (i + n - chosen) % n) * 0.1;
}

static double of_any_size(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)i, (void)n, (void)chosen;
    return pow(10, 12 * random_unit(r) - 9);
}

static double arched(struct random *r, size_t i, size_t n, size_t chosen)
{
    (void)r;
    double x = (double)((i + n - chosen) % n) / (double)n;
    return 5 * (double)n * x * (1 - x);
}

static const struct {
    const char *name;
    make_value *make;
} kind[] = {{"any", any},
            {"one of three", one_of_three},
            {"equal", equal},
            {"zero", zero},
            {"one large", one_large},
            {"one late", one_late},
            {"far apart", far_apart},
            {"rising", rising},
            {"falling", falling},
            {"of any size", of_any_size},
            {"arched", arched}};
enum { N_KINDS = sizeof kind / sizeof *kind };

static struct ring make_ring(struct random *r, size_t costs, size_t starts)
{
    struct ring ring = {.n_devices = 1 + random_below(r, random_below(r, 4) ? 24 : LARGE)};
    size_t n = ring.n_devices, chosen = random_below(r, n);
    const size_t n_rounds[] = {2 * (n - 1), 2 * (n - 1), n - 1, n - 1 + random_below(r, 3 * n)};
    ring.n_rounds = n_rounds[random_below(r, 4)];
    for (size_t i = 0; i < n; i++)
        ring.cost_s[i] = kind[costs].make(r, i, n, chosen);
    for (size_t i = 0; i < n; i++)
        ring.start_s[i] = kind[starts].make(r, i, n, chosen);
    return ring;
}

static void ends_as_the_recurrence_does(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS * N_KINDS; k++) {
        struct random r = random_seed(4, k);
        for (int c = 0; c < CASES_OF_A_KIND; c++) {
            struct ring ring = make_ring(&r, k / N_KINDS, k % N_KINDS);
            assert_as_walked(&ring, kind[k / N_KINDS].name, kind[k % N_KINDS].name);
        }
    }
}

static void equal_starts_wait_for_the_slowest_link(void **state)
{
    (void)state;
    struct ring ring = {4, 6, {1, 3, 2, 1}, {5, 5, 5, 5}};
    double end_s[4];
    ring_ends(&ring, end_s);
    assert_true(end_s[1] == 5 + 6 * 3 && end_s[2] == 5 + 6 * 3);
    assert_true(end_s[3] == 5 + 5 * 3 + 2);
    assert_true(end_s[0] == 5 + 4 * 3 + 2 + 1);
}

static void equal_links_pass_on_the_latest_start(void **state)
{
    (void)state;
    struct ring ring = {5, 4, {2, 2, 2, 2, 2}, {0, 7, 1, 3, 2}};
    double end_s[5];
    ring_ends(&ring, end_s);
    for (int i = 0; i < 5; i++)
        assert_true(end_s[i] == 7 + 4 * 2);
}

/* From position 1 over 2, 3, the slow 0, 1 and 2 to 3: six rounds, two links twice. */
static void a_late_start_comes_round_twice(void **state)
{
    (void)state;
    struct ring ring = {4, 6, {10, 1, 1, 1}, {0, 100, 0, 0}};
    double end_s[4];
    ring_ends(&ring, end_s);
    assert_true(end_s[3] == 100 + 1 + 1 + 1 + 10 + 1 + 1);
}

/* Half the ring's rounds do not bring the late start of position 2 over the slow link back to it.
 */
static void a_reduce_scatter_ends_before_a_second_turn(void **state)
{
    (void)state;
    struct ring ring = {4, 3, {10, 1, 1, 1}, {0, 0, 100, 0}};
    double end_s[4];
    ring_ends(&ring, end_s);
    assert_true(end_s[0] == 100 + 1 + 1 + 10);
    assert_true(end_s[1] == 100 + 1 + 1 + 10);
    assert_true(end_s[2] == 100 + 3 * 1);
    assert_true(end_s[3] == 100 + 3 * 1);
}

static void one_device_sends_to_itself_or_not_at_all(void **state)
{
    (void)state;
    double cost_s = 2, start_s = 3, end_s;
    assert_true(ft_ring_rounds(&cost_s, &start_s, 1, 0, &end_s, NULL));
    assert_true(end_s == 3);
    assert_true(ft_ring_rounds(&cost_s, &start_s, 1, 4, &end_s, NULL));
    assert_true(end_s == 3 + 4 * 2);
}

/* All starts are corners of the hull, and links get cheaper so that every stay is remembered. */
static void large_rings_keep_every_path_that_counts(void **state)
{
    (void)state;
    static struct ring ring = {.n_devices = MOST_DEVICES, .n_rounds = MOST_DEVICES};
    for (size_t i = 0; i < MOST_DEVICES; i++) {
        double x = (double)i / MOST_DEVICES;
        ring.cost_s[i] = 1 - x;
        ring.start_s[i] = MOST_DEVICES * (2 - x * x);
    }
    assert_as_walked(&ring, "falling", "bent");
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const struct {
        double cost_s[2], start_s[2];
        size_t n_devices, n_rounds;
        const char *says;
    } refusal[] = {
        {{1, 1}, {0, 0}, 0, 2, "at least one device"},
        {{1, 1}, {0, 0}, 2, 0, "2 devices needs at least 1 rounds (got 0)"},
        {{1, -1}, {0, 0}, 2, 2, "chunk_cost_s of position 1 must be finite and not negative"},
        {{NAN, 1}, {0, 0}, 2, 2, "chunk_cost_s of position 0"},
        {{1, 1}, {INFINITY, 0}, 2, 2, "start_s of position 0"},
        {{1, 1}, {0, -1e-9}, 2, 2, "start_s of position 1"},
        {{1, 1}, {0, NAN}, 2, 2, "start_s of position 1"},
        {{1e308, 1}, {0, 0}, 2, 2, "too long to count"},
        {{1, 1}, {0, 0}, 2, SIZE_MAX, "too many to count"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        double end_s[2] = {7, 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_ring_rounds(refusal[i].cost_s, refusal[i].start_s, refusal[i].n_devices,
                                    refusal[i].n_rounds, end_s, message));
        assert_non_null(strstr(message, refusal[i].says));
        assert_true(end_s[0] == 7 && end_s[1] == 7);
    }
    assert_false(ft_ring_rounds(NULL, NULL, 2, 2, (double[2]){0}, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_as_the_recurrence_does),
        cmocka_unit_test(equal_starts_wait_for_the_slowest_link),
        cmocka_unit_test(equal_links_pass_on_the_latest_start),
        cmocka_unit_test(a_late_start_comes_round_twice),
        cmocka_unit_test(a_reduce_scatter_ends_before_a_second_turn),
        cmocka_unit_test(one_device_sends_to_itself_or_not_at_all),
        cmocka_unit_test(large_rings_keep_every_path_that_counts),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
