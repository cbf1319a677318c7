/* Reading what iperf3 prints, all versions and faults of the samples in shared; and this machine's
 * addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fixture.h"
#include "measure/address.h"
#include "measure/iperf3.h"

struct fixture {
    struct arena arena;
    struct error e;
};

DEFINE_FIXTURE

/* The folder of samples; skips, loudly, where this checkout has none. */
static const char *samples(struct fixture *f)
{
    const char *named = getenv("FORETRAIN_SHARED");
    const char *const place[] = {named ? named : "../shared", "../../shared"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *folder = path_join(&f->arena, place[i], "data/iperf3");
        if (file_exists(folder))
            return folder;
    }
    fprintf(stderr, "SKIPPED: no iperf3 samples; set FORETRAIN_SHARED to the shared folder\n");
    skip();
    return NULL;
}

static char *read_sample(struct fixture *f, const char *folder, const char *name)
{
    char *text = NULL;
    if (!file_read(&f->arena, path_join(&f->arena, folder, name), 1 << 24, &text, NULL, &f->e))
        fail_msg("%s", f->e.text);
    return text;
}

/* The value by a crude search, as an oracle: the first "bits_per_second" behind "sum_received". */
static double crude_bits_per_second(const char *text)
{
    const char *sum = strstr(text, "\"sum_received\"");
    const char *value = sum ? strstr(sum, "\"bits_per_second\"") : NULL;
    return value ? strtod(value + strlen("\"bits_per_second\"") + strspn(value + 17, ":\t "), NULL)
                 : -1;
}

/*
 * By the name that the samples were given: errors, UDP and streamed JSON are no results. Old
 * --bidir says sum_received twice, once for each direction.
 */
static bool is_result(const char *name)
{
    bool ambiguous = strstr(name, "iperf3.7_bidir") || strstr(name, "iperf3.9_bidir");
    return !ambiguous && !strstr(name, "_err_") && !strstr(name, "udp") &&
           !strstr(name, "jsonstream");
}

static void check_sample(struct fixture *f, const char *folder, const char *name)
{
    struct iperf3_result result = {.bandwidth_Bps = -1};
    char *text = read_sample(f, folder, name);
    bool ok = iperf3_read(text, &result, &f->e);
    if (ok != is_result(name))
        fail_msg("%s: %s", name, ok ? "was read" : f->e.text);
    if (!ok) {
        assert_int_equal(f->e.kind, ERROR_HOST);
        assert_memory_equal(f->e.text, "iperf3: ", 8);
        assert_true(strlen(f->e.text) > 20);
        assert_true(result.bandwidth_Bps < 0);
        return;
    }
    double expected = crude_bits_per_second(text) / 8;
    if (!(fabs(result.bandwidth_Bps - expected) <= 1e-12 * expected))
        fail_msg("%s: %g instead of %g", name, result.bandwidth_Bps, expected);
    assert_true(result.reversed == (strstr(name, "_R.") != NULL));
}

static size_t check_folder(struct fixture *f, const char *folder)
{
    DIR *directory = opendir(folder);
    size_t n = 0;
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".json") != 0)
            continue;
        check_sample(f, folder, entry->d_name);
        n++;
    }
    closedir(directory);
    return n;
}

static void reads_every_sample_or_says_what_is_wrong(void **state)
{
    struct fixture *f = *state;
    const char *folder = samples(f);
    size_t n = check_folder(f, folder) +
               check_folder(f, path_join(&f->arena, folder, "made-here")) +
               check_folder(f, path_join(&f->arena, folder, "made-here/matrix4"));
    assert_true(n > 100);
}

/* By the list that was kept when the samples were made: name, exit status, whether JSON, size.
 * Those of another size were made again. */
static void no_run_that_failed_is_a_result(void **state)
{
    struct fixture *f = *state;
    const char *folder = path_join(&f->arena, samples(f), "made-here");
    size_t n_failed = 0;
    char *rest = read_sample(f, folder, "INDEX.tsv");
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line;) {
        const char *field[4];
        for (size_t i = 0; i < 4; i++)
            assert_non_null(field[i] = strsep(&line, "\t"));
        const char *text = read_sample(f, folder, field[0]);
        struct iperf3_result result;
        if (strcmp(field[1], "0") == 0 || strlen(text) != strtoul(field[3], NULL, 10))
            continue;
        n_failed++;
        if (iperf3_read(text, &result, &f->e))
            fail_msg("%s was read, though iperf3 ended with %s", field[0], field[1]);
    }
    assert_true(n_failed > 40);
}

static void knows_the_samples_values(void **state)
{
    static const struct {
        const char *name;
        double mbit_per_s, sender_cpu, receiver_cpu;
        bool cpu_bound;
    } known[] = {
        {"made-here/iperf3.12_tcp.json", 29185.055, 68.506, 50.349, false},
        {"made-here/iperf3.12_tcp_R.json", 36735, 99.331, 45.783, true},
        {"made-here/iperf3.1.3_tcp.json", 20712, 40.452, 30.407, false},
        {"made-here/iperf3.16_bidir.json", 27579, 120.143, 77.547, true},
        {"made-here/iperf3.7_tcp.json", 28758, 97.498, 38.467, true},
        {"public_thiezn_results.json", 934, 1.668, 4.151, false},
        {"public_ekfoury_my_test.json", 17536, 49.706, 37.843, false},
    };
    struct fixture *f = *state;
    const char *folder = samples(f);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct iperf3_result result;
        assert_true(iperf3_read(read_sample(f, folder, known[i].name), &result, &f->e));
        assert_true(fabs(result.bandwidth_Bps * 8e-6 - known[i].mbit_per_s) < 0.6);
        assert_true(fabs(result.sender_cpu_percent - known[i].sender_cpu) < 0.001);
        assert_true(fabs(result.receiver_cpu_percent - known[i].receiver_cpu) < 0.001);
        assert_int_equal(result.cpu_bound, known[i].cpu_bound);
    }
}

static bool is_bound(double sender_percent, double receiver_percent, double sender_cpus,
                     double receiver_cpus)
{
    struct iperf3_result result = {.sender_cpu_percent = sender_percent,
                                   .receiver_cpu_percent = receiver_percent};
    iperf3_judge_cpus(&result, sender_cpus, receiver_cpus);
    return result.cpu_bound;
}

static void a_sender_that_is_granted_a_part_of_a_cpu_is_bound_by_that(void **state)
{
    (void)state;
    assert_true(is_bound(91, 10, 0, 0) && is_bound(10, 91, 1, 1));
    assert_false(is_bound(89, 89, 0, 1));
    assert_true(is_bound(14, 9, 0.2, 0.2));
    assert_false(is_bound(10, 20, 0.2, 0.2));
    assert_false(is_bound(10, 95, 1, 0.99));
    assert_false(is_bound(-1, -1, 0.2, 0.2));
}

/* Rows and columns of the matrix that was written down when the samples were made. */
static void agrees_with_the_measured_matrix(void **state)
{
    struct fixture *f = *state;
    const char *folder = path_join(&f->arena, samples(f), "made-here/matrix4");
    char *rest = strchr(read_sample(f, folder, "matrix_Mbit.txt"), '\n');
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 4; column++) {
            double expected = strtod(rest, &rest);
            struct iperf3_result result;
            const char *name = arena_format(&f->arena, "from%d_to%d.json", row, column);
            if (row == column)
                continue;
            assert_true(iperf3_read(read_sample(f, folder, name), &result, &f->e));
            assert_true(fabs(result.bandwidth_Bps * 8e-6 - expected) <= 0.51);
        }
    }
}

static void says_what_iperf3_said(void **state)
{
    static const struct {
        const char *name, *says;
    } known[] = {
        {"iperf3.12_err_refused.json", "iperf3: unable to connect to server: Connection refused"},
        {"iperf3.1.3_err_busy.json", "iperf3: the server is busy running a test. try again later"},
        {"iperf3.1.3_err_unknown_host.json", "iperf3: unable to connect to server"},
        {"iperf3.18_err_server_sigint.json", "iperf3: unable to write to stream socket"},
        {"iperf3.12_err_client_sigkill.json", "iperf3: it printed nothing"},
        {"iperf3.9_err_refused.json", "iperf3: it ended without a result"},
        {"iperf3.9_err_server_sigint.json", "iperf3: no data arrived"},
    };
    struct fixture *f = *state;
    const char *folder = path_join(&f->arena, samples(f), "made-here");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct iperf3_result result;
        assert_false(iperf3_read(read_sample(f, folder, known[i].name), &result, &f->e));
        assert_string_equal(f->e.text, known[i].says);
    }
}

#define GOOD "{\"end\":{\"sum_received\":{\"bits_per_second\":8e9}}}"

static void passes_over_text_before_the_object_and_a_second_copy(void **state)
{
    static const char *const good[] = {
        GOOD,
        "warning: JSON data length overflow\n" GOOD,
        "warning: {odd} brace\n" GOOD,
        "\n\n  " GOOD "\n",
        GOOD "\n" GOOD,
        GOOD "iperf_json_finish: pthread_mutex_lock: Success",
        GOOD "{\"error\":",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct iperf3_result result;
        if (!iperf3_read(good[i], &result, &f->e))
            fail_msg("%s: %s", good[i], f->e.text);
        assert_true(result.bandwidth_Bps == 1e9);
        assert_true(result.sender_cpu_percent < 0 && result.receiver_cpu_percent < 0);
        assert_false(result.cpu_bound);
    }
}

static void refuses_what_is_no_result(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "printed nothing"},
        {" \n", "printed nothing"},
        {"sh: iperf3: \x1b[2Jnot found\nx", "no JSON (sh: iperf3: \\x1b[2Jnot found)"},
        {"{", "cut off"},
        {"{}", "ended without a result"},
        {"{\"error\":\"error - no \x7fway: \"}", "iperf3: no \\x7fway"},
        {"{\"error\":\"\"}", "an error without words"},
        {"{\"error\":null}", "an error without words"},
        {"{\"error\":\"busy\",\"end\":{\"sum_received\":{\"bits_per_second\":8e9}}}",
         "iperf3: busy"},
        {"{\"event\":\"start\"}", "--json-stream"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":0}}}", "no data arrived"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":-1}}}", "no data arrived"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":null}}}", "ended without a result"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":\"8e9\"}}}", "ended without a result"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":nan}}}", "cut off or no JSON"},
        {"{\"end\":{\"sum_received\":{\"bits_per_second\":1e999}}}", "cut off or no JSON"},
        {"{\"end\":[]}", "ended without a result"},
        {"{\"end\":{\"sum_sent\":{\"bits_per_second\":8e9}}}", "ended without a result"},
        {"{\"start\":{\"test_start\":{\"protocol\":\"UDP\"}}}", "a TCP test is needed"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct iperf3_result result;
        assert_false(iperf3_read(bad[i].text, &result, &f->e));
        if (!strstr(f->e.text, bad[i].says))
            fail_msg("%s: %s", bad[i].text, f->e.text);
    }
}

/* A whole object's beginning is never a result: no inner object is taken for the outer one. */
static void refuses_a_sample_cut_off_anywhere(void **state)
{
    struct fixture *f = *state;
    const char *folder = path_join(&f->arena, samples(f), "made-here");
    char *text = read_sample(f, folder, "iperf3.12_tcp.json");
    size_t whole = (size_t)(strrchr(text, '}') - text);
    for (size_t length = whole;; length--) {
        struct iperf3_result result;
        text[length] = '\0';
        assert_false(iperf3_read(text, &result, &f->e));
        if (length == 0)
            break;
    }
}

static void survives_broken_bytes(void **state)
{
    struct fixture *f = *state;
    static const char whole[] = "{\"start\":{\"test_start\":{\"protocol\":\"TCP\",\"reverse\":1}},"
                                "\"end\":{\"sum_received\":{\"bits_per_second\":8e9}}}";
    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        for (int byte = 1; byte < 256; byte += 3) {
            char text[sizeof whole];
            memcpy(text, whole, sizeof whole);
            text[i] = (char)byte;
            struct iperf3_result result = {.bandwidth_Bps = -1};
            bool ok = iperf3_read(text, &result, &f->e);
            assert_true(ok ? isfinite(result.bandwidth_Bps) && result.bandwidth_Bps > 0
                           : result.bandwidth_Bps < 0);
        }
    }
}

static void knows_this_machine_by_its_addresses(void **state)
{
    struct fixture *f = *state;
    char address[ADDRESS_SIZE];
    assert_true(address_of_local_host("localhost", address, &f->e));
    assert_string_equal(address, "127.0.0.1");
    assert_true(address_of_local_host("127.0.0.2", address, &f->e));
    assert_string_equal(address, "127.0.0.2");
    assert_false(address_of_local_host("192.0.2.1", address, &f->e));
    assert_string_equal(f->e.text, "host '192.0.2.1' is not this machine");
    assert_false(address_of_local_host("no-such-host.invalid", address, &f->e));
    assert_non_null(strstr(f->e.text, "'no-such-host.invalid' is not known here"));
}

static void gives_ports_that_are_free(void **state)
{
    struct fixture *f = *state;
    int port = 0;
    assert_true(address_free_port("127.0.0.1", &port, &f->e));
    assert_true(port > 1023 && port < 65536);
    assert_false(address_free_port("192.0.2.1", &port, &f->e));
}

static void measures_the_latency_of_the_loopback(void **state)
{
    struct fixture *f = *state;
    double latency_s = 0;
    assert_true(address_latency("127.0.0.1", "127.0.0.1", &latency_s, &f->e));
    assert_true(latency_s > 1e-7 && latency_s < 0.01);
}

int main(void)
{
#define IPERF3_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IPERF3_TEST(reads_every_sample_or_says_what_is_wrong),
        IPERF3_TEST(no_run_that_failed_is_a_result),
        IPERF3_TEST(knows_the_samples_values),
        IPERF3_TEST(a_sender_that_is_granted_a_part_of_a_cpu_is_bound_by_that),
        IPERF3_TEST(agrees_with_the_measured_matrix),
        IPERF3_TEST(says_what_iperf3_said),
        IPERF3_TEST(passes_over_text_before_the_object_and_a_second_copy),
        IPERF3_TEST(refuses_what_is_no_result),
        IPERF3_TEST(refuses_a_sample_cut_off_anywhere),
        IPERF3_TEST(survives_broken_bytes),
        IPERF3_TEST(knows_this_machine_by_its_addresses),
        IPERF3_TEST(gives_ports_that_are_free),
        IPERF3_TEST(measures_the_latency_of_the_loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
