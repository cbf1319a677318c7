/* Profiles as a person writes them, as foretrain writes them, and everything that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/profile.h"

#define BY_HAND                                                                                    \
    "{\n"                                                                                          \
    "  \"format\": \"foretrain.profile/1\",\n"                                                     \
    "  \"device_type\": \"a100\",\n"                                                               \
    "  \"basis\": \"assumed\",\n"                                                                  \
    "  \"batch\": 64,\n"                                                                           \
    "  \"subsystem\": {\"n\": 2},\n"                                                               \
    "  \"all_reduce\": {\"sent_bytes\": 102400000},\n"                                             \
    "  \"stages\": {\n"                                                                            \
    "    \"forward_s\": {\"mean\": 0.031},\n"                                                      \
    "    \"first_backward_s\": {\"mean\": 0.0005}\n"                                               \
    "  }\n"                                                                                        \
    "}\n"

struct fixture {
    struct arena arena;
    struct error error;
    struct profile profile;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    error_clear(&f->error);
    free(f);
    return 0;
}

/* The hand-written profile with one piece of its text replaced. */
static char *edited(struct fixture *f, const char *piece, const char *by)
{
    const char *at = strstr(BY_HAND, piece);
    assert_non_null(at);
    return arena_format(&f->arena, "%.*s%s%s", (int)(at - BY_HAND), BY_HAND, by,
                        at + strlen(piece));
}

static bool parse(struct fixture *f, const char *text)
{
    return profile_parse(&f->arena, text, strlen(text), "a100.json", &f->profile, &f->error);
}

static void assert_read(struct fixture *f, const char *text)
{
    if (!parse(f, text))
        fail_msg("%s", f->error.text);
}

static void assert_refused(struct fixture *f, const char *text, const char *first_line)
{
    assert_false(parse(f, text));
    assert_int_equal(f->error.kind, ERROR_INPUT);
    char *line = arena_copy_n(&f->arena, f->error.text, strcspn(f->error.text, "\n"));
    assert_string_equal(line, first_line);
}

static void reads_what_a_person_must_write_and_no_more(void **state)
{
    struct fixture *f = *state;
    assert_read(f, BY_HAND);
    const struct profile *p = &f->profile;
    assert_string_equal(p->device_type, "a100");
    assert_true(p->assumed);
    assert_true(p->batch == 64 && p->micro_batches == 1);
    assert_int_equal(p->n_devices, 2);
    assert_int_equal(p->ring_devices, 2);
    assert_true(p->bytes_sent == 102400000 && !p->bytes_measured);
    assert_true(p->stage[STAGE_FORWARD].known);
    assert_null(p->stage[STAGE_FORWARD].value);
    assert_true(p->stage[STAGE_FORWARD].stats.mean == 0.031);
    assert_false(p->stage[STAGE_STEP].known);
    assert_int_equal(p->loader_workers, -1);
    assert_true(p->bytes_read == -1);
    assert_null(p->host);
    assert_null(p->note);
}

static void takes_gradient_bytes_instead_of_sent_bytes(void **state)
{
    struct fixture *f = *state;
    char *text = edited(f, "{\"n\": 2},\n  \"all_reduce\": {\"sent_bytes\": 102400000}",
                        "{\"n\": 4},\n  \"all_reduce\": {\"gradient_bytes\": 1000}");
    assert_read(f, text);
    assert_true(f->profile.bytes_sent == 1500);
    assert_true(f->profile.gradient_bytes == 1000);
}

static void computes_the_mean_from_samples_where_it_is_not_given(void **state)
{
    struct fixture *f = *state;
    assert_read(f, edited(f, "{\"mean\": 0.031}", "{\"samples\": [1, 2, 6]}"));
    const struct samples *forward = &f->profile.stage[STAGE_FORWARD];
    assert_int_equal(forward->stats.n, 3);
    assert_true(forward->stats.mean == 3 && forward->stats.min == 1 && forward->stats.max == 6);
    assert_true(forward->value[2] == 6);
}

/* A given mean says nothing of how the samples spread. */
static void computes_the_spread_from_samples_where_it_is_not_given(void **state)
{
    struct fixture *f = *state;
    assert_read(f, edited(f, "{\"mean\": 0.031}", "{\"mean\": 3, \"samples\": [1, 2, 6]}"));
    const struct stats *forward = &f->profile.stage[STAGE_FORWARD].stats;
    assert_true(forward->min == 1 && forward->max == 6 && forward->sd > 2);
}

static void lets_what_is_unknown_be_missing(void **state)
{
    struct fixture *f = *state;
    assert_read(
        f,
        "{\"format\": \"foretrain.profile/1\", \"device_type\": \"x\", \"basis\": \"measured\",\n"
        "\"subsystem\": {\"n\": 4, \"sampled\": 2}, \"buckets\": [{\"ready_s\": {\"mean\": 1}}],\n"
        "\"stages\": {\"first_backward_s\": {\"mean\": 1}},\n"
        "\"unknown\": {\"batch\": \"a\", \"forward_s\": \"b\", \"all_reduce\": \"c\"}}");
    const struct profile *p = &f->profile;
    assert_true(p->batch == 0 && p->bytes_sent == 0 && p->bucket[0].bytes < 0);
    assert_false(p->stage[STAGE_FORWARD].known);
    assert_int_equal(profile_sampled(p), 2);
    assert_string_equal(profile_why_unknown(p, "forward_s"), "b");
    assert_null(profile_why_unknown(p, "first_backward_s"));
}

static void counts_all_devices_as_sampled_unless_it_says_otherwise(void **state)
{
    struct fixture *f = *state;
    assert_read(f, BY_HAND);
    assert_int_equal(profile_sampled(&f->profile), 2);
    assert_refused(f, edited(f, "{\"n\": 2}", "{\"n\": 2, \"sampled\": 3}"),
                   "a100.json:6:36: sampled must be at most n = 2 (got 3)");
}

static void reads_a_file_with_a_byte_order_mark(void **state)
{
    struct fixture *f = *state;
    assert_read(f, "\xef\xbb\xbf" BY_HAND);
}

static void leaves_keys_unlike_any_other_to_later_versions(void **state)
{
    struct fixture *f = *state;
    assert_read(f, edited(f, "\"batch\"", "\"thermal_throttling\": {\"x\": [1]}, \"batch\""));
}

static void names_the_key_that_was_meant(void **state)
{
    struct fixture *f = *state;
    assert_refused(f, edited(f, "\"first_backward_s\"", "\"frist_backward_s\""),
                   "a100.json:10:5: unknown key: did you mean first_backward_s?");
}

static void refuses_a_profile_of_another_version(void **state)
{
    struct fixture *f = *state;
    assert_refused(f, edited(f, "profile/1", "profile/2"),
                   "a100.json:2:13: format must be \"foretrain.profile/1\", which this version "
                   "reads (got \"foretrain.profile/2\")");
}

static void refuses_what_is_missing(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *piece, *by, *message;
    } row[] = {
        {"\"format\": \"foretrain.profile/1\",", "", "a100.json:1:1: format is missing"},
        {"\"device_type\": \"a100\",", "", "a100.json:1:1: device_type is missing"},
        {"\"basis\": \"assumed\",", "", "a100.json:1:1: basis is missing"},
        {"\"batch\": 64,", "\"batch\": null,", "a100.json:1:1: batch is missing"},
        {"\"subsystem\": {\"n\": 2},", "", "a100.json:1:1: subsystem is missing"},
        {"{\"n\": 2}", "{}", "a100.json:6:16: n is missing in subsystem"},
        {"\"all_reduce\": {\"sent_bytes\": 102400000},", "",
         "a100.json:1:1: all_reduce is missing"},
        {"{\"sent_bytes\": 102400000}", "{}",
         "a100.json:7:17: all_reduce must have sent_bytes (per device and step) or gradient_bytes "
         "(per step)"},
        {"\"forward_s\": {\"mean\": 0.031},", "", "a100.json:8:13: forward_s is missing in stages"},
        {"{\"mean\": 0.031}", "{\"sd\": 1}", "a100.json:9:18: mean is missing in forward_s"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_refused(f, edited(f, row[i].piece, row[i].by), row[i].message);
}

static void refuses_values_that_cannot_be(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *piece, *by, *message;
    } row[] = {
        {"0.031", "-0.031", "a100.json:9:27: mean must be a number, at least 0 (got -0.031)"},
        {"0.031", "\"0.031\"", "a100.json:9:27: mean must be a number, at least 0 (got \"0.031\")"},
        {"0.031", "1e300", "a100.json:9:27: mean must be a number, at most 1e+30 (got 1e+300)"},
        {"0.031", "1e999", "a100.json:9:27: not valid JSON: real number overflow near '1e999'"},
        {"0.031", "NaN", "a100.json:9:27: mean must be a number (got NaN)"},
        {"0.031", "-Infinity", "a100.json:9:27: mean must be a number (got -Infinity)"},
        {"\"n\": 2", "\"n\": 2.5",
         "a100.json:6:22: n must be a whole number, at least 1 (got 2.5)"},
        {"\"n\": 2", "\"n\": 1e12",
         "a100.json:6:22: n must be a whole number, at least 1 (got 1e+12)"},
        {"\"n\": 2", "\"n\": 0", "a100.json:6:22: n must be a whole number, at least 1 (got 0)"},
        {"64", "0", "a100.json:5:12: batch must be a number, at least 1 (got 0)"},
        {"\"assumed\"", "\"guessed\"",
         "a100.json:4:12: basis must be \"assumed\" or \"measured\" (got \"guessed\")"},
        {"\"a100\"", "[]", "a100.json:3:18: device_type must be text in quotes (got [])"},
        {"{\"mean\": 0.031}", "0.031",
         "a100.json:9:18: forward_s must be an object {...} (got 0.031)"},
        {"{\"mean\": 0.031}", "{\"samples\": [1, -2]}",
         "a100.json:9:34: samples must be a number, at least 0 (got -2)"},
        {"{\"mean\": 0.031}", "{\"samples\": []}",
         "a100.json:9:30: samples must not be empty: leave out what is not known"},
        {"{\"mean\": 0.031}", "{\"mean\": 2, \"samples\": [1, 2]}",
         "a100.json:9:27: mean is 2, but that of the samples is 1.5"},
        {"{\"mean\": 0.031}", "{\"n\": 3, \"samples\": [1, 2]}",
         "a100.json:9:24: n is 3, but there are 2 samples"},
        {"{\"mean\": 0.031}", "{\"mean\": 1.5, \"n\": 3, \"samples\": [1, 2]}",
         "a100.json:9:37: n is 3, but there are 2 samples"},
        {"{\"mean\": 0.031}", "{\"mean\": 2, \"max\": 1}",
         "a100.json:9:18: forward_s must have min <= mean <= max (got 2, 2, 1)"},
        {"{\"n\": 2}", "{\"n\": 2, \"hosts\": [\"a\"]}",
         "a100.json:6:34: hosts must name one host a device, 2 (got 1)"},
        {"{\"n\": 2}", "{\"n\": 2, \"one_ring\": true, \"ring_devices\": 1}",
         "a100.json:6:59: ring_devices must be at least n = 2 (got 1)"},
        {"\"batch\": 64", "\"batch\": 64, \"batch\": 64",
         "a100.json:5:16: not valid JSON: duplicate object key near '\"batch\"'"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_refused(f, edited(f, row[i].piece, row[i].by), row[i].message);
}

static void shows_the_line_of_the_value(void **state)
{
    struct fixture *f = *state;
    assert_false(parse(f, edited(f, "0.0005", "-5")));
    assert_string_equal(f->error.text,
                        "a100.json:10:34: mean must be a number, at least 0 (got -5)\n"
                        "        \"first_backward_s\": {\"mean\": -5}\n"
                        "                                     ^");
}

static void refuses_text_that_is_no_profile(void **state)
{
    struct fixture *f = *state;
    assert_refused(f, "", "a100.json:1:1: not valid JSON: '[' or '{' expected near end of file");
    assert_refused(f, "[]", "a100.json:1:1: this must be an object {...} (got [])");
    assert_refused(f, "{\"format\": \"x\"",
                   "a100.json:1:14: not valid JSON: '}' expected near end of file");
}

static void leaves_the_output_untouched_on_failure(void **state)
{
    struct fixture *f = *state;
    f->profile.n_devices = 42;
    assert_false(parse(f, edited(f, "0.0005", "-5")));
    assert_int_equal(f->profile.n_devices, 42);
    assert_null(f->profile.device_type);
}

static double forward_sample[] = {0.125, 1.0 / 3, 0.25, 1e-9};
static double ready_sample[] = {0.5, 0.75};

static struct profile full_profile(void)
{
    static const char *host[] = {"node-1", "node\"2"};
    static const char *note[] = {"first", "second: \"quoted\"\nline"};
    static struct profile_input input[] = {{"model", "abc"}, {"batch", "16"}, {"a", "z"}};
    static struct profile_unknown unknown[] = {{"loader_interval_s", "never in a trace"}};
    static struct bucket bucket[2];
    static struct profile_operator forward[1], backward[1];
    static struct profile_collective collective[] = {
        {"broadcast", "forward", 400, 0.5, 0.001, 0.0005}, {"all_reduce", "rest", -1, 1, -1, -1}};
    static struct dtype_bytes parameters[] = {{"float32", 37672}, {"int64", 8}};
    static struct profile_layer layer[] = {
        {"conv1", "Conv2d", "relu", "16x3x32x32", "16x64x16x16", 9408},
        {"fc", "Linear", NULL, NULL, NULL, 10}};
    bucket[0] = (struct bucket){.bytes = 100, .wire_bytes = 50};
    bucket[0].ready =
        (struct samples){.known = true, .value = ready_sample, .stats = stats_of(ready_sample, 2)};
    bucket[1] = (struct bucket){.bytes = 7, .wire_bytes = 7};
    bucket[1].span = bucket[1].transfer = bucket[0].ready;
    forward[0] = (struct profile_operator){
        .index = 3, .name = "aten::conv2d", .time_s = {.n = 20, .mean = 0.1, .sd = 0.01}};
    backward[0] = (struct profile_operator){.index = 0, .name = "b"};
    backward[0].time_s = stats_of(forward_sample, 4);
    backward[0].time_sample_s = forward_sample;
    backward[0].n_time_samples = 4;
    struct profile p = {.device_type = "fast \xc3\xa9",
                        .note = "n",
                        .date = "2026-11-29T12:00:00Z",
                        .framework = "torch 1.13.1",
                        .device_name = "AMD EPYC",
                        .backend = "gloo",
                        .n_devices = 2,
                        .host = host,
                        .shares_host = true,
                        .one_ring = true,
                        .ring_devices = 4,
                        .first = 20,
                        .last = 100,
                        .n_left_out = 3,
                        .batch = 16,
                        .micro_batches = 2.5,
                        .bytes_sent = 1.0 / 7,
                        .bytes_measured = true,
                        .gradient_bytes = 107,
                        .interface_bytes = 120,
                        .bytes_read = 0,
                        .sample_bytes = 110000.5,
                        .profiler_ratio = 1.25,
                        .bucket = bucket,
                        .n_buckets = 2,
                        .forward_op = forward,
                        .n_forward_ops = 1,
                        .backward_op = backward,
                        .n_backward_ops = 1,
                        .collective = collective,
                        .n_collectives = 2,
                        .rounds = {4096, 0.001, 0.25, 0.125, 1048576, 0.0625, 0.375, 0.5},
                        .layer = layer,
                        .n_layers = 2,
                        .loss = "cross_entropy",
                        .optimizer = "SGD (lr=0.1)",
                        .n_parameters = 9418,
                        .parameter_bytes = {parameters, 2},
                        .model_gradient_bytes = {parameters, 1},
                        .note_line = note,
                        .n_notes = 2,
                        .unknown = unknown,
                        .n_unknown = 1,
                        .input = input,
                        .n_inputs = 3};
    p.stage[STAGE_FORWARD] = (struct samples){true, forward_sample, stats_of(forward_sample, 4)};
    p.stage[STAGE_FIRST_BACKWARD] = (struct samples){true, NULL, {2, 0.1, 0.01, 0.1, 0.1}};
    return p;
}

static void writes_what_it_reads(void **state)
{
    struct fixture *f = *state;
    struct profile p = full_profile();
    struct text once = {0}, twice = {0};
    profile_format(&p, NULL, &once);
    assert_read(f, once.data);
    profile_format(&f->profile, NULL, &twice);
    assert_string_equal(once.data, twice.data);
    text_free(&once);
    text_free(&twice);
}

static void keeps_every_value_through_a_file(void **state)
{
    struct fixture *f = *state;
    struct profile p = full_profile();
    char folder[] = "/tmp/test_profile.XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = path_join(&f->arena, folder, "fast.json");
    assert_true(profile_write(path, &p, &f->error));
    assert_true(profile_read(&f->arena, path, &f->profile, &f->error));
    const struct profile *q = &f->profile;
    assert_string_equal(q->file, path);
    assert_string_equal(q->device_type, p.device_type);
    assert_string_equal(q->host[1], "node\"2");
    assert_string_equal(q->note_line[1], "second: \"quoted\"\nline");
    assert_true(q->bytes_sent == p.bytes_sent && q->bytes_measured && !q->assumed);
    assert_true(q->one_ring && q->shares_host && q->ring_devices == 4);
    assert_true(q->first == 20 && q->last == 100 && q->n_left_out == 3);
    assert_true(q->micro_batches == 2.5 && q->bytes_read == 0 && q->loader_workers == 0);
    const struct samples *forward = &q->stage[STAGE_FORWARD];
    assert_int_equal(forward->stats.n, 4);
    assert_true(forward->stats.mean == p.stage[STAGE_FORWARD].stats.mean);
    assert_true(forward->stats.sd == p.stage[STAGE_FORWARD].stats.sd);
    assert_float_equal(forward->value[1], 1.0 / 3, 1e-9);
    assert_int_equal(q->bucket[0].ready.stats.n, 2);
    assert_true(q->bucket[0].ready.value[1] == 0.75);
    assert_false(q->bucket[1].ready.known);
    assert_true(q->collective[0].span_s == 0.001 && q->collective[1].span_s == -1);
    assert_true(q->rounds.message_bytes == 4096 && q->rounds.idle_s == 0.001);
    assert_true(q->rounds.busy_s == 0.25 && q->rounds.lost_s == 0.125);
    assert_true(q->rounds.large_message_bytes == 1048576 && q->rounds.large_lost_s == 0.5);
    assert_true(q->rounds.large_idle_s == 0.0625 && q->rounds.large_busy_s == 0.375);
    assert_null(q->layer[1].activation);
    assert_string_equal(q->input[0].key, "model");
    assert_string_equal(q->input[2].key, "a");
    assert_string_equal(q->samples_file, "fast.samples.json");
    char *bulky = NULL;
    assert_true(file_read(&f->arena, path_join(&f->arena, folder, q->samples_file), 4096, &bulky,
                          NULL, &f->error));
    assert_non_null(strstr(bulky, "foretrain.samples/1"));
    assert_non_null(strstr(bulky, "0.125, 0.333333333, 0.25"));
    assert_true(file_remove_tree(folder, &f->error));
}

static void writes_no_samples_file_without_bulky_samples(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/test_profile.XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_read(f, BY_HAND);
    assert_true(profile_write(path_join(&f->arena, folder, "p.json"), &f->profile, &f->error));
    assert_false(file_exists(path_join(&f->arena, folder, "p.samples.json")));
    assert_true(file_remove_tree(folder, &f->error));
}

static void says_which_file_is_not_there(void **state)
{
    struct fixture *f = *state;
    assert_false(profile_read(&f->arena, "/nowhere/a.json", &f->profile, &f->error));
    assert_int_equal(f->error.kind, ERROR_FILE);
    assert_non_null(strstr(f->error.text, "/nowhere/a.json"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_what_a_person_must_write_and_no_more),
        TEST(takes_gradient_bytes_instead_of_sent_bytes),
        TEST(lets_what_is_unknown_be_missing),
        TEST(counts_all_devices_as_sampled_unless_it_says_otherwise),
        TEST(reads_a_file_with_a_byte_order_mark),
        TEST(computes_the_mean_from_samples_where_it_is_not_given),
        TEST(computes_the_spread_from_samples_where_it_is_not_given),
        TEST(leaves_keys_unlike_any_other_to_later_versions),
        TEST(names_the_key_that_was_meant),
        TEST(refuses_a_profile_of_another_version),
        TEST(refuses_what_is_missing),
        TEST(refuses_values_that_cannot_be),
        TEST(shows_the_line_of_the_value),
        TEST(refuses_text_that_is_no_profile),
        TEST(leaves_the_output_untouched_on_failure),
        TEST(writes_what_it_reads),
        TEST(keeps_every_value_through_a_file),
        TEST(writes_no_samples_file_without_bulky_samples),
        TEST(says_which_file_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
