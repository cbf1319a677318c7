/* The cost of a ring's round against a ring whose every segment is walked as gloo posts them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "foretrain.h"

enum { MOST_DEVICES = 32 };

static struct ft_round round_of(double chunk_bytes, struct ft_link link, size_t n_segments)
{
    struct ft_round cost;
    char message[FT_MESSAGE_SIZE];
    if (!ft_round_cost(chunk_bytes, link, n_segments, &cost, message))
        fail_msg("%s", message);
    return cost;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

struct segments {
    struct ft_link link[MOST_DEVICES];
    size_t n_devices, n_segments;
    double chunk_bytes;
};

static struct segments make_segments(struct random *r)
{
    struct segments s = {.n_devices = 2 + random_below(r, MOST_DEVICES - 1),
                         .n_segments = 2 + random_below(r, random_below(r, 3) ? 3 : 30),
                         .chunk_bytes = 0.1 + random_unit(r)};
    double most_latency_s = pow(10, 4 * random_unit(r) - 3);
    for (size_t i = 0; i < s.n_devices; i++)
        s.link[i] = (struct ft_link){0.1 + random_unit(r), most_latency_s * random_unit(r)};
    return s;
}

/*
 * n - 1 rounds. A segment goes onto the wire when the one before it is off, and the one two before
 * it has been sent and its like received. A device is done when its last one is off, and the last
 * for it has arrived.
 */
static void walk_phase(const struct segments *s, const double *start_s, double *end_s)
{
    double off_s[MOST_DEVICES], arrived_s[2][MOST_DEVICES];
    memcpy(off_s, start_s, s->n_devices * sizeof *off_s);
    memcpy(arrived_s[0], start_s, s->n_devices * sizeof *off_s);
    memcpy(arrived_s[1], start_s, s->n_devices * sizeof *off_s);
    for (size_t segment = 0; segment < (s->n_devices - 1) * s->n_segments; segment++) {
        double *received_s = arrived_s[segment % 2];
        for (size_t i = 0; i < s->n_devices; i++) {
            double wire_s = s->chunk_bytes / (double)s->n_segments / s->link[i].bandwidth_Bps;
            off_s[i] = fmax(off_s[i], received_s[i]) + wire_s;
        }
        for (size_t i = 0; i < s->n_devices; i++) {
            size_t next = (i + 1) % s->n_devices;
            received_s[next] = off_s[i] + s->link[i].latency_s;
        }
    }
    for (size_t i = 0; i < s->n_devices; i++)
        end_s[i] = fmax(off_s[i], fmax(arrived_s[0][i], arrived_s[1][i]));
}

static void a_whole_chunk_pays_wire_and_latency(void **state)
{
    (void)state;
    struct ft_round cost = round_of(1e6, (struct ft_link){1e9, 5e-4}, 1);
    assert_near(cost.cost_s, 1.5e-3);
    assert_true(cost.drain_s == 0);
}

/* N = 16, w = 1, l = 0.4: 30.8 by event simulation, 42 with l + w a round. */
static void latency_hides_behind_half_a_chunk(void **state)
{
    (void)state;
    struct ft_round cost = round_of(1, (struct ft_link){1, 0.4}, 2);
    assert_near(2 * (15 * cost.cost_s + cost.drain_s), 30.8);
    struct segments ring = {.n_devices = 16, .n_segments = 2, .chunk_bytes = 1};
    for (int i = 0; i < 16; i++)
        ring.link[i] = (struct ft_link){1, 0.4};
    double end_s[MOST_DEVICES];
    assert_true(ft_ring_all_reduce(ring.link, (double[16]){0}, 16, 16, 2, end_s, NULL));
    assert_near(end_s[0], 30.8);
    assert_true(ft_ring_all_reduce(ring.link, (double[16]){0}, 16, 16, 1, end_s, NULL));
    assert_near(end_s[0], 42);
    cost = round_of(1, (struct ft_link){1, 0.7}, 2);
    assert_near(cost.cost_s, 0.7 + 0.5);
}

static void equal_links_end_as_their_segments_do(void **state)
{
    (void)state;
    struct random r = random_seed(5, 0);
    for (int c = 0; c < 2000; c++) {
        struct segments s = make_segments(&r);
        double end_s[MOST_DEVICES];
        s.n_segments += s.n_segments % 2;
        for (size_t i = 1; i < s.n_devices; i++)
            s.link[i] = s.link[0];
        struct ft_round cost = round_of(s.chunk_bytes, s.link[0], s.n_segments);
        walk_phase(&s, (double[MOST_DEVICES]){0}, end_s);
        assert_near((double)(s.n_devices - 1) * cost.cost_s + cost.drain_s, end_s[0]);
    }
}

/*
 * A link's latency delays only what passes it: the most costly link is an upper bound, but for the
 * last segment's share of a round, and at times a wide one.
 */
static void unequal_links_end_before_the_most_costly_does(void **state)
{
    (void)state;
    struct random r = random_seed(5, 1);
    double least = 1;
    for (int c = 0; c < 2000; c++) {
        struct segments s = make_segments(&r);
        double most_s = 0, walked_s = 0, end_s[MOST_DEVICES] = {0};
        for (size_t i = 0; i < s.n_devices; i++)
            most_s = fmax(most_s, round_of(s.chunk_bytes, s.link[i], s.n_segments).cost_s);
        walk_phase(&s, (double[MOST_DEVICES]){0}, end_s);
        for (size_t i = 0; i < s.n_devices; i++)
            walked_s = fmax(walked_s, end_s[i]);
        double bound_s = ((double)s.n_devices - 1 + 1 / (double)s.n_segments) * most_s;
        assert_true(walked_s <= bound_s * (1 + 1e-12));
        least = fmin(least, walked_s / bound_s);
    }
    assert_true(least < 0.8);
}

/* Unequal links, unequal starts, any number of segments: as posted one by one. */
static void an_all_reduce_in_segments_ends_as_they_do(void **state)
{
    (void)state;
    struct random r = random_seed(5, 2);
    for (int c = 0; c < 4000; c++) {
        struct segments s = make_segments(&r);
        double half_s[MOST_DEVICES], expected_s[MOST_DEVICES], end_s[MOST_DEVICES],
            start_s[MOST_DEVICES];
        double spread_s = pow(10, 4 * random_unit(&r) - 2);
        for (size_t i = 0; i < s.n_devices; i++)
            start_s[i] = spread_s * random_unit(&r);
        walk_phase(&s, start_s, half_s);
        walk_phase(&s, half_s, expected_s);
        assert_true(ft_ring_all_reduce(s.link, start_s, s.n_devices,
                                       s.chunk_bytes * (double)s.n_devices, s.n_segments, end_s,
                                       NULL));
        for (size_t i = 0; i < s.n_devices; i++)
            assert_near(end_s[i], expected_s[i]);
    }
}

static void gloo_cuts_at_a_mebibyte_and_at_least_in_two(void **state)
{
    (void)state;
    double mebibyte = 1048576;
    assert_int_equal(ft_gloo_segments(25e6, 200), 2);
    assert_int_equal(ft_gloo_segments(8 * mebibyte, 4), 2);
    assert_int_equal(ft_gloo_segments(8 * mebibyte + 4, 4), 3);
    assert_int_equal(ft_gloo_segments(64 * mebibyte, 2), 32);
    assert_int_equal(ft_gloo_segments(0, 2), 2);
    assert_int_equal(ft_gloo_segments(-1, 2), 2);
    assert_int_equal(ft_gloo_segments(NAN, 2), 2);
    assert_int_equal(ft_gloo_segments(INFINITY, 2), 2);
    assert_int_equal(ft_gloo_segments(1e6, 0), 2);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const struct {
        double chunk_bytes;
        struct ft_link link;
        size_t n_segments;
        const char *says;
    } refusal[] = {
        {-1, {1, 1}, 1, "chunk_bytes"},
        {NAN, {1, 1}, 1, "chunk_bytes"},
        {INFINITY, {1, 1}, 2, "chunk_bytes"},
        {1, {0, 1}, 2, "bandwidth_Bps"},
        {1, {-1, 1}, 2, "bandwidth_Bps"},
        {1, {NAN, 1}, 2, "bandwidth_Bps"},
        {1, {1, -1}, 2, "latency_s"},
        {1, {1, INFINITY}, 2, "latency_s"},
        {1, {1, 1}, 0, "segment"},
        {1e300, {1e-300, 1}, 2, "too long"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        struct ft_round cost = {7, 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_round_cost(refusal[i].chunk_bytes, refusal[i].link, refusal[i].n_segments,
                                   &cost, message));
        assert_non_null(strstr(message, refusal[i].says));
        assert_true(cost.cost_s == 7 && cost.drain_s == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_chunk_pays_wire_and_latency),
        cmocka_unit_test(latency_hides_behind_half_a_chunk),
        cmocka_unit_test(equal_links_end_as_their_segments_do),
        cmocka_unit_test(unequal_links_end_before_the_most_costly_does),
        cmocka_unit_test(an_all_reduce_in_segments_ends_as_they_do),
        cmocka_unit_test(gloo_cuts_at_a_mebibyte_and_at_least_in_two),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
