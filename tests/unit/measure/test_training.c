/*
 * Running sub-systems: the processes' arguments and environment, progress, and every way to end
 * badly. The "Python" is a shell script here that writes records as the worker does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "measure/rank_command.h"
#include "measure/training.h"

enum { N_TYPES = 2 };

struct fixture {
    struct arena arena;
    struct error e;
    struct text said;
    char folder[64];
    struct job_host host;
    struct job_device_type type[N_TYPES];
    struct job job;
    struct subsystem_type setting[N_TYPES];
    struct progress progress;
    struct subsystem subsystem[N_TYPES];
};

static void hear(void *self, const char *text)
{
    text_format(self, "%s\n", text);
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_script(struct fixture *f, const char *name, const char *body)
{
    const char *script =
        arena_format(&f->arena,
                     "#!/bin/sh\n"
                     "dir=$(dirname $FORETRAIN_SPEC)\n"
                     "part=$dir/rank$RANK.jsonl.part\n"
                     "line() { echo \"$1\" >> $part; }\n"
                     "iteration() { line \"{\\\"kind\\\":\\\"iteration\\\",\\\"i\\\":$1}\"; }\n"
                     "finish() { line '{\"kind\":\"end\"}'; mv $part $dir/rank$RANK.jsonl; }\n"
                     "%s\n",
                     body);
    assert_true(file_write(in_folder(f, name), script, strlen(script), &f->e));
    assert_int_equal(chmod(in_folder(f, name), 0700), 0);
}

static void make_types(struct fixture *f)
{
    static const char *const names[N_TYPES] = {"fast", "slow"};
    f->host = (struct job_host){.name = "localhost", .n_devices = 4};
    for (int i = 0; i < N_TYPES; i++) {
        f->type[i] = (struct job_device_type){.name = names[i],
                                              .count = 4,
                                              .batch = 16 >> i,
                                              .host = &f->host,
                                              .n_hosts = 1,
                                              .subsystem_devices = 2,
                                              .device = "cpu",
                                              .backend = "gloo"};
        f->setting[i].python.path = in_folder(f, "python");
    }
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_training.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    make_types(f);
    f->job =
        (struct job){.file = "job.yaml",
                     .folder = f->folder,
                     .type = f->type,
                     .n_types = N_TYPES,
                     .model = {.kind = MODEL_SCRIPT, .script = "train.py"},
                     .training = {.epochs = 1, .first = 2, .last = 4, .n_profiled = 1},
                     .launcher = {.kind = LAUNCHER_LOCAL, .stall_timeout_s = 30, .timeout_s = 60}};
    f->progress = (struct progress){.self = &f->said, .status = hear};
    write_script(f, "train.py", "");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    text_free(&f->said);
    arena_free(&f->arena);
    free(f);
    return 0;
}

static struct subsystem *plan(struct fixture *f, int type)
{
    struct subsystem *s = &f->subsystem[type];
    subsystem_plan(&f->arena, &f->job, type, s);
    s->type = f->setting;
    s->records = arena_format(&f->arena, "%s/records/%s", f->folder, s->name);
    return s;
}

static bool run(struct fixture *f, struct subsystem *subsystem, size_t n)
{
    struct launcher *launcher = NULL;
    bool ok = launcher_open(&f->job, f->folder, &f->progress, &launcher, &f->e) &&
              training_run(launcher, subsystem, n, f->folder, &f->progress, &f->e);
    launcher_close(launcher);
    return ok;
}

static bool train(struct fixture *f, const char *body)
{
    write_script(f, "python", body);
    return run(f, plan(f, 0), 1);
}

static char *read_file(struct fixture *f, const char *name)
{
    char *text = NULL;
    if (!file_read(&f->arena, in_folder(f, name), 1 << 20, &text, NULL, &f->e))
        fail_msg("%s", f->e.text);
    return text;
}

static void assert_no_children(void)
{
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void assert_says(struct fixture *f, const char *words)
{
    if (!strstr(f->e.text, words))
        fail_msg("'%s' is not in: %s", words, f->e.text);
}

static void trains_until_every_record_is_complete(void **state)
{
    struct fixture *f = *state;
    if (!train(f, "sleep 0.5; for i in 1 2 3 4 5; do iteration $i; sleep 0.3; done; finish"))
        fail_msg("%s", f->e.text);
    assert_true(file_exists(in_folder(f, "records/fast/rank0.jsonl")));
    assert_true(file_exists(in_folder(f, "records/fast/rank1.jsonl")));
    assert_non_null(strstr(f->said.data, "fast: starting"));
    assert_non_null(strstr(f->said.data, "fast: iteration 4 of 5, "));
    assert_no_children();
}

static void keeps_records_to_their_owner(void **state)
{
    struct fixture *f = *state;
    assert_true(train(f, "finish"));
    const char *const name[] = {"records/fast/spec.json", "records/fast/rank0.out"};
    struct stat st;
    assert_int_equal(stat(in_folder(f, "records/fast"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(stat(in_folder(f, name[i]), &st), 0);
        assert_int_equal(st.st_mode & 077, 0);
    }
}

static void gives_torchruns_variables_and_the_workers(void **state)
{
    struct fixture *f = *state;
    struct job_variable env[] = {{"MINE", "a b"}, {"PYTHONPATH", "/mine"}};
    f->type[0].env = env;
    f->type[0].n_env = 2;
    setenv("TORCHELASTIC_RUN_ID", "other", 1);
    assert_true(train(f, "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK\n"
                         "echo $MASTER_ADDR ${TORCHELASTIC_RUN_ID-none} $MINE $PYTHONPATH\n"
                         "echo $OMP_NUM_THREADS $GLOO_SOCKET_IFNAME $PYTHONUNBUFFERED\n"
                         "test $MASTER_PORT -gt 1023 && pwd; echo $FORETRAIN_SPEC; finish"));
    unsetenv("TORCHELASTIC_RUN_ID");
    assert_string_equal(read_file(f, "records/fast/rank1.out"),
                        arena_format(&f->arena,
                                     "1 1 2 2 0\n127.0.0.1 none a b %s/hook:/mine\n1 lo 1\n"
                                     "%s\n%s/records/fast/spec.json\n",
                                     f->folder, f->folder, f->folder));
}

static void leaves_what_the_user_set(void **state)
{
    struct fixture *f = *state;
    struct job_variable env = {"OMP_NUM_THREADS", "3"};
    f->type[0].env = &env;
    f->type[0].n_env = 1;
    setenv("GLOO_SOCKET_IFNAME", "eth9", 1);
    assert_true(train(f, "echo $OMP_NUM_THREADS $GLOO_SOCKET_IFNAME; finish"));
    unsetenv("GLOO_SOCKET_IFNAME");
    assert_string_equal(read_file(f, "records/fast/rank0.out"), "3 eth9\n");
}

static void fills_in_the_arguments(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"--rank={rank}", "{batch} {world_size}", "--data", "{data}",
                          "{device_data}"};
    const char *device_data[] = {"/data/0", "/data/1"};
    f->job.model.args = args;
    f->job.model.n_args = 5;
    f->setting[0].data_dir = "/data";
    f->setting[0].device_data = device_data;
    assert_true(train(f, "printf '%s|' \"$@\"; finish"));
    assert_string_equal(
        read_file(f, "records/fast/rank1.out"),
        arena_format(&f->arena, "-u|%s/train.py|--rank=1|16 2|--data|/data|/data/1|", f->folder));
}

static void starts_a_script_that_spawns_its_ranks_once_a_host(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"{n_devices}", "{master_addr}"};
    f->job.model.args = args;
    f->job.model.n_args = 2;
    f->job.model.spawns_ranks = true;
    assert_true(train(f, "echo ${RANK-none} ${WORLD_SIZE-none} $3 $4\n"
                         "for RANK in 0 1; do touch $dir/rank$RANK.jsonl; done"));
    assert_string_equal(read_file(f, "records/fast/rank0.out"), "none none 2 127.0.0.1\n");
    assert_false(file_exists(in_folder(f, "records/fast/rank1.out")));
}

static void starts_the_workers_loop_for_models_without_a_script(void **state)
{
    struct fixture *f = *state;
    f->job.model = (struct job_model){.kind = MODEL_LAYERS, .json = "{}"};
    assert_true(train(f, "echo $@; finish"));
    assert_string_equal(read_file(f, "records/fast/rank0.out"),
                        arena_format(&f->arena, "-u %s/loop.py\n", f->folder));
}

static void starts_any_program_without_python_or_the_workers_hook(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"./own.sh", "{record}", "{device_type} {first}-{last}",
                          "{rank}/{world_size}", "{{json}"};
    f->job.model = (struct job_model){.kind = MODEL_COMMAND, .args = args, .n_args = 5};
    f->setting[0].python.path = NULL;
    write_script(f, "own.sh", "printf '%s|' \"$@\" ${PYTHONPATH-none} $WORLD_SIZE; finish");
    if (!run(f, plan(f, 0), 1))
        fail_msg("%s", f->e.text);
    assert_string_equal(read_file(f, "records/fast/rank1.out"),
                        arena_format(&f->arena,
                                     "%s/records/fast/rank1.jsonl|fast 2-4|1/2|{json}|none|2|",
                                     f->folder));
}

static void looks_for_a_program_without_a_path_on_the_hosts_own(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"sh", "-c", ". ./body.sh"};
    f->job.model = (struct job_model){.kind = MODEL_COMMAND, .args = args, .n_args = 3};
    write_script(f, "body.sh", "echo $RANK; finish");
    if (!run(f, plan(f, 0), 1))
        fail_msg("%s", f->e.text);
    assert_string_equal(read_file(f, "records/fast/rank1.out"), "1\n");
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"no-such-trainer"};
    f->job.model = (struct job_model){.kind = MODEL_COMMAND, .args = args, .n_args = 1};
    assert_false(run(f, plan(f, 0), 1));
    assert_non_null(strstr(f->e.text, "no-such-trainer"));
}

static void a_failing_rank_ends_the_others_and_shows_its_last_lines(void **state)
{
    struct fixture *f = *state;
    double start_s = clock_now_s();
    assert_false(train(f, "iteration 1; iteration 2; test $RANK = 0 && sleep 60\n"
                          "for i in $(seq 100); do echo line $i; done\n"
                          "echo 'ValueError: no such card' >&2; exit 3"));
    assert_true(clock_now_s() - start_s < 5);
    assert_int_equal(f->e.kind, ERROR_HOST);
    assert_says(f,
                "sub-system fast x2: rank 1 on localhost exited with status 3 after iteration 2");
    assert_says(f, "line 100\n    ValueError: no such card");
    assert_says(f, "/records/fast/rank1.out");
    assert_null(strstr(f->e.text, "line 80\n"));
    assert_no_children();
}

static void shows_the_workers_words_when_it_refuses(void **state)
{
    struct fixture *f = *state;
    assert_false(train(
        f, "line '{\"kind\":\"error\",\"text\":\"the script uses no \\u001bDDP\"}'; exit 97"));
    assert_says(f, "exited with status 97 before its first iteration ended\n"
                   "  the script uses no \\x1bDDP");
}

static void names_the_signal_that_killed_a_rank(void **state)
{
    struct fixture *f = *state;
    assert_false(train(f, "test $RANK = 1 && kill -KILL $$; sleep 60"));
    assert_says(f, "rank 1 on localhost was killed by signal 9 (Killed)");
}

/* Both have ended by the next look: what they printed last tells the order. */
static void blames_the_rank_that_failed_first(void **state)
{
    struct fixture *f = *state;
    assert_false(train(f, "if [ $RANK = 1 ]; then echo mine; exit 1; fi\n"
                          "until grep -q mine $dir/rank1.out; do sleep 0.01; done\n"
                          "sleep 0.02; echo Connection closed by peer; exit 1"));
    assert_says(f, "rank 1");
}

static void a_script_that_ends_without_a_record_is_an_error(void **state)
{
    struct fixture *f = *state;
    assert_false(train(f, "echo done; exit 0"));
    assert_says(f, "rank 0 on localhost ended without completing its record");
    assert_says(f, "    done");
}

static void ends_a_training_that_makes_no_progress(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.stall_timeout_s = 1;
    assert_false(
        train(f, "iteration 1; echo waiting for Godot; while :; do sleep 0.2; echo still; done"));
    assert_says(f, "sub-system fast x2 did not finish: no progress for 1 s, after iteration 1 "
                   "(last line: still)");
    assert_no_children();
}

static void output_counts_as_progress_before_the_first_iteration(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.stall_timeout_s = 2;
    assert_true(train(f, "for i in 1 2 3 4 5 6; do echo compiling; sleep 0.5; done; finish"));
    assert_false(train(f, "sleep 60"));
    assert_says(f, "before its first iteration ended (it printed nothing)");
}

static void ends_a_training_that_takes_too_long(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.timeout_s = 1;
    assert_false(train(f, "i=0; while :; do i=$((i+1)); iteration $i; sleep 0.1; done"));
    assert_says(f, "did not finish: it takes more than 1 s");
    assert_no_children();
}

static volatile sig_atomic_t cancel;

static void raise_cancel(int number)
{
    (void)number;
    cancel = 1;
}

static void an_interrupt_ends_all_and_leaves_nothing_half_done(void **state)
{
    struct fixture *f = *state;
    cancel = 0;
    f->progress.cancel = &cancel;
    signal(SIGALRM, raise_cancel);
    alarm(1);
    assert_false(train(f, "iteration 1; sleep 60"));
    signal(SIGALRM, SIG_DFL);
    assert_string_equal(f->e.text, "interrupted");
    assert_false(file_exists(in_folder(f, "records/fast")));
    assert_no_children();
}

static void measures_several_side_by_side(void **state)
{
    struct fixture *f = *state;
    write_script(f, "python", "grep -A5 together $FORETRAIN_SPEC; sleep 0.3; iteration 1; finish");
    plan(f, 0);
    plan(f, 1);
    if (!run(f, f->subsystem, 2))
        fail_msg("%s", f->e.text);
    char *fast = read_file(f, "records/fast/rank0.out");
    char *slow = read_file(f, "records/slow/rank1.out");
    assert_non_null(strstr(fast, "\"server\": true"));
    assert_non_null(strstr(slow, "\"server\": false"));
    assert_non_null(strstr(slow, "\"n_ranks\": 4"));
    assert_true(f->subsystem[0].port != f->subsystem[1].port);
    assert_non_null(strstr(f->said.data, "fast: starting; slow: starting"));
}

static void commands_that_run_side_by_side_do_not_meet(void **state)
{
    struct fixture *f = *state;
    write_script(f, "own.sh", "grep together $FORETRAIN_SPEC; finish");
    const char *words[] = {"./own.sh"};
    f->job.model = (struct job_model){.kind = MODEL_COMMAND, .args = words, .n_args = 1};
    plan(f, 0);
    plan(f, 1);
    assert_true(run(f, f->subsystem, 2));
    assert_string_equal(read_file(f, "records/slow/rank0.out"), "  \"together\": null\n");
}

static void one_that_is_complete_may_train_on_beside_another(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.stall_timeout_s = 1;
    write_script(f, "python",
                 "case $dir in *fast) pause=0;; *) pause=0.6;; esac\n"
                 "for i in 1 2 3 4 5; do sleep $pause; iteration $i; done\n"
                 "case $dir in *fast) sleep 2.8;; esac\n"
                 "finish");
    plan(f, 0);
    plan(f, 1);
    if (!run(f, f->subsystem, 2))
        fail_msg("%s", f->e.text);
    assert_non_null(strstr(f->said.data, "fast: done, trains on for the others; slow: iteration"));
}

static void one_that_trains_on_is_not_blamed_for_one_that_hangs(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.stall_timeout_s = 1;
    write_script(
        f, "python",
        "case $dir in *fast) for i in 1 2 3 4 5; do iteration $i; done;; *) iteration 1;; esac\n"
        "sleep 60");
    plan(f, 0);
    plan(f, 1);
    assert_false(run(f, f->subsystem, 2));
    assert_says(f, "sub-system slow x2 did not finish: no progress for 1 s, after iteration 1");
    assert_no_children();
}

static void one_that_trains_on_beside_nobody_is_ended(void **state)
{
    struct fixture *f = *state;
    f->job.launcher.stall_timeout_s = 1;
    write_script(f, "python",
                 "for i in 1 2 3 4 5; do iteration $i; done\n"
                 "case $dir in *fast) sleep 60;; *) finish;; esac");
    plan(f, 0);
    plan(f, 1);
    assert_false(run(f, f->subsystem, 2));
    assert_says(f, "sub-system fast x2 did not finish: no progress for 1 s, after iteration 5");
    assert_no_children();
}

static void one_that_fails_ends_those_beside_it(void **state)
{
    struct fixture *f = *state;
    write_script(f, "python", "case $dir in *slow) echo broken; exit 1;; *) sleep 60;; esac");
    plan(f, 0);
    plan(f, 1);
    assert_false(run(f, f->subsystem, 2));
    assert_says(f, "sub-system slow x2");
    assert_no_children();
}

/* The second type's samples follow the first one's in the set, but not in a folder of its own. */
static void places_a_type_in_the_folder_of_its_draw(void **state)
{
    struct fixture *f = *state;
    static const double drawn[] = {0, 100}, before[] = {200, 0};
    write_script(f, "python", "grep -o '\"samples_before\": [0-9]*' $FORETRAIN_SPEC; finish");
    for (int t = 0; t < N_TYPES; t++)
        f->type[t].data = (struct amount){100, AMOUNT_SAMPLES};
    for (size_t i = 0; i < 2; i++) {
        f->setting[1].n_samples = drawn[i];
        if (!run(f, plan(f, 1), 1))
            fail_msg("%s", f->e.text);
        assert_string_equal(read_file(f, "records/slow/rank0.out"),
                            arena_format(&f->arena, "\"samples_before\": %.0f\n", before[i]));
    }
}

static void forms_one_ring_of_all_types(void **state)
{
    struct fixture *f = *state;
    const bool all[N_TYPES] = {true, true};
    struct subsystem ring;
    write_script(f, "python",
                 "grep '\"batch\"' $FORETRAIN_SPEC; echo $RANK of $WORLD_SIZE; finish");
    subsystem_plan_ring(&f->arena, &f->job, all, &ring);
    ring.type = f->setting;
    ring.records = in_folder(f, "records/one-ring");
    if (!run(f, &ring, 1))
        fail_msg("%s", f->e.text);
    assert_string_equal(read_file(f, "records/one-ring/rank1.out"), "  \"batch\": 8,\n1 of 4\n");
    assert_string_equal(read_file(f, "records/one-ring/rank3.out"), "  \"batch\": 16,\n3 of 4\n");
    assert_true(subsystem_shares_host(&ring));
}

static void refuses_hosts_that_are_not_this_machine(void **state)
{
    struct fixture *f = *state;
    f->host.name = "192.0.2.1";
    assert_false(train(f, "finish"));
    assert_says(f, "host '192.0.2.1' is not this machine");
    assert_says(f, "launcher: local");
}

static void names_what_cannot_be_started(void **state)
{
    struct fixture *f = *state;
    f->setting[0].python.path = "/no/such/python";
    assert_false(train(f, "finish"));
    assert_says(f, "/no/such/python could not be started");
    assert_says(f, "in sub-system fast x2, rank 0 on localhost");
}

int main(void)
{
#define TRAINING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TRAINING_TEST(trains_until_every_record_is_complete),
        TRAINING_TEST(keeps_records_to_their_owner),
        TRAINING_TEST(gives_torchruns_variables_and_the_workers),
        TRAINING_TEST(leaves_what_the_user_set),
        TRAINING_TEST(fills_in_the_arguments),
        TRAINING_TEST(starts_a_script_that_spawns_its_ranks_once_a_host),
        TRAINING_TEST(starts_the_workers_loop_for_models_without_a_script),
        TRAINING_TEST(starts_any_program_without_python_or_the_workers_hook),
        TRAINING_TEST(looks_for_a_program_without_a_path_on_the_hosts_own),
        TRAINING_TEST(a_program_that_is_not_there_is_named),
        TRAINING_TEST(a_failing_rank_ends_the_others_and_shows_its_last_lines),
        TRAINING_TEST(shows_the_workers_words_when_it_refuses),
        TRAINING_TEST(names_the_signal_that_killed_a_rank),
        TRAINING_TEST(blames_the_rank_that_failed_first),
        TRAINING_TEST(a_script_that_ends_without_a_record_is_an_error),
        TRAINING_TEST(ends_a_training_that_makes_no_progress),
        TRAINING_TEST(output_counts_as_progress_before_the_first_iteration),
        TRAINING_TEST(ends_a_training_that_takes_too_long),
        TRAINING_TEST(an_interrupt_ends_all_and_leaves_nothing_half_done),
        TRAINING_TEST(measures_several_side_by_side),
        TRAINING_TEST(commands_that_run_side_by_side_do_not_meet),
        TRAINING_TEST(one_that_is_complete_may_train_on_beside_another),
        TRAINING_TEST(one_that_trains_on_is_not_blamed_for_one_that_hangs),
        TRAINING_TEST(one_that_trains_on_beside_nobody_is_ended),
        TRAINING_TEST(one_that_fails_ends_those_beside_it),
        TRAINING_TEST(places_a_type_in_the_folder_of_its_draw),
        TRAINING_TEST(forms_one_ring_of_all_types),
        TRAINING_TEST(refuses_hosts_that_are_not_this_machine),
        TRAINING_TEST(names_what_cannot_be_started),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
