/*
 * Measuring a job from end to end, with a shell script as Python that writes records as the worker
 * does: what is measured, kept, measured again, put aside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/measure.h"
#include "profile/profile.h"

static const char job_text[] =
    "name: small\n"
    "model: {script: train.py, args: [\"{data}\", \"{batch}\"]}\n"
    "data: {path: data}\n"
    "training: {iterations: [2, 4], profiled: 0}\n"
    "devices:\n"
    "  fast: {count: 4, data: 40 samples, batch: 8, hosts: \"localhost:4\", python: ./python}\n"
    "  slow: {count: 4, data: 20 samples, batch: 8, hosts: \"localhost:4\", python: ./python}\n"
    "launcher: local\n";

/* Answers the question for torch, and else trains: a step takes 0.5 s on rank 0, 0.7 s on rank 1.
 */
static const char python_text[] =
    "#!/bin/sh\n"
    "[ \"$1\" = -c ] && { echo foretrain-python 3.11.2 1.13.1; exit; }\n"
    "dir=$(dirname $FORETRAIN_SPEC)\n"
    "type=$(sed -n 's/.*\"device_type\": \"\\(.*\\)\".*/\\1/p' $FORETRAIN_SPEC)\n"
    "batch=$(sed -n 's/.*\"batch\": \\([0-9]*\\).*/\\1/p' $FORETRAIN_SPEC)\n"
    "echo run $type >> runs\n"
    "[ -f hang ] && [ $type = slow ] && exec sleep 60\n"
    "{ echo '{\"kind\":\"header\",\"format\":\"foretrain.record/1\",\"device_type\":\"'$type'\","
    "\"rank\":'$RANK',\"world_size\":'$WORLD_SIZE',\"host\":\"me\",\"pid\":7,"
    "\"device\":{\"kind\":\"cpu\",\"name\":\"EPYC\",\"index\":null},\"backend\":\"gloo\","
    "\"framework\":\"torch 1.13.1\",\"date\":\"2026-11-29T12:00:00Z\",\"first\":2,\"last\":4,"
    "\"batch\":'$batch'}'\n"
    "for i in 1 2 3 4; do echo '{\"kind\":\"iteration\",\"i\":'$i',\"t\":'$i',"
    "\"step_s\":0.'$((5 + 2 * (RANK % 2)))',\"forward_s\":0.1,\"first_backward_s\":0.01,"
    "\"backward_s\":0.2,\"bytes_sent\":1000,\"buckets\":[{\"index\":0,\"module\":\"M\","
    "\"bytes\":1000,\"wire_bytes\":1000,\"ready_s\":0.1,\"done_s\":0.2}]}'; done\n"
    "echo '{\"kind\":\"network\",\"basis\":\"tcp_info\",\"interface\":\"lo\","
    "\"interface_sent_bytes\":12000,\"interface_received_bytes\":12000,\"n_iterations\":3}'\n"
    "echo '{\"kind\":\"end\",\"iterations\":4,\"reason\":\"window complete\"}'\n"
    "} > $dir/rank$RANK.jsonl\n";

struct fixture {
    struct arena arena;
    struct error e;
    struct text said;
    char folder[64];
    const char *run, *worker;
    struct progress progress;
    const char *text;
    bool parallel;
};

static void hear(void *self, const char *text)
{
    text_format(self, "%s\n", text);
}

static char *in_folder(struct fixture *f, const char *name)
{
    return path_join(&f->arena, f->folder, name);
}

static void write_file(struct fixture *f, const char *name, const char *content)
{
    const char *path = in_folder(f, name);
    assert_true(file_make_folders(path_folder(&f->arena, path), &f->e));
    assert_true(file_write(path, content, strlen(content), &f->e));
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_measure.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->progress = (struct progress){.self = &f->said, .say = hear, .warn = hear};
    f->run = in_folder(f, "run");
    f->worker = in_folder(f, "worker");
    f->text = job_text;
    write_file(f, "run/.keep", "");
    write_file(f, "worker/loop.py", "");
    write_file(f, "train.py", "");
    write_file(f, "python", python_text);
    assert_int_equal(chmod(in_folder(f, "python"), 0700), 0);
    for (int i = 0; i < 200; i++)
        write_file(f, arena_format(&f->arena, "data/%d.jpg", i), "0123456789");
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

static bool measure(struct fixture *f, bool again)
{
    struct job job;
    struct measure_options options = {.worker = f->worker, .again = again, .parallel = f->parallel};
    text_free(&f->said);
    text_add(&f->said, "");
    if (!job_parse(&f->arena, f->text, strlen(f->text), "job.yaml", f->folder, &job, &f->e))
        fail_msg("%s", f->e.text);
    return measure_all(&job, f->run, &options, &f->progress, &f->e);
}

static void measure_well(struct fixture *f, bool again)
{
    if (!measure(f, again))
        fail_msg("%s", f->e.text);
}

static void assert_said(struct fixture *f, const char *words)
{
    if (!strstr(f->said.data, words))
        fail_msg("'%s' is not in: %s", words, f->said.data);
}

static struct profile read_profile(struct fixture *f, const char *type)
{
    struct profile profile;
    const char *path = arena_format(&f->arena, "%s/profiles/%s.json", f->run, type);
    if (!profile_read(&f->arena, path, &profile, &f->e))
        fail_msg("%s", f->e.text);
    return profile;
}

/* How many processes trained since the last time. */
static size_t count_runs(struct fixture *f)
{
    char *text = NULL;
    const char *path = in_folder(f, "runs");
    if (!file_exists(path))
        return 0;
    assert_true(file_read(&f->arena, path, 10000, &text, NULL, &f->e));
    unlink(path);
    size_t n = 0;
    for (const char *line = text; (line = strchr(line, '\n')); line++)
        n++;
    return n;
}

static char *edited(struct fixture *f, const char *old, const char *new)
{
    const char *found = strstr(job_text, old);
    assert_non_null(found);
    return arena_format(&f->arena, "%.*s%s%s", (int)(found - job_text), job_text, new,
                        found + strlen(old));
}

static void measures_every_type(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    assert_said(f, "fast: measured, 2 devices, a step takes 600 ms");
    struct profile profile = read_profile(f, "fast");
    assert_string_equal(profile.device_type, "fast");
    assert_int_equal(profile.n_devices, 2);
    assert_string_equal(profile.host[1], "localhost");
    assert_true(profile.shares_host);
    assert_true(profile.sample_bytes == 10);
    assert_true(profile.n_inputs > 15);
    assert_true(profile.stage[STAGE_STEP].stats.n == 6);
    read_profile(f, "slow");
}

static void links_the_data_that_each_type_draws(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    struct stat st;
    assert_int_equal(stat(path_join(&f->arena, f->run, "data/fast/all"), &st), 0);
    assert_int_equal(stat(path_join(&f->arena, f->run, "data/slow/all"), &st), 0);
    assert_true(!file_exists(path_join(&f->arena, f->run, "data/fast/device0")));
    assert_said(f, "slow: one pass over the 20 samples of a device is 2 iterations, and 4 are "
                   "needed: the script must pass over its data 2 times");
    assert_null(strstr(f->said.data, "fast: one pass"));
}

static void measures_a_type_at_each_of_its_batches(void **state)
{
    struct fixture *f = *state;
    f->text = edited(f, "batch: 8, hosts", "batch: 8, batches: [4, 10], hosts");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 6);
    assert_said(f, "fast, batch 4: measured, 2 devices");
    assert_said(f, "fast, batch 10: measured, 2 devices");
    assert_true(read_profile(f, "fast-b4").batch == 4);
    assert_true(read_profile(f, "fast-b10").batch == 10);
    assert_string_equal(read_profile(f, "fast-b10").device_type, "fast");
    assert_true(read_profile(f, "slow").batch == 8);
    f->text = edited(f, "batch: 8, hosts", "batch: 6, batches: [4, 10, 20], hosts");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 2);
    assert_said(f, "fast, batch 4: measured already");
    assert_said(f, "fast, batch 20: measured, 2 devices");
}

static void keeps_what_is_measured(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    count_runs(f);
    measure_well(f, false);
    assert_int_equal(count_runs(f), 0);
    assert_said(f, "fast: measured already, 20");
    assert_said(f, ", kept\n");
}

static void measures_only_what_changed_again(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    count_runs(f);
    f->text = edited(f, "data: 20 samples, batch: 8", "data: 20 samples, batch: 4");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 2);
    assert_said(f, "slow: batch 8 -> 4; measured again");
    assert_said(f, "fast: measured already");
}

static void measures_all_again_when_asked(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    count_runs(f);
    measure_well(f, true);
    assert_int_equal(count_runs(f), 4);
    assert_said(f, "slow: measured again, as asked");
}

static void puts_a_broken_profile_aside(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    count_runs(f);
    write_file(f, "run/profiles/fast.json", "{\"format\":\"foretrain.profile/1\",");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 2);
    assert_said(f, "fast: its profile cannot be read and is measured again; the old one is now ");
    assert_true(file_exists(in_folder(f, "run/profiles/fast.json.bak")));
    read_profile(f, "fast");
}

static void leaves_types_with_a_given_profile_alone(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    count_runs(f);
    assert_int_equal(rename(in_folder(f, "run/profiles/slow.json"), in_folder(f, "given.json")), 0);
    f->text = edited(f, "slow: {", "slow: {profile: given.json, ");
    measure_well(f, true);
    assert_int_equal(count_runs(f), 2);
    assert_false(file_exists(in_folder(f, "run/profiles/slow.json")));
}

static void types_that_share_a_host_are_measured_one_by_one_even_in_parallel(void **state)
{
    struct fixture *f = *state;
    f->parallel = true;
    f->progress.status = hear;
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    assert_null(strstr(f->said.data, "; slow: "));
}

static void types_without_a_common_host_are_measured_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    f->parallel = true;
    f->progress.status = hear;
    const char *slow = strstr(f->text, "slow: {");
    const char *host = slow ? strstr(slow, "localhost") : NULL;
    assert_non_null(host);
    f->text = arena_format(&f->arena, "%.*s127.0.0.1%s", (int)(host - f->text), f->text,
                           host + strlen("localhost"));
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    assert_said(f, "; slow: ");
    assert_true(file_exists(in_folder(f, "run/profiles/slow.json")));
}

static void measures_together_all_or_none(void **state)
{
    struct fixture *f = *state;
    f->text = edited(f, "launcher: local\n", "launcher: local\nsubsystems: together\n");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    measure_well(f, false);
    assert_int_equal(count_runs(f), 0);
    assert_int_equal(unlink(in_folder(f, "run/profiles/slow.json")), 0);
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    assert_said(f, "fast: measured again, together with the others");
}

/* On one host, one interface counts what all types send. */
static void the_interfaces_counters_are_of_those_that_trained_alone(void **state)
{
    struct fixture *f = *state;
    measure_well(f, false);
    assert_true(read_profile(f, "fast").interface_bytes == 2000);
    f->text = edited(f, "launcher: local\n", "launcher: local\nsubsystems: together\n");
    measure_well(f, false);
    assert_true(read_profile(f, "fast").interface_bytes == 0);
}

static void one_ring_gives_each_type_its_own_profile(void **state)
{
    struct fixture *f = *state;
    f->text =
        edited(f, "launcher: local\n", "launcher: local\nsubsystems: together\none_ring: true\n");
    measure_well(f, false);
    assert_int_equal(count_runs(f), 4);
    struct profile profile = read_profile(f, "slow");
    assert_true(profile.one_ring);
    assert_int_equal(profile.n_devices, 2);
    assert_int_equal(profile.ring_devices, 4);
    assert_true(file_exists(in_folder(f, "run/records/one-ring/rank3.jsonl")));
}

static volatile sig_atomic_t cancel;

/* Interrupts as soon as the second type trains. */
static void cancel_at_slow(void *self, const char *text)
{
    (void)self;
    if (strncmp(text, "slow: ", 6) == 0)
        cancel = 1;
}

static void an_interrupted_run_goes_on_where_it_stopped(void **state)
{
    struct fixture *f = *state;
    write_file(f, "hang", "");
    cancel = 0;
    f->progress.cancel = &cancel;
    f->progress.status = cancel_at_slow;
    assert_false(measure(f, false));
    f->progress.status = NULL;
    assert_string_equal(
        f->e.text, arena_format(&f->arena, "interrupted; what was measured is kept in %s", f->run));
    assert_true(file_exists(in_folder(f, "run/profiles/fast.json")));
    assert_false(file_exists(in_folder(f, "run/profiles/slow.json")));
    assert_false(file_exists(in_folder(f, "run/records/slow")));
    cancel = 0;
    unlink(in_folder(f, "hang"));
    count_runs(f);
    measure_well(f, false);
    assert_int_equal(count_runs(f), 2);
    assert_said(f, "fast: measured already");
}

static void refuses_a_set_that_is_too_small(void **state)
{
    struct fixture *f = *state;
    f->text = edited(f, "data: 40 samples", "data: 90 samples");
    assert_false(measure(f, false));
    assert_int_equal(f->e.kind, ERROR_INPUT);
    assert_non_null(strstr(f->e.text, "20")); /* 2 x 90 + 2 x 20 = 220 of 200 */
    assert_int_equal(count_runs(f), 0);
}

static void refuses_a_python_without_torch(void **state)
{
    struct fixture *f = *state;
    write_file(f, "bare", "#!/bin/sh\necho no torch here; exit 1\n");
    assert_int_equal(chmod(in_folder(f, "bare"), 0700), 0);
    f->text = edited(f, "python: ./python", "python: ./bare");
    assert_false(measure(f, false));
    assert_non_null(strstr(f->e.text, "no torch here"));
    assert_non_null(strstr(f->e.text, "in device type 'fast'"));
}

int main(void)
{
#define MEASURE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        MEASURE_TEST(measures_every_type),
        MEASURE_TEST(links_the_data_that_each_type_draws),
        MEASURE_TEST(measures_a_type_at_each_of_its_batches),
        MEASURE_TEST(keeps_what_is_measured),
        MEASURE_TEST(measures_only_what_changed_again),
        MEASURE_TEST(measures_all_again_when_asked),
        MEASURE_TEST(puts_a_broken_profile_aside),
        MEASURE_TEST(leaves_types_with_a_given_profile_alone),
        MEASURE_TEST(types_without_a_common_host_are_measured_at_the_same_time),
        MEASURE_TEST(types_that_share_a_host_are_measured_one_by_one_even_in_parallel),
        MEASURE_TEST(measures_together_all_or_none),
        MEASURE_TEST(the_interfaces_counters_are_of_those_that_trained_alone),
        MEASURE_TEST(one_ring_gives_each_type_its_own_profile),
        MEASURE_TEST(an_interrupted_run_goes_on_where_it_stopped),
        MEASURE_TEST(refuses_a_set_that_is_too_small),
        MEASURE_TEST(refuses_a_python_without_torch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
