/*
 * Steps, marks and collectives of the traces in FORETRAIN_SHARED/data/kineto, beside EXPECTED.csv,
 * which an independent script wrote. Says out loud where the data is not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "trace/trace_stages.h"

enum column {
    FILE_NAME,
    RANK,
    WORLD,
    STEP,
    STEP_US,
    DDP_FORWARD_US,
    FIRST_BACKWARD,
    FIRST_BACKWARD_AT_US,
    LAST_BACKWARD_END_US,
    OPTIMIZER_US,
    LOADER_US,
    N_ALL_REDUCES,
    BYTES,
    SOURCE,
    N_DURATIONS,
    SUM_US,
    UNION_US,
    N_COLUMNS
};

struct row {
    char *value[N_COLUMNS];
};

struct fixture {
    struct arena arena;
    struct error error;
    char *kineto;
    struct row *row; /* [n] */
    size_t n;
};

static char *shared_folder(struct arena *arena)
{
    const char *given = getenv("FORETRAIN_SHARED");
    return arena_format(arena, "%s/data/kineto", given ? given : "../../shared");
}

static void read_rows(struct fixture *f, char *text)
{
    size_t n_lines = 0;
    for (const char *at = text; *at; at++)
        n_lines += *at == '\n';
    f->row = ARENA_ARRAY(&f->arena, n_lines + 1, struct row);
    char *rest = NULL;
    char *line = strtok_r(text, "\r\n", &rest);
    while ((line = strtok_r(NULL, "\r\n", &rest))) {
        struct row *row = &f->row[f->n++];
        for (int c = 0; c < N_COLUMNS; c++)
            row->value[c] = strsep(&line, ",");
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char *text = NULL;
    *state = f;
    f->kineto = shared_folder(&f->arena);
    const char *expected = arena_format(&f->arena, "%s/EXPECTED.csv", f->kineto);
    if (!file_exists(expected))
        return 0;
    if (!file_read(&f->arena, expected, 1 << 24, &text, NULL, &f->error))
        return -1;
    read_rows(f, text);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    error_clear(&f->error);
    free(f);
    return 0;
}

/*
 * Integer microseconds are exact, decimals are given to 0.1 us. Those of this one file count from
 * 1970: the script read them into doubles, which there have a quarter of a microsecond, and is off
 * by as much.
 */
static double tolerance_us(const struct row *row)
{
    return strstr(row->value[FILE_NAME], "nsres") ? 0.26 : 0.051;
}

static void assert_us(const struct row *row, const char *what, const char *expected, int64_t ns)
{
    double us = (double)ns / 1e3;
    if (*expected && fabs(strtod(expected, NULL) - us) > tolerance_us(row))
        fail_msg("%s %s: %s is %.3f us, expected %s", row->value[FILE_NAME], row->value[STEP], what,
                 us, expected);
}

static void check_marks(const struct trace *t, const struct row *row, const struct trace_step *step)
{
    const struct trace_pass *pass = step->n_passes ? &step->pass[step->n_passes - 1] : NULL;
    assert_us(row, "step", row->value[STEP_US], step->end_ns - step->start_ns);
    assert_us(row, "DDP forward", row->value[DDP_FORWARD_US], step->ddp_forward_ns);
    assert_us(row, "optimizer", row->value[OPTIMIZER_US], step->optimizer_ns);
    assert_us(row, "loader", row->value[LOADER_US], step->wait_ns);
    if (!*row->value[FIRST_BACKWARD])
        return;
    assert_non_null(pass);
    const char *name = t->collected.words.word[pass->first_gradient->name];
    assert_true(text_ends_with(name, row->value[FIRST_BACKWARD]));
    assert_us(row, "first backward", row->value[FIRST_BACKWARD_AT_US],
              pass->backward.start_ns - step->start_ns);
    assert_us(row, "last backward", row->value[LAST_BACKWARD_END_US],
              step->last_accumulation_ns - step->start_ns);
}

struct spans {
    size_t n_calls, n_ran;
    double bytes;
    int64_t sum_ns, union_ns;
    bool bytes_known;
};

static int by_start(const void *a, const void *b)
{
    const struct trace_window *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static struct spans add_up(const struct trace *t, const struct trace_step *step)
{
    struct trace_call *call = NULL;
    struct trace_window ran[64];
    struct spans s = {.bytes_known = true};
    size_t n = trace_calls_of(&t->calls, step, &call);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(call[i].op, "all_reduce") != 0)
            continue;
        s.n_calls++;
        s.bytes_known = s.bytes_known && call[i].bytes >= 0;
        s.bytes += call[i].bytes;
        if (!trace_window_is_empty(call[i].span) && s.n_ran < 64)
            ran[s.n_ran++] = call[i].span;
    }
    qsort(ran, s.n_ran, sizeof *ran, by_start);
    int64_t until_ns = INT64_MIN;
    for (size_t i = 0; i < s.n_ran; i++) {
        int64_t from_ns = ran[i].start_ns > until_ns ? ran[i].start_ns : until_ns;
        s.sum_ns += ran[i].end_ns - ran[i].start_ns;
        s.union_ns += ran[i].end_ns > from_ns ? ran[i].end_ns - from_ns : 0;
        until_ns = ran[i].end_ns > until_ns ? ran[i].end_ns : until_ns;
    }
    return s;
}

/*
 * The script counts a kernel with the step in whose time on the CPU it ran. We count it with the
 * step that launched it, which is right: in this file kernels run up to a step behind their launch,
 * so that the script finds 6 all-reduces in one step and none in the next.
 */
static bool counts_by_the_cpus_window(const struct row *row)
{
    return strstr(row->value[FILE_NAME], "hta_dlrm_rank1_of_2") != NULL;
}

static void check_collectives(const struct trace *t, const struct row *row,
                              const struct trace_step *step)
{
    struct spans s = add_up(t, step);
    size_t expected_ran = strtoul(row->value[N_DURATIONS], NULL, 10);
    bool lost = strcmp(row->value[SOURCE], "gloo") == 0 && s.n_ran < s.n_calls;
    if (!lost)
        assert_int_equal(s.n_calls, strtoul(row->value[N_ALL_REDUCES], NULL, 10));
    if (strcmp(row->value[BYTES], "unknown") == 0)
        assert_false(s.bytes_known && s.n_calls > 0);
    else
        assert_true(fabs(s.bytes - strtod(row->value[BYTES], NULL)) < 0.5);
    if (counts_by_the_cpus_window(row))
        return;
    assert_int_equal(s.n_ran, expected_ran);
    assert_us(row, "sum", row->value[SUM_US], s.sum_ns);
    assert_us(row, "union", row->value[UNION_US], s.union_ns);
}

static const struct trace_step *find_step(const struct trace *t, const char *name)
{
    int number = atoi(strchr(name, '#') + 1);
    for (size_t s = 0; s < t->steps.n; s++) {
        if (t->steps.step[s].number == number)
            return &t->steps.step[s];
    }
    fail_msg("%s: %s is not found", t->file, name);
    return NULL;
}

static bool same_file(const struct row *a, const struct row *b)
{
    return strcmp(a->value[FILE_NAME], b->value[FILE_NAME]) == 0;
}

/* All rows of one file; files in an archive are for tests/import. */
static size_t check_file(struct fixture *f, size_t first)
{
    struct trace t = {.file = path_join(&f->arena, f->kineto, f->row[first].value[FILE_NAME])};
    struct trace_options options = {.device_type = "x"};
    size_t next = first + 1;
    while (next < f->n && same_file(&f->row[first], &f->row[next]))
        next++;
    if (strchr(f->row[first].value[FILE_NAME], ':'))
        return next;
    if (!trace_collect(&f->arena, t.file, &options, &t.collected, &f->error) ||
        !trace_steps_find(&f->arena, &t.collected, t.file, &t.steps, &f->error))
        fail_msg("%s", f->error.text);
    trace_calls_find(&f->arena, &t.collected, &t.steps, &t.calls);
    assert_int_equal(t.steps.n, next - first);
    for (size_t i = first; i < next; i++) {
        const struct trace_step *step = find_step(&t, f->row[i].value[STEP]);
        check_marks(&t, &f->row[i], step);
        check_collectives(&t, &f->row[i], step);
    }
    trace_collected_free(&t.collected);
    return next;
}

static void finds_in_every_step_what_the_independent_script_found(void **state)
{
    struct fixture *f = *state;
    if (f->n == 0) {
        print_message("SKIPPED: no EXPECTED.csv in %s (FORETRAIN_SHARED)\n", f->kineto);
        skip();
    }
    for (size_t i = 0; i < f->n;)
        i = check_file(f, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_in_every_step_what_the_independent_script_found,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
