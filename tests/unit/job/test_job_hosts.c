/* Host lists as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "job/job.h"

/* A list in YAML and the names that it stands for, with ":slots" where there are several. */
struct reading_of_hosts {
    const char *name;
    const char *yaml;
    const char *hosts;
};

static const struct reading_of_hosts list[] = {
    {"reads_one_host", "localhost", "localhost"},
    {"reads_slots", "h:8", "h:8"},
    {"reads_an_address", "10.0.1.7:2", "10.0.1.7:2"},
    {"keeps_zeros", "'node[08-11]'", "node08 node09 node10 node11"},
    {"counts_without_zeros", "'10.0.1.[9-11]'", "10.0.1.9 10.0.1.10 10.0.1.11"},
    {"reads_single_numbers_and_ranges", "'a[1-2,5]'", "a1 a2 a5"},
    {"counts_the_last_group_fastest", "'r[1-2]n[1-2]'", "r1n1 r1n2 r2n1 r2n2"},
    {"gives_every_host_of_a_range_its_slots", "'a[1-2]:4'", "a1:4 a2:4"},
    {"reads_commas_in_one_text", "'a, b:2 ,c'", "a b:2 c"},
    {"reads_a_list", "['a[1-2]', b, 'c,d']", "a1 a2 b c d"},
    {"reads_an_ending_behind_a_range", "'n[1-2].lab.example'", "n1.lab.example n2.lab.example"},
    {"reads_an_ipv6_address", "['::1', 'fe80::1']", "::1 fe80::1"},
    {"reads_an_ipv6_address_with_slots", "'[fe80::1]:4'", "fe80::1:4"},
    {"reads_a_number_as_a_name", "7", "7"},
};
enum { N_LISTS = sizeof list / sizeof *list };

static void check_list(void **state)
{
    const struct reading_of_hosts *c = *state;
    char yaml[256];
    snprintf(yaml, sizeof yaml, "devices: {a: {count: 1, batch: 1, subsystem: 1, hosts: %s}}\n",
             c->yaml);
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    if (!job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e))
        fail_msg("%s", e.text);
    struct text found = {0};
    for (size_t i = 0; i < job.type[0].n_hosts; i++) {
        const struct job_host *host = &job.type[0].host[i];
        text_format(&found, "%s%s", i ? " " : "", host->name);
        if (host->n_devices != 1)
            text_format(&found, ":%d", host->n_devices);
    }
    assert_string_equal(found.data, c->hosts);
    text_free(&found);
    arena_free(&arena);
}

int main(void)
{
    static struct CMUnitTest test[N_LISTS];
    for (size_t i = 0; i < N_LISTS; i++) {
        test[i] = (struct CMUnitTest){.name = list[i].name,
                                      .test_func = check_list,
                                      .initial_state = (void *)(uintptr_t)&list[i]};
    }
    return cmocka_run_group_tests_name("job hosts", test, NULL, NULL);
}
