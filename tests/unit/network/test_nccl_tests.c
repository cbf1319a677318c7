/* Tables of nccl-tests: what a round of the ring takes by size, and what is refused by name. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "fixture.h"
#include "network/nccl_tests.h"
#include "samples.h"

struct fixture {
    struct arena arena;
    struct error e;
    struct nccl_table table;
};

DEFINE_FIXTURE

static void assert_says(const struct fixture *f, const char *part)
{
    if (!f->e.text || !strstr(f->e.text, part))
        fail_msg("'%s' is not in:\n%s", part, f->e.text ? f->e.text : "");
}

static bool read_table(struct fixture *f, const char *text)
{
    return nccl_tests_is_table(text) && nccl_tests_read(&f->arena, text, &f->table, &f->e);
}

static bool read_sample(struct fixture *f, const char *name)
{
    return nccl_tests_read_file(&f->arena,
                                path_join(&f->arena, samples_folder(&f->arena, "nccltests"), name),
                                &f->table, &f->e);
}

static double time_of(const struct fixture *f, double bytes)
{
    return curve_message_s(f->table.curve.point, f->table.curve.n, bytes);
}

#define HEAD "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
#define RANKS2 "# Rank 0 Pid 1 on n1 device 0 [0x00] X\n# Rank 1 Pid 1 on n2 device 0 [0x00] X\n"
#define RANKS4                                                                                     \
    "# Rank 0 Pid 1 on n1 device 0 [0x00] X\n# Rank 1 Pid 1 on n1 device 1 [0x00] X\n"             \
    "# Rank 2 Pid 1 on n2 device 0 [0x00] X\n# Rank 3 Pid 1 on n2 device 1 [0x00] X\n"

static void reads_tables_of_all_reduce_perf(void **state)
{
    static const struct {
        const char *name, *first_host;
        size_t n_ranks, n_sizes;
        double busbw_GBps;
    } known[] = {
        {"aws_allreduce_0.txt", NULL, 16, 29, 78.33},
        {"superbench_nccl_allreduce.log", "localhost", 8, 32, 235.03},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!read_sample(f, known[i].name))
            fail_msg("%s", f->e.text);
        assert_int_equal(f->table.n_ranks, known[i].n_ranks);
        assert_int_equal(f->table.curve.n, known[i].n_sizes);
        if (fabs(f->table.bandwidth_Bps * 1e-9 - known[i].busbw_GBps) > 0.006)
            fail_msg("%s: %g GB/s", known[i].name, f->table.bandwidth_Bps * 1e-9);
        assert_int_equal(f->table.host != NULL, known[i].first_host != NULL);
        if (f->table.host)
            assert_string_equal(f->table.host[0], known[i].first_host);
    }
}

/* By hand, from rows of the file: 2(n-1) rounds of size/n bytes each. */
static void a_round_takes_its_share_of_the_time_in_place(void **state)
{
    struct fixture *f = *state;
    if (!read_sample(f, "superbench_nccl_allreduce.log"))
        fail_msg("%s", f->e.text);
    assert_true(fabs(time_of(f, 1048576 / 8.0) - 76.17e-6 / 14) < 1e-15);
    assert_true(fabs(time_of(f, 8589934592 / 8.0) - 63959e-6 / 14) < 1e-12);
    assert_true(fabs(time_of(f, 2 * 8589934592 / 8.0) - 2 * 63959e-6 / 14) < 1e-12);
    /* 128 B took 43.78 us, 256 B only 34.95: so much is enough for 128, too. */
    assert_true(fabs(time_of(f, 128 / 8.0) - 34.95e-6 / 14) < 1e-15);
}

static void the_curve_gives_the_tables_own_all_reduces_back(void **state)
{
    struct fixture *f = *state;
    if (!read_table(f, RANKS4 HEAD "4000 1000 float sum -1 40 0.1 0.15 0 60 0.1 0.1 0\n"
                                   "400000 100000 float sum -1 90 4.4 6.7 0 120 3.3 5 0\n"
                                   "8000000 2000000 float sum -1 1000 8 12 0 1200 6.7 10 0\n"))
        fail_msg("%s", f->e.text);
    static const double took_s[][2] = {{4000, 60e-6}, {400000, 120e-6}, {8000000, 1200e-6}};
    struct ft_link link[4];
    for (size_t i = 0; i < 4; i++)
        link[i] = (struct ft_link){.bandwidth_Bps = 1, /* the curve counts */
                                   .curve = f->table.curve.point,
                                   .n_curve = f->table.curve.n};
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(6 * curve_message_s(link[0].curve, 3, took_s[i][0] / 4) - took_s[i][1]) <
                    1e-15);
    /* below the first size the line through the first two goes on */
    double slope = (120e-6 - 60e-6) / (400000 - 4000);
    assert_true(fabs(6 * time_of(f, 0) - (60e-6 - slope * 4000)) < 1e-15);
}

static void a_link_of_the_table_has_its_curve_rate_and_latency(void **state)
{
    struct fixture *f = *state;
    if (!read_table(f, RANKS4 HEAD "4000 1000 float sum -1 60 0.1 0.1 0 60 0.1 0.1 0\n"
                                   "8000000 2000000 float sum -1 1000 8 12 0 1000 8 12 0\n"))
        fail_msg("%s", f->e.text);
    struct link link = nccl_tests_link(&f->arena, &f->table);
    assert_int_equal(link.source, LINK_MEASURED);
    assert_true(fabs(link.bandwidth_Bps - 12e9) < 1);
    assert_true(link.latency_s > 9.9e-6 && link.latency_s < 10e-6);
    assert_true(fabs(link_message_Bps(&link, 1000) - 1000 / 10e-6) < 1e-3);
    assert_true(fabs(link_message_Bps(&link, 1e9) - 12e9) < 1);
}

static void rows_of_several_operations_and_out_of_order_are_one_curve(void **state)
{
    struct fixture *f = *state;
    if (!read_table(f, RANKS4 HEAD "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n"
                                   "4000 1000 float sum -1 9 0.4 0.7 0 9 0.4 0.7 0\n"
                                   "8000 2000 float prod -1 10 0.8 1.2 0 12 0.7 1 0\n"))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->table.curve.n, 2);
    assert_true(fabs(time_of(f, 2000) - 10e-6 / 6) < 1e-15);
}

static void prefixes_of_launchers_are_passed_over(void **state)
{
    struct fixture *f = *state;
    if (!read_table(f, RANKS4 "0: " HEAD
                              "[1,0]<stdout>:   4000 1000 float sum -1 9 0.4 0.7 0 9 0.4 0.7 0\n"
                              "host:1:1 [0] NCCL INFO Launch mode Parallel\n"
                              "0:  8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n"))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->table.curve.n, 2);
}

static void refuses_other_collectives_by_name(void **state)
{
    static const struct {
        const char *text, *says;
    } refusal[] = {
        {HEAD "8000 2000 float none 0 10 0.8 0.8 0 10 0.8 0.8 0\n", "a table of broadcast"},
        {HEAD "8000 2000 float none -1 10 0.8 0.6 0 10 0.8 0.6 0\n", "a table of all_gather"},
        {HEAD "8000 2000 float sum 0 10 0.8 0.8 0 10 0.8 0.8 0\n", "a table of reduce:"},
        {RANKS4 HEAD "8000 2000 float sum -1 10 0.8 0.6 0 10 0.8 0.6 0\n", "reduce_scatter"},
        {HEAD "8000 2000 float sum -1 10 0.8 0.4 0 10 0.8 0.4 0\n", "reduce_scatter"},
        {HEAD "8000000 2000000 float sum -1 200.75 39.85 39.70 0 200.75 39.85 39.70 0\n",
         "reduce_scatter"},
        {RANKS4 RANKS4 HEAD "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n",
         "lists rank 0 twice"},
        {"# Rank 1 Pid 1 on n1 device 1 [0x00] X\n" HEAD
         "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n",
         "lists rank 1 but not all ranks before it"},
        {HEAD "8000000 2000000 float sum -1 200 40 40 0 200 40 40 N/A\n",
         "nothing tells that it is of all_reduce: busbw equals algbw"},
        {RANKS2 HEAD "8000000 2000000 float sum -1 200 40 40 0 200 40 40 N/A\n",
         "as in tables of sendrecv"},
        {RANKS2 HEAD "8000000 2000000 float sum -1 200 40 40 N/A 200 40 40 N/A\n",
         "as in tables of sendrecv"},
        {RANKS2 "# size count type time algbw busbw error time algbw busbw error\n"
                "8000000 2000000 float 200 40 40 0e+00 200 40 40 0e+00\n",
         "as in tables of sendrecv"},
        {RANKS2 HEAD "8000000 2000000 float none -1 200 40 20 0 200 40 20 0\n",
         "a table of all_gather, alltoall"},
        {RANKS2 HEAD "8000000 2000000 float none 0 200 40 40 0 200 40 40 0\n",
         "a table of broadcast"},
        {RANKS2 HEAD "8000000 2000000 float sum 0 200 40 40 0 200 40 40 0\n", "a table of reduce:"},
        {RANKS2 HEAD "8000000 2000000 float sum -1 200 40 20 0 200 40 20 0\n", "reduce_scatter"},
        {RANKS4 HEAD "8 2 float sum -1 900 0.00 0.00 0 900 0.00 0.00 0\n",
         "nothing tells that it is of all_reduce: algbw is rounded to 0"},
        {"# Collective test starting: sendrecv_perf\n" HEAD
         "8000 2000 float sum -1 10 0.8 0.8 0 10 0.8 0.8 0\n",
         "a table of sendrecv:"},
        {"NCCL INFO NCCL_ALGO set by environment to NVLS\n" HEAD
         "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n",
         "inside switches"},
        {HEAD "0 0 float sum -1 10 0 0 0 10 0 0 0\n", "no row of the table has numbers"},
        {HEAD "8000 2000 float sum -1 nan 0.8 1.2 0 inf 0.8 1.2 0\n", "no row"},
        {"algbw busbw\n", "no table"},
        {RANKS4 HEAD "8000 2000 float sum -1 0.01 0.8 1.2 0 0.01 0.8 1.2 0\n",
         "algbw is not size over time: expected bytes, microseconds"},
        {RANKS4 HEAD "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n" HEAD,
         "more than one table"},
        {HEAD "8000 2000 float sum -1 1000 0.01 0.02 0 1000 0.01 0.02 0\n",
         "does not list its ranks, and busbw over algbw leaves"},
        {"#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n", "perftest"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        assert_false(read_table(f, refusal[i].text));
        assert_says(f, refusal[i].says);
    }
}

static void the_programs_name_tells_what_the_numbers_do_not(void **state)
{
    static const char *const table[] = {
        HEAD "8000000 2000000 float sum -1 200 40 40 N/A 200 40 40 N/A\n",
        RANKS4 HEAD "8 2 float sum -1 900 0.00 0.00 0 900 0.00 0.00 0\n",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *named = arena_format(&f->arena, "$ ./all_reduce_perf -b 8\n%s", table[i]);
        if (!read_table(f, named))
            fail_msg("%s", f->e.text);
        assert_int_equal(f->table.n_ranks, i == 0 ? 2 : 4);
    }
}

static void results_checked_in_place_tell_two_ranks_from_sendrecv(void **state)
{
    static const char *const table[] = {
        HEAD "8000000 2000000 float sum -1 200 40 40 0 200 40 40 0\n",
        RANKS2 HEAD "8000000 2000000 float sum -1 200 40 40 0 200 40 40 0\n",
        RANKS2 "# size count type redop time algbw busbw error time algbw busbw error\n"
               "8000000 2000000 float sum 200 40 40 1e-06 200 40 40 1e-06\n",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!read_table(f, table[i]))
            fail_msg("%s", f->e.text);
        assert_int_equal(f->table.n_ranks, 2);
    }
}

static void a_sample_of_two_ranks_needs_the_programs_name(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    const char *path = path_join(&f->arena, samples_folder(&f->arena, "nccltests"),
                                 "pkb_nccl_2node_K80_ethernet.txt");
    assert_false(nccl_tests_read_file(&f->arena, path, &f->table, &f->e));
    assert_says(f, "as in tables of sendrecv");
    assert_says(f, "# all_reduce_perf");
    assert_true(file_read(&f->arena, path, 1 << 20, &text, NULL, &f->e));
    if (!read_table(f, arena_format(&f->arena, "# all_reduce_perf\n%s", text)))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->table.n_ranks, 2);
    assert_int_equal(f->table.curve.n, 11);
    assert_true(fabs(f->table.bandwidth_Bps * 1e-9 - 0.61) < 0.006);
    assert_string_equal(f->table.host[0], "pkb-2b6a393d-2");
}

static void samples_that_are_no_such_tables_say_why(void **state)
{
    struct fixture *f = *state;
    assert_false(read_sample(f, "gcp_1.txt"));
    assert_says(f, "gcp_1.txt: no row of the table has numbers");
    assert_false(read_sample(f, "perftest_ib_loopback_all_sizes.log"));
    assert_says(f, "a log of perftest (ib_write_bw and the like)");
}

static void survives_a_table_cut_off_or_broken_anywhere(void **state)
{
    static const char whole[] = RANKS4 HEAD "8000 2000 float sum -1 10 0.8 1.2 0 10 0.8 1.2 0\n";
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        text[i] = (char)(i % 255 + 1);
        if (nccl_tests_read(&f->arena, text, &f->table, &f->e))
            assert_true(isfinite(f->table.bandwidth_Bps) && f->table.bandwidth_Bps > 0);
        text[i] = '\0';
        if (nccl_tests_read(&f->arena, text, &f->table, &f->e))
            assert_true(isfinite(f->table.bandwidth_Bps) && f->table.bandwidth_Bps > 0);
    }
}

int main(void)
{
#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TABLE_TEST(reads_tables_of_all_reduce_perf),
        TABLE_TEST(a_round_takes_its_share_of_the_time_in_place),
        TABLE_TEST(the_curve_gives_the_tables_own_all_reduces_back),
        TABLE_TEST(a_link_of_the_table_has_its_curve_rate_and_latency),
        TABLE_TEST(rows_of_several_operations_and_out_of_order_are_one_curve),
        TABLE_TEST(prefixes_of_launchers_are_passed_over),
        TABLE_TEST(refuses_other_collectives_by_name),
        TABLE_TEST(the_programs_name_tells_what_the_numbers_do_not),
        TABLE_TEST(results_checked_in_place_tell_two_ranks_from_sendrecv),
        TABLE_TEST(a_sample_of_two_ranks_needs_the_programs_name),
        TABLE_TEST(samples_that_are_no_such_tables_say_why),
        TABLE_TEST(survives_a_table_cut_off_or_broken_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
