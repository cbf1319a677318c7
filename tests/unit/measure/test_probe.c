/* Asking hosts at once, with stand-ins for the Python that answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "measure/probe.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job job;
    struct progress progress;
    volatile sig_atomic_t cancel;
    struct launcher *launcher;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_probe.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->job = (struct job){.folder = f->folder, .launcher = {.kind = LAUNCHER_LOCAL}};
    f->progress.cancel = &f->cancel;
    assert_true(launcher_open(&f->job, "../worker", &f->progress, &f->launcher, &f->e));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    launcher_close(f->launcher);
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

/* A host whose Python is a shell script; the second of two, the first cannot be started. */
static struct probe stand_in(struct fixture *f, const char *name, const char *body)
{
    const char *path = path_join(&f->arena, f->folder, name);
    char *text = arena_format(&f->arena, "#!/bin/sh\n%s\n", body);
    assert_true(file_write(path, text, strlen(text), &f->e));
    assert_int_equal(chmod(path, 0700), 0);
    const char **interpreter = ARENA_ARRAY(&f->arena, 3, const char *);
    interpreter[0] = "/nowhere/python3";
    interpreter[1] = path;
    return (struct probe){.host = name, .question = "{}", .interpreter = interpreter};
}

static void ask(struct fixture *f, struct probe *probe, size_t n)
{
    probe_hosts(&f->arena, f->launcher, "pass", probe, n, &f->progress);
}

static void takes_the_answers_of_all(void **state)
{
    struct fixture *f = *state;
    struct probe probe[] = {
        stand_in(f, "one", "echo noise; echo \"foretrain-probe $FORETRAIN_PROBE\"; echo more"),
        {.host = "not asked"},
        stand_in(f, "two", "echo 'foretrain-probe [2]'"),
    };
    ask(f, probe, 3);
    assert_string_equal(probe[0].answer, "{}");
    assert_null(probe[1].answer);
    assert_null(probe[1].failure);
    assert_string_equal(probe[2].answer, "[2]");
    assert_false(probe[2].has_clock);
}

static void many_hosts_are_asked_in_turn(void **state)
{
    enum { N = 260 };
    struct fixture *f = *state;
    struct probe *probe = ARENA_ARRAY(&f->arena, N, struct probe);
    struct probe first = stand_in(f, "same", "echo 'foretrain-probe 1'");
    for (size_t i = 0; i < N; i++)
        probe[i] = first;
    ask(f, probe, N);
    for (size_t i = 0; i < N; i++)
        assert_string_equal(probe[i].answer, "1");
}

static void a_clock_that_is_wrong_is_seen_whatever_comes_after(void **state)
{
    struct fixture *f = *state;
    struct probe probe[] = {
        stand_in(f, "ahead",
                 "echo foretrain-clock $(($(date +%s) + 7200)); sleep 0.3; "
                 "echo 'foretrain-probe {}'"),
        stand_in(f, "right", "echo foretrain-clock $(date +%s.%N); echo 'foretrain-probe {}'"),
    };
    ask(f, probe, 2);
    assert_true(probe[0].has_clock && probe[1].has_clock);
    assert_true(fabs(probe[0].clock_ahead_s - 7200) <= probe[0].clock_error_s + 1);
    assert_true(fabs(probe[1].clock_ahead_s) <= probe[1].clock_error_s + 0.001);
}

static void what_fails_says_why_in_harmless_words(void **state)
{
    struct fixture *f = *state;
    struct probe probe[] = {
        stand_in(f, "crash", "printf 'boo\\033[2J\\n' >&2; exit 3"),
        stand_in(f, "mute", "exit 0"),
        {.host = "none", .question = "{}", .interpreter = (const char *const[]){"/no", NULL}},
    };
    ask(f, probe, 3);
    assert_string_equal(probe[0].failure,
                        "its python exited with status 3\n  it said: boo\\x1b[2J");
    assert_string_equal(probe[1].failure, "its python exited with status 0");
    assert_non_null(strstr(probe[2].failure, "/no"));
}

static void ends_at_once_when_the_user_wants_so(void **state)
{
    struct fixture *f = *state;
    struct probe probe[] = {stand_in(f, "slow", "sleep 600")};
    f->cancel = SIGINT;
    ask(f, probe, 1);
    assert_null(probe[0].answer);
    f->cancel = 0;
}

static void finds_lines_by_their_marks_only(void **state)
{
    struct fixture *f = *state;
    double clock_s = 7;
    assert_null(probe_find_answer(&f->arena, "a foretrain-probe {}\n"));
    assert_string_equal(probe_find_answer(&f->arena, "foretrain-probe 1\nforetrain-probe 2"), "2");
    assert_false(probe_find_clock("foretrain-clock 12", &clock_s));
    assert_false(probe_find_clock("foretrain-clock nan\nforetrain-clock x\n", &clock_s));
    assert_true(clock_s == 7);
    assert_true(probe_find_clock("x\nforetrain-clock 12.5\n", &clock_s));
    assert_true(clock_s == 12.5);
}

int main(void)
{
#define PROBE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PROBE_TEST(takes_the_answers_of_all),
        PROBE_TEST(many_hosts_are_asked_in_turn),
        PROBE_TEST(a_clock_that_is_wrong_is_seen_whatever_comes_after),
        PROBE_TEST(what_fails_says_why_in_harmless_words),
        PROBE_TEST(ends_at_once_when_the_user_wants_so),
        PROBE_TEST(finds_lines_by_their_marks_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
