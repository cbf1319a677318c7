/* Child processes: what they get, how they end, and that nothing of them is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/file.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_child.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

/* Runs a line of shell and returns what it printed. */
static char *shell(struct fixture *f, const char *line, const char *const *env,
                   struct child_limits limits, struct child_end *end)
{
    const char *argv[] = {"sh", "-c", line, NULL};
    struct child_options options = {.argv = argv, .env = env, .folder = f->folder};
    char *text = NULL;
    if (!child_capture(&f->arena, &options, &limits, end, &text, NULL, &f->e))
        fail_msg("%s", f->e.text);
    return text;
}

/* Reads a process id from a file that a child writes, waiting for it. */
static pid_t read_pid(struct fixture *f, const char *name)
{
    char *path = in_folder(f, name);
    for (int i = 0; i < 500; i++) {
        char *text = NULL;
        if (file_exists(path) && file_read(&f->arena, path, 100, &text, NULL, &f->e) &&
            strchr(text, '\n'))
            return (pid_t)atoi(text);
        clock_sleep(0.01);
    }
    fail_msg("%s was not written", path);
    return 0;
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static void runs_a_program_and_tells_its_exit_status(void **state)
{
    struct child_end end;
    char *text =
        shell(*state, "echo out; echo err >&2; exit 3", NULL, (struct child_limits){0}, &end);
    assert_string_equal(text, "out\nerr\n");
    assert_int_equal(end.how, CHILD_EXITED);
    assert_int_equal(end.number, 3);
    struct fixture *f = *state;
    assert_string_equal(child_end_text(&f->arena, end), "exited with status 3");
}

static void tells_the_signal_that_killed_it(void **state)
{
    struct child_end end;
    shell(*state, "kill -SEGV $$", NULL, (struct child_limits){0}, &end);
    assert_int_equal(end.how, CHILD_SIGNALLED);
    assert_int_equal(end.number, SIGSEGV);
    struct fixture *f = *state;
    assert_non_null(strstr(child_end_text(&f->arena, end), "signal 11 (Segmentation fault)"));
}

static void passes_arguments_without_a_shell(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"printf", "%s|", "a b", "$(id)", "`id`;'\"", "", NULL};
    struct child_options options = {.argv = argv};
    struct child_end end;
    char *text = NULL;
    assert_true(
        child_capture(&f->arena, &options, &(struct child_limits){0}, &end, &text, NULL, &f->e));
    assert_string_equal(text, "a b|$(id)|`id`;'\"||");
}

static void adds_changes_and_removes_variables(void **state)
{
    setenv("FT_OLD", "old", 1);
    setenv("FT_GONE", "gone", 1);
    const char *env[] = {"FT_OLD=new", "FT_GONE", "FT_TWICE=1", "FT_TWICE=2", NULL};
    struct child_end end;
    char *text = shell(*state, "echo $FT_OLD ${FT_GONE-none} $FT_TWICE; env | grep -c FT_TWICE",
                       env, (struct child_limits){0}, &end);
    unsetenv("FT_OLD");
    unsetenv("FT_GONE");
    assert_string_equal(text, "new none 2\n1\n");
}

static void gives_an_empty_input_and_the_working_directory(void **state)
{
    struct fixture *f = *state;
    struct child_end end;
    char *text = shell(f, "wc -c; pwd", NULL, (struct child_limits){0}, &end);
    assert_string_equal(text, arena_format(&f->arena, "0\n%s\n", f->folder));
}

static void closes_our_files(void **state)
{
    int leaked = dup(STDOUT_FILENO);
    struct child_end end;
    char *text = shell(*state, "ls /proc/self/fd | wc -l", NULL, (struct child_limits){0}, &end);
    close(leaked);
    assert_string_equal(text, "4\n"); /* 0, 1, 2 and the folder that ls reads */
}

static void captures_standard_error_apart(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    struct child_options options = {.argv = argv};
    struct child_end end;
    char *text = NULL, *errors = NULL;
    assert_true(
        child_capture(&f->arena, &options, &(struct child_limits){0}, &end, &text, &errors, &f->e));
    assert_string_equal(text, "out\n");
    assert_string_equal(errors, "err\n");
}

static void writes_output_to_a_private_file(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    struct child_options options = {
        .argv = argv, .output = in_folder(f, "out"), .errors = in_folder(f, "err")};
    struct child_end end;
    assert_true(child_run(&options, &(struct child_limits){0}, &end, &f->e));
    assert_string_equal(child_tail(&f->arena, options.output, 5), "out");
    assert_string_equal(child_tail(&f->arena, options.errors, 5), "err");
    struct stat st;
    assert_int_equal(stat(options.output, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void pins_to_the_given_cpus(void **state)
{
    struct fixture *f = *state;
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)last, &allowed))
        last--;
    const char *argv[] = {"grep", "Cpus_allowed_list", "/proc/self/status", NULL};
    struct child_options options = {.argv = argv, .cpus = arena_format(&f->arena, "%d", last)};
    struct child_end end;
    char *text = NULL;
    assert_true(
        child_capture(&f->arena, &options, &(struct child_limits){0}, &end, &text, NULL, &f->e));
    assert_string_equal(text, arena_format(&f->arena, "Cpus_allowed_list:\t%d\n", last));
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&allowed, &after));
}

static void refuses_cpus_that_are_not_there_or_not_a_list(void **state)
{
    struct fixture *f = *state;
    const char *const wrong[] = {"", "a", "1-", "-1", "3-2", "0,", "0 1", "99999", "1023", "0x1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(child_check_cpus(wrong[i], &f->e));
        assert_non_null(strstr(f->e.text, wrong[i]));
    }
    const char *argv[] = {"true", NULL};
    struct child_options options = {.argv = argv, .cpus = "1023"};
    struct child child;
    assert_false(child_start(&options, &child, &f->e));
}

static void names_what_could_not_be_had(void **state)
{
    struct fixture *f = *state;
    const char *missing[] = {"no-such-program", NULL}, *there[] = {"true", NULL};
    const struct {
        struct child_options options;
        const char *says;
    } wrong[] = {
        {{.argv = missing}, "cannot run the program no-such-program: No such file"},
        {{.argv = there, .folder = "/no/such"}, "cannot enter the folder /no/such"},
        {{.argv = there, .output = "/no/such/out"}, "cannot write /no/such/out"},
        {{.argv = there, .errors = "/no/such/err"}, "cannot write /no/such/err"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct child child;
        assert_false(child_start(&wrong[i].options, &child, &f->e));
        assert_int_equal(f->e.kind, ERROR_HOST);
        assert_non_null(strstr(f->e.text, wrong[i].says));
    }
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void ends_a_child_at_its_deadline(void **state)
{
    struct child_end end;
    double start_s = clock_now_s();
    shell(*state, "sleep 60", NULL, (struct child_limits){.timeout_s = 0.3}, &end);
    assert_int_equal(end.how, CHILD_TIMED_OUT);
    assert_true(clock_now_s() - start_s < 3);
}

static void ends_a_child_that_prints_nothing_for_too_long(void **state)
{
    struct child_end end;
    double start_s = clock_now_s();
    char *text = shell(*state, "for i in 1 2 3 4; do echo $i; sleep 0.2; done; sleep 60", NULL,
                       (struct child_limits){.stall_timeout_s = 1.5}, &end);
    assert_int_equal(end.how, CHILD_STALLED);
    assert_string_equal(text, "1\n2\n3\n4\n");
    assert_true(clock_now_s() - start_s < 20);
}

static void ends_a_child_that_prints_too_much(void **state)
{
    struct child_end end;
    char *text = shell(*state, "yes", NULL, (struct child_limits){.output_bytes = 1000}, &end);
    assert_int_equal(end.how, CHILD_FLOODED);
    assert_int_equal(strlen(text), 1000);
}

static volatile sig_atomic_t cancel;

static void raise_cancel(int number)
{
    (void)number;
    cancel = 1;
}

static void ends_a_child_when_the_user_wants_so(void **state)
{
    cancel = 0;
    signal(SIGALRM, raise_cancel);
    alarm(1);
    struct child_end end;
    shell(*state, "sleep 60", NULL, (struct child_limits){.cancel = &cancel}, &end);
    signal(SIGALRM, SIG_DFL);
    assert_int_equal(end.how, CHILD_CANCELLED);
}

static void kills_a_child_that_ignores_the_request_to_end(void **state)
{
    struct child_end end;
    double start_s = clock_now_s();
    shell(*state, "trap '' TERM; while :; do sleep 0.1; done", NULL,
          (struct child_limits){.timeout_s = 0.2}, &end);
    double took_s = clock_now_s() - start_s;
    assert_true(took_s > 4.5 && took_s < 20);
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void lets_a_child_end_cleanly_when_asked(void **state)
{
    struct fixture *f = *state;
    struct child_end end;
    shell(f, "trap 'echo bye > ended; exit 0' TERM; while :; do sleep 0.05; done", NULL,
          (struct child_limits){.timeout_s = 0.5}, &end);
    assert_string_equal(child_tail(&f->arena, in_folder(f, "ended"), 1), "bye");
}

static void ends_grandchildren_with_the_child(void **state)
{
    struct fixture *f = *state;
    struct child_end end;
    shell(f, "sleep 60 & echo $! > pid; exit 0", NULL, (struct child_limits){0}, &end);
    assert_int_equal(end.how, CHILD_EXITED);
    assert_true(is_gone(read_pid(f, "pid")));
}

static void ends_grandchildren_in_sessions_of_their_own(void **state)
{
    struct fixture *f = *state;
    struct child_end end;
    shell(f,
          "setsid sh -c 'echo $$ > pid; exec sleep 60' &"
          "until [ -s pid ]; do sleep 0.01; done",
          NULL, (struct child_limits){0}, &end);
    assert_true(is_gone(read_pid(f, "pid")));
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void stops_several_children_at_once(void **state)
{
    struct fixture *f = *state;
    const char *argv[] = {"sleep", "60", NULL};
    struct child_options options = {.argv = argv};
    struct child child[4] = {0};
    for (size_t i = 0; i < 3; i++)
        assert_true(child_start(&options, &child[i], &f->e));
    pid_t pid = child[1].pid;
    assert_false(child_ended(&child[1]));
    child_stop(child, 4);
    assert_true(is_gone(pid));
    child_stop(child, 4);
}

/* Kernel threads, and all that comes from outside of a container, show group and session 0. */
static void takes_nobody_for_a_descendant_of_no_child(void **state)
{
    (void)state;
    struct child none[2] = {0};
    struct descendants found = {0};
    assert_int_equal(descendants_signal(none, 2, 0, &found), 0);
    descendants_free(&found);
}

/* The parent is killed outright, as by the out-of-memory killer: it cannot clean up. */
static void dies_with_its_parent(void **state)
{
    struct fixture *f = *state;
    pid_t parent = fork();
    if (parent == 0) {
        char *path = in_folder(f, "pid");
        const char *argv[] = {"sh", "-c", "echo $$ > \"$1\"; exec sleep 60", "sh", path, NULL};
        struct child_options options = {.argv = argv};
        struct child child;
        _exit(child_start(&options, &child, &f->e) && pause() ? 0 : 1);
    }
    pid_t pid = read_pid(f, "pid");
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    for (int i = 0; i < 1000 && !is_gone(pid); i++) {
        waitpid(pid, NULL, WNOHANG); /* this program is the reaper now */
        clock_sleep(0.01);
    }
    assert_true(is_gone(pid));
}

static void shows_the_last_lines_only(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "out");
    const struct {
        const char *content, *tail;
    } table[] = {
        {"", ""},
        {"\n\n", ""},
        {"a", "a"},
        {"a\nb\nc\nd\n", "c\nd"},
        {"10%\r20%\r30%\r\n", "20%\n30%"},
        {"a\n\x1b[2Jb\n", "a\n\\x1b[2Jb"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(file_write(path, table[i].content, strlen(table[i].content), &f->e));
        assert_string_equal(child_tail(&f->arena, path, 2), table[i].tail);
    }
    assert_string_equal(child_tail(&f->arena, "/no/such/file", 2), "");
}

static void shows_little_of_one_endless_line(void **state)
{
    struct fixture *f = *state;
    char *path = in_folder(f, "out");
    size_t length = 1 << 20;
    char *line = ARENA_ARRAY(&f->arena, length, char);
    memset(line, 'x', length);
    line[length - 2] = '\0'; /* a zero in the output */
    assert_true(file_write(path, line, length, &f->e));
    char *tail = child_tail(&f->arena, path, 3);
    assert_int_equal(strlen(tail), 16384);
    assert_string_equal(tail + 16384 - 3, "x?x");
}

int main(void)
{
#define CHILD_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CHILD_TEST(runs_a_program_and_tells_its_exit_status),
        CHILD_TEST(tells_the_signal_that_killed_it),
        CHILD_TEST(passes_arguments_without_a_shell),
        CHILD_TEST(adds_changes_and_removes_variables),
        CHILD_TEST(gives_an_empty_input_and_the_working_directory),
        CHILD_TEST(closes_our_files),
        CHILD_TEST(captures_standard_error_apart),
        CHILD_TEST(writes_output_to_a_private_file),
        CHILD_TEST(pins_to_the_given_cpus),
        CHILD_TEST(refuses_cpus_that_are_not_there_or_not_a_list),
        CHILD_TEST(names_what_could_not_be_had),
        CHILD_TEST(ends_a_child_at_its_deadline),
        CHILD_TEST(ends_a_child_that_prints_nothing_for_too_long),
        CHILD_TEST(ends_a_child_that_prints_too_much),
        CHILD_TEST(ends_a_child_when_the_user_wants_so),
        CHILD_TEST(kills_a_child_that_ignores_the_request_to_end),
        CHILD_TEST(lets_a_child_end_cleanly_when_asked),
        CHILD_TEST(ends_grandchildren_with_the_child),
        CHILD_TEST(ends_grandchildren_in_sessions_of_their_own),
        CHILD_TEST(stops_several_children_at_once),
        CHILD_TEST(takes_nobody_for_a_descendant_of_no_child),
        CHILD_TEST(dies_with_its_parent),
        CHILD_TEST(shows_the_last_lines_only),
        CHILD_TEST(shows_little_of_one_endless_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
