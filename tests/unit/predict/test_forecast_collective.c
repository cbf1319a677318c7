/* Whole forecasts by the collective that a job chooses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster.h"

#define WITH(collective)                                                                           \
    "name: lab\n"                                                                                  \
    "training: {collective: " collective "}\n"                                                     \
    "devices:\n"                                                                                   \
    "  a: {count: 4, batch: 16, hosts: \"a[1-2]:2\", backend: nccl}\n"                             \
    "  b: {count: 4, batch: 16, hosts: \"b[1-2]:2\", backend: cncl}\n"                             \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [a, a], bandwidth: 10 MB/s}\n"                                                \
    "    - {between: [b, b], bandwidth: 5 MB/s}\n"

#define BETWEEN "    - {between: [a, b], bandwidth: 2 MB/s}\n"

static void start(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    cluster_read_job(c, yaml);
    c->profile[0] = cluster_profile("a", 16, 0.1, 0.01, 8e6);
    c->profile[1] = cluster_profile("b", 16, 0.2, 0.02, 8e6);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* S = 8 MB in two vendors of four: three rounds of 2 MB over 10 or 5 MB/s, an exchange of 2 MB a
 * device, of which two share a host's uplink of 2 MB/s, and six rounds again. */
static void a_bridge_by_hand(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, WITH("bridge") BETWEEN);
    cluster_forecast(&c);
    const struct forecast *f = &c.forecast;
    assert_string_equal(f->collective_name, "bridge");
    assert_int_equal(f->n_stages, 3);
    assert_string_equal(f->stage[1].what, "exchange");
    assert_int_equal(f->stage[1].most_devices, 8);
    assert_int_equal(f->stage[0].n_groups, 2);
    assert_near(f->device[7].ring_s, 3 * 0.4 + 2 + 6 * 0.4);
    assert_near(f->device[0].ring_s, 3 * 0.4 + 2 + 6 * 0.2);
    assert_near(f->step_s, 0.22 + 3 * 0.4 + 2 + 6 * 0.4);
    assert_int_equal(f->n_links[LINK_GIVEN], 8 + 8);
    cluster_free(&c);
}

/* Only a ring needs all its neighbours. */
static void links_that_it_does_not_send_over_may_be_missing(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, WITH("ring"));
    assert_false(cluster_try(&c));
    cluster_free(&c);
    start(&c, WITH("bridge"));
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "links from a to b"));
    cluster_free(&c);
}

static void each_collective_has_its_name_in_the_job(void **state)
{
    (void)state;
    static const char *const job[] = {WITH("ring") BETWEEN,
                                      WITH("tree") BETWEEN,
                                      WITH("hierarchical") BETWEEN,
                                      WITH("halving-doubling") BETWEEN,
                                      WITH("parameter-server") BETWEEN,
                                      WITH("bridge") BETWEEN};
    for (int kind = FT_RING; kind <= FT_BRIDGE; kind++) {
        struct cluster c;
        start(&c, job[kind]);
        assert_int_equal(c.job.training.collective, kind);
        cluster_forecast(&c);
        assert_string_equal(c.forecast.collective_name,
                            ft_collective_name((enum ft_collective_kind)kind));
        assert_true(c.forecast.step_s > 0.3);
        cluster_free(&c);
    }
}

/* 1 MB from each device to each: of b1's two, 4 MB to b2 at 5 MB/s and 8 MB to a's hosts at 2. */
static void devices_of_a_host_share_its_uplink(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, WITH("parameter-server") BETWEEN);
    cluster_forecast(&c);
    for (size_t i = 0; i < 8; i++)
        assert_near(c.forecast.device[i].ring_s, 2 * (4.0 / 5 + 8.0 / 2));
    cluster_free(&c);
}

static void says_why_devices_do_not_suit(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "name: lab\n"
              "training: {collective: hierarchical}\n"
              "devices:\n"
              "  a: {count: 3, batch: 16, hosts: \"a[1-2]:2\"}\n"
              "network: {links: [{between: [a, a], bandwidth: 10 MB/s}]}\n");
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "lab.yaml: training.collective: hierarchical needs as many "
                                     "devices on each host, but one has 1 and another 2"));
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bridge_by_hand),
        cmocka_unit_test(links_that_it_does_not_send_over_may_be_missing),
        cmocka_unit_test(each_collective_has_its_name_in_the_job),
        cmocka_unit_test(devices_of_a_host_share_its_uplink),
        cmocka_unit_test(says_why_devices_do_not_suit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
