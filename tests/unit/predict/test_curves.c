/* Links that take what was measured by size: in the ring, its rounds, the timeline, a forecast. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "cluster.h"
#include "foretrain.h"

enum { N = 6, POINTS = 9 };

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Links by latency and bandwidth, and the same as curves: points of their lines up to 1 GB. */
struct rings {
    struct ft_link line[N], curved[N];
    struct ft_message point[N][POINTS];
    double start_s[N];
};

static void draw(struct random *r, struct rings *rings)
{
    for (size_t i = 0; i < N; i++) {
        struct ft_link line = {.bandwidth_Bps = 1e8 + 1e9 * random_unit(r),
                               .latency_s = 1e-2 * random_unit(r)};
        double bytes = 10;
        for (size_t p = 0; p < POINTS; p++, bytes *= 10)
            rings->point[i][p] =
                (struct ft_message){bytes, line.latency_s + bytes / line.bandwidth_Bps};
        rings->line[i] = line;
        rings->curved[i] = (struct ft_link){
            .bandwidth_Bps = line.bandwidth_Bps, .curve = rings->point[i], .n_curve = POINTS};
        rings->start_s[i] = 1 + random_unit(r);
    }
}

static void an_all_reduce_over_a_line_is_that_of_latency_and_bandwidth(void **state)
{
    (void)state;
    struct random r = random_seed(21, 0);
    for (int c = 0; c < 500; c++) {
        struct rings rings;
        double expected_s[N], end_s[N], payload_bytes = 1e9 * random_unit(&r);
        size_t n_segments = 1 + random_below(&r, 5);
        draw(&r, &rings);
        assert_true(ft_ring_all_reduce(rings.line, rings.start_s, N, payload_bytes, n_segments,
                                       expected_s, NULL));
        assert_true(ft_ring_all_reduce(rings.curved, rings.start_s, N, payload_bytes, n_segments,
                                       end_s, NULL));
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(end_s[i] - expected_s[i]) <= 1e-9 * expected_s[i]);
    }
}

static void a_round_over_a_line_costs_what_latency_and_bandwidth_do(void **state)
{
    (void)state;
    struct random r = random_seed(21, 1);
    for (int c = 0; c < 500; c++) {
        struct rings rings;
        struct ft_round expected, cost;
        double chunk_bytes = 1e8 * random_unit(&r);
        size_t n_segments = 1 + random_below(&r, 5);
        draw(&r, &rings);
        assert_true(ft_round_cost(chunk_bytes, rings.line[0], n_segments, &expected, NULL));
        assert_true(ft_round_cost(chunk_bytes, rings.curved[0], n_segments, &cost, NULL));
        assert_true(fabs(cost.cost_s - expected.cost_s) <= 1e-9 * expected.cost_s);
        assert_true(fabs(cost.drain_s - expected.drain_s) <= 1e-9 * expected.cost_s);
    }
}

static double step_of(const struct ft_link *link, double busy_Bps, double idle_Bps)
{
    const double ready_s[] = {0.3, 0.9}, bucket_bytes[] = {3e7, 9e7};
    const int type_of[N] = {0};
    const struct ft_timeline_type type = {.forward_s = 0.5,
                                          .backward_s = 1,
                                          .ready_s = ready_s,
                                          .busy_Bps = busy_Bps,
                                          .idle_Bps = idle_Bps};
    const struct ft_timeline timeline = {.type = &type,
                                         .n_types = 1,
                                         .type_of = type_of,
                                         .link = link,
                                         .n_devices = N,
                                         .bucket_bytes = bucket_bytes,
                                         .n_buckets = 2};
    struct ft_timeline_step step;
    char message[FT_MESSAGE_SIZE];
    if (!ft_timeline_step(&timeline, &step, message))
        fail_msg("%s", message);
    return step.step_s;
}

static void a_step_over_a_line_is_that_of_latency_and_bandwidth(void **state)
{
    (void)state;
    struct random r = random_seed(21, 2);
    for (int c = 0; c < 200; c++) {
        struct rings rings;
        double idle_Bps = random_below(&r, 2) ? 2e8 : INFINITY;
        double busy_Bps = random_below(&r, 2) ? 1e8 : idle_Bps;
        draw(&r, &rings);
        double expected_s = step_of(rings.line, busy_Bps, idle_Bps);
        assert_true(fabs(step_of(rings.curved, busy_Bps, idle_Bps) - expected_s) <=
                    1e-9 * expected_s);
    }
}

/* Buckets of 30 and 90 MB are chunks of 5 and 15 MB: 0.1 and 0.2 s, ten times each; the second is
 * ready while the first goes around. */
static void each_buckets_chunk_takes_what_its_size_took(void **state)
{
    (void)state;
    static const struct ft_message point[] = {{5e6, 0.1}, {15e6, 0.2}};
    struct ft_link link[N];
    for (size_t i = 0; i < N; i++)
        link[i] = (struct ft_link){.bandwidth_Bps = 75e6, .curve = point, .n_curve = 2};
    assert_near(step_of(link, INFINITY, INFINITY), 0.5 + 0.3 + 10 * 0.1 + 10 * 0.2);
}

static void a_device_feeds_its_link_no_faster_than_it_can(void **state)
{
    (void)state;
    static const struct ft_message point[] = {{5e6, 0.1}, {15e6, 0.2}};
    struct ft_link link[N];
    for (size_t i = 0; i < N; i++)
        link[i] = (struct ft_link){.bandwidth_Bps = 75e6, .curve = point, .n_curve = 2};
    /* latency 0.05 s, then 5 and 15 MB at 25 MB/s */
    assert_near(step_of(link, 25e6, 25e6), 0.5 + 0.3 + 10 * 0.25 + 10 * 0.65);
}

static void refuses_what_is_no_curve(void **state)
{
    (void)state;
    static const struct ft_message falls[] = {{1, 2}, {2, 1}}, same[] = {{1, 1}, {1, 2}},
                                   none[] = {{0, 1}}, still[] = {{1, 0}}, endless[] = {{1, NAN}};
    static const struct {
        const struct ft_message *point;
        size_t n;
    } curve[] = {{falls, 2}, {same, 2}, {none, 1}, {still, 1}, {endless, 1}, {NULL, 1}};
    for (size_t i = 0; i < sizeof curve / sizeof *curve; i++) {
        const struct ft_link one = {
            .bandwidth_Bps = 1, .curve = curve[i].point, .n_curve = curve[i].n};
        const struct ft_link link[2] = {one, one};
        struct ft_round cost;
        double end_s[2];
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_ring_all_reduce(link, (double[2]){0}, 2, 1, 1, end_s, message));
        assert_non_null(strstr(message, "a curve"));
        assert_false(ft_round_cost(1, one, 1, &cost, message));
    }
}

/* S = 6 MB over three devices: chunks of 2 MB, four rounds. */
static void the_closed_form_takes_the_rate_of_its_chunks(void **state)
{
    (void)state;
    struct cluster c = {0};
    cluster_read_job(&c, "name: lab\ndevices: {a: {count: 3, batch: 16}}\n"
                         "network: {links: [{between: [a, a], nccl_tests: t.txt}]}\n");
    static const struct ft_message point[] = {{1e6, 0.5}, {3e6, 1.5}, {9e6, 3}},
                                   large[] = {{9e6, 3}, {18e6, 4}};
    static const struct link_curve curve = {point, 3}, begins_above = {large, 2};
    struct link_table table = {"t.txt",
                               {.bandwidth_Bps = 3e6, .curve = &curve, .source = LINK_MEASURED}};
    c.network.table = &table;
    c.network.n_tables = 1;
    c.profile[0] = cluster_profile("a", 16, 0.1, 0.01, 6e6);
    assert_true(forecast_make(&c.arena, &c.job, c.profile, &c.network, c.model, &c.forecast, &c.e));
    assert_near(c.forecast.device[0].ring_s, 4 * 1);
    assert_false(cluster_warns(&c, "a table of all_reduce_perf begins"));
    table.link.curve = &begins_above;
    assert_true(forecast_make(&c.arena, &c.job, c.profile, &c.network, c.model, &c.forecast, &c.e));
    assert_true(cluster_warns(&c, "a table of all_reduce_perf begins with messages of 9 MB"));
    assert_near(c.forecast.device[0].ring_s, 4 * (3 - 7.0 / 9));
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_all_reduce_over_a_line_is_that_of_latency_and_bandwidth),
        cmocka_unit_test(a_round_over_a_line_costs_what_latency_and_bandwidth_do),
        cmocka_unit_test(a_step_over_a_line_is_that_of_latency_and_bandwidth),
        cmocka_unit_test(each_buckets_chunk_takes_what_its_size_took),
        cmocka_unit_test(a_device_feeds_its_link_no_faster_than_it_can),
        cmocka_unit_test(refuses_what_is_no_curve),
        cmocka_unit_test(the_closed_form_takes_the_rate_of_its_chunks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
