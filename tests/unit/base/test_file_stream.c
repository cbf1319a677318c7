/* Files written piece by piece: complete or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file_stream.h"

static char folder[64];
static char path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_file_stream.XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    struct error e = {0};
    assert_true(file_remove_tree(folder, &e));
    return 0;
}

static void write_pieces(void)
{
    struct file_stream stream;
    struct error e = {0};
    assert_true(file_stream_open(&stream, path, &e));
    for (int i = 0; i < 3; i++)
        fprintf(stream.out, "%d", i);
    assert_true(file_stream_close(&stream, &e));
}

static void assert_content(const char *expected)
{
    struct arena arena = {0};
    struct error e = {0};
    char *text = NULL;
    assert_true(file_read(&arena, path, 100, &text, NULL, &e));
    assert_string_equal(text, expected);
    arena_free(&arena);
}

static void a_new_file_is_private_and_whole(void **state)
{
    (void)state;
    struct stat st;
    write_pieces();
    assert_content("012");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void a_file_that_is_there_keeps_its_mode_until_the_end(void **state)
{
    (void)state;
    struct file_stream stream;
    struct error e = {0};
    struct stat st;
    write_pieces();
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(file_stream_open(&stream, path, &e));
    fputs("new", stream.out);
    fflush(stream.out);
    assert_content("012");
    assert_true(file_stream_close(&stream, &e));
    assert_content("new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    struct file_stream stream;
    struct error e = {0};
    assert_false(file_stream_open(&stream, "/nowhere/at/all", &e));
    assert_non_null(strstr(e.text, "/nowhere/at/all: cannot write"));
    error_clear(&e);
    assert_true(file_stream_open(&stream, "/dev/full", &e));
    fputs("x", stream.out);
    assert_false(file_stream_close(&stream, &e));
    assert_int_equal(e.kind, ERROR_FILE);
    error_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_is_private_and_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_there_keeps_its_mode_until_the_end, set_up,
                                        tear_down),
        cmocka_unit_test(what_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
