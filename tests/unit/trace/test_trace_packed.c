/* Very many records in little memory come back in order, each of them. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/random.h"
#include "trace/trace_packed.h"

enum { N = 50000, N_MANY = 1000000 };

static int by_columns(const void *a, const void *b)
{
    const struct packed_record *x = a, *y = b;
    for (size_t k = 0; k < PACKED_COLUMNS; k++) {
        if (x->column[k] != y->column[k])
            return x->column[k] < y->column[k] ? -1 : 1;
    }
    return 0;
}

/* Few keys, so that many records are equal; other numbers from the smallest to the largest. */
static struct packed_record some_record(struct random *random)
{
    static const int64_t extreme[] = {INT64_MIN, INT64_MAX, -1, 0, 1, INT64_MIN + 1};
    int64_t any = (int64_t)(random_next(random) >> random_below(random, 64));
    return (struct packed_record){{(int64_t)random_below(random, N / 4),
                                   random_below(random, 3) ? 7 : any,
                                   extreme[random_below(random, 6)]}};
}

static struct packed_record *fill(struct trace_packed *packed, size_t n)
{
    struct packed_record *record = calloc(n, sizeof *record);
    struct random random = random_seed(5, 0);
    assert_non_null(record);
    for (size_t i = 0; i < n; i++) {
        record[i] = some_record(&random);
        trace_packed_add(packed, &record[i]);
    }
    trace_packed_finish(packed);
    assert_int_equal(packed->n, n);
    qsort(record, n, sizeof *record, by_columns);
    return record;
}

static void expect_in_order(const struct trace_packed *packed, const struct packed_record *record)
{
    for (int twice = 0; twice < 2; twice++) {
        struct packed_reader reader = trace_packed_read(packed);
        for (size_t i = 0; i < packed->n; i++)
            assert_memory_equal(trace_packed_next(&reader), &record[i], sizeof *record);
        assert_null(trace_packed_next(&reader));
        assert_null(trace_packed_next(&reader));
        trace_packed_read_end(&reader);
    }
}

static void records_come_back_in_order(void **state)
{
    struct trace_packed packed = {.n_columns = 3};
    struct packed_record *record = fill(&packed, N);
    (void)state;
    expect_in_order(&packed, record);
    assert_false(packed.has_file);
    trace_packed_free(&packed);
    free(record);
}

static void very_many_lie_in_a_file(void **state)
{
    struct trace_packed packed = {.n_columns = 3};
    struct packed_record *record = fill(&packed, N_MANY);
    struct packed_reader unfinished = trace_packed_read(&packed);
    (void)state;
    assert_true(packed.n_spilled > 1);
    assert_true(packed.kept_bytes <= 4 << 20);
    expect_in_order(&packed, record);
    trace_packed_next(&unfinished);
    trace_packed_read_end(&unfinished);
    trace_packed_free(&packed);
    free(record);
}

static void expect_kept_in_memory(void)
{
    struct trace_packed packed = {.n_columns = 3};
    struct packed_record *record = fill(&packed, N_MANY / 2);
    assert_int_equal(packed.n_spilled, 0);
    expect_in_order(&packed, record);
    trace_packed_free(&packed);
    free(record);
}

static void without_a_folder_for_files_all_is_kept(void **state)
{
    (void)state;
    setenv("TMPDIR", "/nonexistent", 1);
    expect_kept_in_memory();
    unsetenv("TMPDIR");
}

static void on_a_full_disk_all_is_kept(void **state)
{
    struct rlimit whole, little;
    (void)state;
    getrlimit(RLIMIT_FSIZE, &whole);
    little = whole;
    little.rlim_cur = 1 << 20;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    expect_kept_in_memory();
    setrlimit(RLIMIT_FSIZE, &whole);
    signal(SIGXFSZ, SIG_DFL);
}

static void of_equal_records_only_the_first_comes_where_asked_for(void **state)
{
    struct trace_packed packed = {.n_columns = 3};
    struct packed_record *record = fill(&packed, N);
    struct packed_reader reader = trace_packed_read(&packed);
    size_t n_equal = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        if (i > 0 && by_columns(&record[i - 1], &record[i]) == 0)
            n_equal++;
        else
            assert_memory_equal(trace_packed_next_other(&reader), &record[i], sizeof *record);
    }
    assert_null(trace_packed_next_other(&reader));
    assert_true(n_equal > 0);
    trace_packed_read_end(&reader);
    trace_packed_free(&packed);
    free(record);
}

static void the_first_record_of_a_key_is_found(void **state)
{
    struct trace_packed packed = {.n_columns = 3};
    struct packed_record *record = fill(&packed, N);
    struct packed_reader reader = trace_packed_read(&packed);
    size_t i = 0, n_absent = 0;
    (void)state;
    for (int64_t key = -1; key <= N / 4; key++) {
        while (i < N && record[i].column[0] < key)
            i++;
        for (int twice = 0; twice < 2; twice++) {
            const struct packed_record *found = trace_packed_seek(&reader, key);
            if (i < N && record[i].column[0] == key)
                assert_memory_equal(found, &record[i], sizeof *record);
            else
                assert_null(found);
            n_absent += !found;
        }
    }
    assert_true(n_absent > 4);
    trace_packed_read_end(&reader);
    trace_packed_free(&packed);
    free(record);
}

static void an_empty_list_has_no_record(void **state)
{
    struct trace_packed packed = {.n_columns = 2};
    (void)state;
    trace_packed_finish(&packed);
    struct packed_reader reader = trace_packed_read(&packed);
    assert_null(trace_packed_seek(&reader, 0));
    assert_null(trace_packed_next_other(&reader));
    trace_packed_read_end(&reader);
    trace_packed_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_in_order),
        cmocka_unit_test(very_many_lie_in_a_file),
        cmocka_unit_test(without_a_folder_for_files_all_is_kept),
        cmocka_unit_test(on_a_full_disk_all_is_kept),
        cmocka_unit_test(of_equal_records_only_the_first_comes_where_asked_for),
        cmocka_unit_test(the_first_record_of_a_key_is_found),
        cmocka_unit_test(an_empty_list_has_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
