/* The part of a full system that can be started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "job/system.h"

struct fixture {
    struct arena arena;
    struct job job;
    struct job_system system;
    struct error e;
};

static void make(struct fixture *f, const char *yaml)
{
    *f = (struct fixture){0};
    if (!job_parse(&f->arena, yaml, strlen(yaml), "lab.yaml", ".", &f->job, &f->e) ||
        !job_system_make(&f->arena, &f->job, &f->system, &f->e))
        fail_msg("%s", f->e.text);
}

static void finish(struct fixture *f)
{
    arena_free(&f->arena);
    error_clear(&f->e);
}

static void assert_ring(const struct fixture *f, const char *const *name, size_t n)
{
    struct arena arena = {0};
    assert_int_equal(f->system.job.n_devices, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(
            job_device_name(&arena, &f->system.job, job_ring_device(&f->system.job, i)), name[i]);
    arena_free(&arena);
}

static void with_hosts_for_all_it_is_the_job(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const ring[] = {"n1", "m:0", "m:1", "n2"};
    make(&f, "devices:\n"
             "  a: {count: 2, batch: 1, allow_full: true, hosts: 'n[1-2]'}\n"
             "  b: {count: 2, batch: 1, allow_full: true, hosts: 'm:2'}\n"
             "ring: [n1, m, n2]\n");
    assert_null(f.system.smaller);
    assert_int_equal(f.system.job.n_types, 2);
    assert_ring(&f, ring, 4);
    finish(&f);
}

static void takes_as_many_devices_as_there_are_places(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const ring[] = {"x:1", "n2", "x:0", "n1"};
    make(&f, "devices:\n"
             "  paper: {count: 9, batch: 1}\n"
             "  a: {count: 3, batch: 1, subsystem: {hosts: 'x:2'}}\n"
             "  b: {count: 2, batch: 1, allow_full: true, hosts: 'n[1-2]'}\n"
             "ring: ['paper-[0-4]', a-1, n2, a-2, a-0, n1, 'paper-[5-8]']\n"
             "network:\n"
             "  links:\n"
             "    - {between: [paper, a], bandwidth: 1 Gbit/s}\n"
             "    - {from: a, to: b, bandwidth: 2 Gbit/s}\n");
    assert_string_equal(f.system.smaller, "paper none of 9, a 2 of 3");
    assert_int_equal(f.system.job.n_types, 2);
    assert_int_equal(f.system.type[0], 1);
    assert_int_equal(f.system.type[1], 2);
    assert_ring(&f, ring, 4);
    assert_int_equal(f.system.job.n_links, 1);
    assert_int_equal(f.system.job.link[0].from_type, 0);
    assert_int_equal(f.system.job.link[0].to_type, 1);
    assert_int_equal(f.job.n_devices, 14);
    assert_int_equal(f.job.type[1].n_hosts, 0);
    finish(&f);
}

static void refuses_a_job_without_hosts(void **state)
{
    (void)state;
    struct fixture f = {0};
    static const char yaml[] = "devices: {a: {count: 3, batch: 1}}\n";
    assert_true(job_parse(&f.arena, yaml, strlen(yaml), "lab.yaml", ".", &f.job, &f.e));
    assert_false(job_system_make(&f.arena, &f.job, &f.system, &f.e));
    assert_int_equal(f.e.kind, ERROR_INPUT);
    assert_non_null(strstr(f.e.text, "lab.yaml: no device type has hosts"));
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_hosts_for_all_it_is_the_job),
        cmocka_unit_test(takes_as_many_devices_as_there_are_places),
        cmocka_unit_test(refuses_a_job_without_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
