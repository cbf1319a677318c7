/* Forecasts as people, programs and spreadsheets read them. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../predict/cluster.h"
#include "base/text.h"
#include "report/report.h"

#define JOB(a, b)                                                                                  \
    "name: lab\n"                                                                                  \
    "data: {size: 96 MB, sample_size: 10 kB}\n"                                                    \
    "training: {epochs: 90}\n"                                                                     \
    "devices:\n"                                                                                   \
    "  " a ": {count: 2, batch: 16, allow_full: true}\n"                                           \
    "  " b ": {count: 2, batch: 16, allow_full: true}\n"                                           \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [" a ", " a "], bandwidth: 80 Mbit/s, latency: 10 us}\n"                      \
    "    - {between: [" b ", " b "], bandwidth: 40 Mbit/s}\n"                                      \
    "    - {between: [" a ", " b "], bandwidth: 16 Mbit/s}\n"

static void start(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    cluster_read_job(c, yaml);
    c->profile[0] = cluster_profile(c->job.type[0].name, 16, 0.1, 0.01, 4e6);
    c->profile[1] = cluster_profile(c->job.type[1].name, 16, 0.2, 0.02, 4e6);
    cluster_stage(&c->profile[0], STAGE_STEP, 0.52);
    cluster_stage(&c->profile[1], STAGE_STEP, 2);
    cluster_forecast(c);
}

static void assert_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("expected '%s' in:\n%s", part, text);
}

static void assert_width(const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > 80)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* S = 4 MB over N = 4: 6 MB over each link, 3 s at 2 MB/s. */
static void a_person_reads_it_in_one_look(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("fast", "slow"));
    report_forecast_text(&c.forecast, &out);
    static const char expected[] =
        "lab: 4 devices, closed-form model\n"
        "\n"
        "type  devices  batch     load  forward  backward 1  all-reduce    step\n"
        "fast        2     16  1.50 ms   100 ms       10 ms         3 s  3.11 s\n"
        "slow        2     16  1.50 ms   200 ms       20 ms         3 s  3.22 s\n"
        "\n"
        "type  samples/s each  own forecast  measured  error\n"
        "fast            4.97        510 ms    520 ms  -1.9 %\n"
        "slow            4.97        1.02 s       2 s  -49.0 %\n"
        "\n"
        "Decides:     slow-1, by its all-reduce to fast-0 over 16 Mbit/s (given)\n"
        "Step:        3.22 s\n"
        "Iterations:  150 an epoch of 9,600 samples\n"
        "Epoch:       8m 03s\n"
        "Total:       12h 04m 30s for 90 epochs\n"
        "Throughput:  19.9 samples/s in all\n"
        "Gradients:   4 MB all-reduced in each step, by a ring of 4\n"
        "Sample size: 10 kB (given)\n"
        "Links:       4 given\n"
        "\n"
        "Warnings:\n"
        "  - slow: the closed form gives 1.02 s for its own sub-system, which took 2 s:\n"
        "    49 % too low.\n"
        "  - slow: expect the forecast of the whole to be as far off: the closed form\n"
        "    leaves out the rest of backward, the optimizer, and what computing and\n"
        "    communicating cost each other.\n";
    assert_string_equal(out.data, expected);
    text_free(&out);
    cluster_free(&c);
}

static void long_names_are_cut_to_eighty_columns(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("nvidia-a100-pcie-80gb-with-nvlink", "cambricon-mlu370-x8-second-rack"));
    for (int t = 0; t < 2; t++)
        c.forecast.type[t].self_known = false;
    report_forecast_text(&c.forecast, &out);
    assert_width(out.data);
    assert_text(out.data, "\nnvidia-a");
    assert_text(out.data, "~ ");
    text_free(&out);
    cluster_free(&c);
}

static void names_cannot_drive_the_terminal(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("a", "b"));
    c.forecast.name = "lab\x1b[2J";
    c.forecast.type[0].name = "a\x1b]0;x\x07";
    c.forecast.deciding_device = "b\r\n1";
    report_forecast_text(&c.forecast, &out);
    assert_null(strpbrk(out.data, "\x1b\x07\r"));
    assert_text(out.data, "lab\\x1b[2J");
    text_free(&out);
    cluster_free(&c);
}

static void says_that_the_epoch_is_not_known(void **state)
{
    (void)state;
    struct cluster c = {0};
    struct text out = {0}, json = {0};
    cluster_read_job(&c, "devices:\n  a: {count: 1, batch: 16, subsystem: 1}\n");
    c.profile[0] = cluster_profile("a", 16, 0.1, 0.01, 4e6);
    cluster_forecast(&c);
    report_forecast_text(&c.forecast, &out);
    report_forecast_json(&c.forecast, &json);
    assert_text(out.data, "1 device, closed-form model");
    assert_text(out.data, "Epoch:       not known: data.size or data.samples is missing");
    assert_text(out.data, "Decides:     a-0, by its computing");
    assert_text(out.data, "Links:       none: one device");
    assert_text(json.data, "\"epoch\": null");
    assert_text(json.data, "\"next\": null");
    text_free(&out);
    text_free(&json);
    cluster_free(&c);
}

static json_t *parse(const struct text *text)
{
    json_error_t error;
    json_t *json = json_loads(text->data, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("line %d: %s", error.line, error.text);
    return json;
}

static double number(json_t *json, const char *first, const char *second)
{
    json_t *value = json_object_get(json, first);
    if (second)
        value = json_object_get(value, second);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void json_holds_what_the_forecast_holds(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("a", "b"));
    report_forecast_json(&c.forecast, &out);
    json_t *json = parse(&out);
    assert_string_equal(json_string_value(json_object_get(json, "format")), "foretrain.forecast/1");
    assert_true(number(json, "step_s", NULL) == 3.22);
    assert_true(number(json, "epoch", "iterations") == 150);
    assert_true(number(json, "epoch", "total_s") == 90 * 150 * 3.22);
    assert_true(number(json, "links", "given") == 4);
    assert_true(number(json, "deciding", "position") == 3);
    json_t *type = json_array_get(json_object_get(json, "types"), 1);
    assert_true(number(type, "all_reduce_s", NULL) == 3);
    assert_true(number(type, "own_subsystem", "measured_s") == 2);
    assert_int_equal(json_array_size(json_object_get(json, "warnings")), 2);
    assert_null(json_object_get(json, "devices"));
    json_decref(json);
    text_free(&out);
    cluster_free(&c);
}

static void csv_has_a_row_for_each_device(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("a", "b"));
    report_forecast_csv(&c.forecast, &c.job, &out);
    assert_string_equal(
        out.data,
        "position,device,type,host,load_s,forward_s,first_backward_s,all_reduce_s,device_s,step_s,"
        "next,bandwidth_Bps,latency_s,source\r\n"
        "0,a-0,a,,0.0015,0.1,0.01,0.6,0.71,0.71,a-1,10000000,1e-05,given\r\n"
        "1,a-1,a,,0.0015,0.1,0.01,3,3.11,3.11,b-0,2000000,0,given\r\n"
        "2,b-0,b,,0.0015,0.2,0.02,1.2,1.42,1.42,b-1,5000000,0,given\r\n"
        "3,b-1,b,,0.0015,0.2,0.02,3,3.22,3.22,a-0,2000000,0,given\r\n");
    text_free(&out);
    cluster_free(&c);
}

static void csv_quotes_names_and_disarms_formulas(void **state)
{
    (void)state;
    struct cluster c;
    struct text out = {0};
    start(&c, JOB("a", "b"));
    c.forecast.type[0].name = "=cmd|' /C calc'!A0";
    c.forecast.type[1].name = "-b, \"the\" second\n";
    report_forecast_csv(&c.forecast, &c.job, &out);
    assert_text(out.data, "0,a-0,'=cmd|' /C calc'!A0,,");
    assert_text(out.data, "2,b-0,\"'-b, \"\"the\"\" second\\x0a\",,");
    text_free(&out);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_reads_it_in_one_look),
        cmocka_unit_test(long_names_are_cut_to_eighty_columns),
        cmocka_unit_test(names_cannot_drive_the_terminal),
        cmocka_unit_test(says_that_the_epoch_is_not_known),
        cmocka_unit_test(json_holds_what_the_forecast_holds),
        cmocka_unit_test(csv_has_a_row_for_each_device),
        cmocka_unit_test(csv_quotes_names_and_disarms_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
