/* Whole files in and out, folders, hashes and paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_file.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assert_true(file_remove_tree(f->folder, &f->e));
    assert_false(file_exists(f->folder));
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void reads_what_it_wrote(void **state)
{
    struct fixture *f = *state;
    static const char content[] = "a\0b\nc";
    char *path = in_folder(f, "x"), *text = NULL;
    size_t length = 0;
    assert_true(file_write(path, content, 5, &f->e));
    assert_true(file_read(&f->arena, path, 100, &text, &length, &f->e));
    assert_int_equal(length, 5);
    assert_memory_equal(text, content, 6);
}

static void reads_an_empty_file(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "x"), *text = NULL;
    assert_true(file_write(path, "", 0, &f->e));
    assert_true(file_read(&f->arena, path, 0, &text, NULL, &f->e));
    assert_string_equal(text, "");
}

static void refuses_a_file_beyond_the_limit(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "x"), *text = NULL;
    assert_true(file_write(path, "123456", 6, &f->e));
    assert_true(file_read(&f->arena, path, 6, &text, NULL, &f->e));
    text = NULL;
    assert_false(file_read(&f->arena, path, 5, &text, NULL, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
    assert_non_null(strstr(f->e.text, "larger than 5 bytes"));
    assert_null(text);
}

static void names_what_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    assert_false(file_read(&f->arena, in_folder(f, "none"), 9, &text, NULL, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
    assert_non_null(strstr(f->e.text, "/none: cannot open: No such file"));
    assert_false(file_read(&f->arena, f->folder, 9, &text, NULL, &f->e));
    assert_non_null(strstr(f->e.text, "cannot read: Is a directory"));
}

static void replaces_a_file_and_leaves_nothing_beside_it(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "x"), *text = NULL;
    assert_true(file_write(path, "old", 3, &f->e));
    assert_true(file_write(path, "new", 3, &f->e));
    assert_true(file_read(&f->arena, path, 9, &text, NULL, &f->e));
    assert_string_equal(text, "new");
    int n = 0;
    DIR *folder = opendir(f->folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    assert_int_equal(n, 3);
}

static void leaves_the_old_file_where_it_cannot_write(void **state)
{
    struct fixture *f = *state;
    assert_false(file_write(in_folder(f, "no/x"), "new", 3, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
    char *occupied = in_folder(f, "occupied");
    assert_true(file_make_folders(occupied, &f->e));
    assert_false(file_write(occupied, "new", 3, &f->e));
    assert_true(file_remove_tree(occupied, &f->e));
    assert_int_equal(rmdir(f->folder), 0); /* no part is left in it */
    assert_int_equal(mkdir(f->folder, 0700), 0);
}

static void writes_into_a_pipe_instead_of_replacing_it(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "pipe"), got[4] = "";
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(file_write(path, "new", 3, &f->e));
    assert_int_equal(read(fd, got, 3), 3);
    assert_string_equal(got, "new");
    close(fd);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_true(file_write("/dev/null", "new", 3, &f->e));
}

static void writes_through_a_link_and_keeps_the_mode(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "x"), *link = in_folder(f, "link"), *text = NULL;
    assert_true(file_write(path, "old", 3, &f->e));
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(symlink("x", link), 0);
    assert_true(file_write(link, "new", 3, &f->e));
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_true(file_read(&f->arena, path, 9, &text, NULL, &f->e));
    assert_string_equal(text, "new");
}

static void makes_folders_again_and_again(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "a/b//c");
    assert_true(file_make_folders(path, &f->e));
    assert_true(file_make_folders(path, &f->e));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void refuses_a_folder_where_a_file_is(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "x");
    assert_true(file_write(path, "", 0, &f->e));
    assert_false(file_make_folders(path, &f->e));
    assert_false(file_make_folders(in_folder(f, "x/y"), &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
}

static void removes_trees_but_follows_no_link(void **state)
{
    struct fixture *f = *state;
    char *tree = in_folder(f, "tree"), *kept = in_folder(f, "kept");
    assert_true(file_make_folders(in_folder(f, "tree/deep"), &f->e));
    assert_true(file_make_folders(kept, &f->e));
    assert_true(file_write(in_folder(f, "kept/x"), "x", 1, &f->e));
    assert_int_equal(symlink(kept, in_folder(f, "tree/deep/link")), 0);
    assert_true(file_remove_tree(tree, &f->e));
    assert_false(file_exists(tree));
    assert_true(file_exists(in_folder(f, "kept/x")));
    assert_true(file_remove_tree(tree, &f->e));
}

static void hashes_content(void **state)
{
    struct fixture *f = *state;
    char hash[FILE_HASH_SIZE];
    assert_true(file_write(in_folder(f, "x"), "abc", 3, &f->e));
    assert_true(file_hash(in_folder(f, "x"), hash, &f->e));
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_false(file_hash(in_folder(f, "none"), hash, &f->e));
}

static void joins_and_splits_paths(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(path_join(&f->arena, "a", "b"), "a/b");
    assert_string_equal(path_join(&f->arena, "a", "/b"), "/b");
    assert_string_equal(path_join(&f->arena, "", "b"), "b");
    assert_string_equal(path_folder(&f->arena, "a/b/c"), "a/b");
    assert_string_equal(path_folder(&f->arena, "/c"), "/");
    assert_string_equal(path_folder(&f->arena, "c"), ".");
}

static void finds_absolute_paths_of_what_exists(void **state)
{
    struct fixture *f = *state;
    char *absolute = NULL;
    assert_int_equal(symlink(f->folder, in_folder(f, "self")), 0);
    assert_true(path_absolute(&f->arena, in_folder(f, "self"), &absolute, &f->e));
    assert_string_equal(absolute, f->folder);
    assert_false(path_absolute(&f->arena, in_folder(f, "none"), &absolute, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest test[] = {
        TEST(reads_what_it_wrote),
        TEST(reads_an_empty_file),
        TEST(refuses_a_file_beyond_the_limit),
        TEST(names_what_cannot_be_read),
        TEST(replaces_a_file_and_leaves_nothing_beside_it),
        TEST(leaves_the_old_file_where_it_cannot_write),
        TEST(writes_into_a_pipe_instead_of_replacing_it),
        TEST(writes_through_a_link_and_keeps_the_mode),
        TEST(makes_folders_again_and_again),
        TEST(refuses_a_folder_where_a_file_is),
        TEST(removes_trees_but_follows_no_link),
        TEST(hashes_content),
        TEST(joins_and_splits_paths),
        TEST(finds_absolute_paths_of_what_exists),
    };
    return cmocka_run_group_tests_name("file", test, NULL, NULL);
}
