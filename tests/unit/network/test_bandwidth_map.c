/* What a picture of the bandwidth shows: rows, the ring's cells, what is unlike its kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "network/bandwidth_map.h"

struct map_case {
    struct arena arena;
    struct error e;
    struct job job;
    struct network network;
    struct bandwidth_map map;
};

static void make(struct map_case *c, const char *yaml, const char *csv)
{
    *c = (struct map_case){0};
    if (!job_parse(&c->arena, yaml, strlen(yaml), "lab.yaml", ".", &c->job, &c->e) ||
        (csv && !network_parse(&c->arena, csv, "net.csv", &c->network, &c->e)))
        fail_msg("%s", c->e.text);
    struct link *ring = arena_array(&c->arena, c->job.n_devices, sizeof *ring);
    const struct network *network = csv ? &c->network : NULL;
    if (!network_ring(network, &c->job, ring, &c->e))
        fail_msg("%s", c->e.text);
    struct bandwidth_hop *hop = arena_array(&c->arena, c->job.n_devices, sizeof *hop);
    for (size_t i = 0; i < c->job.n_devices; i++)
        hop[i] = (struct bandwidth_hop){i, (i + 1) % c->job.n_devices, &ring[i]};
    bandwidth_map_make(&c->arena, &c->job, network, hop, c->job.n_devices, &c->map);
}

static void finish(struct map_case *c)
{
    arena_free(&c->arena);
    error_clear(&c->e);
}

static const struct bandwidth_cell *cell(const struct map_case *c, size_t from, size_t to)
{
    return &c->map.cell[from * c->map.n + to];
}

static void few_devices_are_rows_in_the_ring_s_order(void **state)
{
    (void)state;
    struct map_case c;
    make(&c,
         "devices: {a: {count: 3, batch: 1, hosts: \"x,y,z\"}}\nring: [x, z, y]\n"
         "network: {measured: n.csv}\n",
         "from,to,bandwidth\nx,z,1 MB/s\nz,y,2 MB/s\ny,x,3 MB/s\n");
    assert_int_equal(c.map.by, MAP_DEVICES);
    assert_int_equal(c.map.n, 3);
    assert_string_equal(c.map.name[1], "z");
    assert_true(cell(&c, 0, 1)->link.bandwidth_Bps == 1e6);
    assert_int_equal(cell(&c, 0, 1)->n_used, 1);
    assert_int_equal(cell(&c, 1, 0)->n_used, 0);
    assert_int_equal(cell(&c, 1, 0)->link.source, LINK_FILLED);
    assert_int_equal(cell(&c, 0, 0)->link.source, LINK_UNKNOWN);
    assert_true(c.map.least_Bps == 1e6 && c.map.most_Bps == 3e6);
    finish(&c);
}

static void a_link_unlike_its_kind_is_marked(void **state)
{
    (void)state;
    struct map_case c;
    make(&c, "devices: {a: {count: 3, batch: 1, hosts: \"x,y,z\"}}\nnetwork: {measured: n.csv}\n",
         "from,to,bandwidth\nx,y,10 MB/s\ny,x,10 MB/s\ny,z,10 MB/s\nz,y,10 MB/s\nz,x,5 MB/s\n"
         "x,z,11 MB/s\n");
    assert_int_equal(c.map.n_outliers, 1);
    assert_true(cell(&c, 2, 0)->outlier);
    finish(&c);
}

static void many_devices_are_shown_by_host(void **state)
{
    (void)state;
    struct map_case c;
    make(&c,
         "devices: {a: {count: 48, batch: 1, hosts: \"x[1-6]:8\"}}\n"
         "network: {links: [{between: [a, a], bandwidth: 1 GB/s, where: within-host}, "
         "{between: [a, a], bandwidth: 10 MB/s, where: across-hosts}]}\n",
         NULL);
    assert_int_equal(c.map.by, MAP_HOSTS);
    assert_int_equal(c.map.n, 6);
    assert_true(cell(&c, 2, 2)->link.bandwidth_Bps == 1e9);
    assert_int_equal(cell(&c, 2, 2)->n_used, 7);
    assert_true(cell(&c, 5, 0)->link.bandwidth_Bps == 1e7);
    assert_int_equal(cell(&c, 5, 0)->n_used, 1);
    finish(&c);
}

static void many_devices_without_hosts_are_shown_by_type(void **state)
{
    (void)state;
    struct map_case c;
    make(&c,
         "devices: {a: {count: 100, batch: 1}, b: {count: 100, batch: 1}}\n"
         "network: {links: [{between: [a, a], bandwidth: 3 MB/s}, {between: [b, b], bandwidth: 2 "
         "MB/s}, {between: [a, b], bandwidth: 1 MB/s}]}\n",
         NULL);
    assert_int_equal(c.map.by, MAP_TYPES);
    assert_int_equal(c.map.n, 2);
    assert_int_equal(cell(&c, 0, 0)->n_used, 99);
    assert_int_equal(cell(&c, 1, 0)->n_used, 1);
    assert_true(cell(&c, 1, 1)->link.bandwidth_Bps == 2e6);
    assert_int_equal(c.map.n_outliers, 0);
    finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_devices_are_rows_in_the_ring_s_order),
        cmocka_unit_test(a_link_unlike_its_kind_is_marked),
        cmocka_unit_test(many_devices_are_shown_by_host),
        cmocka_unit_test(many_devices_without_hosts_are_shown_by_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
