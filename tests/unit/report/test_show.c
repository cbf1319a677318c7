/* What `foretrain show` says of profiles, networks and runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../predict/cluster.h"
#include "base/text.h"
#include "report/report.h"

static void assert_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("expected '%s' in:\n%s", part, text);
}

static void a_full_profile_shows_all_it_holds(void **state)
{
    (void)state;
    struct text out = {0};
    struct profile p = cluster_profile("fast", 16, 0.1, 0.01, 4e6);
    p.date = "2026-11-29T12:00:00Z";
    p.framework = "torch 1.13.1";
    p.device_name = "AMD EPYC\x1b[0m";
    p.backend = "gloo";
    p.host = (const char *[]){"n1", "n1"};
    p.shares_host = true;
    p.n_left_out = 3;
    p.profiler_ratio = 1.07;
    p.bytes_read = 176e3;
    p.sample_bytes = 11e3;
    p.interface_bytes = 4.2e6;
    p.bucket = (struct bucket[]){{.bytes = 1e6,
                                  .wire_bytes = 5e5,
                                  .ready = {.known = true, .stats = {.n = 1, .mean = 0.007}},
                                  .done = {.known = true, .stats = {.n = 1, .mean = 0.057}}},
                                 {.bytes = 3e6, .wire_bytes = 3e6}};
    p.n_buckets = 2;
    p.forward_op = (struct profile_operator[]){
        {.index = 0, .name = "aten::relu", .time_s = {.n = 20, .mean = 0.001}},
        {.index = 1, .name = "aten::conv2d", .time_s = {.n = 20, .mean = 0.02}}};
    p.n_forward_ops = 2;
    p.collective = (struct profile_collective[]){{"broadcast", "forward", 4e4, 1, -1}};
    p.n_collectives = 1;
    p.layer = (struct profile_layer[]){
        {"conv1", "Conv2d", "relu", "16x3x224x224", "16x64x112x112", 9408}};
    p.n_layers = 1;
    p.loss = "cross_entropy";
    p.optimizer = "SGD";
    p.n_parameters = 11181642;
    p.parameter_bytes = (struct dtype_sizes){(struct dtype_bytes[]){{"float32", 44726568}}, 1};
    p.note_line = (const char *[]){"the loader was not seen to end"};
    p.n_notes = 1;
    report_profile_text(&p, &out);
    static const char *const parts[] = {
        "Profile of fast: measured 2026-11-29T12:00:00Z",
        "AMD EPYC\\x1b[0m, torch 1.13.1, backend gloo",
        "2 devices on n1, n1 (they share a host: the wire was not measured)",
        "iterations 20 to 100 counted, 3 of them left",
        "loader_interval    1 ms",
        "Sent for all-reduce: 4 MB a device and step (measured); gradients: 4 MB",
        "The interface sent 4.20 MB",
        "Read from storage: 176 kB",
        "A sample has 11 kB",
        "2 loader workers.",
        "1.07 times as long",
        "on the wire",
        "broadcast",
        "forward operator, all of 2",
        "Model: 11,181,642 parameters (44.7 MB float32), loss cross_entropy, optimizer",
        "conv1  Conv2d  16x3x224x224  16x64x112x112       9,408  relu",
        "  - the loader was not seen to end",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_text(out.data, parts[i]);
    assert_true(strstr(out.data, "aten::conv2d") < strstr(out.data, "aten::relu"));
    text_free(&out);
}

static void an_empty_profile_is_shown_too(void **state)
{
    (void)state;
    struct text out = {0};
    struct profile p = {.assumed = true, .loader_workers = -1, .bytes_read = -1};
    report_profile_text(&p, &out);
    assert_text(out.data, "ASSUMED numbers, nobody measured them");
    assert_text(out.data, "No data loader was seen.");
    text_free(&out);
}

static void a_network_shows_where_its_values_are_from(void **state)
{
    (void)state;
    struct cluster c = {0};
    struct text out = {0};
    cluster_read_network(&c, "from,to,bandwidth,latency,source\n"
                             "n1,n2,8 Gbit/s,20 us,measured\n"
                             "n2,n3,1 Gbit/s,,given\n");
    report_network_text(&c.network, &out);
    assert_text(out.data, "3 names: values of links: 1 measured, 1 given, 2 filled in");
    assert_text(out.data, "Bandwidth: 1 Gbit/s to 8 Gbit/s");
    assert_text(out.data, "n1    n2   8 Gbit/s    20 us  measured\n");
    assert_text(out.data, "n3    n2   1 Gbit/s        -  filled\n");
    text_free(&out);
    cluster_free(&c);
}

static void a_network_shows_what_is_shared_bounded_or_failed(void **state)
{
    (void)state;
    struct cluster c = {0};
    struct text out = {0};
    cluster_read_network(&c, "from,to,bandwidth,together,source\n"
                             "n1,n2,8 Gbit/s,2 Gbit/s,measured>=\n"
                             "n2,n1,,,failed\n");
    report_network_text(&c.network, &out);
    assert_text(out.data, "1 measured (1 of them lower bounds), 0");
    assert_text(out.data, "1 failed");
    assert_text(out.data, "n1    n2   8 Gbit/s        -  2 Gbit/s  measured>=\n");
    assert_text(out.data, "n2    n1          -        -         -  failed\n");
    text_free(&out);
    cluster_free(&c);
}

static void a_run_shows_job_profiles_network_and_forecast(void **state)
{
    (void)state;
    struct cluster c = {0};
    struct text out = {0};
    cluster_read_job(&c, "name: lab\n"
                         "data: {path: /data, samples: 3200, sample_size: 110 kB}\n"
                         "devices:\n"
                         "  a: {count: 2, batch: 16, allow_full: true, hosts: [n1, n2]}\n");
    cluster_read_network(&c, "from,to,bandwidth\nn1,n2,16 Mbit/s\n");
    c.profile[0] = cluster_profile("a", 16, 0.1, 0.01, 4e6);
    cluster_stage(&c.profile[0], STAGE_STEP, 2.2);
    cluster_forecast(&c);
    report_run_text(&c.job, c.profile, 1, &c.network, &c.forecast, NULL, &out);
    static const char *const parts[] = {
        "lab: 2 devices, all-reduce by ring, as listed\n",
        "Data:        /data, 3,200 samples, 110 kB a sample\n",
        "profile  made      devices  batch  sent",
        "a        measured        2     16  4 MB  2.20 s",
        "Network of 2 names",
        "lab: 2 devices, closed-form model",
        "100 an epoch of 3,200 samples",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_text(out.data, parts[i]);
    text_free(&out);
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_profile_shows_all_it_holds),
        cmocka_unit_test(an_empty_profile_is_shown_too),
        cmocka_unit_test(a_network_shows_where_its_values_are_from),
        cmocka_unit_test(a_network_shows_what_is_shared_bounded_or_failed),
        cmocka_unit_test(a_run_shows_job_profiles_network_and_forecast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
