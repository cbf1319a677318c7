/* Messages: their form, their place, and many joined into one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/error.h"

static void a_place_shows_line_and_caret(void **state)
{
    (void)state;
    const struct place place = {"lab.yaml", 12, 12, "bandwidth: -40 Gbit/s\nnext: line\n"};
    struct error e = {0};
    error_at(&e, &place, "bandwidth must be above 0 (got %s)", "-40 Gbit/s");
    error_hint(&e, "rates are positive");
    error_in(&e, "link %s", "a-b");
    assert_int_equal(e.kind, ERROR_INPUT);
    assert_string_equal(e.text, "lab.yaml:12:12: bandwidth must be above 0 (got -40 Gbit/s)\n"
                                "    bandwidth: -40 Gbit/s\n"
                                "               ^\n"
                                "  hint: rates are positive\n"
                                "  in link a-b");
    error_clear(&e);
    assert_int_equal(e.kind, ERROR_NONE);
    assert_null(e.text);
}

static void a_place_without_a_line_names_the_file(void **state)
{
    (void)state;
    const struct place place = {.file = "lab.yaml"};
    struct error e = {0};
    error_at(&e, &place, "it is empty");
    assert_string_equal(e.text, "lab.yaml: it is empty");
    error_clear(&e);
}

static void tabs_and_escapes_in_the_line_do_not_reach_the_terminal(void **state)
{
    (void)state;
    const struct place place = {"f", 1, 3, "\ta\x1b[31m"};
    struct error e = {0};
    error_at(&e, &place, "m");
    assert_string_equal(e.text, "f:1:3: m\n     a [31m\n      ^");
    error_clear(&e);
}

static void a_column_beyond_the_line_stays_at_its_end(void **state)
{
    (void)state;
    const struct place place = {"f", 1, 99, "ab"};
    struct error e = {0};
    error_at(&e, &place, "m");
    assert_string_equal(e.text, "f:1:99: m\n    ab\n      ^");
    error_clear(&e);
}

static void a_caret_stands_under_the_character_that_is_meant(void **state)
{
    (void)state;
    struct error e = {0};
    struct place place = {"x", 1, 4, "\xc3\xa4\xc3\xb6 z"};
    error_at(&e, &place, "odd");
    assert_string_equal(e.text, "x:1:4: odd\n    \xc3\xa4\xc3\xb6 z\n       ^");
    error_clear(&e);
}

static void a_long_line_is_cut_around_the_caret(void **state)
{
    (void)state;
    char line[5001];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    line[3000] = 'Y';
    const struct place place = {"f", 1, 3001, line};
    struct error e = {0};
    error_at(&e, &place, "m");
    const char *shown = strchr(e.text, '\n') + 1;
    const char *caret_line = strchr(shown, '\n') + 1;
    const char *caret = strchr(caret_line, '^');
    assert_true(strlen(e.text) < 300);
    assert_int_equal(shown[caret - caret_line], 'Y');
    error_clear(&e);
}

static void a_new_message_replaces_the_old(void **state)
{
    (void)state;
    struct error e = {0};
    error_set(&e, ERROR_FILE, "first");
    error_set(&e, ERROR_HOST, "second %d", 2);
    assert_int_equal(e.kind, ERROR_HOST);
    assert_string_equal(e.text, "second 2");
    error_clear(&e);
}

static void a_list_joins_in_order_and_keeps_the_first_kind(void **state)
{
    (void)state;
    struct error_list list = {0};
    struct error e = {0};
    for (int i = 0; i < 20; i++) {
        error_set(&e, i == 0 ? ERROR_FILE : ERROR_INPUT, "error %d", i);
        error_list_add(&list, &e);
        assert_int_equal(e.kind, ERROR_NONE);
    }
    error_set(&e, ERROR_USAGE, "old");
    error_list_join(&list, &e);
    assert_int_equal(e.kind, ERROR_FILE);
    assert_ptr_equal(strstr(e.text, "error 0\nerror 1\nerror 2\n"), e.text);
    assert_non_null(strstr(e.text, "\nerror 19"));
    assert_int_equal(list.n, 0);
    error_clear(&e);
}

static void a_list_may_be_dropped(void **state)
{
    (void)state;
    struct error_list list = {0};
    struct error e = {0};
    error_set(&e, ERROR_INPUT, "one");
    error_list_add(&list, &e);
    error_list_free(&list);
    assert_int_equal(list.n, 0);
    assert_null(list.item);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(a_place_shows_line_and_caret),
        cmocka_unit_test(a_place_without_a_line_names_the_file),
        cmocka_unit_test(tabs_and_escapes_in_the_line_do_not_reach_the_terminal),
        cmocka_unit_test(a_column_beyond_the_line_stays_at_its_end),
        cmocka_unit_test(a_caret_stands_under_the_character_that_is_meant),
        cmocka_unit_test(a_long_line_is_cut_around_the_caret),
        cmocka_unit_test(a_new_message_replaces_the_old),
        cmocka_unit_test(a_list_joins_in_order_and_keeps_the_first_kind),
        cmocka_unit_test(a_list_may_be_dropped),
    };
    return cmocka_run_group_tests_name("error", test, NULL, NULL);
}
