/* Memory by lifetime: zeroed, aligned, apart, of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static void gives_zeroed_and_aligned_memory(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 1; size < 300; size += 7) {
        unsigned char *memory = arena_array(&arena, size, 1);
        assert_true((uintptr_t)memory % alignof(max_align_t) == 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    arena_free(&arena);
}

static void pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    struct arena arena = {0};
    unsigned char *piece[PIECES];
    for (int i = 0; i < PIECES; i++) {
        size_t size = i % 100 == 99 ? 100000 : 24;
        piece[i] = arena_array(&arena, size, 1);
        memset(piece[i], i % 251, size);
    }
    for (int i = 0; i < PIECES; i++) {
        size_t last = i % 100 == 99 ? 99999 : 23;
        assert_int_equal(piece[i][0], i % 251);
        assert_int_equal(piece[i][last], i % 251);
    }
    arena_free(&arena);
}

static void small_pieces_follow_a_large_one(void **state)
{
    (void)state;
    struct arena arena = {0};
    char *before = arena_copy(&arena, "before");
    char *large = arena_array(&arena, 8 << 20, 1);
    char *after = arena_copy(&arena, "after");
    memset(large, 'x', 8 << 20);
    assert_string_equal(before, "before");
    assert_string_equal(after, "after");
    arena_free(&arena);
    assert_null(arena.block);
}

static void copies_and_formats(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(arena_copy(&arena, ""), "");
    assert_string_equal(arena_copy_n(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_format(&arena, "%d-%s", 7, "x"), "7-x");
    int *number = ARENA_ARRAY(&arena, 0, int);
    assert_non_null(number);
    arena_free(&arena);
}

static void resizes_and_keeps_content(void **state)
{
    (void)state;
    int *number = NULL;
    for (size_t n = 1; n <= 1000; n *= 10) {
        number = memory_resize(number, n, sizeof *number);
        number[n - 1] = (int)n;
        assert_int_equal(number[0], 1);
    }
    number = memory_resize(number, 1, sizeof *number);
    assert_int_equal(number[0], 1);
    void *end = memory_resize(number, 0, 1);
    assert_non_null(end);
    end = memory_resize(end, 1, 1);
    assert_non_null(end);
    free(end);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(gives_zeroed_and_aligned_memory), cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(small_pieces_follow_a_large_one), cmocka_unit_test(copies_and_formats),
        cmocka_unit_test(resizes_and_keeps_content),
    };
    return cmocka_run_group_tests_name("arena", test, NULL, NULL);
}
