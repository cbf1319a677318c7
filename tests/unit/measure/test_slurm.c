/* The command lines for Slurm, what its answers mean, and a launcher whose salloc, srun, squeue and
 * scancel are stand-ins in a folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "measure/launcher.h"
#include "measure/slurm.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job_host host[2];
    struct job_device_type type[2];
    struct job job;
    struct progress progress;
    volatile sig_atomic_t cancel;
    char said[4096];
    struct launcher *launcher;
};

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_program(struct fixture *f, const char *name, const char *body)
{
    char *path = path_join(&f->arena, in_folder(f, "bin"), name);
    char *text = arena_format(&f->arena, "#!/bin/sh\ncd '%s'\n%s\n", f->folder, body);
    assert_true(file_write(path, text, strlen(text), &f->e));
    assert_int_equal(chmod(path, 0700), 0);
}

/* What a stand-in left in a file of the folder. */
static const char *noted(struct fixture *f, const char *name)
{
    char *text = NULL;
    if (!file_read(&f->arena, in_folder(f, name), 1 << 16, &text, NULL, &f->e)) {
        error_clear(&f->e);
        return "";
    }
    return text;
}

static void hear(void *self, const char *text)
{
    struct fixture *f = self;
    strncat(f->said, text, sizeof f->said - strlen(f->said) - 1);
}

/* salloc gives number 7 at once; srun runs what follows its options; squeue says what a file holds.
 */
static void write_stand_ins(struct fixture *f)
{
    assert_true(file_make_folders(in_folder(f, "bin"), &f->e));
    write_program(
        f, "salloc",
        "echo \"$@\" >>salloc.words\necho 'salloc: Granted job allocation 7' >&2\n"
        "while [ \"$1\" != /bin/sh ]; do shift; done\nexport SLURM_JOB_ID=7\nexec \"$@\"");
    write_program(f, "srun",
                  "echo \"$@\" >>srun.words\nwhile [ \"$1\" != /bin/sh ]; do shift; done\n"
                  "export SLURM_PROCID=0 SLURM_JOB_ID=7\nexec \"$@\"");
    write_program(f, "squeue", "cat squeue.answer");
    write_program(f, "scancel", "echo \"$@\" >>scancel.words");
    write_program(f, "scontrol", "echo \"$@\" >>scontrol.words; echo node1; echo node2");
    assert_true(file_write(in_folder(f, "squeue.answer"), "RUNNING|None\n", 13, &f->e));
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_slurm.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->host[0] = (struct job_host){.name = "node1", .n_devices = 1};
    f->host[1] = (struct job_host){.name = "node2", .n_devices = 1};
    for (int i = 0; i < 2; i++)
        f->type[i] = (struct job_device_type){.host = &f->host[i], .n_hosts = 1};
    f->job = (struct job){.folder = f->folder, .type = f->type, .n_types = 2};
    f->job.launcher = (struct job_launcher){.kind = LAUNCHER_SLURM,
                                            .folder = in_folder(f, "remote"),
                                            .files = FILES_COPIED,
                                            .queue_timeout_s = 30};
    f->progress = (struct progress){.self = f, .say = hear, .warn = hear, .cancel = &f->cancel};
    write_stand_ins(f);
    setenv("FORETRAIN_SLURM", in_folder(f, "bin"), 1);
    unsetenv("SLURM_JOB_ID");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    launcher_close(f->launcher);
    unsetenv("FORETRAIN_SLURM");
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NODELIST");
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static void open_launcher(struct fixture *f)
{
    if (!launcher_open(&f->job, "../worker", &f->progress, &f->launcher, &f->e))
        fail_msg("%s", f->e.text);
}

static const char *join(struct fixture *f, const char *const *word)
{
    const char *joined = "";
    for (; *word; word++)
        joined = arena_format(&f->arena, "%s %s", joined, *word);
    return joined;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text);
}

static void a_types_wishes_go_before_the_launchers(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.slurm = (struct job_slurm){.partition = "all", .account = "lab"};
    f->type[1].slurm = (struct job_slurm){.partition = "gpu", .gres = "gpu:8"};
    struct job_slurm one = slurm_settings(&f->job, "node1"),
                     other = slurm_settings(&f->job, "node2");
    assert_string_equal(one.partition, "all");
    assert_null(one.gres);
    assert_string_equal(other.partition, "gpu");
    assert_string_equal(other.account, "lab");
    assert_string_equal(other.gres, "gpu:8");
    assert_false(slurm_same_settings(&one, &other));
    assert_true(slurm_same_settings(&one, &one));
}

static void asks_for_whole_hosts_and_each_wish_in_one_word(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    const struct job_slurm settings = {
        .partition = "a b; x", .account = "lab", .qos = "q", .constraint = "c|d", .gres = "gpu:2"};
    const char *const *argv = NULL;
    f->job.launcher.time_limit_s = 61;
    assert_true(slurm_allocate_command(&f->arena, &f->job, &settings, host, 2, &argv, &f->e));
    const char *words = join(f, argv);
    assert_has(words, " --exclusive --mem=0 --nodes=2 --nodelist=node1,node2 --partition=a b; x "
                      "--account=lab --qos=q --constraint=c|d --gres=gpu:2 --time=2 /bin/sh ");
    size_t n = 0;
    while (strcmp(argv[n], "--partition=a b; x") != 0)
        n++;
    assert_string_equal(argv[n + 1], "--account=lab");
}

static void a_step_has_all_of_its_host_and_no_settings_of_a_batch_script(void **state)
{
    struct fixture *f = *state;
    static const char *const command[] = {"/bin/sh", "-c", "a 'b'", NULL};
    const char *const *argv = NULL;
    assert_true(slurm_step_command(&f->arena, 12, "gpu:2", "node1", command, &argv, &f->e));
    const char *words = join(f, argv);
    assert_has(words, " -u SLURM_CPUS_PER_TASK ");
    assert_has(words, "/srun --jobid=12 --nodelist=node1 --nodes=1 --ntasks=1 --overlap --mem=0 "
                      "--cpu-bind=none ");
    assert_has(words, " --gres=gpu:2 /bin/sh -c a 'b'");
    assert_null(strstr(words, "--exact"));
    assert_null(strstr(words, "--cpus-per-task"));
}

static void refuses_hosts_that_slurm_would_take_for_more(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"a,b", "n[1-3]", "./file", "-x", "", "a b"};
    static const char *const command[] = {"true", NULL};
    const char *const *argv = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(slurm_step_command(&f->arena, 1, NULL, bad[i], command, &argv, &f->e));
        assert_has(f->e.text, "it is not the name of one node");
    }
}

static void knows_states_and_reasons(void **state)
{
    struct fixture *f = *state;
    struct slurm_state seen = slurm_read_state(&f->arena, "PENDING|Resour\033ces\n");
    assert_int_equal(seen.phase, SLURM_WAITS);
    assert_string_equal(seen.reason, "Resour\\x1bces");
    assert_int_equal(slurm_read_state(&f->arena, "COMPLETING|None\n").phase, SLURM_ENDING);
    assert_true(slurm_read_state(&f->arena, "NODE_FAIL|None\n").lost_node);
    assert_has(slurm_read_state(&f->arena, "TIMEOUT|TimeLimit\n").words, "time limit");
    assert_int_equal(slurm_read_state(&f->arena, "").phase, SLURM_UNKNOWN);
    assert_int_equal(slurm_read_state(&f->arena, "RUN").phase, SLURM_UNKNOWN);
}

static void reads_the_jobs_number(void **state)
{
    (void)state;
    assert_int_equal(slurm_job_number("salloc: Pending job allocation 4711\nsalloc: job 4711"),
                     4711);
    assert_int_equal(slurm_job_number("salloc: error: x"), 0);
}

static bool print(struct fixture *f, const char *host, const char *script, char **text)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const env[] = {"A=b", NULL};
    const struct launch launch = {.host = host, .argv = argv, .env = env};
    const struct child_limits limits = {.timeout_s = 60};
    struct child_end end;
    return launcher_capture(f->launcher, &f->arena, &launch, &limits, &end, text, NULL, &f->e);
}

static void gets_hosts_runs_there_and_gives_them_back(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    char *text = NULL;
    open_launcher(f);
    if (!launcher_reach_all(f->launcher, host, 2, &f->e) ||
        !print(f, "node1", "printf '%s' \"$A ${SLURM_PROCID-none} $SLURM_JOB_ID\"", &text))
        fail_msg("%s", f->e.text);
    assert_string_equal(text, "b none 7");
    launcher_close(f->launcher);
    f->launcher = NULL;
    assert_has(noted(f, "salloc.words"), "--nodelist=node1,node2");
    assert_has(noted(f, "srun.words"), "--jobid=7 --nodelist=node1");
    assert_has(noted(f, "scancel.words"), "--quiet 7");
}

static void types_that_want_different_things_get_jobs_of_their_own(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    f->type[1].slurm.partition = "gpu";
    open_launcher(f);
    assert_true(launcher_reach_all(f->launcher, host, 2, &f->e));
    const char *words = noted(f, "salloc.words");
    assert_has(words, "--nodelist=node2 --partition=gpu");
    assert_has(words, "--nodelist=node1 /bin/sh");
}

static void uses_the_job_around(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node9"};
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_NODELIST", "node[1-2]", 1);
    open_launcher(f);
    assert_false(launcher_reach_all(f->launcher, host, 2, &f->e));
    assert_has(f->e.text, "host 'node9' is not in Slurm job 12");
    assert_true(launcher_reach_all(f->launcher, host, 1, &f->e));
    launcher_close(f->launcher);
    f->launcher = NULL;
    assert_has(noted(f, "scontrol.words"), "show hostnames node[1-2]");
    assert_has(noted(f, "srun.words"), "--jobid=12 --nodelist=node1");
    assert_string_equal(noted(f, "salloc.words"), "");
    assert_string_equal(noted(f, "scancel.words"), "");
}

/* An address of this machine that is not the loopback's, or NULL. */
static const char *own_address(struct fixture *f)
{
    struct ifaddrs *all = NULL;
    const char *found = NULL;
    assert_int_equal(getifaddrs(&all), 0);
    for (const struct ifaddrs *each = all; each && !found; each = each->ifa_next) {
        char text[INET_ADDRSTRLEN];
        if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET)
            continue;
        const struct sockaddr_in *address = (const void *)each->ifa_addr;
        inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        if (strncmp(text, "127.", 4) != 0)
            found = arena_copy(&f->arena, text);
    }
    freeifaddrs(all);
    return found;
}

static void names_without_an_address_meet_at_slurms(void **state)
{
    struct fixture *f = *state;
    char address[LAUNCHER_ADDRESS_SIZE];
    open_launcher(f);
    f->host[0].name = "no-such.invalid";
    write_program(f, "scontrol", "echo \"NodeName=x NodeAddr=$(cat own) NodeHostName=x\"");
    assert_true(file_write(in_folder(f, "own"), "127.0.0.1\n", 10, &f->e));
    assert_false(launcher_address(f->launcher, "no-such.invalid", address, &f->e));
    assert_has(f->e.text, "at which address other hosts reach 'no-such.invalid' cannot be told");
    const char *const own = own_address(f);
    if (!own)
        skip();
    assert_true(file_write(in_folder(f, "own"), own, strlen(own), &f->e));
    if (!launcher_address(f->launcher, "no-such.invalid", address, &f->e))
        fail_msg("%s", f->e.text);
    assert_string_equal(address, own);
}

static void a_job_that_waits_too_long_is_cancelled(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1"};
    write_program(f, "salloc", "echo 'salloc: Pending job allocation 8' >&2; exec sleep 100");
    assert_true(file_write(in_folder(f, "squeue.answer"), "PENDING|Priority\n", 17, &f->e));
    f->job.launcher.queue_timeout_s = 4;
    open_launcher(f);
    assert_false(launcher_reach_all(f->launcher, host, 1, &f->e));
    assert_has(f->e.text, "Slurm job 8, for node1, did not start within 4 s (Priority)");
    assert_has(f->said, "waiting for Slurm job 8 (Priority)");
    launcher_close(f->launcher);
    f->launcher = NULL;
    assert_has(noted(f, "scancel.words"), "--quiet 8");
}

static void what_salloc_refuses_is_told(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    write_program(f, "salloc", "echo 'salloc: error: Invalid partition name' >&2; exit 1");
    open_launcher(f);
    assert_false(launcher_reach_all(f->launcher, host, 2, &f->e));
    assert_has(f->e.text, "was refused, for node1 and others: salloc: error: Invalid partition");
    const char *hint = strstr(f->e.text, "hint: `sinfo` lists the partitions");
    assert_non_null(hint);
    assert_null(strstr(hint + 1, "hint: "));
}

static void a_job_that_cannot_be_cancelled_is_told(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1"};
    write_program(f, "scancel", "exit 1");
    open_launcher(f);
    assert_true(launcher_reach_all(f->launcher, host, 1, &f->e));
    launcher_close(f->launcher);
    f->launcher = NULL;
    assert_has(f->said, "Slurm job 7 could not be cancelled, and may be left: scancel 7");
}

static void a_host_that_is_lost_with_its_job_says_so(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1"};
    char *text = NULL;
    open_launcher(f);
    assert_true(launcher_reach_all(f->launcher, host, 1, &f->e));
    assert_true(file_write(in_folder(f, "squeue.answer"), "CANCELLED|None\n", 15, &f->e));
    assert_false(print(f, "node1", "kill -9 $PPID", &text));
    assert_has(f->e.text, "Slurm job 7 was cancelled (scancel)");
}

static void a_host_that_takes_its_job_along_is_named(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1", "node2"};
    char *text = NULL;
    write_program(f, "sinfo", "echo \"$@\" >sinfo.words; echo node2; echo node2");
    open_launcher(f);
    assert_true(launcher_reach_all(f->launcher, host, 2, &f->e));
    assert_true(file_write(in_folder(f, "squeue.answer"), "NODE_FAIL|None\n", 15, &f->e));
    assert_false(print(f, "node1", "kill -9 $PPID", &text));
    assert_has(f->e.text, "Slurm job 7 lost a node (NODE_FAIL): node2");
    assert_has(noted(f, "sinfo.words"), "--dead --Node --nodes=node1,node2");
}

static void names_programs_that_are_not_there(void **state)
{
    struct fixture *f = *state;
    static const char *const host[] = {"node1"};
    setenv("FORETRAIN_SLURM", "/no/such", 1);
    open_launcher(f);
    assert_false(launcher_reach_all(f->launcher, host, 1, &f->e));
    assert_has(f->e.text, "salloc cannot be run, for node1: ");
    assert_has(f->e.text, "hint: Slurm's programs are looked for on the PATH");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_types_wishes_go_before_the_launchers),
        TEST(asks_for_whole_hosts_and_each_wish_in_one_word),
        TEST(a_step_has_all_of_its_host_and_no_settings_of_a_batch_script),
        TEST(refuses_hosts_that_slurm_would_take_for_more),
        TEST(knows_states_and_reasons),
        TEST(reads_the_jobs_number),
        TEST(gets_hosts_runs_there_and_gives_them_back),
        TEST(types_that_want_different_things_get_jobs_of_their_own),
        TEST(uses_the_job_around),
        TEST(names_without_an_address_meet_at_slurms),
        TEST(a_job_that_waits_too_long_is_cancelled),
        TEST(what_salloc_refuses_is_told),
        TEST(a_job_that_cannot_be_cancelled_is_told),
        TEST(a_host_that_is_lost_with_its_job_says_so),
        TEST(a_host_that_takes_its_job_along_is_named),
        TEST(names_programs_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
