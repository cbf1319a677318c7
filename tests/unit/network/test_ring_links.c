/* Which value a link has, around the ring and in sub-systems; and what is said where it has none.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "network/network.h"

struct lab {
    struct arena arena;
    struct job job;
    struct network network;
    struct link link[16];
    struct error e;
};

static void start(struct lab *lab, const char *yaml, const char *network)
{
    *lab = (struct lab){0};
    bool ok = job_parse(&lab->arena, yaml, strlen(yaml), "lab.yaml", ".", &lab->job, &lab->e);
    if (ok && network)
        ok = network_parse(&lab->arena, network, "net.csv", &lab->network, &lab->e);
    if (!ok)
        fail_msg("%s", lab->e.text);
}

static void finish(struct lab *lab)
{
    arena_free(&lab->arena);
    error_clear(&lab->e);
}

static void ring(struct lab *lab)
{
    if (!network_ring(&lab->network, &lab->job, lab->link, &lab->e))
        fail_msg("%s", lab->e.text);
}

static void assert_rates(const struct lab *lab, const double *MBps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(lab->link[i].bandwidth_Bps / 1e6 - MBps[i]) < 1e-9))
            fail_msg("link %zu has %g MB/s, not %g", i, lab->link[i].bandwidth_Bps / 1e6, MBps[i]);
    }
}

static void classes_by_type_and_host(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 4, batch: 1, hosts: ['a1:2', 'a2:2']}\n"
          "  b: {count: 3, batch: 1, hosts: [b1, b2, b3]}\n"
          "network:\n"
          "  links:\n"
          "    - {between: [a, a], bandwidth: 1 MB/s}\n"
          "    - {between: [a, a], bandwidth: 9 MB/s, where: within-host}\n"
          "    - {between: [b, b], bandwidth: 2 MB/s, where: across-hosts, latency: 7 us}\n"
          "    - {between: [a, b], bandwidth: 3 MB/s}\n"
          "    - {from: b, to: a, bandwidth: 4 MB/s}\n",
          NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){9, 1, 9, 3, 2, 2, 4}, 7);
    assert_true(lab.link[4].latency_s == 7e-6);
    assert_int_equal(lab.link[0].source, LINK_GIVEN);
    finish(&lab);
}

static void the_matrix_goes_before_classes_and_device_names_before_hosts(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 4, batch: 1, hosts: ['a1:2', 'a2:2']}\n"
          "network:\n"
          "  links:\n"
          "    - {between: [a, a], bandwidth: 1 MB/s}\n",
          "from,to,bandwidth,source\n"
          "a1:0,a1:1,50 MB/s,given\n"
          "a1,a2,20 MB/s,measured\n"
          "a1:1,a2:0,30 MB/s,measured\n");
    ring(&lab);
    assert_rates(&lab, (const double[]){50, 30, 1, 20}, 4);
    assert_int_equal(lab.link[1].source, LINK_MEASURED);
    assert_int_equal(lab.link[2].source, LINK_GIVEN);
    assert_int_equal(lab.link[3].source, LINK_FILLED);
    finish(&lab);
}

static void the_rings_own_order_decides_which_links_count(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 3, batch: 1, hosts: [n1, n2, n3]}\n"
          "ring: [n3, n1, n2]\n",
          "MB/s,n1,n2,n3\n"
          "n1,0,12,13\n"
          "n2,21,0,23\n"
          "n3,31,32,0\n");
    ring(&lab);
    assert_rates(&lab, (const double[]){31, 12, 23}, 3);
    struct link link;
    assert_true(network_link(&lab.network, &lab.job, 2, 1, &link, &lab.e));
    assert_true(link.bandwidth_Bps == 32e6);
    finish(&lab);
}

#define SHARED_LINKS                                                                               \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [a, a], bandwidth: 10 MB/s, both_ways: 12 MB/s}\n"                            \
    "    - {between: [a, a], bandwidth: 90 MB/s, where: within-host}\n"

static void two_directions_between_two_hosts_share(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 4, batch: 1, hosts: 'x:2, y:2'}\n" SHARED_LINKS, NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){90, 6, 90, 6}, 4);
    assert_true(network_subsystem_ring(NULL, &lab.job, 0, lab.link));
    assert_rates(&lab, (const double[]){6, 6}, 2);
    finish(&lab);
}

static void around_three_hosts_every_link_is_used_one_way(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 3, batch: 1, hosts: 'x, y, z'}\n" SHARED_LINKS, NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){10, 10, 10}, 3);
    finish(&lab);
}

/* x to y twice, y to x twice: 12 MB/s for four links. */
static void a_ring_that_crosses_twice_halves_it_again(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n  a: {count: 4, batch: 1, hosts: 'x:2, y:2'}\n" SHARED_LINKS
          "ring: ['x:0', 'y:0', 'x:1', 'y:1']\n",
          NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){3, 3, 3, 3}, 4);
    finish(&lab);
}

static const char two_hosts[] = "devices:\n"
                                "  a: {count: 2, batch: 1, hosts: 'x:2', allow_full: true}\n"
                                "  b: {count: 3, batch: 1, hosts: ['y:2', z]}\n"
                                "network: {measured: net.csv}\n"
                                "ring: ['x:0', 'y:0', 'x:1', 'y:1', z]\n";

/* Two hops leave x, two enter it; the one from y to z leaves y beside the one to x, and enters z
 * alone. */
static void hops_of_a_host_share_its_uplink(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, two_hosts,
          "from,to,bandwidth\nx,y,10 MB/s\ny,x,12 MB/s\ny,z,30 MB/s\nz,x,8 MB/s\n");
    ring(&lab);
    assert_rates(&lab, (const double[]){5, 6, 5, 15, 4}, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(lab.link[i].uplink_hops, 2);
    finish(&lab);
}

/* Those that all links of the ring left something are as they were measured. */
static void an_uplink_that_was_measured_in_use_is_not_shared_again(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, two_hosts,
          "from,to,bandwidth,together\nx,y,10 MB/s,9 MB/s\ny,x,12 MB/s,5 MB/s\n"
          "y,z,30 MB/s,\nz,x,8 MB/s,\n");
    ring(&lab);
    assert_rates(&lab, (const double[]){10, 5, 10, 15, 4}, 5);
    finish(&lab);
}

static void a_ring_that_enters_each_host_once_shares_nothing(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n  a: {count: 4, batch: 1, hosts: ['x:2', 'y:2']}\n"
          "network: {links: [{between: [a, a], bandwidth: 10 MB/s}]}\n",
          NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){10, 10, 10, 10}, 4);
    finish(&lab);
}

static void two_devices_without_hosts_share_as_well(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n  a: {count: 2, batch: 1, allow_full: true}\n"
          "network: {links: [{between: [a, a], bandwidth: 10 MB/s, both_ways: 12 MB/s}]}\n",
          NULL);
    ring(&lab);
    assert_rates(&lab, (const double[]){6, 6}, 2);
    finish(&lab);
}

/* Two alike: E[max] of two normals is 1/sqrt(pi); of three 3/(2 sqrt(pi)). */
static void a_ring_waits_for_the_slowest_of_links_that_vary(void **state)
{
    (void)state;
    static const char form[] = "devices:\n  a: {count: %d, batch: 1, allow_full: true}\n"
                               "network: {links: [{between: [a, a], bandwidth: 10 MB/s, "
                               "spread: 20 %%}]}\n";
    static const double largest[] = {0, 0, 0.5641895835477563, 0.8462843753216345};
    for (int n = 2; n <= 3; n++) {
        struct lab lab;
        char yaml[256];
        snprintf(yaml, sizeof yaml, form, n);
        start(&lab, yaml, NULL);
        ring(&lab);
        for (int i = 0; i < n; i++) {
            double slower = 10e6 / lab.link[i].bandwidth_Bps;
            if (!(fabs(slower - (1 + 0.2 * largest[n])) < 1e-6))
                fail_msg("slower by %.9f", slower);
        }
        finish(&lab);
    }
}

/* Beside a link that is always ten times slower what the others' rates do counts for nothing. */
static void a_constant_slow_link_hides_how_others_vary(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 9, batch: 1}\n"
          "  b: {count: 1, batch: 1, profile: b.json}\n"
          "network:\n"
          "  links:\n"
          "    - {between: [a, a], bandwidth: 10 MB/s, spread: 20 %}\n"
          "    - {between: [a, b], bandwidth: 1 MB/s}\n",
          NULL);
    ring(&lab);
    for (size_t i = 0; i < 10; i++)
        assert_true(fabs(lab.link[i].bandwidth_Bps - (i < 8 ? 10e6 : 1e6)) < 1);
    finish(&lab);
}

static const char three_hosts[] = "devices:\n"
                                  "  a: {count: 3, batch: 1, hosts: [n1, n2, n3]}\n"
                                  "network:\n"
                                  "  links:\n"
                                  "    - {between: [a, a], bandwidth: 1 MB/s}\n";

static void a_ring_uses_what_it_leaves_of_a_shared_link(void **state)
{
    (void)state;
    struct lab lab;
    struct link pair[2];
    start(&lab, three_hosts,
          "from,to,bandwidth,together,source\n"
          "n1,n2,10 MB/s,5 MB/s,measured\n"
          "n2,n1,10 MB/s,,measured\n"
          "n2,n3,10 MB/s,9 MB/s,measured>=\n"
          "n3,n1,10 MB/s,,measured\n");
    ring(&lab);
    assert_rates(&lab, (const double[]){5, 10, 10}, 3);
    assert_true(lab.link[0].shared && !lab.link[1].shared && !lab.link[2].shared);
    assert_true(lab.link[1].at_least);
    assert_true(network_subsystem_ring(&lab.network, &lab.job, 0, pair));
    assert_true(pair[0].bandwidth_Bps == 10e6 && !pair[0].shared);
    finish(&lab);
}

static void nothing_stands_in_for_a_link_that_failed(void **state)
{
    (void)state;
    struct lab lab;
    struct link link = {.latency_s = 3};
    start(&lab, three_hosts,
          "from,to,bandwidth,source\n"
          "n1,n2,,failed\n"
          "n2,n1,10 MB/s,measured\n");
    assert_false(network_ring(&lab.network, &lab.job, lab.link, &lab.e));
    assert_non_null(strstr(lab.e.text, "the link from n1 to n2 (a to a across hosts) could not be "
                                       "measured"));
    assert_null(strstr(lab.e.text, "n3"));
    assert_false(network_link(&lab.network, &lab.job, 0, 1, &link, &lab.e));
    assert_true(link.latency_s == 3);
    assert_false(network_subsystem_ring(&lab.network, &lab.job, 0, lab.link));
    finish(&lab);
}

static void a_ring_of_one_has_no_link(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 1, batch: 1, subsystem: 1}\n", NULL);
    ring(&lab);
    assert_int_equal(lab.link[0].source, LINK_UNKNOWN);
    finish(&lab);
}

static void reports_missing_neighbours_together_by_class(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a100: {count: 4, batch: 1}\n"
          "  mlu370: {count: 3, batch: 1, hosts: [m1, m2, m3]}\n"
          "network:\n"
          "  measured: net.csv\n",
          "from,to,bandwidth\nm1,m2,1 MB/s\n");
    lab.link[0].bandwidth_Bps = 77;
    assert_false(network_ring(&lab.network, &lab.job, lab.link, &lab.e));
    assert_non_null(strstr(lab.e.text, "lab.yaml:5:"));
    assert_non_null(strstr(lab.e.text, "3 links from a100 to a100 have no value, first a100-0 -> "
                                       "a100-1"));
    assert_non_null(strstr(lab.e.text, "the link from a100-3 to m1 (a100 to mlu370) has no value"));
    assert_non_null(strstr(lab.e.text, "the link from m2 to m3 (mlu370 to mlu370 across hosts)"));
    assert_non_null(strstr(lab.e.text, "`foretrain bandwidth`"));
    assert_true(lab.link[0].bandwidth_Bps == 77);
    struct link link;
    assert_false(network_link(&lab.network, &lab.job, 5, 6, &link, &lab.e));
    assert_non_null(strstr(lab.e.text, "from m2 to m3"));
    finish(&lab);
}

static void a_sub_system_has_a_ring_of_its_own(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 6, batch: 1, hosts: ['a1:2', 'a2:2', 'a3:2'], subsystem: 3}\n"
          "  b: {count: 4, batch: 1, hosts: ['b1:4'], subsystem: 2}\n"
          "  c: {count: 4, batch: 1, subsystem: {devices: 2, hosts: [x1, x2]}}\n"
          "  d: {count: 4, batch: 1}\n"
          "network:\n"
          "  links:\n"
          "    - {between: [d, d], bandwidth: 6 MB/s}\n",
          "from,to,bandwidth\n"
          "a1,a2,5 MB/s\na2,a3,4 MB/s\na3,a1,9 MB/s\n"
          "b1:0,b1:1,50 MB/s\nx1,x2,8 MB/s\nx2,x1,7 MB/s\n");
    assert_true(network_subsystem_ring(&lab.network, &lab.job, 0, lab.link));
    assert_rates(&lab, (const double[]){5, 4, 9}, 3);
    assert_true(network_subsystem_ring(&lab.network, &lab.job, 1, lab.link));
    assert_rates(&lab, (const double[]){50, 50}, 2);
    assert_true(network_subsystem_ring(&lab.network, &lab.job, 2, lab.link));
    assert_rates(&lab, (const double[]){8, 7}, 2);
    assert_true(network_subsystem_ring(NULL, &lab.job, 3, lab.link));
    assert_rates(&lab, (const double[]){6, 6}, 2);
    assert_false(network_subsystem_ring(NULL, &lab.job, 2, lab.link));
    assert_rates(&lab, (const double[]){6, 6}, 2);
    finish(&lab);
}

static void all_sub_systems_may_form_one_ring(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab,
          "devices:\n"
          "  a: {count: 3, batch: 1, hosts: [a1, a2, a3]}\n"
          "  b: {count: 3, batch: 1, hosts: [b1, b2, b3]}\n"
          "network:\n"
          "  links:\n"
          "    - {between: [b, b], bandwidth: 6 MB/s}\n"
          "    - {from: b, to: a, bandwidth: 2 MB/s}\n",
          "from,to,bandwidth\na1,a2,5 MB/s\na2,b1,3 MB/s\n");
    assert_true(network_mixed_ring(&lab.network, &lab.job, lab.link));
    assert_rates(&lab, (const double[]){5, 3, 6, 2}, 4);
    assert_false(network_mixed_ring(NULL, &lab.job, lab.link));
    finish(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_by_type_and_host),
        cmocka_unit_test(the_matrix_goes_before_classes_and_device_names_before_hosts),
        cmocka_unit_test(the_rings_own_order_decides_which_links_count),
        cmocka_unit_test(two_directions_between_two_hosts_share),
        cmocka_unit_test(around_three_hosts_every_link_is_used_one_way),
        cmocka_unit_test(a_ring_that_crosses_twice_halves_it_again),
        cmocka_unit_test(hops_of_a_host_share_its_uplink),
        cmocka_unit_test(an_uplink_that_was_measured_in_use_is_not_shared_again),
        cmocka_unit_test(a_ring_that_enters_each_host_once_shares_nothing),
        cmocka_unit_test(two_devices_without_hosts_share_as_well),
        cmocka_unit_test(a_ring_waits_for_the_slowest_of_links_that_vary),
        cmocka_unit_test(a_constant_slow_link_hides_how_others_vary),
        cmocka_unit_test(a_ring_uses_what_it_leaves_of_a_shared_link),
        cmocka_unit_test(nothing_stands_in_for_a_link_that_failed),
        cmocka_unit_test(a_ring_of_one_has_no_link),
        cmocka_unit_test(reports_missing_neighbours_together_by_class),
        cmocka_unit_test(a_sub_system_has_a_ring_of_its_own),
        cmocka_unit_test(all_sub_systems_may_form_one_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
