/* The table of nvidia-smi topo -m: which class joins which pair, and what is wrong where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"
#include "network/topology.h"
#include "samples.h"

struct fixture {
    struct arena arena;
    struct error e;
    struct topology topology;
};

DEFINE_FIXTURE

static bool parse(struct fixture *f, const char *text)
{
    return topology_parse(&f->arena, text, "topo.txt", &f->topology, &f->e);
}

static const char *between(const struct fixture *f, size_t i, size_t j)
{
    return f->topology.class[i * f->topology.n + j];
}

static void reads_the_sample_of_eight_devices(void **state)
{
    struct fixture *f = *state;
    const char *path =
        path_join(&f->arena, samples_folder(&f->arena, "topo"), "dlperf_v100_topo.txt");
    if (!topology_read(&f->arena, path, &f->topology, &f->e))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->topology.n, 8);
    assert_null(between(f, 3, 3));
    assert_string_equal(between(f, 0, 1), "NV1");
    assert_string_equal(between(f, 3, 0), "NV2");
    assert_string_equal(between(f, 7, 0), "SYS");
    assert_string_equal(between(f, 6, 7), "NV2");
}

/* As newer drivers print it: tabs, an underlined head, network cards, more columns behind. */
static const char modern[] =
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\t0-11\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\t12-23\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n\n"
    "Legend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n  NIC0: mlx5_0\n";

static void escapes_tabs_and_network_cards_are_passed_over(void **state)
{
    struct fixture *f = *state;
    assert_true(topology_is_table(modern));
    if (!parse(f, modern))
        fail_msg("%s", f->e.text);
    assert_int_equal(f->topology.n, 2);
    assert_string_equal(between(f, 0, 1), "NV18");
    assert_string_equal(between(f, 1, 0), "NV18");
}

static void refuses_what_it_cannot_read_at_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } refusal[] = {
        {"", "topo.txt: no table of `nvidia-smi topo -m`"},
        {"  GPU0 GPU2\n", "topo.txt:1:8: expected GPU1 (got GPU2)"},
        {"  GPU0 GPU1\nGPU0 X SYS\n", "topo.txt: the row of GPU1 is missing"},
        {"  GPU0 GPU1\nGPU0 X SIS\n",
         "topo.txt:2:8: expected NV#, PIX, PXB, PHB, NODE or SYS (got SIS)"},
        {"  GPU0 GPU1\nGPU0 X\n",
         "topo.txt:2:7: expected NV#, PIX, PXB, PHB, NODE or SYS (got the end"},
        {"  GPU0 GPU1\nGPU0 SYS X\n", "topo.txt:2:6: expected X, a device with itself (got SYS)"},
        {"  GPU0 GPU1\nGPU0 X NV1\nGPU0 X NV1\n",
         "topo.txt:3:1: expected the row of a GPU that has"},
        {"  GPU0 GPU1\nGPU2 X NV1\n", "topo.txt:2:1: expected the row of a GPU that has a column"},
        {"  GPU0 GPU1\nGPU0 X NV1\nGPU1 NV2 X\n", "topo.txt: GPU0 to GPU1 is NV1, and back NV2"},
        {"  GPU0 GPU1\nGPU0 X NV0\n", "topo.txt:2:8: expected NV#"},
        {"  GPU0 GPU1\nGPU0 X \x1b[31mNVx\n", "(got NVx)"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        assert_false(parse(f, refusal[i].text));
        if (!strstr(f->e.text, refusal[i].says))
            fail_msg("'%s' is not in:\n%s", refusal[i].says, f->e.text);
    }
}

static void survives_a_table_cut_off_or_broken_anywhere(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof modern - 1; i++) {
        char text[sizeof modern];
        memcpy(text, modern, sizeof modern);
        text[i] = (char)(i % 255 + 1);
        if (parse(f, text))
            assert_true(f->topology.n >= 1 && f->topology.n <= 2);
        text[i] = '\0';
        if (parse(f, text))
            assert_int_equal(f->topology.n, 2);
    }
}

int main(void)
{
#define TOPOLOGY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TOPOLOGY_TEST(reads_the_sample_of_eight_devices),
        TOPOLOGY_TEST(escapes_tabs_and_network_cards_are_passed_over),
        TOPOLOGY_TEST(refuses_what_it_cannot_read_at_its_place),
        TOPOLOGY_TEST(survives_a_table_cut_off_or_broken_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
