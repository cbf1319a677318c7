/* Bandwidth measured elsewhere: iperf3's JSON, tables of nccl-tests, several files at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "measure/bandwidth_files.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job job;
    struct network network;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/foretrain-files-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    error_clear(&f->e);
    file_remove_tree(f->folder, &f->e);
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

/* A folder of samples; skips, loudly, where this checkout has none. */
static const char *samples(struct fixture *f, const char *name)
{
    const char *named = getenv("FORETRAIN_SHARED");
    const char *const place[] = {named ? named : "../shared", "../../shared"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *folder = path_join(&f->arena, path_join(&f->arena, place[i], "data"), name);
        if (file_exists(folder))
            return folder;
    }
    fprintf(stderr, "SKIPPED: no samples; set FORETRAIN_SHARED to the shared folder\n");
    skip();
    return NULL;
}

static void write_file(struct fixture *f, const char *name, const char *content)
{
    assert_true(file_write(path_join(&f->arena, f->folder, name), content, strlen(content), &f->e));
}

static bool read_job(struct fixture *f, const char *measured)
{
    const char *text = arena_format(&f->arena,
                                    "devices: {a: {count: 4, batch: 1, hosts: 'n[1-4]'}}\n"
                                    "network:\n  measured: %s\n",
                                    measured);
    f->job = (struct job){0};
    return job_parse(&f->arena, text, strlen(text), "job.yaml", f->folder, &f->job, &f->e);
}

static bool read_network(struct fixture *f, const char *measured)
{
    if (!read_job(f, measured))
        fail_msg("%s", f->e.text);
    return bandwidth_files_read(&f->arena, &f->job, &f->network, &f->e);
}

static const struct link *between(struct fixture *f, const char *from, const char *to)
{
    long i = network_find(&f->network, from), j = network_find(&f->network, to);
    assert_true(i >= 0 && j >= 0);
    return &f->network.link[(size_t)i * f->network.n + (size_t)j];
}

static void assert_rate(struct fixture *f, const char *from, const char *to, double mbit_per_s)
{
    const struct link *link = between(f, from, to);
    double got = link->bandwidth_Bps * 8e-6;
    if (link->source != LINK_MEASURED || fabs(got - mbit_per_s) > 0.51)
        fail_msg("%s -> %s: %g Mbit/s, %s", from, to, got, link_source_word(link));
}

static void assert_says(const struct fixture *f, const char *part)
{
    if (!f->e.text || !strstr(f->e.text, part))
        fail_msg("'%s' is not in:\n%s", part, f->e.text ? f->e.text : "");
}

static void iperf3_files_make_the_matrix_they_were_made_for(void **state)
{
    struct fixture *f = *state;
    const char *folder = samples(f, "iperf3/made-here/matrix4"), *list = "[";
    char *text = NULL;
    for (int i = 0; i < 12; i++) {
        int from = i / 3, to = i % 3 + (i % 3 >= from);
        char *path = NULL;
        assert_true(path_absolute(
            &f->arena,
            path_join(&f->arena, folder, arena_format(&f->arena, "from%d_to%d.json", from, to)),
            &path, &f->e));
        list = arena_format(&f->arena, "%s%s%s", list, i ? ", " : "", path);
    }
    if (!read_network(f, arena_format(&f->arena, "%s]", list)))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->network.n, 4);
    assert_true(file_read(&f->arena, path_join(&f->arena, folder, "matrix_Mbit.txt"), 1 << 16,
                          &text, NULL, &f->e));
    char *rest = strchr(text, '\n');
    for (int i = 0; i < 16; i++) {
        double expected = strtod(rest, &rest);
        if (i / 4 != i % 4)
            assert_rate(f, arena_format(&f->arena, "10.78.0.%d", i / 4 + 1),
                        arena_format(&f->arena, "10.78.0.%d", i % 4 + 1), expected);
    }
}

static void a_reversed_test_is_of_the_other_direction(void **state)
{
    struct fixture *f = *state;
    char *folder = NULL;
    assert_true(path_absolute(&f->arena, samples(f, "iperf3/made-here/matrix4"), &folder, &f->e));
    if (!read_network(f, path_join(&f->arena, folder, "from0_to1_R.json")))
        fail_msg("%s", f->e.text);
    assert_int_equal(between(f, "10.78.0.2", "10.78.0.1")->source, LINK_MEASURED);
    assert_int_equal(between(f, "10.78.0.1", "10.78.0.2")->source, LINK_FILLED);
}

#define RATE(bits) "{\"end\":{\"sum_received\":{\"bits_per_second\":" bits "}}}"

static void the_job_names_the_hosts_of_a_file(void **state)
{
    struct fixture *f = *state;
    write_file(f, "a.json", RATE("8e6"));
    write_file(f, "b.csv", "from,to,bandwidth\nn2,n3,16 Mbit/s\n");
    if (!read_network(f, "[{file: a.json, from: n1, to: n2}, b.csv]"))
        fail_msg("%s", f->e.text);
    assert_rate(f, "n1", "n2", 8);
    assert_true(between(f, "n2", "n3")->bandwidth_Bps == 2e6);
    assert_int_equal(between(f, "n2", "n3")->source, LINK_GIVEN);
    assert_int_equal(between(f, "n3", "n2")->source, LINK_FILLED);
}

static void refuses_what_it_cannot_place(void **state)
{
    struct fixture *f = *state;
    write_file(f, "a.json", RATE("8e6"));
    write_file(f, "bad.json", "{\"error\":\"refused\"}");
    write_file(f, "b.csv", "from,to,bandwidth\nn1,n2,16 Mbit/s\n");
    static const struct {
        const char *measured, *says;
    } refusal[] = {
        {"a.json", "a.json: does not say between which addresses it was measured\n  hint: in the "
                   "job, network.measured: [{file: "},
        {"[bad.json, none.json]", "bad.json: iperf3: refused"},
        {"[bad.json, none.json]", "none.json"},
        {"[{file: a.json, from: n1, to: n2}, b.csv]", "b.csv: the link from 'n1' to 'n2' is in "},
        {"{file: b.csv, from: n1, to: n2}", "b.csv: a network file names its hosts"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        assert_false(read_network(f, refusal[i].measured));
        assert_says(f, refusal[i].says);
    }
    assert_false(read_job(f, "{file: a.json, from: n1}"));
    assert_says(f, "job.yaml:3:13: a file of one link needs 'from' and 'to', or neither");
    assert_false(read_job(f, "[]"));
    assert_says(f, "measured is a file, or a list of 1 to");
    assert_false(read_job(f, "{fiel: a.json}"));
    assert_says(f, "did you mean 'file'?");
}

static void a_tables_hosts_are_its_links(void **state)
{
    struct fixture *f = *state;
    char *path = NULL, *text = NULL;
    assert_true(file_read(
        &f->arena, path_join(&f->arena, samples(f, "nccltests"), "pkb_nccl_2node_K80_ethernet.txt"),
        1 << 20, &text, NULL, &f->e));
    write_file(f, "k80.txt", arena_format(&f->arena, "# all_reduce_perf\n%s", text));
    path = path_join(&f->arena, f->folder, "k80.txt");
    if (!bandwidth_paths_read(&f->arena, (const char *[]){path}, 1, &f->network, &f->e))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->network.n, 2);
    assert_true(fabs(between(f, "pkb-2b6a393d-2", "pkb-2b6a393d-3")->bandwidth_Bps - 0.609e9) <
                1e6);
    assert_int_equal(between(f, "pkb-2b6a393d-3", "pkb-2b6a393d-2")->source, LINK_MEASURED);
    assert_true(path_absolute(&f->arena,
                              path_join(&f->arena, samples(f, "nccltests"), "aws_allreduce_0.txt"),
                              &path, &f->e));
    assert_false(bandwidth_paths_read(&f->arena, (const char *[]){path}, 1, &f->network, &f->e));
    assert_says(f, "does not list the hosts of its 16 ranks (627 Gbit/s a link)");
}

#define HEAD "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
#define RANKS4                                                                                     \
    "# Rank 0 Pid 1 on n1 device 0 [0x00] X\n# Rank 1 Pid 1 on n1 device 1 [0x00] X\n"             \
    "# Rank 2 Pid 1 on n2 device 0 [0x00] X\n# Rank 3 Pid 1 on n2 device 1 [0x00] X\n"

static void links_within_hosts_and_across_have_the_rings_rate(void **state)
{
    struct fixture *f = *state;
    write_file(f, "t.txt",
               RANKS4 HEAD "[1,0]<stdout>: 4000 1000 float sum -1 9 0.4 0.6 0 9 0.4 0.6 0\n"
                           "0:  8000000 2000000 float sum -1 1e4 0.8 1.2 0 1e4 0.8 1.2 0\n");
    if (!read_network(f, "t.txt"))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->network.n, 2);
    for (size_t i = 0; i < 4; i++) {
        const struct link *link = &f->network.link[i];
        assert_true(fabs(link->bandwidth_Bps - 1.2e9) < 1);
        assert_int_equal(link->curve->n, 2);
        assert_true(fabs(link_message_Bps(link, 1000) - 1000 / 1.5e-6) < 1);
    }
    if (!read_network(f, "{file: t.txt, from: n3, to: n4}"))
        fail_msg("%s", f->e.text);
    assert_rate(f, "n3", "n4", 9600);
}

int main(void)
{
#define FILES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FILES_TEST(iperf3_files_make_the_matrix_they_were_made_for),
        FILES_TEST(a_reversed_test_is_of_the_other_direction),
        FILES_TEST(the_job_names_the_hosts_of_a_file),
        FILES_TEST(refuses_what_it_cannot_place),
        FILES_TEST(a_tables_hosts_are_its_links),
        FILES_TEST(links_within_hosts_and_across_have_the_rings_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
