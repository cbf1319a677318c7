/* What users' files say cannot leave its place in a page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "report/html.h"
#include "report/svg.h"

static void assert_html(const char *text, const char *expected)
{
    struct text out = {0};
    html_add(&out, text);
    assert_string_equal(out.data ? out.data : "", expected);
    text_free(&out);
}

static void what_html_reads_is_escaped(void **state)
{
    (void)state;
    assert_html("<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;");
    assert_html("\" onload=\"x", "&quot; onload=&quot;x");
    assert_html("]]> --> &amp;", "]]&gt; --&gt; &amp;amp;");
    assert_html("a\x1b[2J\x7f\xff", "a\\x1b[2J\\x7f\\xff");
    assert_html("\xe2\x80\xaeright to left", "\\xe2\\x80\\xaeright to left");
    assert_html("", "");
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(html_short(&arena, "abcdef", 6), "abcdef");
    assert_string_equal(html_short(&arena, "abcdefg", 6), "abc\u2026fg");
    assert_string_equal(html_short(&arena, "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 3),
                        "\u00e4\u2026\u00fc");
    arena_free(&arena);
}

static void tips_and_labels_are_escaped_too(void **state)
{
    (void)state;
    struct text out = {0};
    svg_open(&out, 10, "%s", "\"><b>");
    svg_box(&out, "c", (struct svg_box){0, 0, 1, 1}, "</title><b>");
    svg_label(&out, "c", 0, 0, "start", "%s", "<b>");
    svg_close(&out);
    assert_null(strstr(out.data, "<b>"));
    text_free(&out);
}

static void ticks_are_round_and_few(void **state)
{
    (void)state;
    assert_true(svg_tick(1, 5) == 0.2);
    assert_true(svg_tick(70, 5) == 20);
    assert_true(svg_tick(0.9, 6) == 0.2);
    assert_true(svg_tick(0, 5) == 0);
    assert_true(svg_tick(-1, 5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_html_reads_is_escaped),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(tips_and_labels_are_escaped_too),
        cmocka_unit_test(ticks_are_round_and_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
