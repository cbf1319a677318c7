/* Job files that are right: every key arrives, and every default is as documented. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fixture.h"
#include "job/job.h"
#include "job/template.h"

struct fixture {
    struct arena arena;
    struct error e;
    struct job job;
};

DEFINE_FIXTURE

static const struct job *parse(struct fixture *f, const char *yaml)
{
    if (!job_parse(&f->arena, yaml, strlen(yaml), "lab/mixed.yaml", "lab", &f->job, &f->e))
        fail_msg("%s", f->e.text);
    return &f->job;
}

static const char *name(struct fixture *f, size_t position)
{
    return job_device_name(&f->arena, &f->job, job_ring_device(&f->job, position));
}

static void documented_defaults_hold(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 4, batch: 8}}\n");
    assert_string_equal(job->name, "mixed");
    assert_string_equal(job->folder, "lab");
    assert_int_equal(job->model.kind, MODEL_NONE);
    assert_int_equal(job->data.size.unit, AMOUNT_NONE);
    assert_true(job->data.seed == 1);
    assert_int_equal(job->data.workers, 2);
    assert_false(job->data.warm_cache);
    assert_true(job->training.epochs == 1);
    assert_int_equal(job->training.collective, FT_RING);
    assert_int_equal(job->training.first, 20);
    assert_int_equal(job->training.last, 100);
    assert_int_equal(job->training.n_profiled, 20);
    assert_int_equal(job->n_types, 1);
    assert_int_equal(job->type[0].data.unit, AMOUNT_NONE);
    assert_int_equal(job->type[0].subsystem_devices, 2);
    assert_false(job->type[0].allow_full);
    assert_string_equal(job->type[0].device, "cpu");
    assert_string_equal(job->type[0].backend, "gloo");
    assert_null(job->type[0].python);
    assert_null(job->type[0].profile);
    assert_int_equal(job->type[0].n_profiles, 0);
    assert_int_equal(job->type[0].n_hosts, 0);
    assert_int_equal(job->n_links, 0);
    assert_null(job->network_file);
    assert_int_equal(job->subsystems, SUBSYSTEMS_EACH);
    assert_false(job->one_ring);
    assert_int_equal(job->launcher.kind, LAUNCHER_LOCAL);
    assert_true(job->launcher.stall_timeout_s == 600);
    assert_true(job->launcher.timeout_s == 0);
    assert_int_equal(job->n_devices, 4);
    assert_null(job->ring);
}

static void reads_a_file_with_a_byte_order_mark(void **state)
{
    const struct job *job = parse(*state, "\xef\xbb\xbf"
                                          "devices: {a: {count: 4, batch: 8}}\n");
    assert_int_equal(job->type[0].count, 4);
}

static void every_key_arrives(void **state)
{
    const struct job *job = parse(
        *state,
        "name: big\n"
        "model: {script: train.py, args: [--lr, 0.1, '{data}', ''], spawns_ranks: true}\n"
        "data: {path: /data, size: 200 TB, samples: 2000000000, sample_size: 100 kB, seed: 7,\n"
        "       workers: 0, cache: warm}\n"
        "training: {epochs: 90, collective: ring, iterations: [5, 9], profiled: 0, evaluation: 2 "
        "min,\n"
        "           checkpoint: 3 s, last_batch: drop}\n"
        "storage: {bandwidth: 8 Gbit/s}\n"
        "devices:\n"
        "  a100: {count: 2, data: 1 GB, batch: 64, hosts: 'n[1-2]', allow_full: true,\n"
        "         device: cuda, env: {A: 1, B_2: 'x y'}, python: /opt/python, cpus: [0, 2-3]}\n"
        "  old: {count: 3, data: 20000 samples, batch: 32, profile: old.json,\n"
        "        subsystem: {devices: 4, hosts: 'x:4'}}\n"
        "network:\n"
        "  measured: bandwidth.csv\n"
        "  links:\n"
        "  - {between: [a100, old], bandwidth: 100 Gbit/s, latency: 10 us, where: across-hosts}\n"
        "  - {from: old, to: a100, bandwidth: 1 GB/s}\n"
        "subsystems: together\n"
        "one_ring: true\n"
        "launcher: {kind: local, stall_timeout: 1 min, timeout: 2 h}\n");
    assert_string_equal(job->name, "big");
    assert_int_equal(job->model.kind, MODEL_SCRIPT);
    assert_string_equal(job->model.script, "train.py");
    assert_int_equal(job->model.n_args, 4);
    assert_string_equal(job->model.args[1], "0.1");
    assert_string_equal(job->model.args[3], "");
    assert_true(job->model.spawns_ranks);
    assert_int_equal(job->model.place.line, 2);
    assert_string_equal(job->data.path, "/data");
    assert_true(job->data.size.value == 200e12);
    assert_true(job->data.n_samples == 2e9);
    assert_true(job->data.sample_bytes == 1e5);
    assert_true(job->data.seed == 7);
    assert_int_equal(job->data.workers, 0);
    assert_true(job->data.warm_cache);
    assert_true(job->training.epochs == 90);
    assert_int_equal(job->training.first, 5);
    assert_int_equal(job->training.last, 9);
    assert_int_equal(job->training.n_profiled, 0);
    assert_true(job->training.evaluation_s == 120 && job->training.checkpoint_s == 3);
    assert_true(job->training.drops_last);
    assert_true(job->storage.bandwidth_Bps == 1e9);
    const struct job_device_type *a = &job->type[0], *b = &job->type[1];
    assert_true(a->data.value == 1e9 && a->data.unit == AMOUNT_BYTES);
    assert_true(a->count == 2 && a->batch == 64 && a->n_hosts == 2 && a->allow_full);
    assert_string_equal(a->device, "cuda");
    assert_string_equal(a->backend, "nccl");
    assert_int_equal(a->n_env, 2);
    assert_string_equal(a->env[1].name, "B_2");
    assert_string_equal(a->env[1].value, "x y");
    assert_string_equal(a->python, "/opt/python");
    assert_int_equal(a->n_cpus, 2);
    assert_string_equal(a->cpus[1], "2-3");
    assert_int_equal(a->place.line, 9);
    assert_int_equal(a->place.column, 3);
    assert_true(b->data.value == 20000 && b->data.unit == AMOUNT_SAMPLES);
    assert_int_equal(b->n_profiles, 1);
    assert_string_equal(b->profile[0], "old.json");
    assert_int_equal(b->subsystem_devices, 4);
    assert_int_equal(b->n_subsystem_hosts, 1);
    assert_string_equal(job->network_file, "bandwidth.csv");
    assert_int_equal(job->network_place.line, 14);
    assert_int_equal(job->n_links, 2);
    const struct job_link *link = job->link;
    assert_true(link[0].bandwidth_Bps == 12.5e9 && fabs(link[0].latency_s - 10e-6) < 1e-18);
    assert_true(link[0].where == LINK_ACROSS_HOSTS && !link[0].directed);
    assert_true(link[1].from_type == 1 && link[1].to_type == 0 && link[1].directed);
    assert_int_equal(link[1].place.line, 17);
    assert_int_equal(job->subsystems, SUBSYSTEMS_TOGETHER);
    assert_true(job->one_ring);
    assert_true(job->launcher.stall_timeout_s == 60 && job->launcher.timeout_s == 7200);
}

static void entry_arguments_become_json_by_yaml_1_2(void **state)
{
    const struct job *job =
        parse(*state, "devices: {a: {count: 4, batch: 8}}\n"
                      "model:\n"
                      "  entry: sub/model.py:build\n"
                      "  args: {a: 1, b: -2.5, c: 1e-3, d: true, e: ~, f: yes,\n"
                      "         g: '1', h: [0x10, 0o10, 010], i: {j: x}, k: .5,\n"
                      "         l: False, m: 1_000}\n");
    assert_string_equal(job->model.entry_file, "sub/model.py");
    assert_string_equal(job->model.entry_function, "build");
    assert_string_equal(job->model.json,
                        "{\"a\":1,\"b\":-2.5,\"c\":0.001,\"d\":true,\"e\":null,\"f\":\"yes\","
                        "\"g\":\"1\",\"h\":[16,8,10],\"i\":{\"j\":\"x\"},\"k\":0.5,\"l\":false,"
                        "\"m\":\"1_000\"}");
}

static void an_entry_without_arguments_gets_an_empty_object(void **state)
{
    const struct job *job =
        parse(*state, "devices: {a: {count: 4, batch: 8}}\nmodel: {entry: 'model.py:build'}\n");
    assert_string_equal(job->model.json, "{}");
}

static void a_script_gets_json_and_other_braces_unharmed(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 4, batch: 8}}\n"
                                          "model: {script: a.py, args: ['{\"a\":{\"b\":1}}', "
                                          "'{epoch}.pt', '{{data}']}\n");
    assert_string_equal(job->model.args[0], "{\"a\":{\"b\":1}}");
    assert_int_equal(job->model.n_args, 3);
}

static void each_device_has_its_backend(void **state)
{
    static const char *const expected[][3] = {
        {"cpu", "cpu", "gloo"}, {"cuda", "cuda", "nccl"}, {"hip", "cuda", "nccl"},
        {"mlu", "mlu", "cncl"}, {"npu", "npu", "hccl"},   {"xpu", "xpu", "xccl"},
    };
    for (size_t i = 0; i < 6; i++) {
        char yaml[128];
        snprintf(yaml, sizeof yaml, "devices: {a: {count: 4, batch: 8, device: %s}}\n",
                 expected[i][0]);
        const struct job *job = parse(*state, yaml);
        assert_string_equal(job->type[0].device, expected[i][1]);
        assert_string_equal(job->type[0].backend, expected[i][2]);
    }
}

static void each_backend_has_its_device(void **state)
{
    static const char *const expected[][2] = {{"gloo", "cpu"}, {"nccl", "cuda"}, {"cncl", "mlu"},
                                              {"hccl", "npu"}, {"xccl", "xpu"},  {"mpi", "cpu"}};
    for (size_t i = 0; i < 6; i++) {
        char yaml[128];
        snprintf(yaml, sizeof yaml, "devices: {a: {count: 4, batch: 8, backend: %s}}\n",
                 expected[i][0]);
        assert_string_equal(parse(*state, yaml)->type[0].device, expected[i][1]);
    }
}

static void gloo_may_drive_any_device(void **state)
{
    const struct job *job =
        parse(*state, "devices: {a: {count: 4, batch: 8, device: cuda, backend: gloo}}\n");
    assert_string_equal(job->type[0].backend, "gloo");
}

static void a_single_device_may_be_measured_alone(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 1, batch: 8, subsystem: 1}}\n");
    assert_int_equal(job->type[0].subsystem_devices, 1);
}

static void allow_full_takes_the_whole_type(void **state)
{
    parse(*state, "devices: {a: {count: 2, batch: 8, allow_full: true}}\n");
}

static void hosts_outside_the_system_may_be_as_many(void **state)
{
    parse(*state, "devices: {a: {count: 2, batch: 8, hosts: 'a,b', subsystem: {devices: 3, hosts: "
                  "'b,c,d'}}}\n");
}

static void a_type_with_a_profile_needs_no_subsystem(void **state)
{
    parse(*state, "devices: {a: {count: 1, batch: 8, profile: a.json}}\n");
}

static void devices_count_host_by_host(void **state)
{
    parse(*state, "devices: {a: {count: 4, batch: 8, hosts: 'h1:2, h2, h3:9'}}\n");
    assert_string_equal(name(*state, 0), "h1:0");
    assert_string_equal(name(*state, 1), "h1:1");
    assert_string_equal(name(*state, 2), "h2");
    assert_string_equal(name(*state, 3), "h3");
}

static void types_share_a_host_by_slots(void **state)
{
    struct fixture *f = *state;
    parse(f, "devices:\n  b: {count: 3, batch: 8, hosts: 'h:2, k'}\n"
             "  a: {count: 3, batch: 8, hosts: 'm, h:2'}\n");
    static const char *const expected[] = {"h:0", "h:1", "k", "m", "h:2", "h:3"};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(name(f, i), expected[i]);
    int slot = -1;
    assert_string_equal(job_device_host(&f->job, 5, &slot), "h");
    assert_int_equal(slot, 3);
    assert_int_equal(job_device_type(&f->job, 2), 0);
    assert_int_equal(job_device_type(&f->job, 3), 1);
}

static void devices_without_hosts_count_by_type(void **state)
{
    struct fixture *f = *state;
    parse(f, "devices: {a: {count: 3, batch: 8}, b: {count: 3, batch: 8}}\n");
    assert_string_equal(name(f, 2), "a-2");
    assert_string_equal(name(f, 3), "b-0");
    assert_null(job_device_host(&f->job, 3, NULL));
    assert_int_equal(job_find_type(&f->job, "b"), 1);
    assert_int_equal(job_find_type(&f->job, "c"), JOB_NO_TYPE);
}

static void a_ring_follows_its_list(void **state)
{
    struct fixture *f = *state;
    parse(f, "devices: {a: {count: 3, batch: 8, hosts: 'h1:2, h2'}, b: {count: 3, batch: 8}}\n"
             "ring: ['b-[1-2]', h1, 'b-0,h2']\n");
    static const char *const expected[] = {"b-1", "b-2", "h1:0", "h1:1", "b-0", "h2"};
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(name(f, i), expected[i]);
}

static void as_listed_needs_no_array(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 4, batch: 8}}\nring: as-listed\n");
    assert_null(job->ring);
}

static void a_subsystem_takes_distinct_hosts_first(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 6, batch: 8, subsystem: 5, hosts: "
                                          "'h1:3, h2:1, h3:2'}}\n");
    static const char *const expected[] = {"h1", "h2", "h3", "h1", "h3"};
    const char *host[5];
    job_subsystem_hosts(&job->type[0], host);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(host[i], expected[i]);
}

static void a_subsystem_takes_its_own_hosts(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 6, batch: 8, subsystem: {devices: "
                                          "3, hosts: 'x:2, y'}}}\n");
    static const char *const expected[] = {"x", "y", "x"};
    const char *host[3];
    job_subsystem_hosts(&job->type[0], host);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(host[i], expected[i]);
}

static void a_subsystem_without_hosts_has_none(void **state)
{
    const struct job *job = parse(*state, "devices: {a: {count: 6, batch: 8}}\n");
    const char *host[2] = {"", ""};
    job_subsystem_hosts(&job->type[0], host);
    assert_null(host[0]);
    assert_null(host[1]);
}

static void the_template_is_a_job(void **state)
{
    const struct job *job = parse(*state, job_template);
    assert_int_equal(job->n_types, 2);
    assert_int_equal(job->n_links, 3);
    assert_int_equal(job->model.kind, MODEL_SCRIPT);
}

static void every_line_of_the_template_fits_a_screen(void **state)
{
    (void)state;
    for (const char *line = job_template; *line;) {
        size_t length = strcspn(line, "\n");
        assert_in_range(length, 0, 100);
        line += length + 1;
    }
}

static void loads_a_million_devices(void **state)
{
    const struct job *job =
        parse(*state, "devices: {a: {count: 500000, batch: 8}, b: {count: 500000, batch: 8}}\n");
    assert_int_equal(job->n_devices, 1000000);
    assert_string_equal(name(*state, 999999), "b-499999");
}

static void a_name_comes_from_the_file(void **state)
{
    struct fixture *f = *state;
    static const char yaml[] = "devices: {a: {count: 4, batch: 8}}\n";
    static const char *const file[][2] = {
        {"a/b.yaml", "b"}, {"b.yml", "b"}, {"x.y.yaml", "x.y"}, {"plain", "plain"}, {"-", "job"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        assert_true(job_parse(&f->arena, yaml, strlen(yaml), file[i][0], ".", &f->job, &f->e));
        assert_string_equal(f->job.name, file[i][1]);
    }
    assert_false(job_parse(&f->arena, yaml, strlen(yaml), "my job.yaml", ".", &f->job, &f->e));
    assert_non_null(strstr(f->e.text, "the job has no name"));
}

static void reads_a_file_and_knows_its_folder(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/test_job_load.XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = path_join(&f->arena, folder, "lab.yaml");
    assert_true(file_write(path, job_template, strlen(job_template), &f->e));
    assert_true(job_load(&f->arena, path, &f->job, &f->e));
    assert_string_equal(f->job.folder, folder);
    assert_string_equal(f->job.text, job_template);
    assert_string_equal(job_path(&f->arena, &f->job, "x/y"), path_join(&f->arena, folder, "x/y"));
    assert_string_equal(job_path(&f->arena, &f->job, "/x"), "/x");
    assert_true(file_remove_tree(folder, &f->e));
}

static void names_a_file_that_is_not_there(void **state)
{
    struct fixture *f = *state;
    assert_false(job_load(&f->arena, "/nowhere/job.yaml", &f->job, &f->e));
    assert_int_equal(f->e.kind, ERROR_FILE);
    assert_non_null(strstr(f->e.text, "/nowhere/job.yaml"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest test[] = {
        TEST(documented_defaults_hold),
        TEST(reads_a_file_with_a_byte_order_mark),
        TEST(every_key_arrives),
        TEST(entry_arguments_become_json_by_yaml_1_2),
        TEST(an_entry_without_arguments_gets_an_empty_object),
        TEST(a_script_gets_json_and_other_braces_unharmed),
        TEST(each_device_has_its_backend),
        TEST(each_backend_has_its_device),
        TEST(gloo_may_drive_any_device),
        TEST(a_single_device_may_be_measured_alone),
        TEST(allow_full_takes_the_whole_type),
        TEST(hosts_outside_the_system_may_be_as_many),
        TEST(a_type_with_a_profile_needs_no_subsystem),
        TEST(devices_count_host_by_host),
        TEST(types_share_a_host_by_slots),
        TEST(devices_without_hosts_count_by_type),
        TEST(a_ring_follows_its_list),
        TEST(as_listed_needs_no_array),
        TEST(a_subsystem_takes_distinct_hosts_first),
        TEST(a_subsystem_takes_its_own_hosts),
        TEST(a_subsystem_without_hosts_has_none),
        TEST(the_template_is_a_job),
        TEST(every_line_of_the_template_fits_a_screen),
        TEST(loads_a_million_devices),
        TEST(a_name_comes_from_the_file),
        TEST(reads_a_file_and_knows_its_folder),
        TEST(names_a_file_that_is_not_there),
    };
    return cmocka_run_group_tests_name("job load", test, NULL, NULL);
}
