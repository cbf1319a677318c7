/* Quoting, held against what a real /bin/sh reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "base/quote.h"

/* What /bin/sh passes to a program for a quoted word, between '<' and '>'. */
static char *read_back(struct arena *arena, const char *quoted)
{
    const char *command = arena_format(arena, "printf '<%%s>' %s", quoted);
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    const struct child_options options = {.argv = argv};
    const struct child_limits limits = {.timeout_s = 10};
    struct child_end end;
    struct error e = {0};
    char *text = NULL;
    assert_true(child_capture(arena, &options, &limits, &end, &text, NULL, &e));
    assert_true(end.how == CHILD_EXITED && end.number == 0);
    return text;
}

static void check(const char *text)
{
    struct arena arena = {0};
    const char *expected = arena_format(&arena, "<%s>", text);
    assert_string_equal(read_back(&arena, quote_word(&arena, text)), expected);
    arena_free(&arena);
}

static void a_shell_reads_back_what_was_quoted(void **state)
{
    static const char *const text[] = {
        "",
        "plain",
        "two words",
        "$HOME",
        "`id`",
        "$(id)",
        "a'b",
        "''",
        "'",
        "\"",
        "a\\b",
        "\\",
        "line\nx",
        "\n",
        "tab\tx",
        "*",
        "~",
        "# no",
        "a;b&c|d<e>",
        "-rf",
        "--",
        "!!",
        "Gr\xc3\xbc\xc3",
        "\xff\xfe\x01",
        "trailing ",
        "\r",
        "{a,b}",
        "x=y",
    };
    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        check(text[i]);
}

static void every_byte_but_zero_survives(void **state)
{
    char all[256];
    (void)state;
    for (int byte = 1; byte < 256; byte++)
        all[byte - 1] = (char)byte;
    all[255] = '\0';
    check(all);
}

static void words_stay_apart(void **state)
{
    static const char *const word[] = {"a b", "", "c'd", NULL};
    struct arena arena = {0};
    (void)state;
    assert_string_equal(quote_words(&arena, word), "'a b' '' 'c'\\''d'");
    assert_string_equal(read_back(&arena, quote_words(&arena, word)), "<a b><><c'd>");
    arena_free(&arena);
}

static void plain_words_stay_readable(void **state)
{
    struct arena arena = {0};
    (void)state;
    assert_string_equal(quote_word(&arena, "/usr/bin/python3"), "/usr/bin/python3");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shell_reads_back_what_was_quoted),
        cmocka_unit_test(every_byte_but_zero_survives),
        cmocka_unit_test(words_stay_apart),
        cmocka_unit_test(plain_words_stay_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
