/* An all-reduce over links: its limits by hand, and what it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "foretrain.h"

enum { N = 12 };

struct all_reduce {
    struct ft_link link[N];
    double start_s[N], payload_bytes;
    size_t n_segments;
};

static struct all_reduce draw(struct random *r)
{
    struct all_reduce a = {.payload_bytes = 1e8 * random_unit(r),
                           .n_segments = 1 + random_below(r, 5)};
    for (size_t i = 0; i < N; i++) {
        a.link[i] = (struct ft_link){1e8 + 1e9 * random_unit(r), 1e-2 * random_unit(r)};
        a.start_s[i] = random_unit(r);
    }
    return a;
}

static void end_of(const struct all_reduce *a, double *end_s)
{
    char message[FT_MESSAGE_SIZE];
    if (!ft_ring_all_reduce(a->link, a->start_s, N, a->payload_bytes, a->n_segments, end_s,
                            message))
        fail_msg("%s", message);
}

/* S = 102.4 MB, 12.5 GB/s, 5 us, 1024 devices: SimGrid, ASTRA-sim and LogGOPSim say 26.598 ms. */
static void equal_links_take_what_every_simulator_says(void **state)
{
    (void)state;
    enum { LARGE = 1024 };
    static struct ft_link link[LARGE];
    static double start_s[LARGE], end_s[LARGE];
    for (int i = 0; i < LARGE; i++)
        link[i] = (struct ft_link){12.5e9, 5e-6};
    assert_true(ft_ring_all_reduce(link, start_s, LARGE, 102.4e6, 1, end_s, NULL));
    for (int i = 0; i < LARGE; i++)
        assert_true(fabs(end_s[i] - 26.5980e-3) < 1e-9);
}

static void whole_chunks_are_rounds_of_wire_and_latency(void **state)
{
    (void)state;
    struct random r = random_seed(6, 0);
    for (int c = 0; c < 500; c++) {
        struct all_reduce a = draw(&r);
        a.n_segments = 1;
        double cost_s[N], end_s[N], expected_s[N];
        for (size_t i = 0; i < N; i++)
            cost_s[i] = a.payload_bytes / N / a.link[i].bandwidth_Bps + a.link[i].latency_s;
        end_of(&a, end_s);
        assert_true(ft_ring_rounds(cost_s, a.start_s, N, 2 * (N - 1), expected_s, NULL));
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(end_s[i] - expected_s[i]) <= 1e-12 * expected_s[i]);
    }
}

/* Slower links, more bytes and later starts never end sooner. */
static void no_device_ends_sooner_for_a_worse_ring(void **state)
{
    (void)state;
    struct random r = random_seed(6, 1);
    for (int c = 0; c < 2000; c++) {
        struct all_reduce a = draw(&r), worse = a;
        size_t i = random_below(&r, N);
        worse.link[i].bandwidth_Bps *= 0.2 + 0.8 * random_unit(&r);
        worse.link[i].latency_s += 1e-2 * random_unit(&r);
        worse.start_s[i] += random_unit(&r);
        worse.payload_bytes *= 1 + random_unit(&r);
        double end_s[N], worse_s[N];
        end_of(&a, end_s);
        end_of(&worse, worse_s);
        for (i = 0; i < N; i++)
            assert_true(worse_s[i] >= end_s[i] * (1 - 1e-12));
    }
}

/* All that a device waits for began with the last to start, or it is that device itself. */
static void no_device_ends_before_the_last_has_started(void **state)
{
    (void)state;
    struct random r = random_seed(6, 2);
    for (int c = 0; c < 500; c++) {
        struct all_reduce a = draw(&r);
        double end_s[N], last_s = 0;
        for (size_t i = 0; i < N; i++)
            last_s = fmax(last_s, a.start_s[i]);
        end_of(&a, end_s);
        for (size_t i = 0; i < N; i++)
            assert_true(end_s[i] >= last_s);
    }
}

static void where_it_begins_in_the_ring_does_not_matter(void **state)
{
    (void)state;
    struct random r = random_seed(6, 3);
    for (int c = 0; c < 500; c++) {
        struct all_reduce a = draw(&r), turned = a;
        double end_s[N], turned_s[N];
        for (size_t i = 0; i < N; i++) {
            turned.link[(i + 5) % N] = a.link[i];
            turned.start_s[(i + 5) % N] = a.start_s[i];
        }
        end_of(&a, end_s);
        end_of(&turned, turned_s);
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(turned_s[(i + 5) % N] - end_s[i]) <= 1e-12 * end_s[i]);
    }
}

static void one_device_is_done_when_it_starts(void **state)
{
    (void)state;
    struct ft_link link = {1, 1};
    double start_s = 3, end_s = 0;
    for (size_t n_segments = 1; n_segments < 4; n_segments++) {
        assert_true(ft_ring_all_reduce(&link, &start_s, 1, 100, n_segments, &end_s, NULL));
        assert_true(end_s == 3);
    }
}

/* 5 * 10^10 rounds a phase, nearly all of them whole turns: at once. */
static void many_segments_are_not_walked(void **state)
{
    (void)state;
    enum { LARGE = 100000, SEGMENTS = 1 << 20 };
    static struct ft_link link[LARGE];
    static double start_s[LARGE], end_s[LARGE];
    for (int i = 0; i < LARGE; i++)
        link[i] = (struct ft_link){1e9, 1e-3};
    double segment_s = 0.25e-3, payload_bytes = 1e9 * segment_s * SEGMENTS * (double)LARGE;
    assert_true(ft_ring_all_reduce(link, start_s, LARGE, payload_bytes, SEGMENTS, end_s, NULL));
    double phase_s = (double)(LARGE - 1) * SEGMENTS / 2 * (segment_s + 1e-3) + segment_s;
    for (int i = 0; i < LARGE; i++)
        assert_true(fabs(end_s[i] - 2 * phase_s) <= 1e-9 * phase_s);
}

static void nothing_to_send_takes_the_latencies(void **state)
{
    (void)state;
    struct ft_link link[2] = {{1e9, 1e-3}, {1e9, 1e-3}};
    double end_s[2];
    assert_true(ft_ring_all_reduce(link, (double[2]){0}, 2, 0, 1, end_s, NULL));
    assert_true(fabs(end_s[0] - 2e-3) < 1e-15 && fabs(end_s[1] - 2e-3) < 1e-15);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const struct {
        struct ft_link link;
        double start_s, payload_bytes;
        size_t n_devices, n_segments;
        const char *says;
    } refusal[] = {
        {{1, 1}, 0, 1, 0, 1, "at least one device"},
        {{0, 1}, 0, 1, 2, 1, "bandwidth_Bps of position 1 must be finite and above 0 (got 0)"},
        {{-1, 1}, 0, 1, 2, 2, "bandwidth_Bps of position 1"},
        {{NAN, 1}, 0, 1, 2, 1, "bandwidth_Bps of position 1"},
        {{1, -1}, 0, 1, 2, 2, "latency_s of position 1"},
        {{1, NAN}, 0, 1, 2, 2, "latency_s of position 1"},
        {{1, 1}, -1, 1, 2, 2, "start_s of position 1"},
        {{1, 1}, INFINITY, 1, 2, 1, "start_s of position 1"},
        {{1, 1}, 0, -1, 2, 1, "payload_bytes"},
        {{1, 1}, 0, NAN, 2, 2, "payload_bytes"},
        {{1, 1}, 0, 1, 2, 0, "1 to 1048576 segments (got 0)"},
        {{1, 1}, 0, 1, 2, SIZE_MAX, "segments"},
        {{1e-300, 1}, 0, 1e300, 2, 1, "too long to count"},
        {{1e-300, 1}, 0, 1e300, 2, 2, "too long to count"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        const struct ft_link link[2] = {{1, 1}, refusal[i].link};
        const double start_s[2] = {0, refusal[i].start_s};
        double end_s[2] = {7, 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_ring_all_reduce(link, start_s, refusal[i].n_devices,
                                        refusal[i].payload_bytes, refusal[i].n_segments, end_s,
                                        message));
        assert_non_null(strstr(message, refusal[i].says));
        assert_true(end_s[0] == 7 && end_s[1] == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_links_take_what_every_simulator_says),
        cmocka_unit_test(whole_chunks_are_rounds_of_wire_and_latency),
        cmocka_unit_test(no_device_ends_sooner_for_a_worse_ring),
        cmocka_unit_test(no_device_ends_before_the_last_has_started),
        cmocka_unit_test(where_it_begins_in_the_ring_does_not_matter),
        cmocka_unit_test(one_device_is_done_when_it_starts),
        cmocka_unit_test(many_segments_are_not_walked),
        cmocka_unit_test(nothing_to_send_takes_the_latencies),
        cmocka_unit_test(refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
