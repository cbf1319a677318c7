/* A ring's order as text, and job files with another order and all else as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "job/ring_text.h"

#define DEVICES                                                                                    \
    "devices:\n"                                                                                   \
    "  a: {count: 2, batch: 16, profile: p.json}\n"                                                \
    "  b: {count: 2, batch: 16, hosts: \"n[1-2]\", profile: p.json}\n"

static void read_job(struct arena *arena, const char *yaml, struct job *job)
{
    struct error e = {0};
    if (!job_parse(arena, yaml, strlen(yaml), "lab.yaml", ".", job, &e))
        fail_msg("%s", e.text);
}

/* The order b a b a: n1, a-0, n2, a-1. */
static const size_t mixed[] = {2, 0, 3, 1};

static void assert_replaced(const char *before, const char *after)
{
    struct arena arena = {0};
    struct error e = {0};
    struct text text = {0};
    struct job job;
    read_job(&arena, before, &job);
    if (!ring_text_replace(&job, mixed, &text, &e))
        fail_msg("%s", e.text);
    assert_string_equal(text.data, after);
    text_free(&text);
    arena_free(&arena);
}

static void a_word_is_replaced_and_its_comment_stays(void **state)
{
    (void)state;
    assert_replaced(DEVICES "ring: as-listed   # by rack\nsubsystems: each\n",
                    DEVICES "ring: [n1, a-0, n2, a-1]   # by rack\nsubsystems: each\n");
}

static void a_list_in_brackets_is_replaced(void **state)
{
    (void)state;
    assert_replaced(DEVICES "ring: [a-0,\n   a-1, n1, # x\n n2] # y\n# z\nsubsystems: each\n",
                    DEVICES "ring: [n1, a-0, n2, a-1] # y\n# z\nsubsystems: each\n");
}

static void a_list_in_lines_is_replaced_and_what_follows_stays(void **state)
{
    (void)state;
    assert_replaced(DEVICES "ring:\n  - a-0\n  - \"a-1\"\n  - n1\n  - n2  # last\n\n# each\n"
                            "subsystems: each\n",
                    DEVICES "ring: [n1, a-0, n2, a-1]  # last\n\n# each\nsubsystems: each\n");
    assert_replaced("ring:\n- a-0\n- a-1\n- n1\n- n2\n" DEVICES,
                    "ring: [n1, a-0, n2, a-1]\n" DEVICES);
}

static void a_ring_is_added_at_the_end(void **state)
{
    (void)state;
    assert_replaced("# \xc3\xa9t\xc3\xa9\n" DEVICES "# end\n",
                    "# \xc3\xa9t\xc3\xa9\n" DEVICES "# end\nring: [n1, a-0, n2, a-1]\n");
    assert_replaced(DEVICES "subsystems: each",
                    DEVICES "subsystems: each\nring: [n1, a-0, n2, a-1]\n");
}

static void marks_and_letters_of_several_bytes_are_counted(void **state)
{
    (void)state;
    assert_replaced(
        "\xef\xbb\xbf# \xc3\xa9\xe2\x82\xac\nring: as-listed # \xc3\xa9\n" DEVICES,
        "\xef\xbb\xbf# \xc3\xa9\xe2\x82\xac\nring: [n1, a-0, n2, a-1] # \xc3\xa9\n" DEVICES);
}

static void line_ends_of_windows_stay(void **state)
{
    (void)state;
    assert_replaced("ring: as-listed\r\ndevices:\r\n  a: {count: 2, batch: 1, profile: p}\r\n"
                    "  b: {count: 2, batch: 1, hosts: \"n1,n2\", profile: p}\r\n",
                    "ring: [n1, a-0, n2, a-1]\r\ndevices:\r\n"
                    "  a: {count: 2, batch: 1, profile: p}\r\n"
                    "  b: {count: 2, batch: 1, hosts: \"n1,n2\", profile: p}\r\n");
}

static void a_job_in_braces_gets_its_ring_inside(void **state)
{
    (void)state;
    assert_replaced("{devices: {a: {count: 2, batch: 1, profile: p}, b: {count: 2, batch: 1, "
                    "hosts: \"n1,n2\", profile: p}}}\n",
                    "{devices: {a: {count: 2, batch: 1, profile: p}, b: {count: 2, batch: 1, "
                    "hosts: \"n1,n2\", profile: p}}, ring: [n1, a-0, n2, a-1]}\n");
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct error e = {0};
    struct text text = {0};
    struct job job;
    read_job(&arena,
             "{devices: {a: {count: 2, batch: 1, profile: p}, b: {count: 2, batch: 1, hosts: "
             "\"n1,n2\", profile: p}},}\n",
             &job);
    assert_false(ring_text_replace(&job, mixed, &text, &e));
    assert_non_null(strstr(e.text, "another order cannot be written"));
    assert_int_equal(text.length, 0);
    error_clear(&e);
    arena_free(&arena);
}

static void assert_names(const char *devices, const size_t *ring, const char *names)
{
    struct arena arena = {0};
    struct text text = {0};
    struct job job;
    read_job(&arena, devices, &job);
    ring_text_format(&job, ring, &text);
    assert_string_equal(text.data, names);
    text_free(&text);
    arena_free(&arena);
}

static void names_in_a_row_are_written_as_ranges(void **state)
{
    (void)state;
    static const size_t listed[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const size_t turned[] = {3, 4, 5, 2, 1, 0, 6, 8, 9, 10, 11, 7};
    const char *bare = "devices:\n  a: {count: 12, batch: 1, profile: p}\n";
    assert_names(bare, listed, "\"a-[0-11]\"");
    assert_names(bare, turned, "\"a-[3-5]\", a-2, a-1, a-0, a-6, \"a-[8-11]\", a-7");
    assert_names("devices:\n  a: {count: 12, batch: 1, hosts: \"n[01-12]\", profile: p}\n", listed,
                 "\"n[01-12]\"");
    assert_names("devices:\n  a: {count: 12, batch: 1, hosts: \"10.0.1.[5-16]\", profile: p}\n",
                 turned,
                 "\"10.0.1.[8-10]\", \"10.0.1.7\", \"10.0.1.6\", \"10.0.1.5\", \"10.0.1.11\", "
                 "\"10.0.1.[13-16]\", \"10.0.1.12\"");
}

static void a_host_stands_for_all_its_devices_where_they_are_together(void **state)
{
    (void)state;
    static const size_t together[] = {2, 3, 0, 1}, split[] = {0, 2, 1, 3}, turned[] = {1, 0, 2, 3};
    const char *hosts = "devices:\n  a: {count: 4, batch: 1, hosts: \"x:2,y:2\", profile: p}\n";
    assert_names(hosts, together, "y, x");
    assert_names(hosts, split, "\"x:0\", \"y:0\", \"x:1\", \"y:1\"");
    assert_names(hosts, turned, "\"x:1\", \"x:0\", y");
}

static void every_order_can_be_read_back(void **state)
{
    (void)state;
    static const char job_text[] =
        "devices:\n  a: {count: 5, batch: 1, hosts: \"h[8-10]:2\", profile: p}\n"
        "  b: {count: 4, batch: 1, hosts: \"h9,h[11-13]\", profile: p}\n"
        "  c: {count: 3, batch: 1, profile: p}\n";
    static const size_t steps[] = {1, 5, 7, 11};
    size_t ring[12];
    for (size_t start = 0; start < 12; start++) {
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            struct arena arena = {0};
            struct error e = {0};
            struct text text = {0};
            struct job job;
            read_job(&arena, job_text, &job);
            for (size_t i = 0; i < 12; i++)
                ring[i] = (start + i * steps[k]) % 12;
            if (!ring_text_replace(&job, ring, &text, &e))
                fail_msg("start %zu, step %zu: %s", start, steps[k], e.text);
            text_free(&text);
            arena_free(&arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_replaced_and_its_comment_stays),
        cmocka_unit_test(a_list_in_brackets_is_replaced),
        cmocka_unit_test(a_list_in_lines_is_replaced_and_what_follows_stays),
        cmocka_unit_test(a_ring_is_added_at_the_end),
        cmocka_unit_test(marks_and_letters_of_several_bytes_are_counted),
        cmocka_unit_test(line_ends_of_windows_stay),
        cmocka_unit_test(a_job_in_braces_gets_its_ring_inside),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(names_in_a_row_are_written_as_ranges),
        cmocka_unit_test(a_host_stands_for_all_its_devices_where_they_are_together),
        cmocka_unit_test(every_order_can_be_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
