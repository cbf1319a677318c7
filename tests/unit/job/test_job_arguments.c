/* Placeholders in a script's arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "job/arguments.h"

static const struct job_placeholder value[] = {
    {"data", "/tmp/drawn"}, {"batch", "16"}, {"rank", "{batch}"}, {"seed", NULL}};
enum { N_VALUES = sizeof value / sizeof *value };

static void expect(const char *arg, const char *expected)
{
    struct arena arena = {0};
    struct error e = {0};
    char *filled = NULL;
    if (!job_fill_argument(&arena, arg, value, N_VALUES, &filled, &e))
        fail_msg("%s", e.text);
    assert_string_equal(filled, expected);
    arena_free(&arena);
}

static void fills_in_known_words(void **state)
{
    (void)state;
    expect("{data}", "/tmp/drawn");
    expect("--batch={batch}", "--batch=16");
    expect("{data}/{batch}{batch}", "/tmp/drawn/1616");
    expect("", "");
}

static void does_not_fill_in_what_it_filled_in(void **state)
{
    (void)state;
    expect("{rank}", "{batch}");
}

static void leaves_other_braces_alone(void **state)
{
    (void)state;
    static const char *const text[] = {"{\"a\":{\"b\":[1]}}",
                                       "{}",
                                       "{",
                                       "}",
                                       "{epoch}.pt",
                                       "${HOME}",
                                       "{data ",
                                       "}}",
                                       "{a b}",
                                       "{ data }"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        expect(text[i], text[i]);
}

static void takes_two_braces_as_one(void **state)
{
    (void)state;
    expect("{{data}", "{data}");
    expect("{{{batch}", "{16");
    expect("{{", "{");
}

static void names_a_placeholder_without_a_value(void **state)
{
    (void)state;
    static const char *const arg[] = {"{seed}", "x{world_size}"};
    for (size_t i = 0; i < 2; i++) {
        struct arena arena = {0};
        struct error e = {0};
        char *filled = NULL;
        assert_false(job_fill_argument(&arena, arg[i], value, N_VALUES, &filled, &e));
        assert_null(filled);
        assert_non_null(strstr(e.text, i == 0 ? "{seed}" : "{world_size}"));
        error_clear(&e);
        arena_free(&arena);
    }
}

static void finds_what_an_argument_uses(void **state)
{
    (void)state;
    assert_true(job_argument_uses("--x={data}", "data"));
    assert_false(job_argument_uses("--x={{data}", "data"));
    assert_false(job_argument_uses("data", "data"));
    assert_false(job_argument_uses("{device_data}", "data"));
}

static void finds_a_near_miss(void **state)
{
    (void)state;
    const char *word = NULL, *meant = NULL;
    assert_int_equal(job_argument_near_miss("--b={batsh}", &word, &meant), 7);
    assert_string_equal(word, "{batsh}");
    assert_string_equal(meant, "batch");
    assert_int_equal(job_argument_near_miss("{Data}", &word, &meant), 6);
    assert_string_equal(meant, "data");
}

static void takes_known_and_far_words_for_no_near_miss(void **state)
{
    (void)state;
    static const char *const arg[] = {"{data}", "{epoch}", "{name}", "{\"date\":1}", "{{date}"};
    const char *word = NULL, *meant = NULL;
    for (size_t i = 0; i < sizeof arg / sizeof *arg; i++)
        assert_int_equal(job_argument_near_miss(arg[i], &word, &meant), 0);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(fills_in_known_words),
        cmocka_unit_test(does_not_fill_in_what_it_filled_in),
        cmocka_unit_test(leaves_other_braces_alone),
        cmocka_unit_test(takes_two_braces_as_one),
        cmocka_unit_test(names_a_placeholder_without_a_value),
        cmocka_unit_test(finds_what_an_argument_uses),
        cmocka_unit_test(finds_a_near_miss),
        cmocka_unit_test(takes_known_and_far_words_for_no_near_miss),
    };
    return cmocka_run_group_tests_name("job arguments", test, NULL, NULL);
}
