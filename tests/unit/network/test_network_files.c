/* Network files as people write them: lists and matrices, good and bad. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "network/network.h"

struct read {
    struct arena arena;
    struct network network;
    struct error e;
};

static void finish(struct read *r)
{
    arena_free(&r->arena);
    error_clear(&r->e);
}

static struct read read_good(const char *text)
{
    struct read r = {0};
    if (!network_parse(&r.arena, text, "net.csv", &r.network, &r.e))
        fail_msg("%s", r.e.text);
    return r;
}

static const struct link *between(const struct read *r, const char *from, const char *to)
{
    long i = network_find(&r->network, from), j = network_find(&r->network, to);
    assert_true(i >= 0 && j >= 0);
    return &r->network.link[(size_t)i * r->network.n + (size_t)j];
}

static void assert_link(const struct link *link, double bandwidth_Bps, double latency_s,
                        enum link_source source)
{
    if (!(fabs(link->bandwidth_Bps - bandwidth_Bps) <= 1e-12 * bandwidth_Bps))
        fail_msg("%.17g B/s is not %.17g B/s", link->bandwidth_Bps, bandwidth_Bps);
    if (!(fabs(link->latency_s - latency_s) <= 1e-12 * latency_s))
        fail_msg("%.17g s is not %.17g s", link->latency_s, latency_s);
    assert_int_equal(link->source, source);
}

static void reads_a_list_with_units(void **state)
{
    (void)state;
    struct read r = read_good("from,to,bandwidth,latency,source\n"
                              "n1,n2,8 Gbit/s,20 us,measured\n"
                              "n2,n1,1 GB/s,,\n"
                              "n1,n1,80 Gbit/s,1 us,given\n");
    assert_int_equal(r.network.n, 2);
    assert_link(between(&r, "n1", "n2"), 1e9, 20e-6, LINK_MEASURED);
    assert_link(between(&r, "n2", "n1"), 1e9, 0, LINK_GIVEN);
    assert_link(between(&r, "n1", "n1"), 1e10, 1e-6, LINK_GIVEN);
    assert_int_equal(between(&r, "n2", "n2")->source, LINK_UNKNOWN);
    finish(&r);
}

static void reads_bare_numbers_in_the_unit_of_their_column(void **state)
{
    (void)state;
    const char *const text[] = {
        "to,from,bandwidth_Gbit_s,latency_us\nb,a,8,5\n",
        "to,from,bandwidth_GB_s,latency_ms\nb,a,1.0,.005\n",
        "from;to;bandwidth_Bps;latency_s\na;b;1000000000;5e-6\n",
        "From\tTo\tBandwidth_Mbps\tLatency_us\na\tb\t8000\t5.\n",
        "from,to,bandwidth_Mbit_s,latency_us\na,b,1 GB/s,5000 ns\n",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct read r = read_good(text[i]);
        assert_link(between(&r, "a", "b"), 1e9, 5e-6, LINK_GIVEN);
        assert_link(between(&r, "b", "a"), 1e9, 5e-6, LINK_FILLED);
        finish(&r);
    }
}

static void reads_what_spreadsheets_and_people_leave_in(void **state)
{
    (void)state;
    struct read r = read_good("\xef\xbb\xbf# measured on Monday\r\n"
                              "\r\n"
                              "from, to, bandwidth\r\n"
                              "  # two hosts\r\n"
                              "\"rack 1, host \"\"a\"\"\" , n2 ,\t8 Gbit/s \r\n"
                              "\r\n");
    assert_link(between(&r, "rack 1, host \"a\"", "n2"), 1e9, 0, LINK_GIVEN);
    finish(&r);
}

static void reads_a_matrix_with_units(void **state)
{
    (void)state;
    struct read r = read_good(",a,b,c\n"
                              "a,-,8 Gbit/s,1 GB/s\n"
                              "c,2 GB/s,3 GB/s,0\n"
                              "b,,80 Gbit/s,-\n");
    assert_link(between(&r, "a", "b"), 1e9, 0, LINK_GIVEN);
    assert_link(between(&r, "b", "a"), 1e9, 0, LINK_FILLED);
    assert_link(between(&r, "c", "a"), 2e9, 0, LINK_GIVEN);
    assert_link(between(&r, "b", "c"), 3e9, 0, LINK_FILLED);
    assert_link(between(&r, "b", "b"), 1e10, 0, LINK_GIVEN);
    assert_int_equal(between(&r, "a", "a")->source, LINK_UNKNOWN);
    finish(&r);
}

static void a_matrix_names_its_unit_in_the_corner(void **state)
{
    (void)state;
    const char *const corner[] = {"Gbit/s", "bandwidth_Gbit_s", "Gbps"};
    for (size_t i = 0; i < sizeof corner / sizeof *corner; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s;a;b\na;0;8\nb;16;0.0\n", corner[i]);
        struct read r = read_good(text);
        assert_link(between(&r, "a", "b"), 1e9, 0, LINK_GIVEN);
        assert_link(between(&r, "b", "a"), 2e9, 0, LINK_GIVEN);
        assert_int_equal(between(&r, "b", "b")->source, LINK_UNKNOWN);
        finish(&r);
    }
}

struct refusal {
    const char *text, *says;
};

static void refuses_with_file_line_and_column(void **state)
{
    (void)state;
    static const struct refusal refusal[] = {
        {"", "net.csv: holds no network"},
        {"# nothing\n\n", "net.csv: holds no network"},
        {"one word\n", "net.csv:1:1: expected columns"},
        {"from,to,bandwidth\n", "holds no link"},
        {"from,to,bandwidth,source\na,b,1 GB/s,failed\n",
         "net.csv:2:5: a link that failed has no bandwidth (got 1 GB/s)"},
        {"from,to,bandwidth,source\na,b,1 GB/s,meassured\n",
         "expected measured, measured>=, given, filled or failed"},
        {"from,to,bandwidth,together\na,b,1 GB/s,0\n", "bandwidth"},
        {"from,to,bandwith\na,b,1 GB/s\n", "net.csv:1:9: unknown column 'bandwith'"},
        {"from,to,bandwith\na,b,1 GB/s\n", "did you mean 'bandwidth'"},
        {"from,to,bandwidth_apples\na,b,1\n", "unknown column 'bandwidth_apples'"},
        {"from,to,latency\na,b,1 us\n", "the column 'bandwidth' is missing"},
        {"from,bandwidth\na,1 GB/s\n", "the column 'to' is missing"},
        {"from,to,to,bandwidth\na,b,c,1 GB/s\n", "net.csv:1:9: a second column 'to'"},
        {"from,to,bandwidth\na,b\n", "net.csv:2:4: expected 3 cells as in the first row, found 2"},
        {"from,to,bandwidth\na,b,1 GB/s,x\n", "net.csv:2:12: expected 3 cells"},
        {"from,to,bandwidth\n\xc3\xa4,b,x\n", "net.csv:2:5: 'x' is not a rate"},
        {"from,to,bandwidth\n,b,1 GB/s\n", "net.csv:2:1: the name is missing in column 'from'"},
        {"from,to,bandwidth\na,b,-4 GB/s\n",
         "net.csv:2:5: bandwidth must be above 0 (got -4 GB/s)"},
        {"from,to,bandwidth\na,b,0\n", "bandwidth must be above 0 (got 0)"},
        {"from,to,bandwidth\na,b,nan\n", "'nan' is not a rate"},
        {"from,to,bandwidth\na,b,inf GB/s\n", "is not a rate"},
        {"from,to,bandwidth\na,b,\n", "is not a rate"},
        {"from,to,bandwidth\na,b,10\n", "the unit is missing"},
        {"from,to,bandwidth\na,b,10 Gbits\n", "did you mean 'Gbit/s'"},
        {"from,to,bandwidth,latency\na,b,1 GB/s,-1 us\n",
         "net.csv:2:12: latency must be 0 or more"},
        {"from,to,bandwidth,latency\na,b,1 GB/s,1 m\n", "unknown unit 'm'"},
        {"from,to,bandwidth,source\na,b,1 GB/s,mesured\n", "did you mean 'measured'"},
        {"from,to,bandwidth\na,b,1 GB/s\nb,a,1 GB/s\na,b,2 GB/s\n",
         "net.csv:4:1: the link from 'a' to 'b' is given twice, first on line 2"},
        {"from,to,bandwidth\n\"a,b,1 GB/s\n", "net.csv:2:1: the quote is not closed"},
        {"from,to,bandwidth\n\"a\"x,b,1 GB/s\n", "net.csv:2:4: text behind a closing quote"},
        {",a,b\na,0,1 GB/s\n", "net.csv:1:4: the matrix has no row for 'b'"},
        {",a,b\na,0,1 GB/s\nbb,1 GB/s,0\n", "net.csv:3:1: the row 'bb' has no column"},
        {",a,b\na,0,1 GB/s\na,0,1 GB/s\n", "a second row named 'a', the first is on line 2"},
        {",a,a\na,0,1 GB/s\n", "net.csv:1:4: a second column named 'a'"},
        {",a,\na,0,1 GB/s\n", "net.csv:1:4: the name of this column is missing"},
        {",a,b\na,0\n", "expected 3 cells"},
        {",a,b\na,0,0\nb,1 GB/s,0\n", "net.csv:2:5: bandwidth must be above 0 (got 0)"},
        {",a,b\na,0,5\nb,1 GB/s,0\n", "the unit is missing"},
        {",a,b\na,-1 GB/s,5 GB/s\nb,1 GB/s,0\n", "net.csv:2:3: bandwidth must be above 0"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        struct arena arena = {0};
        struct network network = {.n = 77};
        struct error e = {0};
        if (network_parse(&arena, refusal[i].text, "net.csv", &network, &e))
            fail_msg("took: %s", refusal[i].text);
        if (!strstr(e.text, refusal[i].says))
            fail_msg("expected '%s' in:\n%s", refusal[i].says, e.text);
        assert_int_equal(e.kind, ERROR_INPUT);
        assert_int_equal(network.n, 77);
        error_clear(&e);
        arena_free(&arena);
    }
}

static void reports_all_errors_of_a_file_up_to_twenty(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "from,to,bandwidth\n");
    for (int i = 0; i < 100; i++)
        text_format(&text, "a,b%d,-1 GB/s\n", i);
    struct arena arena = {0};
    struct network network;
    struct error e = {0};
    assert_false(network_parse(&arena, text.data, "net.csv", &network, &e));
    assert_non_null(strstr(e.text, "net.csv:2:"));
    assert_non_null(strstr(e.text, "net.csv:21:"));
    assert_null(strstr(e.text, "net.csv:22:"));
    error_clear(&e);
    arena_free(&arena);
    text_free(&text);
}

static void what_is_written_reads_back_the_same(void **state)
{
    (void)state;
    struct read r = read_good("from,to,bandwidth,latency,source\n"
                              "\"a, b\",\"#c\",0.1 GB/s,3 us,measured\n"
                              "\"#c\",\" d\",12345678.9 B/s,,given\n");
    struct text first = {0}, second = {0};
    network_format(&r.network, &first);
    struct read again = read_good(first.data);
    network_format(&again.network, &second);
    assert_string_equal(first.data, second.data);
    assert_link(between(&again, "a, b", "#c"), 1e8, 3e-6, LINK_MEASURED);
    assert_link(between(&again, "#c", "a, b"), 1e8, 3e-6, LINK_FILLED);
    assert_link(between(&again, " d", "#c"), 12345678.9, 0, LINK_FILLED);
    text_free(&first);
    text_free(&second);
    finish(&r);
    finish(&again);
}

static void what_a_measurement_says_reads_back_the_same(void **state)
{
    (void)state;
    static const char text[] = "from,to,bandwidth_Bps,latency_s,source,together_Bps\n"
                               "a,b,1000000,2e-05,measured>=,\n"
                               "b,a,,,failed,\n"
                               "b,c,4000000,0,measured,2500000\n"
                               "c,b,4000000,0,filled,\n";
    struct read r = read_good(text);
    struct text written = {0};
    assert_true(between(&r, "a", "b")->at_least);
    assert_true(between(&r, "b", "a")->failed);
    assert_int_equal(between(&r, "b", "a")->source, LINK_UNKNOWN);
    assert_true(between(&r, "b", "c")->together_Bps == 2.5e6);
    assert_true(link_is_shared(between(&r, "b", "c")));
    assert_false(link_is_shared(between(&r, "a", "b")));
    network_format(&r.network, &written);
    assert_string_equal(written.data, text);
    text_free(&written);
    finish(&r);
}

static void a_lower_bound_fills_the_other_direction_as_filled_only(void **state)
{
    (void)state;
    struct read r =
        read_good("from,to,bandwidth,source,together\na,b,8 Mbit/s,measured>=,2 Mbit/s\n");
    assert_link(between(&r, "b", "a"), 1e6, 0, LINK_FILLED);
    assert_false(between(&r, "b", "a")->at_least);
    assert_true(between(&r, "b", "a")->together_Bps == 0);
    finish(&r);
}

static void refuses_more_names_than_a_matrix_can_hold(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "from,to,bandwidth\n");
    for (int i = 0; i <= NETWORK_MOST_NAMES; i++)
        text_format(&text, "h%d,h%d,1 GB/s\n", i, i + 1);
    struct arena arena = {0};
    struct network network;
    struct error e = {0};
    assert_false(network_parse(&arena, text.data, "net.csv", &network, &e));
    assert_non_null(strstr(e.text, "at most 8192"));
    error_clear(&e);
    arena_free(&arena);
    text_free(&text);
}

static void reads_a_matrix_of_a_thousand_hosts(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct text text = {0};
    text_add(&text, "Gbit/s");
    for (int i = 0; i < N; i++)
        text_format(&text, ",host%d", i);
    for (int i = 0; i < N; i++) {
        text_format(&text, "\nhost%d", i);
        for (int j = 0; j < N; j++)
            text_add(&text, i == j ? ",-" : ",94.3");
    }
    struct read r = {0};
    assert_true(network_parse(&r.arena, text.data, "net.csv", &r.network, &r.e));
    assert_int_equal(r.network.n, N);
    text_free(&text);
    finish(&r);
}

static void refuses_a_file_with_a_zero_byte(void **state)
{
    (void)state;
    char path[] = "/tmp/foretrain-network-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    fwrite("from,to,bandwidth\na,b\0,1 GB/s\n", 1, 30, file);
    fclose(file);
    struct arena arena = {0};
    struct network network;
    struct error e = {0};
    assert_false(network_read(&arena, path, &network, &e));
    assert_non_null(strstr(e.text, "zero byte"));
    remove(path);
    assert_false(network_read(&arena, path, &network, &e));
    assert_int_equal(e.kind, ERROR_FILE);
    error_clear(&e);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_list_with_units),
        cmocka_unit_test(reads_bare_numbers_in_the_unit_of_their_column),
        cmocka_unit_test(reads_what_spreadsheets_and_people_leave_in),
        cmocka_unit_test(reads_a_matrix_with_units),
        cmocka_unit_test(a_matrix_names_its_unit_in_the_corner),
        cmocka_unit_test(refuses_with_file_line_and_column),
        cmocka_unit_test(reports_all_errors_of_a_file_up_to_twenty),
        cmocka_unit_test(what_is_written_reads_back_the_same),
        cmocka_unit_test(what_a_measurement_says_reads_back_the_same),
        cmocka_unit_test(a_lower_bound_fills_the_other_direction_as_filled_only),
        cmocka_unit_test(refuses_more_names_than_a_matrix_can_hold),
        cmocka_unit_test(reads_a_matrix_of_a_thousand_hosts),
        cmocka_unit_test(refuses_a_file_with_a_zero_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
