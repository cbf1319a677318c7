/* The command line for ssh, run through a stand-in that prints it; what its complaints mean; and
 * agents started without ssh. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "measure/launcher.h"
#include "measure/ssh.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job job;
    struct progress progress;
    struct launcher *launcher;
};

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_program(struct fixture *f, const char *name, const char *body)
{
    char *text = arena_format(&f->arena, "#!/bin/sh\n%s\n", body);
    assert_true(file_write(in_folder(f, name), text, strlen(text), &f->e));
    assert_int_equal(chmod(in_folder(f, name), 0700), 0);
}

/* A stand-in for ssh: it runs the last word with a shell, as sshd does. */
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_ssh.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->job = (struct job){.folder = f->folder, .launcher = {.kind = LAUNCHER_SSH}};
    f->job.launcher.folder = in_folder(f, "remote");
    f->job.launcher.files = FILES_COPIED;
    write_program(f, "ssh", "for word; do last=$word; done; exec /bin/sh -c \"$last\"");
    setenv("FORETRAIN_SSH", in_folder(f, "ssh"), 1);
    assert_true(launcher_open(&f->job, "../worker", &f->progress, &f->launcher, &f->e));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    launcher_close(f->launcher);
    unsetenv("FORETRAIN_SSH");
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static bool make_command(struct fixture *f, const char *host, const char *const **argv)
{
    const char *const command[] = {"a b", "c", NULL};
    return ssh_command(&f->arena, &f->job, host, command, argv, &f->e);
}

static size_t position(const char *const *argv, const char *word)
{
    size_t i = 0;
    while (argv[i] && strcmp(argv[i], word) != 0)
        i++;
    if (!argv[i])
        fail_msg("'%s' is missing", word);
    return i;
}

static void never_asks_and_ends_options_before_the_host(void **state)
{
    struct fixture *f = *state;
    const char *const *argv = NULL;
    f->job.launcher.user = "train";
    f->job.launcher.config = "ssh_config";
    assert_true(make_command(f, "node1", &argv));
    position(argv, "-oBatchMode=yes");
    assert_string_equal(argv[position(argv, "-l") + 1], "train");
    assert_string_equal(argv[position(argv, "-F") + 1], in_folder(f, "ssh_config"));
    size_t end = position(argv, "--");
    assert_string_equal(argv[end + 1], "node1");
    assert_string_equal(argv[end + 2], "exec 'a b' c");
    assert_null(argv[end + 3]);
}

static void refuses_what_could_be_an_option(void **state)
{
    struct fixture *f = *state;
    const char *const *argv = NULL;
    assert_false(make_command(f, "-oProxyCommand=evil", &argv));
    assert_non_null(strstr(f->e.text, "would be taken for an option"));
    f->job.launcher.user = "-x";
    assert_false(make_command(f, "node1", &argv));
    assert_false(make_command(f, "", &argv));
}

static void refuses_what_a_shell_could_read(void **state)
{
    static const char *const words[] = {"a;b", "$(b)", "a b", "a\nb", "`b`", "a\x7f"};
    struct fixture *f = *state;
    const char *const *argv = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        f->job.launcher.user = NULL;
        assert_false(make_command(f, words[i], &argv));
        f->job.launcher.user = words[i];
        assert_false(make_command(f, "node1", &argv));
        assert_non_null(strstr(f->e.text, "a shell reads"));
    }
    f->job.launcher.user = "DOMAIN\\train.user-1@site";
    assert_true(make_command(f, "fe80::1%eth0", &argv));
}

static void knows_what_to_do_about_complaints(void **state)
{
    (void)state;
    assert_non_null(strstr(ssh_hint("Host key verification failed."), "host key"));
    assert_non_null(strstr(ssh_hint("root@a: Permission denied (publickey)."), "ssh-copy-id"));
    assert_null(ssh_hint("what else"));
}

static bool print(struct fixture *f, const char *host, const char *const *argv,
                  const char *const *env, char **text)
{
    const struct launch launch = {.host = host, .argv = argv, .env = env};
    const struct child_limits limits = {.timeout_s = 20};
    struct child_end end;
    return launcher_capture(f->launcher, &f->arena, &launch, &limits, &end, text, NULL, &f->e) &&
           end.how == CHILD_EXITED && end.number == 0;
}

static void passes_words_and_variables_byte_by_byte(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {
        "/bin/sh", "-c", "printf '<%s>' \"$A\" \"$@\"", "sh", "a'b", "$HOME", "", "x\ny\\z",
        "\xff",    NULL};
    const char *const env[] = {"A=b 'c'\n", NULL};
    char *text = NULL;
    if (!print(f, "node1", argv, env, &text))
        fail_msg("%s", f->e.text ? f->e.text : "it failed");
    assert_string_equal(text, "<b 'c'\n><a'b><$HOME><><x\ny\\z><\xff>");
}

static void brings_files_and_removes_them(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    const char *folder = in_folder(f, "code");
    assert_true(file_make_folders(in_folder(f, "code/below"), &f->e));
    assert_true(file_write(in_folder(f, "code/below/a b"), "one", 3, &f->e));
    assert_true(file_write(in_folder(f, "code/left out"), "two", 3, &f->e));
    const char *const except[] = {in_folder(f, "code/left out")};
    const struct stage_options options = {.except = except, .n_except = 1, .limit_bytes = 100};
    if (!launcher_stage(f->launcher, "node1", folder, &options, &f->e))
        fail_msg("%s", f->e.text);
    const char *there = launcher_path(f->launcher, &f->arena, "node1", folder);
    assert_string_not_equal(there, folder);
    const char *const argv[] = {"find", there, "-type", "f", "-printf", "%P", NULL};
    assert_true(print(f, "node1", argv, NULL, &text));
    assert_string_equal(text, "below/a b");
    assert_true(launcher_fetch(f->launcher, "node1", path_join(&f->arena, there, "below/a b"),
                               in_folder(f, "back"), &f->e));
    assert_true(file_exists(in_folder(f, "back")));
    launcher_unstage(f->launcher, "node1");
    assert_false(file_exists(there));
}

static void refuses_folders_that_are_too_large(void **state)
{
    struct fixture *f = *state;
    const struct stage_options options = {.limit_bytes = 2};
    assert_true(file_make_folders(in_folder(f, "code"), &f->e));
    assert_true(file_write(in_folder(f, "code/a"), "one", 3, &f->e));
    assert_false(launcher_stage(f->launcher, "node1", in_folder(f, "code"), &options, &f->e));
    assert_non_null(strstr(f->e.text, "at most 2 B are copied to a host"));
    assert_non_null(strstr(f->e.text, ".gitignore"));
}

static void brings_nothing_that_the_host_sees(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.files = FILES_AS_FOUND;
    assert_true(launcher_stage(f->launcher, "node1", f->folder, NULL, &f->e));
    assert_string_equal(launcher_path(f->launcher, &f->arena, "node1", in_folder(f, "x")),
                        in_folder(f, "x"));
}

static void all_unreachable_hosts_are_told_with_what_ssh_said(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    write_program(f, "ssh", "echo 'Permission denied (publickey).' >&2; exit 255");
    assert_false(launcher_reach_all(f->launcher, host, 2, &f->e));
    assert_non_null(strstr(f->e.text, "host 'node1' cannot be reached"));
    assert_non_null(strstr(f->e.text, "host 'node2' cannot be reached"));
    assert_non_null(strstr(f->e.text, "exited with status 255"));
    assert_non_null(strstr(f->e.text, "Permission denied (publickey)."));
    assert_non_null(strstr(f->e.text, "ssh-copy-id"));
}

static void a_host_that_babbles_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1"};
    write_program(f, "ssh", "echo 'Welcome to node1'; exec sleep 100");
    assert_false(launcher_reach_all(f->launcher, host, 1, &f->e));
    assert_non_null(strstr(f->e.text, "is not its protocol"));
}

static void names_a_program_that_is_not_there(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {"/no/such", NULL};
    char *text = NULL;
    assert_false(print(f, "node1", argv, NULL, &text));
    assert_non_null(strstr(f->e.text, "host 'node1': /no/such: No such file"));
}

static void stops_what_runs(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {"sleep", "1000", NULL};
    const struct launch launch = {.host = "node1", .argv = argv};
    struct launched process = {0};
    assert_true(launcher_start(f->launcher, &launch, &process, &f->e));
    assert_false(launcher_ended(&process));
    launcher_stop(&process, 1);
    assert_int_equal(process.end.how, CHILD_SIGNALLED);
    assert_int_equal(process.end.number, 15);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(never_asks_and_ends_options_before_the_host),
        TEST(refuses_what_could_be_an_option),
        TEST(refuses_what_a_shell_could_read),
        TEST(knows_what_to_do_about_complaints),
        TEST(passes_words_and_variables_byte_by_byte),
        TEST(brings_files_and_removes_them),
        TEST(refuses_folders_that_are_too_large),
        TEST(brings_nothing_that_the_host_sees),
        TEST(all_unreachable_hosts_are_told_with_what_ssh_said),
        TEST(a_host_that_babbles_is_refused),
        TEST(names_a_program_that_is_not_there),
        TEST(stops_what_runs),
    };
    signal(SIGPIPE, SIG_IGN); /* as foretrain's main does: hosts may be gone while we write */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
