/* Steps drawn from samples, and ceilings found from when buckets were done. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "foretrain.h"

enum { N_STEPS = 4000 };

static const double no_bytes[] = {0}, no_ready_s[] = {0};

static struct ft_timeline_type computes(double forward_s)
{
    return (struct ft_timeline_type){
        .forward_s = forward_s, .ready_s = no_ready_s, .busy_Bps = INFINITY, .idle_Bps = INFINITY};
}

/* A ring of four devices of one type, whose one bucket takes no time. */
struct four {
    struct ft_timeline_type type, sample[4];
    int type_of[4];
    struct ft_link link[4];
    struct ft_timeline timeline;
    struct ft_timeline_samples samples;
    double step_s[N_STEPS];
    char message[FT_MESSAGE_SIZE];
};

static void start(struct four *c, size_t n_iterations, size_t n_together)
{
    *c = (struct four){.type = computes(1)};
    for (size_t i = 0; i < 4; i++)
        c->link[i] = (struct ft_link){1e9, 0};
    c->timeline = (struct ft_timeline){.type = &c->type,
                                       .n_types = 1,
                                       .type_of = c->type_of,
                                       .link = c->link,
                                       .n_devices = 4,
                                       .bucket_bytes = no_bytes,
                                       .n_buckets = 1};
    c->samples = (struct ft_timeline_samples){
        .step = c->sample, .n_iterations = n_iterations, .n_together = n_together};
}

static bool draw(struct four *c, uint64_t seed)
{
    return ft_timeline_spread(&c->timeline, &c->samples, 4, N_STEPS, seed, c->step_s, c->message);
}

static double mean_of(const double *value)
{
    double sum = 0;
    for (size_t k = 0; k < N_STEPS; k++)
        sum += value[k];
    return sum / N_STEPS;
}

static void assert_near(double value, double expected, double off)
{
    if (!(fabs(value - expected) <= off))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void steps_without_spread_are_the_timelines(void **state)
{
    (void)state;
    struct four c;
    start(&c, 1, 1);
    const double bytes[] = {4e6}, ready_s[] = {0.5};
    c.type.backward_s = 0.5;
    c.type.ready_s = ready_s;
    c.type.busy_Bps = 1e7;
    c.type.idle_Bps = 4e7;
    c.timeline.bucket_bytes = bytes;
    c.sample[0] = c.type;
    struct ft_timeline_step step;
    assert_true(ft_timeline_step(&c.timeline, &step, c.message));
    assert_true(draw(&c, 1));
    assert_near(step.step_s, 1.5 + 6e6 / 4e7, 1e-9);
    for (size_t k = 0; k < N_STEPS; k++)
        assert_near(c.step_s[k], step.step_s, 1e-9);
}

/* Each of four takes 1 or 2 s: the slowest of them takes 1 + 15/16 in the mean. */
static void a_step_waits_for_the_slowest(void **state)
{
    (void)state;
    struct four c;
    start(&c, 2, 1);
    c.sample[0] = computes(1);
    c.sample[1] = computes(2);
    assert_true(draw(&c, 1));
    assert_near(mean_of(c.step_s), 1 + 15.0 / 16, 0.02);
}

/* Pairs of devices that were slow together are slow together: 1 + 3/4. */
static void what_devices_have_in_common_stays_in_common(void **state)
{
    (void)state;
    struct four c;
    start(&c, 2, 2);
    c.sample[0] = c.sample[1] = computes(1);
    c.sample[2] = c.sample[3] = computes(2);
    assert_true(draw(&c, 1));
    assert_near(mean_of(c.step_s), 1.75, 0.03);
}

static void the_same_seed_draws_the_same(void **state)
{
    (void)state;
    struct four a, b;
    start(&a, 2, 1);
    a.sample[0] = computes(1);
    a.sample[1] = computes(2);
    assert_true(draw(&a, 7));
    start(&b, 2, 1);
    b.sample[0] = computes(1);
    b.sample[1] = computes(2);
    assert_true(draw(&b, 7));
    assert_memory_equal(a.step_s, b.step_s, sizeof a.step_s);
    assert_true(draw(&b, 8));
    assert_memory_not_equal(a.step_s, b.step_s, sizeof a.step_s);
}

/* Loaders that take 1 or 5 s beside steps of 2 s keep them waiting: 3 s in the mean, or more. */
static void slow_loaders_beside_the_step_decide(void **state)
{
    (void)state;
    struct four c;
    const double load_s[] = {1, 5};
    start(&c, 1, 1);
    c.sample[0] = computes(2);
    c.samples.load_s = load_s;
    c.samples.n_loads = 2;
    assert_true(draw(&c, 1));
    assert_true(mean_of(c.step_s) > 2.95 && mean_of(c.step_s) < 4.2);
    c.samples.n_loads = 1;
    assert_true(draw(&c, 1));
    assert_near(mean_of(c.step_s), 2, 0.1);
    c.samples.n_loads = 0;
    c.type.load_s = 3;
    assert_true(draw(&c, 1));
    assert_near(mean_of(c.step_s), 3, 1e-9);
}

/* Iterations of two devices that were measured together, in their order. */
static void replays_what_was_measured(void **state)
{
    (void)state;
    struct four c;
    start(&c, 2, 2);
    c.sample[0] = computes(1);
    c.sample[1] = computes(2);
    c.sample[2] = computes(4);
    c.sample[3] = computes(3);
    assert_true(ft_timeline_replay(&c.timeline, &c.samples, c.step_s, c.message));
    assert_near(c.step_s[0], 2, 1e-9);
    assert_near(c.step_s[1], 4, 1e-9);
    c.timeline.n_types = 2;
    assert_false(ft_timeline_replay(&c.timeline, &c.samples, c.step_s, c.message));
}

static void refuses_samples_that_cannot_be(void **state)
{
    (void)state;
    struct four c;
    start(&c, 0, 1);
    assert_false(draw(&c, 1));
    assert_string_equal(c.message, "type 0 has no samples");
    start(&c, 1, 1);
    c.sample[0] = computes(NAN);
    assert_false(draw(&c, 1));
    assert_non_null(strstr(c.message, "a sample of type 0: forward_s"));
    const double load_s[] = {-1};
    start(&c, 1, 1);
    c.sample[0] = computes(1);
    c.samples.load_s = load_s;
    c.samples.n_loads = 1;
    assert_false(draw(&c, 1));
    assert_non_null(strstr(c.message, "load_s"));
    c.samples.n_loads = 0;
    assert_false(ft_timeline_spread(&c.timeline, &c.samples, 0, N_STEPS, 1, c.step_s, c.message));
    assert_non_null(strstr(c.message, "n_prefetched"));
}

/*
 * Two devices, forward 0.1 s, backward 0.2 s; 4 MB are ready in its middle and 1 MB at its end,
 * over links of 100 MB/s.
 */
struct pair {
    struct ft_timeline_type type;
    int type_of[2];
    struct ft_link link[2];
    struct ft_timeline timeline;
    struct ft_timeline_samples samples;
    struct ft_ceilings found;
    double step_s;
    char message[FT_MESSAGE_SIZE];
};

static const double pair_bytes[] = {4e6, 1e6}, pair_ready_s[] = {0.1, 0.2};

static void start_pair(struct pair *c)
{
    *c = (struct pair){.type = {.forward_s = 0.1,
                                .backward_s = 0.2,
                                .ready_s = pair_ready_s,
                                .busy_Bps = INFINITY,
                                .idle_Bps = INFINITY}};
    c->link[0] = c->link[1] = (struct ft_link){1e8, 0};
    c->timeline = (struct ft_timeline){.type = &c->type,
                                       .n_types = 1,
                                       .type_of = c->type_of,
                                       .link = c->link,
                                       .n_devices = 2,
                                       .bucket_bytes = pair_bytes,
                                       .n_buckets = 2};
    c->samples = (struct ft_timeline_samples){.step = &c->type, .n_iterations = 1, .n_together = 1};
}

static void fit(struct pair *c, double first_s, double last_s)
{
    const double done_s[] = {first_s, last_s};
    if (!ft_timeline_fit(&c->timeline, &c->samples, done_s, &c->found, c->message))
        fail_msg("%s", c->message);
    c->type.busy_Bps = c->found.busy_Bps;
    c->type.idle_Bps = c->found.idle_Bps;
    if (!ft_timeline_replay(&c->timeline, &c->samples, &c->step_s, c->message))
        fail_msg("%s", c->message);
}

/* 20 MB/s until 0.2 s, the other 2 MB at 50 MB/s until 0.24, then 1 MB until 0.26. */
static void finds_the_ceilings_that_buckets_show(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    fit(&c, 0.24, 0.26);
    assert_near(c.found.busy_Bps, 20e6, 2e6);
    assert_near(c.found.idle_Bps, 50e6, 3e6);
    assert_near(c.step_s, 0.36, 0.002);
}

/*
 * A round of 2 MB at 40 MB/s, with 50 ms beside them, until 0.2 s; one at 50 MB/s with 5 ms until
 * 0.245; then two of 0.5 MB.
 */
static void tells_a_rate_from_what_a_round_costs(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    c.type.busy_round_s = 0.05;
    c.type.idle_round_s = 0.005;
    fit(&c, 0.245, 0.275);
    assert_near(c.found.busy_Bps, 40e6, 4e6);
    assert_near(c.found.idle_Bps, 50e6, 2e6);
    assert_near(c.step_s, 0.375, 0.002);
}

/* Buckets that would be done by 20 and 50 MB/s; the type sends 16 and 40 at the most. */
static void finds_none_above_what_is_known_to_be_the_most(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    c.type.busy_Bps = 16e6;
    c.type.idle_Bps = 40e6;
    fit(&c, 0.24, 0.26);
    assert_near(c.found.busy_Bps, 16e6, 1);
    assert_near(c.found.idle_Bps, 40e6, 1);
    start_pair(&c);
    c.type.busy_Bps = 30e6;
    c.type.idle_Bps = 80e6;
    fit(&c, 0.24, 0.26);
    assert_near(c.found.busy_Bps, 20e6, 2e6);
    assert_near(c.found.idle_Bps, 50e6, 3e6);
}

static void finds_none_where_the_link_is_the_limit(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    fit(&c, 0.14, 0.21);
    assert_true(isinf(c.found.busy_Bps) && isinf(c.found.idle_Bps));
    assert_near(c.step_s, 0.31, 1e-9);
    fit(&c, 0.1, 0.2);
    assert_true(isinf(c.found.busy_Bps) && isinf(c.found.idle_Bps));
}

/* What a link loses to headers and the like, a faster one loses too: 95 and 70 % of 100 MB/s. */
static void tells_a_slower_device_from_a_link_that_gives_less(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    fit(&c, 0.1421, 0.2105);
    assert_true(isinf(c.found.busy_Bps) && isinf(c.found.idle_Bps));
    start_pair(&c);
    fit(&c, 0.1571, 0.2143);
    assert_near(c.found.busy_Bps, 70e6, 3e6);
    assert_near(c.found.idle_Bps, 70e6, 3e6);
}

/* A later bucket that is done first: in the timeline they end one after the other. */
static void takes_buckets_that_overtake(void **state)
{
    (void)state;
    struct pair c;
    start_pair(&c);
    fit(&c, 0.26, 0.22);
    assert_near(c.step_s, 0.36, 0.004);
}

/* One bucket, ready when nobody computes any more, tells nothing of what is sent beside it. */
static void keeps_the_ceiling_that_nothing_tells_of_high(void **state)
{
    (void)state;
    struct pair c;
    const double bytes[] = {5e6}, ready_s[] = {0.2};
    start_pair(&c);
    c.timeline.n_buckets = 1;
    c.timeline.bucket_bytes = bytes;
    c.type.ready_s = ready_s;
    fit(&c, 0.3, 0);
    assert_near(c.found.idle_Bps, 50e6, 1e6);
    assert_true(c.found.busy_Bps == c.found.idle_Bps);
}

static void refuses_a_ring_that_shows_nothing(void **state)
{
    (void)state;
    struct pair c;
    const double done_s[] = {-1, 1};
    start_pair(&c);
    assert_false(ft_timeline_fit(&c.timeline, &c.samples, done_s, &c.found, c.message));
    assert_non_null(strstr(c.message, "done_s of bucket 0"));
    c.timeline.n_devices = 1;
    assert_false(ft_timeline_fit(&c.timeline, &c.samples, pair_ready_s, &c.found, c.message));
    assert_non_null(strstr(c.message, "a ring"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_without_spread_are_the_timelines),
        cmocka_unit_test(a_step_waits_for_the_slowest),
        cmocka_unit_test(what_devices_have_in_common_stays_in_common),
        cmocka_unit_test(the_same_seed_draws_the_same),
        cmocka_unit_test(slow_loaders_beside_the_step_decide),
        cmocka_unit_test(replays_what_was_measured),
        cmocka_unit_test(refuses_samples_that_cannot_be),
        cmocka_unit_test(finds_the_ceilings_that_buckets_show),
        cmocka_unit_test(tells_a_rate_from_what_a_round_costs),
        cmocka_unit_test(finds_none_above_what_is_known_to_be_the_most),
        cmocka_unit_test(finds_none_where_the_link_is_the_limit),
        cmocka_unit_test(tells_a_slower_device_from_a_link_that_gives_less),
        cmocka_unit_test(takes_buckets_that_overtake),
        cmocka_unit_test(keeps_the_ceiling_that_nothing_tells_of_high),
        cmocka_unit_test(refuses_a_ring_that_shows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
