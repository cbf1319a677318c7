/* Positions in the ring, ranks of a training, and the job of a full system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "measure/ring_ranks.h"
#include "measure/subsystem.h"
#include "measure/whole.h"

struct fixture {
    struct arena arena;
    struct job job;
    struct subsystem subsystem;
    struct error e;
};

static void read_job(struct fixture *f, const char *yaml)
{
    *f = (struct fixture){0};
    if (!job_parse(&f->arena, yaml, strlen(yaml), "lab.yaml", ".", &f->job, &f->e))
        fail_msg("%s", f->e.text);
}

static void finish(struct fixture *f)
{
    arena_free(&f->arena);
    error_clear(&f->e);
}

/* Hosts of the ranks, "a0 b1 ...". */
static void assert_hosts(struct fixture *f, const char *expected)
{
    const char *found = "";
    for (int r = 0; r < f->subsystem.n_ranks; r++)
        found = arena_format(&f->arena, "%s%s%s", found, r ? " " : "", f->subsystem.rank[r].host);
    assert_string_equal(found, expected);
}

static void in_gloos_ring_each_rank_sends_to_the_one_before(void **state)
{
    (void)state;
    for (int n = 1; n < 9; n++) {
        for (int n_first = 1; n_first <= n; n_first++) {
            unsigned seen = 0;
            for (int k = 0; k < n; k++) {
                int rank = ring_rank("gloo", n, n_first, k);
                assert_int_equal(ring_rank("gloo", n, n_first, (k + 1) % n), (rank + n - 1) % n);
                seen |= 1U << rank;
            }
            assert_int_equal(seen, (1U << n) - 1);
            assert_int_equal(ring_rank("gloo", n, n_first, 0), n_first - 1);
        }
    }
    for (int k = 0; k < 5; k++)
        assert_int_equal(ring_rank("gloo", 5, 1, k), (5 - k) % 5);
}

static void other_backends_have_ranks_along_the_ring(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++)
        assert_int_equal(ring_rank("nccl", 5, 2, k), k);
}

static void a_full_system_follows_the_jobs_ring(void **state)
{
    (void)state;
    struct fixture f;
    read_job(&f, "devices:\n"
                 "  a: {count: 2, batch: 4, allow_full: true, hosts: 'a[0-1]', cpus: ['0', '1']}\n"
                 "  b: {count: 2, batch: 2, allow_full: true, hosts: 'b[0-1]'}\n"
                 "ring: [a1, b0, a0, b1]\n");
    subsystem_plan_full(&f.arena, &f.job, &f.subsystem);
    assert_hosts(&f, "a1 b1 a0 b0");
    assert_int_equal(f.subsystem.rank[0].number, 1);
    assert_string_equal(f.subsystem.rank[0].cpus, "1");
    assert_int_equal(f.subsystem.rank[1].type, 1);
    assert_int_equal(f.subsystem.rank[3].group_rank, 3);
    assert_string_equal(subsystem_title(&f.arena, &f.subsystem), "full system x4");
    finish(&f);
}

/* torchrun numbers the ranks of a host one after the other; scripts count on it. */
static void ranks_of_a_host_stand_together(void **state)
{
    (void)state;
    struct fixture f;
    read_job(&f, "devices: {a: {count: 6, batch: 4, hosts: 'h[0-2]:2'}}\n");
    subsystem_plan_full(&f.arena, &f.job, &f.subsystem);
    assert_hosts(&f, "h0 h0 h2 h2 h1 h1");
    assert_int_equal(f.subsystem.rank[0].number, 1);
    assert_int_equal(f.subsystem.rank[1].number, 0);
    assert_int_equal(f.subsystem.rank[2].number, 5);
    finish(&f);
}

static void a_sub_system_of_three_runs_its_own_ring(void **state)
{
    (void)state;
    struct fixture f;
    read_job(&f, "devices: {a: {count: 6, batch: 4, subsystem: 3, hosts: 'h[0-5]'}}\n");
    subsystem_plan(&f.arena, &f.job, 0, &f.subsystem);
    assert_hosts(&f, "h0 h2 h1");
    finish(&f);
}

static void a_full_system_draws_what_its_window_needs(void **state)
{
    (void)state;
    struct fixture f;
    struct job whole;
    const double sample_bytes[] = {1e3, 1e3, 0};
    read_job(&f, "training: {iterations: [20, 100], profiled: 19}\n"
                 "devices:\n"
                 "  a: {count: 4, batch: 8, data: 1 GB, hosts: 'a[0-3]'}\n"
                 "  b: {count: 4, batch: 2, data: 10 samples, hosts: 'b[0-3]', profile: b.json}\n"
                 "  c: {count: 4, batch: 2, data: 1 GB, hosts: 'c[0-3]'}\n");
    assert_true(whole_job(&f.arena, &f.job, sample_bytes, &whole, &f.e));
    assert_int_equal(whole.type[0].data.unit, AMOUNT_SAMPLES);
    assert_float_equal(whole.type[0].data.value, 120 * 8, 0);
    assert_float_equal(whole.type[1].data.value, 10, 0);
    assert_int_equal(whole.type[2].data.unit, AMOUNT_BYTES);
    assert_null(whole.type[1].profile);
    assert_int_equal(whole.type[1].subsystem_devices, 4);
    assert_true(whole.one_ring);
    assert_int_equal(f.job.type[0].subsystem_devices, 2);
    finish(&f);
}

static void refuses_backends_that_form_no_ring(void **state)
{
    (void)state;
    struct fixture f;
    struct job whole;
    const double sample_bytes[2] = {0};
    read_job(&f, "devices:\n"
                 "  a100: {count: 4, batch: 8, hosts: 'a[0-3]', backend: nccl}\n"
                 "  mlu: {count: 4, batch: 8, hosts: 'b[0-3]', backend: cncl}\n");
    assert_false(whole_job(&f.arena, &f.job, sample_bytes, &whole, &f.e));
    assert_non_null(strstr(f.e.text, "lab.yaml:3:3: the full system needs one backend"));
    assert_non_null(strstr(f.e.text, "'a100' has nccl, and 'mlu' has cncl"));
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_gloos_ring_each_rank_sends_to_the_one_before),
        cmocka_unit_test(other_backends_have_ranks_along_the_ring),
        cmocka_unit_test(a_full_system_follows_the_jobs_ring),
        cmocka_unit_test(ranks_of_a_host_stand_together),
        cmocka_unit_test(a_sub_system_of_three_runs_its_own_ring),
        cmocka_unit_test(a_full_system_draws_what_its_window_needs),
        cmocka_unit_test(refuses_backends_that_form_no_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
