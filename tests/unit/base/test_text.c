/* The nearest word, text that grows, foreign text made safe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"

static const char *const key[] = {"name",    "model",   "data", "training",
                                  "devices", "network", "ring"};
enum { N_KEYS = sizeof key / sizeof *key };

static void finds_the_nearest_word(void **state)
{
    (void)state;
    assert_string_equal(text_nearest("trainig", key, N_KEYS), "training");
    assert_string_equal(text_nearest("modle", key, N_KEYS), "model");
    assert_string_equal(text_nearest("rnig", key, N_KEYS), "ring");
    assert_string_equal(text_nearest("device", key, N_KEYS), "devices");
    assert_string_equal(text_nearest("rings", key, N_KEYS), "ring");
    assert_string_equal(text_nearest("Data", key, N_KEYS), "data");
    assert_string_equal(text_nearest("networks", key, N_KEYS), "network");
}

static void suggests_nothing_far(void **state)
{
    (void)state;
    static const char *const far[] = {"", "x", "xyzzy", "collective", "zzzzzzzzzzzzzzzz"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        assert_null(text_nearest(far[i], key, N_KEYS));
    assert_null(text_nearest("name", key, 0));
}

static void gives_ties_to_the_first(void **state)
{
    (void)state;
    static const char *const word[] = {"cart", "card"};
    assert_string_equal(text_nearest("carx", word, 2), "cart");
}

static void does_not_compare_endless_words(void **state)
{
    (void)state;
    char endless[1000];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const char *const word[] = {endless, "a"};
    assert_null(text_nearest(endless, word, 2));
    assert_string_equal(text_nearest("a", word, 2), "a");
}

static void text_grows(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < 1000; i++)
        text_format(&text, "%d,", i);
    text_add(&text, "end");
    text_add_n(&text, "!?", 1);
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4 + 4);
    assert_int_equal(strlen(text.data), text.length);
    assert_string_equal(text.data + text.length - 8, "999,end!");
    text_free(&text);
    assert_null(text.data);
}

static void expect_printable(const char *text, int keep_lines, const char *expected)
{
    struct arena arena = {0};
    assert_string_equal(text_printable(&arena, text, keep_lines), expected);
    arena_free(&arena);
}

static void keeps_what_is_printable(void **state)
{
    (void)state;
    expect_printable("", 0, "");
    expect_printable("a b\xc3\xa4 \xe5\xaf\x92 \xf0\x9f\x98\x80", 0,
                     "a b\xc3\xa4 \xe5\xaf\x92 \xf0\x9f\x98\x80");
}

static void shows_controls_and_escapes(void **state)
{
    (void)state;
    expect_printable("\x1b[31mred\x07\x7f", 0, "\\x1b[31mred\\x07\\x7f");
    expect_printable("a\nb\tc\rd", 0, "a\\x0ab\\x09c\\x0dd");
    expect_printable("a\nb\tc\rd", 1, "a\nb\tc\\x0dd");
    expect_printable("\xc2\x9b", 0, "\\xc2\\x9b");
    expect_printable("\xe2\x80\xae"
                     "3",
                     0,
                     "\\xe2\\x80\\xae"
                     "3");
    expect_printable("\xe2\x81\xa9", 0, "\\xe2\\x81\\xa9");
    expect_printable("\xe2\x82\xac", 0, "\xe2\x82\xac");
}

static void shows_broken_utf8(void **state)
{
    (void)state;
    expect_printable("\xff\xc3", 0, "\\xff\\xc3");
    expect_printable("\xc0\xaf", 0, "\\xc0\\xaf");
    expect_printable("\xe0\x80\x80", 0, "\\xe0\\x80\\x80");
    expect_printable("\xed\xa0\x80", 0, "\\xed\\xa0\\x80");
    expect_printable("\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80");
    expect_printable("\xe5\xaf", 0, "\\xe5\\xaf");
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(finds_the_nearest_word),
        cmocka_unit_test(suggests_nothing_far),
        cmocka_unit_test(gives_ties_to_the_first),
        cmocka_unit_test(does_not_compare_endless_words),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(keeps_what_is_printable),
        cmocka_unit_test(shows_controls_and_escapes),
        cmocka_unit_test(shows_broken_utf8),
    };
    return cmocka_run_group_tests_name("text", test, NULL, NULL);
}
