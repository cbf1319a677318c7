/* What must be there before sub-systems are measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "job/job.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job job;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_measurable.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    assert_true(file_write(path_join(&f->arena, f->folder, "train.py"), "", 0, &f->e));
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

static bool check(struct fixture *f, const char *yaml)
{
    if (!job_parse(&f->arena, yaml, strlen(yaml), "lab.yaml", f->folder, &f->job, &f->e))
        fail_msg("%s", f->e.text);
    error_clear(&f->e);
    return job_check_measurable(&f->arena, &f->job, &f->e);
}

static void refuse(struct fixture *f, const char *yaml, const char *starts, const char *holds)
{
    assert_false(check(f, yaml));
    if (strncmp(f->e.text, starts, strlen(starts)) != 0 || (holds && !strstr(f->e.text, holds)))
        fail_msg("expected '%s' and '%s', got:\n%s", starts, holds ? holds : "", f->e.text);
}

static void accept(struct fixture *f, const char *yaml)
{
    if (!check(f, yaml))
        fail_msg("%s", f->e.text);
}

#define TYPE(rest) "devices: {a: {count: 4, batch: 8" rest "}}\n"
#define LOCAL TYPE(", hosts: 'localhost:4'")
#define SCRIPT "model: {script: train.py}\n"

static void accepts_a_job_that_has_all(void **state)
{
    accept(*state, LOCAL SCRIPT);
}

static void asks_for_a_model(void **state)
{
    refuse(*state, LOCAL, "lab.yaml: no model to train", "script: train.py");
}

static void names_a_script_that_is_not_there(void **state)
{
    refuse(*state, LOCAL "model: {script: other.py}\n", "lab.yaml:2:17: the training script '",
           "other.py' is not there");
}

static void names_an_entry_file_that_is_not_there(void **state)
{
    refuse(*state, LOCAL "model: {entry: 'model.py:build'}\n", "lab.yaml:2:16: the model's file '",
           "model.py' is not there");
}

static void names_a_program_that_is_not_there_or_may_not_be_run(void **state)
{
    refuse(*state, LOCAL "model: {command: [./train, x]}\n",
           "lab.yaml:2:18: the training program '", "train' is not there");
    refuse(*state, LOCAL "model: {command: [./train.py, x]}\n",
           "lab.yaml:2:18: the training program '", "train.py' may not be run");
    accept(*state, LOCAL "model: {command: [on-the-hosts-path, x]}\n");
    accept(*state, LOCAL "model: {command: [/opt/on/the/hosts, x]}\n");
}

static void names_tables_of_links_that_are_not_there(void **state)
{
    refuse(*state, LOCAL SCRIPT "network: {links: [{between: [a, a], nccl_tests: t.txt}]}\n",
           "lab.yaml:3:19: the table of links '", "t.txt' is not there");
    refuse(*state,
           LOCAL SCRIPT "network: {topology: {file: none.txt, classes: {PIX: {nccl_tests: "
                        "t.txt}}}}\n",
           "lab.yaml:3:21: the topology '", "lab.yaml:3:53: the table of links '");
    refuse(*state, LOCAL SCRIPT "network: {measured: [m.csv]}\n",
           "lab.yaml:3:22: the network file '", "m.csv' is not there");
}

static void names_data_that_is_not_there(void **state)
{
    refuse(*state, LOCAL SCRIPT "data: {path: nothing}\n", "lab.yaml:3:14: the training data '",
           NULL);
    refuse(*state, LOCAL SCRIPT "data: {list: nothing}\n",
           "lab.yaml:3:14: the list of training data '", NULL);
}

static void asks_for_data_that_arguments_use(void **state)
{
    refuse(*state, LOCAL "model: {script: train.py, args: ['{data}']}\n",
           "lab.yaml:2:33: '{data}' is in the arguments", "data: {path: FOLDER}");
    refuse(*state, LOCAL "model: {script: train.py, args: ['--d={device_data}']}\n",
           "lab.yaml:2:33: '--d={device_data}' is in the arguments", NULL);
}

static void asks_for_hosts_or_a_profile(void **state)
{
    refuse(*state, TYPE("") SCRIPT, "lab.yaml:1:11: device type 'a' has no hosts",
           "hosts: localhost");
    refuse(*state, TYPE("") SCRIPT "launcher: slurm\n",
           "lab.yaml:1:11: device type 'a' has no hosts", "as `sinfo -N` lists them");
}

static void names_a_profile_that_is_not_there(void **state)
{
    refuse(*state, TYPE(", profile: a.json"), "lab.yaml:1:44: the profile '", "a.json");
}

static void needs_no_model_where_profiles_are_given(void **state)
{
    accept(*state, TYPE(", profile: train.py"));
}

static void refuses_other_hosts_for_the_local_launcher(void **state)
{
    refuse(*state, TYPE(", hosts: 'localhost:3,203.0.113.7'") SCRIPT,
           "lab.yaml:1:42: host '203.0.113.7' is not this machine", "in device type 'a'");
    refuse(*state, TYPE(", hosts: 'no.such.host:4'") SCRIPT,
           "lab.yaml:1:42: host 'no.such.host' is not this machine", NULL);
}

static void looks_only_at_hosts_that_are_measured(void **state)
{
    accept(*state, TYPE(", hosts: 'other[1-4]', subsystem: {hosts: 'localhost:2'}") SCRIPT);
    accept(*state, TYPE(", subsystem: {hosts: '127.0.0.1:2'}") SCRIPT);
}

static void knows_this_machine_by_its_names_and_addresses(void **state)
{
    char own[256] = "", yaml[512];
    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    snprintf(yaml, sizeof yaml, TYPE(", hosts: '127.0.0.2, 127.1.2.3:2, %s'") SCRIPT, own);
    accept(*state, yaml);
}

static void reports_all_that_is_missing(void **state)
{
    struct fixture *f = *state;
    refuse(f, TYPE("") "data: {path: nothing}\nmodel: {script: x.py}\n",
           "lab.yaml:3:17: ", "lab.yaml:2:14: ");
    assert_non_null(strstr(f->e.text, "lab.yaml:1:11: "));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest test[] = {
        TEST(accepts_a_job_that_has_all),
        TEST(asks_for_a_model),
        TEST(names_a_script_that_is_not_there),
        TEST(names_an_entry_file_that_is_not_there),
        TEST(names_a_program_that_is_not_there_or_may_not_be_run),
        TEST(names_tables_of_links_that_are_not_there),
        TEST(names_data_that_is_not_there),
        TEST(asks_for_data_that_arguments_use),
        TEST(asks_for_hosts_or_a_profile),
        TEST(names_a_profile_that_is_not_there),
        TEST(needs_no_model_where_profiles_are_given),
        TEST(refuses_other_hosts_for_the_local_launcher),
        TEST(looks_only_at_hosts_that_are_measured),
        TEST(knows_this_machine_by_its_names_and_addresses),
        TEST(reports_all_that_is_missing),
    };
    return cmocka_run_group_tests_name("job measurable", test, NULL, NULL);
}
