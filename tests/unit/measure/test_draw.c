/* Drawing from sets in memory, from small trees on disk, and from lists. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "measure/draw.h"

enum { N_FILES = 50, N_DRAWN = 10, N_SEEDS = 2000 };

struct fixture {
    struct arena arena;
    struct error error;
    struct data_set set;
    char folder[32]; /* for trees on disk; "" without */
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int setup_on_disk(void **state)
{
    if (setup(state) != 0)
        return -1;
    struct fixture *f = *state;
    snprintf(f->folder, sizeof f->folder, "/tmp/test_draw.XXXXXX");
    return mkdtemp(f->folder) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->folder[0] && !file_remove_tree(f->folder, &f->error))
        return -1;
    arena_free(&f->arena);
    error_clear(&f->error);
    free(f);
    return 0;
}

/* A set whose files need not exist: their sizes are known. */
static void make_set(struct fixture *f, size_t n, double size_bytes)
{
    f->set = (struct data_set){.root = "/data",
                               .path = ARENA_ARRAY(&f->arena, n, const char *),
                               .folder = ARENA_ARRAY(&f->arena, n, uint32_t),
                               .size_bytes = ARENA_ARRAY(&f->arena, n, double),
                               .n = n,
                               .n_folders = 1};
    for (size_t i = 0; i < n; i++) {
        f->set.path[i] = arena_format(&f->arena, "class%zu/%zu.jpg", i % 5, i);
        f->set.size_bytes[i] = size_bytes;
    }
}

static struct draw_request samples(const char *type, int n_devices, double n)
{
    return (struct draw_request){type, n_devices, {n, AMOUNT_SAMPLES}};
}

static struct draw_request bytes(const char *type, int n_devices, double n)
{
    return (struct draw_request){type, n_devices, {n, AMOUNT_BYTES}};
}

static void draw(struct fixture *f, const struct draw_request *request, size_t n, uint64_t seed,
                 struct draw_share *share)
{
    if (!draw_make(&f->arena, &f->set, request, n, seed, share, &f->error))
        fail_msg("%s", f->error.text);
}

static size_t draw_one(struct fixture *f, uint64_t seed, struct draw_share *share)
{
    struct draw_request request = samples("a", 1, N_DRAWN);
    draw(f, &request, 1, seed, share);
    return share->n;
}

static bool same_files(const struct draw_share *a, const struct draw_share *b)
{
    return a->n == b->n && memcmp(a->file, b->file, a->n * sizeof *a->file) == 0;
}

static void draws_the_same_files_for_the_same_seed(void **state)
{
    struct fixture *f = *state;
    struct draw_share once, again;
    make_set(f, N_FILES, 1);
    assert_int_equal(draw_one(f, 7, &once), N_DRAWN);
    draw_one(f, 7, &again);
    assert_true(same_files(&once, &again));
}

static void draws_others_for_another_seed(void **state)
{
    struct fixture *f = *state;
    struct draw_share share[20];
    make_set(f, N_FILES, 1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        draw_one(f, seed, &share[seed]);
        for (uint64_t other = 0; other < seed; other++)
            assert_false(same_files(&share[seed], &share[other]));
    }
}

static void does_not_depend_on_the_order_of_the_folder(void **state)
{
    struct fixture *f = *state;
    struct draw_share once, again;
    make_set(f, N_FILES, 1);
    draw_one(f, 7, &once);
    const char *first = f->set.path[once.file[0]];
    for (size_t i = 0; i < N_FILES / 2; i++) {
        const char *path = f->set.path[i];
        f->set.path[i] = f->set.path[N_FILES - 1 - i];
        f->set.path[N_FILES - 1 - i] = path;
    }
    draw_one(f, 7, &again);
    assert_string_equal(f->set.path[again.file[0]], first);
    for (size_t i = 0; i < N_DRAWN; i++)
        assert_int_equal(again.file[i], N_FILES - 1 - once.file[i]);
}

static void draws_no_file_twice_across_devices_and_types(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request[] = {samples("a", 2, 10), bytes("b", 3, 5)};
    struct draw_share share[5];
    bool seen[N_FILES] = {false};
    make_set(f, N_FILES, 1);
    draw(f, request, 2, 3, share);
    size_t total = 0;
    for (size_t s = 0; s < 5; s++) {
        assert_int_equal(share[s].n, s < 2 ? 10 : 5);
        for (size_t i = 0; i < share[s].n; i++, total++) {
            assert_true(share[s].file[i] < N_FILES);
            assert_false(seen[share[s].file[i]]);
            seen[share[s].file[i]] = true;
        }
    }
    assert_int_equal(total, 35);
}

/*
 * Chi-square of how often each of 50 files is drawn in 2,000 draws of 10, for devices 0 and 1. A
 * draw without replacement spreads less than independent ones, by (n-k)/(n-1). 49 degrees of
 * freedom exceed 85.35 once in 1,000 times; the seeds are fixed, so that it does not happen by
 * chance.
 */
static void draws_each_file_equally_often(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request = samples("a", 2, N_DRAWN);
    size_t count[2][N_FILES] = {{0}};
    make_set(f, N_FILES, 1);
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        struct draw_share share[2];
        draw(f, &request, 1, seed, share);
        for (size_t s = 0; s < 2; s++) {
            for (size_t i = 0; i < N_DRAWN; i++)
                count[s][share[s].file[i]]++;
        }
    }
    const double expected = (double)N_SEEDS * N_DRAWN / N_FILES;
    for (size_t s = 0; s < 2; s++) {
        double chi_square = 0;
        for (size_t i = 0; i < N_FILES; i++) {
            double off = (double)count[s][i] - expected;
            chi_square += off * off / expected;
        }
        chi_square *= (N_FILES - 1.0) / (N_FILES - N_DRAWN);
        assert_true(chi_square < 85.35);
        assert_true(chi_square > 23.98); /* nor suspiciously even: p = 0.999 */
    }
}

/* Where in the order a file comes is uniform too, over 10 fifths of 50: 9 degrees of freedom. */
static void draws_each_file_at_each_place_equally_often(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request = samples("a", 1, N_FILES);
    size_t count[10] = {0};
    make_set(f, N_FILES, 1);
    for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
        struct draw_share share;
        draw(f, &request, 1, seed, &share);
        for (size_t i = 0; i < N_FILES; i++) {
            if (share.file[i] == 0)
                count[i / 5]++;
        }
    }
    double chi_square = 0;
    for (size_t i = 0; i < 10; i++) {
        double off = (double)count[i] - N_SEEDS / 10.0;
        chi_square += off * off / (N_SEEDS / 10.0);
    }
    assert_true(chi_square < 27.88);
}

static void does_not_draw_the_first_files(void **state)
{
    struct fixture *f = *state;
    make_set(f, 1000, 1);
    struct draw_share share;
    draw_one(f, 0, &share);
    size_t n_first = 0;
    for (size_t i = 0; i < share.n; i++)
        n_first += share.file[i] < N_DRAWN;
    assert_true(n_first <= 2);
}

static void fills_bytes_while_the_next_file_fits(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request = bytes("a", 2, 35);
    struct draw_share share[2];
    make_set(f, 8, 10);
    draw(f, &request, 1, 1, share);
    for (size_t s = 0; s < 2; s++) {
        assert_int_equal(share[s].n, 3);
        assert_true(share[s].bytes == 30);
    }
}

static void gives_one_file_at_least(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request = bytes("a", 1, 35);
    struct draw_share share;
    make_set(f, 8, 1000);
    draw(f, &request, 1, 1, &share);
    assert_int_equal(share.n, 1);
    assert_true(share.bytes == 1000);
}

static void gives_nothing_where_nothing_is_asked_for(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request[] = {{"a", 2, {0, AMOUNT_NONE}}, samples("b", 1, 8)};
    struct draw_share share[3];
    make_set(f, 8, 1000);
    draw(f, request, 2, 1, share);
    assert_int_equal(share[0].n, 0);
    assert_int_equal(share[2].n, 8);
}

static void takes_a_set_that_is_just_large_enough(void **state)
{
    struct fixture *f = *state;
    const struct draw_request request[] = {samples("a", 2, 10), samples("b", 3, 10)};
    struct draw_share share[5];
    make_set(f, N_FILES, 1);
    draw(f, request, 2, 1, share);
    assert_int_equal(share[4].n, 10);
    const struct draw_request in_bytes = bytes("a", 5, 10);
    draw(f, &in_bytes, 1, 1, share);
    assert_true(share[4].bytes == 10);
}

static void assert_too_small(struct fixture *f, const struct draw_request *request, size_t n,
                             const char *expected)
{
    struct draw_share share[8] = {{.n = 77}};
    assert_false(draw_make(&f->arena, &f->set, request, n, 1, share, &f->error));
    assert_int_equal(f->error.kind, ERROR_INPUT);
    assert_string_equal(f->error.text, expected);
    assert_int_equal(share[0].n, 77);
}

static void says_by_how_much_a_set_is_too_small(void **state)
{
    struct fixture *f = *state;
    make_set(f, 1200, 1e6);
    const struct draw_request files[] = {samples("a100", 2, 500), samples("mlu", 2, 200)};
    assert_too_small(f, files, 2,
                     "the training set is too small: the sub-systems need 1,400 files, /data has "
                     "1,200 files: 200 files are missing\n"
                     "  hint: drawn without replacement: 2 of a100 with 500 files each, 2 of mlu "
                     "with 200 files each");
    const struct draw_request size[] = {bytes("a100", 2, 1e9)};
    assert_too_small(f, size, 1,
                     "the training set is too small: the sub-systems need 2 GB, /data has 1.20 GB: "
                     "800 MB are missing\n"
                     "  hint: drawn without replacement: 2 of a100 with 1 GB each");
}

static void says_when_large_files_run_out(void **state)
{
    struct fixture *f = *state;
    make_set(f, 2, 1e9);
    const struct draw_request size[] = {bytes("a", 3, 1e6)};
    assert_too_small(f, size, 1,
                     "the training set is too small: /data has 2 GB in 2 files, which run out "
                     "before each device has its part\n"
                     "  hint: drawn without replacement: 3 of a with 1 MB each");
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_file(struct fixture *f, const char *name, size_t n_bytes)
{
    char *path = in_folder(f, name);
    char *content = ARENA_ARRAY(&f->arena, n_bytes + 1, char);
    assert_true(file_make_folders(path_folder(&f->arena, path), &f->error));
    assert_true(file_write(path, content, n_bytes, &f->error));
}

static void scan(struct fixture *f, const char *name)
{
    if (!draw_scan_folder(&f->arena, in_folder(f, name), &f->set, &f->error))
        fail_msg("%s", f->error.text);
}

static bool has_path(const struct data_set *set, const char *path)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->path[i], path) == 0)
            return true;
    }
    return false;
}

static void finds_files_and_links_to_files_only(void **state)
{
    struct fixture *f = *state;
    write_file(f, "set/a/1", 3);
    write_file(f, "set/a/b/2", 4);
    write_file(f, "set/.hidden/3", 1);
    write_file(f, "set/a/.DS_Store", 1);
    write_file(f, "elsewhere/big", 5);
    assert_int_equal(symlink("../../elsewhere/big", in_folder(f, "set/a/link")), 0);
    assert_int_equal(symlink("../elsewhere", in_folder(f, "set/folder-link")), 0);
    assert_int_equal(mkfifo(in_folder(f, "set/pipe"), 0600), 0);
    scan(f, "set");
    assert_int_equal(f->set.n, 3);
    assert_int_equal(f->set.n_folders, 2);
    assert_true(has_path(&f->set, "a/1") && has_path(&f->set, "a/b/2"));
    assert_true(has_path(&f->set, "a/link"));
    double total = 0;
    assert_true(draw_total_bytes(&f->set, &total, &f->error));
    assert_true(total == 12);
}

static void takes_names_of_any_bytes(void **state)
{
    struct fixture *f = *state;
    static const char *const name[] = {"set/a b/new\nline", "set/a b/quote\"'", "set/\xff\xfe",
                                       "set/-rf"};
    for (size_t i = 0; i < 4; i++)
        write_file(f, name[i], i);
    scan(f, "set");
    struct draw_share share;
    const struct draw_request request = samples("a", 1, 4);
    draw(f, &request, 1, 1, &share);
    assert_true(share.bytes == 6);
    assert_true(draw_link(&f->set, &share, 1, in_folder(f, "drawn"), false, &f->error));
    assert_true(file_exists(in_folder(f, "drawn/all/a b/new\nline")));
    assert_true(file_exists(in_folder(f, "drawn/all/\xff\xfe")));
}

static void refuses_a_link_to_nothing(void **state)
{
    struct fixture *f = *state;
    write_file(f, "set/a", 1);
    assert_int_equal(symlink("nowhere", in_folder(f, "set/dangling")), 0);
    assert_false(draw_scan_folder(&f->arena, in_folder(f, "set"), &f->set, &f->error));
    assert_int_equal(f->error.kind, ERROR_FILE);
    assert_non_null(strstr(f->error.text, "set/dangling: a link in the training set that leads"));
}

static void refuses_a_set_without_files(void **state)
{
    struct fixture *f = *state;
    assert_true(file_make_folders(in_folder(f, "set/class0"), &f->error));
    assert_false(draw_scan_folder(&f->arena, in_folder(f, "set"), &f->set, &f->error));
    assert_non_null(strstr(f->error.text, "/set: no files in the training set"));
    assert_false(draw_scan_folder(&f->arena, in_folder(f, "none"), &f->set, &f->error));
    assert_non_null(strstr(f->error.text, "/none: not found"));
}

static void refuses_a_folder_that_it_may_not_read(void **state)
{
    struct fixture *f = *state;
    const uid_t user = geteuid(), nobody = 65534;
    write_file(f, "set/a/1", 1);
    assert_int_equal(chmod(f->folder, 0755), 0);
    assert_int_equal(chmod(in_folder(f, "set"), 0755), 0);
    assert_int_equal(chmod(in_folder(f, "set/a"), 0), 0);
    if (user == 0)
        assert_int_equal(seteuid(nobody), 0);
    bool scanned = draw_scan_folder(&f->arena, in_folder(f, "set"), &f->set, &f->error);
    if (user == 0)
        assert_int_equal(seteuid(user), 0);
    chmod(in_folder(f, "set/a"), 0700);
    assert_false(scanned);
    assert_non_null(strstr(f->error.text, "/set/a: cannot open the folder"));
}

static void make_classes(struct fixture *f)
{
    for (int i = 0; i < 12; i++)
        write_file(f, arena_format(&f->arena, "set/class%d/%d.jpg", i % 3, i), (size_t)i);
}

static void links_keep_the_class_folders(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    scan(f, "set");
    assert_int_equal(f->set.n_folders, 3);
    struct draw_share share[2];
    const struct draw_request request = samples("a", 2, 6);
    draw(f, &request, 1, 1, share);
    assert_int_equal(draw_count_folders(&f->set, share, 2), 3);
    assert_true(draw_link(&f->set, share, 2, in_folder(f, "drawn"), true, &f->error));
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < share[s].n; i++) {
            const char *path = f->set.path[share[s].file[i]];
            char *link = arena_format(&f->arena, "%s/drawn/device%zu/%s", f->folder, s, path);
            char target[PATH_MAX];
            ssize_t length = readlink(link, target, sizeof target - 1);
            assert_true(length > 0);
            target[length] = '\0';
            assert_string_equal(target, arena_format(&f->arena, "%s/%s", f->set.root, path));
            assert_int_equal(target[0], '/');
            assert_true(file_exists(arena_format(&f->arena, "%s/drawn/all/%s", f->folder, path)));
            char *other = arena_format(&f->arena, "%s/drawn/device%zu/%s", f->folder, 1 - s, path);
            assert_false(file_exists(other));
        }
    }
    assert_false(file_exists(in_folder(f, "drawn/all.txt")));
}

static void links_are_made_anew(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    scan(f, "set");
    struct draw_share share[2];
    const struct draw_request request = samples("a", 2, 3);
    draw(f, &request, 1, 1, share);
    assert_true(draw_link(&f->set, share, 1, in_folder(f, "drawn"), true, &f->error));
    const char *old = f->set.path[share[0].file[0]];
    assert_true(draw_link(&f->set, share + 1, 1, in_folder(f, "drawn"), false, &f->error));
    assert_false(file_exists(arena_format(&f->arena, "%s/drawn/all/%s", f->folder, old)));
    assert_false(file_exists(in_folder(f, "drawn/device0")));
    assert_true(file_exists(in_folder(f, arena_format(&f->arena, "set/%s", old))));
}

static void counts_fewer_folders_than_classes(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    scan(f, "set");
    struct draw_share share;
    const struct draw_request request = samples("a", 1, 1);
    draw(f, &request, 1, 1, &share);
    assert_int_equal(draw_count_folders(&f->set, &share, 1), 1);
}

static void write_text(struct fixture *f, const char *name, const char *text)
{
    assert_true(file_write(in_folder(f, name), text, strlen(text), &f->error));
}

static bool scan_list(struct fixture *f, const char *text)
{
    write_text(f, "train.txt", text);
    return draw_scan_list(&f->arena, in_folder(f, "train.txt"), &f->set, &f->error);
}

static void reads_a_list_relative_to_its_folder(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    char *text = arena_format(&f->arena,
                              "# the training set\nset/class0/0.jpg\n\nset/class1/1.jpg\r\n"
                              "./set/class2/../class0/3.jpg\n%s/set/class2/2.jpg",
                              f->folder);
    if (!scan_list(f, text))
        fail_msg("%s", f->error.text);
    assert_int_equal(f->set.n, 4);
    assert_int_equal(f->set.n_folders, 3);
    assert_string_equal(f->set.path[0], "class0/0.jpg");
    assert_string_equal(f->set.path[2], "class0/3.jpg");
    assert_string_equal(f->set.path[3], "class2/2.jpg");
    assert_string_equal(f->set.root + strlen(f->set.root) - 4, "/set");
}

static void writes_the_list_of_what_was_drawn(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    assert_true(scan_list(f, "set/class1/4.jpg\nset/class0/0.jpg\nset/class2/2.jpg\n"));
    struct draw_share share;
    const struct draw_request request = samples("a", 1, 3);
    char *text = NULL;
    draw(f, &request, 1, 1, &share);
    assert_true(share.bytes == 6);
    assert_true(draw_link(&f->set, &share, 1, in_folder(f, "drawn"), true, &f->error));
    assert_true(file_read(&f->arena, in_folder(f, "drawn/all.txt"), 4096, &text, NULL, &f->error));
    assert_string_equal(text, "all/class1/4.jpg\nall/class0/0.jpg\nall/class2/2.jpg\n");
    assert_true(file_exists(in_folder(f, "drawn/device0/class2/2.jpg")));
    assert_true(file_exists(in_folder(f, "drawn/device0.txt")));
}

static void reports_all_missing_files_of_a_list_together(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    assert_false(scan_list(f, "set/class0/0.jpg\nset/gone.jpg\n#\nset/class1\n"));
    assert_int_equal(f->error.kind, ERROR_FILE);
    assert_string_equal(f->error.text,
                        arena_format(&f->arena,
                                     "%s/train.txt:2: set/gone.jpg: No such file or directory\n"
                                     "%s/train.txt:4: set/class1: not a file",
                                     f->folder, f->folder));
}

static void refuses_a_list_that_names_a_file_twice(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    assert_false(scan_list(f, "set/class0/0.jpg\nset/class1/1.jpg\nset/./class0/0.jpg\n"));
    assert_int_equal(f->error.kind, ERROR_INPUT);
    assert_non_null(strstr(f->error.text, "train.txt:3:1: "));
    assert_non_null(strstr(f->error.text, "is named twice, first on line 1"));
}

static void refuses_a_list_of_nothing(void **state)
{
    struct fixture *f = *state;
    assert_false(scan_list(f, "# nothing yet\n\n"));
    assert_non_null(strstr(f->error.text, "train.txt: names no files"));
}

static void tells_what_the_page_cache_keeps(void **state)
{
    struct fixture *f = *state;
    make_classes(f);
    scan(f, "set");
    struct draw_share share;
    struct draw_cache left = {9, 9};
    const struct draw_request request = samples("a", 1, 12);
    draw(f, &request, 1, 1, &share);
    draw_forget_cache(&f->set, &share, 1, &left);
    assert_true(left.n_files <= 11 && left.bytes <= 66);
    assert_true(file_remove_tree(in_folder(f, "set"), &f->error));
    draw_forget_cache(&f->set, &share, 1, &left);
    assert_true(left.n_files == 12 && left.bytes == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, setup_on_disk, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(draws_the_same_files_for_the_same_seed),
        TEST(draws_others_for_another_seed),
        TEST(does_not_depend_on_the_order_of_the_folder),
        TEST(draws_no_file_twice_across_devices_and_types),
        TEST(draws_each_file_equally_often),
        TEST(draws_each_file_at_each_place_equally_often),
        TEST(does_not_draw_the_first_files),
        TEST(fills_bytes_while_the_next_file_fits),
        TEST(gives_one_file_at_least),
        TEST(gives_nothing_where_nothing_is_asked_for),
        TEST(takes_a_set_that_is_just_large_enough),
        TEST(says_by_how_much_a_set_is_too_small),
        TEST(says_when_large_files_run_out),
        DISK_TEST(finds_files_and_links_to_files_only),
        DISK_TEST(takes_names_of_any_bytes),
        DISK_TEST(refuses_a_link_to_nothing),
        DISK_TEST(refuses_a_set_without_files),
        DISK_TEST(refuses_a_folder_that_it_may_not_read),
        DISK_TEST(links_keep_the_class_folders),
        DISK_TEST(links_are_made_anew),
        DISK_TEST(counts_fewer_folders_than_classes),
        DISK_TEST(reads_a_list_relative_to_its_folder),
        DISK_TEST(writes_the_list_of_what_was_drawn),
        DISK_TEST(reports_all_missing_files_of_a_list_together),
        DISK_TEST(refuses_a_list_that_names_a_file_twice),
        DISK_TEST(refuses_a_list_of_nothing),
        DISK_TEST(tells_what_the_page_cache_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
