/* What a measurement depends on, and what is said when that changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "measure/inputs.h"

struct fixture {
    struct arena arena;
    struct error e;
    char folder[64];
    struct job_host host;
    struct job_device_type type;
    struct subsystem_type setting;
    struct job job;
    struct subsystem subsystem;
};

static void write_file(struct fixture *f, const char *name, const char *content)
{
    const char *path = path_join(&f->arena, f->folder, name);
    assert_true(file_make_folders(path_folder(&f->arena, path), &f->e));
    assert_true(file_write(path, content, strlen(content), &f->e));
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_inputs.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->host = (struct job_host){.name = "localhost", .n_devices = 4};
    f->type = (struct job_device_type){.name = "fast",
                                       .count = 4,
                                       .batch = 16,
                                       .host = &f->host,
                                       .n_hosts = 1,
                                       .subsystem_devices = 2,
                                       .device = "cpu",
                                       .backend = "gloo",
                                       .data = {700, AMOUNT_SAMPLES}};
    f->setting.python = (struct python){"/usr/bin/python3", "3.11.2", "1.13.1"};
    f->job = (struct job){.file = "job.yaml",
                          .folder = f->folder,
                          .type = &f->type,
                          .n_types = 1,
                          .model = {.kind = MODEL_SCRIPT, .script = "train.py"},
                          .data = {.path = "data", .seed = 1},
                          .training = {.first = 20, .last = 100}};
    subsystem_plan(&f->arena, &f->job, 0, &f->subsystem);
    f->subsystem.type = &f->setting;
    write_file(f, "train.py", "import model\n");
    write_file(f, "model.py", "width = 32\n");
    write_file(f, "worker/loop.py", "loop\n");
    write_file(f, "worker/hook/sitecustomize.py", "hook\n");
    write_file(f, "worker/foretrain_worker/watch.py", "watch\n");
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

static struct inputs collect(struct fixture *f)
{
    struct inputs inputs;
    const char *worker = path_join(&f->arena, f->folder, "worker");
    if (!inputs_collect(&f->arena, &f->subsystem, 0, worker, &inputs, &f->e))
        fail_msg("%s", f->e.text);
    return inputs;
}

static void assert_differs(struct fixture *f, const struct inputs *then, const char *expected)
{
    struct inputs now = collect(f);
    char *difference = inputs_difference(&f->arena, then->item, then->n, now.item, now.n);
    if (expected)
        assert_string_equal(difference, expected);
    else
        assert_null(difference);
}

static void the_same_job_has_the_same_inputs(void **state)
{
    struct fixture *f = *state;
    struct inputs then = collect(f);
    assert_differs(f, &then, NULL);
}

static void order_does_not_count(void **state)
{
    struct fixture *f = *state;
    const struct profile_input then[] = {{"a", "1"}, {"b", "2"}}, now[] = {{"b", "2"}, {"a", "1"}};
    assert_null(inputs_difference(&f->arena, then, 2, now, 2));
}

static void says_what_changed_in_the_job(void **state)
{
    struct fixture *f = *state;
    struct inputs then = collect(f);
    f->type.batch = 32;
    f->job.data.seed = 2;
    f->job.training.last = 50;
    assert_differs(f, &then, "batch 16 -> 32, seed 1 -> 2, iterations 20 to 100 -> 20 to 50");
}

static void sees_amounts_cpus_variables_and_versions(void **state)
{
    struct fixture *f = *state;
    struct inputs then = collect(f);
    struct job_variable env = {"OMP_NUM_THREADS", "2"};
    f->type.data = (struct amount){1e9, AMOUNT_BYTES};
    f->type.env = &env;
    f->type.n_env = 1;
    f->subsystem.rank[1].cpus = "1";
    f->setting.python.torch = "2.6.0";
    assert_differs(f, &then,
                   "data 700 samples -> 1000000000 B, cpus any any -> any 1, "
                   "env none -> OMP_NUM_THREADS#c78befb2, torch 1.13.1 -> 2.6.0");
}

static void keeps_no_value_of_a_variable(void **state)
{
    struct fixture *f = *state;
    struct job_variable env[] = {{"TOKEN", "hush-hush"}, {"EMPTY", ""}};
    f->type.env = env;
    f->type.n_env = 2;
    struct inputs then = collect(f);
    for (size_t i = 0; i < then.n; i++)
        assert_null(strstr(then.item[i].value, "hush"));
    env[0].value = "other";
    struct inputs now = collect(f);
    char *difference = inputs_difference(&f->arena, then.item, then.n, now.item, now.n);
    assert_non_null(strstr(difference, "env TOKEN#"));
    assert_null(strstr(difference, "other"));
}

static void sees_edits_of_the_code_and_its_neighbours(void **state)
{
    struct fixture *f = *state;
    struct inputs then = collect(f);
    write_file(f, "train.py", "import model, os\n");
    assert_differs(f, &then, "train.py changed");
    then = collect(f);
    write_file(f, "model.py", "width = 64\n");
    write_file(f, "extra.py", "\n");
    assert_differs(f, &then, "extra.py is new, model.py changed");
    then = collect(f);
    assert_int_equal(unlink(path_join(&f->arena, f->folder, "extra.py")), 0);
    assert_differs(f, &then, "extra.py is gone");
}

static void sees_another_worker(void **state)
{
    struct fixture *f = *state;
    struct inputs then = collect(f);
    write_file(f, "worker/foretrain_worker/watch.py", "other watch\n");
    assert_differs(f, &then, "worker changed");
}

static void typed_layers_count_as_written(void **state)
{
    struct fixture *f = *state;
    f->job.model = (struct job_model){.kind = MODEL_LAYERS, .json = "{\"input\":[8]}"};
    struct inputs then = collect(f);
    f->job.model.json = "{\"input\":[9]}";
    assert_differs(f, &then, "layers {\"input\":[8]} -> {\"input\":[9]}");
}

static void the_company_counts_only_when_measured_together(void **state)
{
    struct fixture *f = *state;
    struct job_device_type types[] = {f->type, f->type};
    types[1].name = "slow";
    f->job.type = types;
    f->job.n_types = 2;
    struct inputs then = collect(f);
    types[1].batch = 8;
    assert_differs(f, &then, NULL);
    f->job.subsystems = SUBSYSTEMS_TOGETHER;
    then = collect(f);
    types[1].batch = 4;
    assert_differs(f, &then,
                   "subsystems together: fast x2 batch 16; slow x2 batch 8 -> "
                   "together: fast x2 batch 16; slow x2 batch 4");
}

static void a_command_depends_on_its_words_and_files_not_on_the_worker(void **state)
{
    struct fixture *f = *state;
    const char *args[] = {"./own", "settings.ini", "--lr=1", "train.py"};
    f->job.model = (struct job_model){.kind = MODEL_COMMAND, .args = args, .n_args = 4};
    write_file(f, "own", "binary\n");
    write_file(f, "settings.ini", "width = 1\n");
    struct inputs then = collect(f);
    write_file(f, "worker/loop.py", "another loop\n");
    assert_differs(f, &then, NULL);
    write_file(f, "own", "built anew\n");
    assert_differs(f, &then, "./own changed");
    write_file(f, "own", "binary\n");
    write_file(f, "settings.ini", "width = 2\n");
    assert_differs(f, &then, "settings.ini changed");
    write_file(f, "settings.ini", "width = 1\n");
    write_file(f, "model.py", "width = 64\n");
    assert_differs(f, &then, "model.py changed");
    write_file(f, "model.py", "width = 32\n");
    args[2] = "--lr=2";
    assert_differs(
        f, &then,
        "command ./own settings.ini --lr=1 train.py -> ./own settings.ini --lr=2 train.py");
}

static void refuses_a_script_that_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    struct inputs inputs;
    f->job.model.script = "missing.py";
    assert_false(inputs_collect(&f->arena, &f->subsystem, 0, f->folder, &inputs, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
    assert_non_null(strstr(f->e.text, "missing.py"));
}

int main(void)
{
#define INPUTS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        INPUTS_TEST(the_same_job_has_the_same_inputs),
        INPUTS_TEST(order_does_not_count),
        INPUTS_TEST(says_what_changed_in_the_job),
        INPUTS_TEST(sees_amounts_cpus_variables_and_versions),
        INPUTS_TEST(keeps_no_value_of_a_variable),
        INPUTS_TEST(sees_edits_of_the_code_and_its_neighbours),
        INPUTS_TEST(sees_another_worker),
        INPUTS_TEST(typed_layers_count_as_written),
        INPUTS_TEST(the_company_counts_only_when_measured_together),
        INPUTS_TEST(a_command_depends_on_its_words_and_files_not_on_the_worker),
        INPUTS_TEST(refuses_a_script_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
