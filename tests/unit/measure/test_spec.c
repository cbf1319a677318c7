/* The worker's specification: what stands in spec.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "measure/spec.h"

struct fixture {
    struct error e;
    char folder[64], path[96];
    json_t *json;
    struct job_model model;
    struct spec spec;
};

static const char *const types[] = {"fast", "fast", "slow"};
static const int64_t batches[] = {16, 16, 8};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_spec.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/spec.json", f->folder);
    f->model = (struct job_model){.kind = MODEL_SCRIPT, .script = "train.py"};
    f->spec = (struct spec){
        .record_dir = "/run/records/fast",
        .device_type = "fast",
        .n_devices = 3,
        .types_by_rank = types,
        .batch_by_rank = batches,
        .batch = 16,
        .first = 20,
        .last = 100,
        .n_profiled = 10,
        .device = "cpu",
        .backend = "gloo",
        .seed = 7,
        .end_timeout_s = 60,
        .samples_before = 1400,
        .devices_before = 2,
        .devices_in_all = 5,
        .workers = 2,
        .model = &f->model,
    };
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    json_decref(f->json);
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    free(f);
    return 0;
}

static json_t *written(struct fixture *f)
{
    if (!spec_write(f->path, &f->spec, &f->e))
        fail_msg("%s", f->e.text);
    f->json = json_load_file(f->path, 0, NULL);
    assert_non_null(f->json);
    return f->json;
}

static json_t *at(json_t *json, const char *object, const char *key)
{
    return json_object_get(json_object_get(json, object), key);
}

static void says_everything_the_worker_must_know(void **state)
{
    struct fixture *f = *state;
    json_t *json = written(f),
           *expected = json_pack("{s:s s:s s:s s:[sss] s:i s:i s:i s:i s:s s:s s:i s:[iii] s:i s:f"
                                 " s:{s:n s:n s:i s:i s:i s:n s:n s:i} s:{s:s} s:n}",
                                 "format", "foretrain.spec/1", "record_dir", "/run/records/fast",
                                 "device_type", "fast", "types_by_rank", "fast", "fast", "slow",
                                 "n_devices", 3, "first", 20, "last", 100, "n_profiled", 10,
                                 "device", "cpu", "backend", "gloo", "batch", 16, "batch_by_rank",
                                 16, 16, 8, "seed", 7, "end_timeout_s", 60.0, "data", "dir",
                                 "samples_per_device", "samples_before", 1400, "devices_before", 2,
                                 "devices_in_all", 5, "bytes_per_device", "sample_bytes", "workers",
                                 2, "model", "kind", "script", "together");
    assert_non_null(expected);
    bool equal = json_equal(json, expected);
    json_decref(expected);
    assert_true(equal);
}

static void gives_the_data_where_it_is_known(void **state)
{
    struct fixture *f = *state;
    f->spec.data_dir = "/run/data/fast";
    f->spec.samples_per_device = 700.6;
    f->spec.bytes_per_device = 2.5e9;
    f->spec.sample_bytes = 110e3;
    json_t *json = written(f);
    assert_string_equal(json_string_value(at(json, "data", "dir")), "/run/data/fast");
    assert_int_equal(json_integer_value(at(json, "data", "samples_per_device")), 700);
    assert_true(json_number_value(at(json, "data", "bytes_per_device")) == 2.5e9);
    assert_true(json_number_value(at(json, "data", "sample_bytes")) == 110e3);
}

static void gives_an_entry_its_file_and_arguments(void **state)
{
    struct fixture *f = *state;
    f->model = (struct job_model){
        .kind = MODEL_ENTRY, .entry_function = "build", .json = "{\"width\": 32}"};
    f->spec.entry_file = "/job/model.py";
    json_t *json = written(f);
    assert_string_equal(json_string_value(at(json, "model", "kind")), "entry");
    assert_string_equal(json_string_value(at(json, "model", "file")), "/job/model.py");
    assert_string_equal(json_string_value(at(json, "model", "function")), "build");
    assert_int_equal(json_integer_value(json_object_get(at(json, "model", "args"), "width")), 32);
}

static void passes_typed_layers_on(void **state)
{
    struct fixture *f = *state;
    f->model = (struct job_model){
        .kind = MODEL_LAYERS,
        .json = "{\"input\":[8],\"layers\":[{\"kind\":\"linear\",\"out\":4}],\"loss\":\"mse\","
                "\"optimizer\":{\"kind\":\"sgd\",\"lr\":0.1}}"};
    json_t *json = written(f);
    assert_string_equal(json_string_value(at(json, "model", "kind")), "layers");
    assert_string_equal(json_string_value(at(json, "model", "loss")), "mse");
    assert_int_equal(json_array_size(at(json, "model", "layers")), 1);
}

static void tells_sub_systems_where_to_meet(void **state)
{
    struct fixture *f = *state;
    struct spec_meeting meeting = {"10.0.0.1", 4711, true, 5, 600};
    f->spec.meeting = &meeting;
    json_t *json = written(f);
    assert_string_equal(json_string_value(at(json, "together", "host")), "10.0.0.1");
    assert_int_equal(json_integer_value(at(json, "together", "port")), 4711);
    assert_true(json_is_true(at(json, "together", "server")));
    assert_int_equal(json_integer_value(at(json, "together", "n_ranks")), 5);
    assert_true(json_number_value(at(json, "together", "timeout_s")) == 600);
}

static void refuses_names_that_json_cannot_hold(void **state)
{
    struct fixture *f = *state;
    f->spec.data_dir = "/data/\xff";
    assert_false(spec_write(f->path, &f->spec, &f->e));
    assert_non_null(strstr(f->e.text, "the data's folder is not UTF-8"));
    assert_false(file_exists(f->path));
}

static void says_that_the_folder_is_not_there(void **state)
{
    struct fixture *f = *state;
    assert_false(spec_write("/no/such/spec.json", &f->spec, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
}

int main(void)
{
#define SPEC_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        SPEC_TEST(says_everything_the_worker_must_know),
        SPEC_TEST(gives_the_data_where_it_is_known),
        SPEC_TEST(gives_an_entry_its_file_and_arguments),
        SPEC_TEST(passes_typed_layers_on),
        SPEC_TEST(tells_sub_systems_where_to_meet),
        SPEC_TEST(refuses_names_that_json_cannot_hold),
        SPEC_TEST(says_that_the_folder_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
