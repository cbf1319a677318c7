/* Classes of links that name files: tables of nccl-tests, topologies of hosts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "network/network.h"

struct lab {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job job;
    struct network network;
    struct link link[16];
};

static void write_file(struct lab *lab, const char *name, const char *content)
{
    assert_true(
        file_write(path_join(&lab->arena, lab->folder, name), content, strlen(content), &lab->e));
}

static const char table[] = "# all_reduce_perf\n"
                            "# Rank 0 Pid 1 on n1 device 0 [0x00] X\n"
                            "# Rank 1 Pid 1 on n2 device 0 [0x00] X\n"
                            "# size time algbw busbw\n"
                            "2000 20 0.10 0.10\n"
                            "4000000 2000 2.00 2.00\n";

/* Pairs 0-1 and 2-3 by NVLink, all others by SYS. */
static const char four[] = "     GPU0 GPU1 GPU2 GPU3\n"
                           "GPU0 X    NV2  SYS  SYS\n"
                           "GPU1 NV2  X    SYS  SYS\n"
                           "GPU2 SYS  SYS  X    NV2\n"
                           "GPU3 SYS  SYS  NV2  X\n";

static int set_up(void **state)
{
    struct lab *lab = calloc(1, sizeof *lab);
    strcpy(lab->folder, "/tmp/foretrain-classes-XXXXXX");
    assert_non_null(mkdtemp(lab->folder));
    write_file(lab, "table.txt", table);
    write_file(lab, "four.txt", four);
    *state = lab;
    return 0;
}

static int tear_down(void **state)
{
    struct lab *lab = *state;
    error_clear(&lab->e);
    file_remove_tree(lab->folder, &lab->e);
    error_clear(&lab->e);
    arena_free(&lab->arena);
    free(lab);
    return 0;
}

static bool read_job(struct lab *lab, const char *devices, const char *network)
{
    const char *yaml = arena_format(&lab->arena, "devices: {%s}\nnetwork:\n%s", devices, network);
    lab->job = (struct job){0};
    lab->network = (struct network){0};
    if (!job_parse(&lab->arena, yaml, strlen(yaml), "lab.yaml", lab->folder, &lab->job, &lab->e))
        fail_msg("%s", lab->e.text);
    return network_read_classes(&lab->arena, &lab->job, &lab->network, &lab->e);
}

static void find_ring(struct lab *lab, const char *devices, const char *network)
{
    if (!read_job(lab, devices, network) ||
        !network_ring(&lab->network, &lab->job, lab->link, &lab->e))
        fail_msg("%s", lab->e.text);
}

static void assert_rates(const struct lab *lab, const double *GBps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(lab->link[i].bandwidth_Bps / 1e9 - GBps[i]) < 1e-9))
            fail_msg("link %zu has %g GB/s, not %g", i, lab->link[i].bandwidth_Bps / 1e9, GBps[i]);
    }
}

static void assert_refused(struct lab *lab, const char *devices, const char *network,
                           const char *says)
{
    assert_false(read_job(lab, devices, network));
    if (!strstr(lab->e.text, says))
        fail_msg("'%s' is not in:\n%s", says, lab->e.text);
}

#define TWO_HOSTS "a: {count: 8, batch: 1, hosts: ['n1:4', 'n2:4']}"

static void a_class_is_what_its_table_says(void **state)
{
    struct lab *lab = *state;
    find_ring(lab, TWO_HOSTS,
              "  links:\n"
              "    - {between: [a, a], nccl_tests: table.txt, where: across-hosts}\n"
              "    - {between: [a, a], bandwidth: 9 GB/s, where: within-host}\n");
    assert_rates(lab, (const double[]){9, 9, 9, 2, 9, 9, 9, 2}, 8);
    assert_null(lab->link[0].curve);
    assert_int_equal(lab->link[3].source, LINK_MEASURED);
    assert_int_equal(lab->link[3].curve->n, 2);
    assert_true(fabs(link_message_Bps(&lab->link[3], 1000) - 1000 / 10e-6) < 1e-3);
}

static void a_host_is_joined_as_its_topology_says(void **state)
{
    struct lab *lab = *state;
    find_ring(lab, TWO_HOSTS,
              "  topology: {file: four.txt, classes: {NV2: 50 GB/s, SYS: {bandwidth: 8 GB/s, "
              "latency: 9 us}}}\n"
              "  links:\n"
              "    - {between: [a, a], bandwidth: 3 GB/s}\n");
    assert_rates(lab, (const double[]){50, 8, 50, 3, 50, 8, 50, 3}, 8);
    assert_true(lab->link[1].latency_s == 9e-6);
}

/* GPU numbers are slots on the host, which count all types. */
static void types_share_a_host_by_their_slots(void **state)
{
    struct lab *lab = *state;
    find_ring(lab,
              "a: {count: 1, batch: 1, hosts: n1, subsystem: 1}, "
              "b: {count: 3, batch: 1, hosts: 'n1:3'}",
              "  topology: {file: four.txt, classes: {NV2: 50 GB/s, SYS: {nccl_tests: "
              "table.txt}}}\n");
    assert_rates(lab, (const double[]){50, 2, 50, 2}, 4);
    assert_int_equal(lab->link[1].source, LINK_MEASURED);
}

static void each_type_may_have_a_topology_of_its_own(void **state)
{
    struct lab *lab = *state;
    find_ring(lab,
              "a: {count: 2, batch: 1, hosts: 'n1:2', allow_full: true}, "
              "b: {count: 2, batch: 1, hosts: 'n2:2', allow_full: true}",
              "  topology:\n"
              "    - {file: four.txt, classes: {NV2: 50 GB/s, SYS: 8 GB/s}}\n"
              "    - {file: four.txt, type: b, classes: {NV2: 40 GB/s, SYS: 8 GB/s}}\n"
              "  links: [{between: [a, b], bandwidth: 1 GB/s}]\n");
    assert_rates(lab, (const double[]){50, 1, 40, 1}, 4);
}

static void a_sub_system_is_joined_as_its_devices_are(void **state)
{
    struct lab *lab = *state;
    if (!read_job(lab,
                  "a: {count: 8, batch: 1, hosts: ['n1:4', 'n2:4'], subsystem: {devices: 3, "
                  "hosts: 'x:3'}}",
                  "  topology: {file: four.txt, classes: {NV2: 50 GB/s, SYS: 8 GB/s}}\n"))
        fail_msg("%s", lab->e.text);
    assert_true(network_subsystem_ring(&lab->network, &lab->job, 0, lab->link));
    assert_rates(lab, (const double[]){50, 8, 8}, 3);
}

static void refuses_what_the_files_do_not_say(void **state)
{
    struct lab *lab = *state;
    write_file(lab, "gather.txt", "# size redop root time algbw busbw\n4000 none -1 9 0.44 0.2\n");
    assert_refused(lab, TWO_HOSTS, "  topology: {file: four.txt, classes: {NV2: 1 GB/s}}\n",
                   "lab.yaml:3:13: four.txt has pairs of class SYS, which 'classes' does not give");
    assert_refused(lab, TWO_HOSTS, "  topology: {file: none.txt, classes: {NV2: 1 GB/s}}\n",
                   "none.txt: cannot open");
    assert_refused(lab, TWO_HOSTS, "  links: [{between: [a, a], nccl_tests: gather.txt}]\n",
                   "gather.txt: a table of all_gather");
    assert_refused(lab, TWO_HOSTS, "  links: [{between: [a, a], nccl_tests: gather.txt}]\n",
                   "in the link in line 3 of lab.yaml");
    assert_refused(lab, "a: {count: 5, batch: 1, hosts: 'n1:5'}",
                   "  topology: {file: four.txt, classes: {NV2: 1 GB/s, SYS: 1 GB/s}}\n",
                   "'a' has a device n1:4, and the table GPU0 to GPU3 only");
}

/* Nothing stands in for a table that nobody read. */
static void a_table_that_was_not_read_is_no_link(void **state)
{
    struct lab *lab = *state;
    assert_true(read_job(lab, TWO_HOSTS, "  links: [{between: [a, a], nccl_tests: table.txt}]\n"));
    assert_false(network_ring(NULL, &lab->job, lab->link, &lab->e));
    assert_non_null(strstr(lab->e.text, "6 links from a to a within a host have no value"));
    assert_non_null(strstr(lab->e.text, "2 links from a to a across hosts have no value"));
}

int main(void)
{
#define CLASS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CLASS_TEST(a_class_is_what_its_table_says),
        CLASS_TEST(a_host_is_joined_as_its_topology_says),
        CLASS_TEST(types_share_a_host_by_their_slots),
        CLASS_TEST(each_type_may_have_a_topology_of_its_own),
        CLASS_TEST(a_sub_system_is_joined_as_its_devices_are),
        CLASS_TEST(refuses_what_the_files_do_not_say),
        CLASS_TEST(a_table_that_was_not_read_is_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
