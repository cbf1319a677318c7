/* Systems that differ from the job's: the same as a job that was written so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "lab.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* In every step, among the two of the sub-system. */
static void add_broadcast(struct lab *lab)
{
    static struct profile_collective broadcast = {
        .op = "broadcast", .place = "forward", .bytes = 1e5, .count_per_step = 1};
    for (int t = 0; t < lab->cluster.job.n_types; t++) {
        lab->cluster.profile[t].collective = &broadcast;
        lab->cluster.profile[t].n_collectives = 1;
    }
}

/* A job with these devices, forecast as `foretrain predict` does; its outcome. */
static struct forecast forecast_written(const char *devices, enum forecast_model model)
{
    struct lab lab;
    char yaml[1024];
    snprintf(yaml, sizeof yaml, "data: {samples: 64000}\ndevices:\n%s" LAB_LINKS, devices);
    lab_read(&lab, yaml);
    add_broadcast(&lab);
    lab.cluster.model = model;
    for (int t = 0; t < lab.cluster.job.n_types; t++)
        lab.cluster.profile[t].batch = (double)lab.cluster.job.type[t].batch;
    cluster_forecast(&lab.cluster);
    struct forecast f = lab.cluster.forecast;
    cluster_free(&lab.cluster);
    return f;
}

static void start(struct lab *lab, enum forecast_model model)
{
    lab_read(lab, "data: {samples: 64000}\ndevices:\n"
                  "  fast: {count: 3, batch: 16, price: 2/h}\n"
                  "  slow: {count: 3, batch: 16, price: 1/h}\n" LAB_LINKS);
    add_broadcast(lab);
    lab->cluster.model = model;
    lab_start(lab, true);
}

static void expect_written(enum forecast_model model, int64_t n_fast, int64_t n_slow)
{
    struct lab lab;
    char devices[256];
    start(&lab, model);
    assert_int_equal(lab.what_if.model, model);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = n_fast;
    v.job.type[1].count = n_slow;
    struct outcome o = lab_forecast(&lab, &v);
    snprintf(devices, sizeof devices,
             "  fast: {count: %lld, batch: 16, profile: x}\n"
             "  slow: {count: %lld, batch: 16, profile: x}\n",
             (long long)n_fast, (long long)n_slow);
    struct forecast f = forecast_written(devices, model);
    assert_int_equal(o.n_devices, n_fast + n_slow);
    assert_near(o.step_s, f.step_s);
    assert_near(o.iterations, f.epoch.iterations);
    assert_near(o.total_s, f.total_s);
    assert_near(o.samples_per_s, f.samples_per_s);
    assert_near(o.cost, (2 * (double)n_fast + (double)n_slow) * f.total_s / 3600);
    cluster_free(&lab.cluster);
}

static void other_counts_are_forecast_as_a_job_with_them(void **state)
{
    (void)state;
    expect_written(MODEL_CLOSED_FORM, 3, 3);
    expect_written(MODEL_CLOSED_FORM, 1, 7);
    expect_written(MODEL_CLOSED_FORM, 40, 2);
    expect_written(MODEL_TIMELINE, 3, 3);
    expect_written(MODEL_TIMELINE, 1, 7);
    expect_written(MODEL_TIMELINE, 20, 2);
}

/* Two messages of a table: one of 100 kB that takes 20 ms, one of 1 MB that takes 50 ms. */
static const struct ft_message table_point[] = {{1e5, 0.02}, {1e6, 0.05}};
static const struct link_curve table_curve = {table_point, 2};
static const struct link_table table = {
    "t.txt", {.bandwidth_Bps = 20e6, .curve = &table_curve, .source = LINK_MEASURED}};

static void start_by_table(struct lab *lab, const char *counts, enum forecast_model model)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "devices: {%s}\nnetwork:\n  links:\n"
             "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"
             "    - {between: [slow, slow], bandwidth: 80 MB/s}\n"
             "    - {between: [fast, slow], nccl_tests: t.txt}\n",
             counts);
    lab_read(lab, yaml);
    lab->cluster.model = model;
    lab->cluster.network.table = &table;
    lab->cluster.network.n_tables = 1;
}

static void links_by_size_are_forecast_as_in_a_job_with_them(void **state)
{
    (void)state;
    static const enum forecast_model model[] = {MODEL_CLOSED_FORM, MODEL_TIMELINE};
    for (size_t m = 0; m < 2; m++) {
        struct lab lab, written;
        start_by_table(&lab, "fast: {count: 3, batch: 16}, slow: {count: 3, batch: 16}", model[m]);
        lab_start(&lab, true);
        struct variant v = lab_variant(&lab);
        v.job.type[0].count = 5;
        struct outcome o = lab_forecast(&lab, &v);
        start_by_table(&written, "fast: {count: 5, batch: 16}, slow: {count: 3, batch: 16}",
                       model[m]);
        cluster_forecast(&written.cluster);
        assert_near(o.step_s, written.cluster.forecast.step_s);
        cluster_free(&lab.cluster);
        cluster_free(&written.cluster);
    }
}

static void a_count_of_none_leaves_the_type_out(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, MODEL_CLOSED_FORM);
    struct variant v = lab_variant(&lab);
    v.job.type[1].count = 0;
    struct outcome o = lab_forecast(&lab, &v);
    assert_int_equal(o.n_devices, 3);
    assert_near(o.step_s, 0.1 + 0.01 + 4.0 / 3 * 5e6 / 100e6);
    assert_near(o.iterations, 64000 / 48.0 > 1333 ? 1334 : 0);
    cluster_free(&lab.cluster);
}

static void nobody_at_all_is_no_system(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, MODEL_CLOSED_FORM);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = v.job.type[1].count = 0;
    assert_false(lab_forecast(&lab, &v).any);
    cluster_free(&lab.cluster);
}

static void one_device_needs_no_link(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, MODEL_TIMELINE);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 1;
    v.job.type[1].count = 0;
    struct outcome o = lab_forecast(&lab, &v);
    assert_near(o.step_s, 0.1 + 0.2 + 0.01 + 0.001 + 0.0005);
    cluster_free(&lab.cluster);
}

static void links_between_two_types_change_both_ways(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, MODEL_CLOSED_FORM);
    struct variant v = lab_variant(&lab);
    v.n_changes = 1;
    v.change[0] = (struct link_change){{0, 1}, 10e6, -1};
    assert_near(lab_forecast(&lab, &v).step_s, 0.2 + 0.01 + 10.0 / 6 * 5e6 / 10e6);
    v.change[0].bandwidth_Bps = 1e9;
    assert_near(lab_forecast(&lab, &v).step_s, 0.2 + 0.01 + 10.0 / 6 * 5e6 / 80e6);
    cluster_free(&lab.cluster);
}

static void a_link_with_a_table_does_not_lose_it_to_a_latency(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    start_by_table(&lab, "fast: {count: 3, batch: 16}, slow: {count: 3, batch: 16}",
                   MODEL_CLOSED_FORM);
    lab_start(&lab, false);
    struct variant v = lab_variant(&lab);
    v.n_changes = 1;
    v.change[0] = (struct link_change){{0, 1}, 0, 20e-6};
    assert_false(what_if_forecast(&lab.what_if, &v, &outcome, &lab.cluster.e));
    assert_non_null(strstr(lab.cluster.e.text, "the latency between fast and slow cannot vary"));
    v.change[0].bandwidth_Bps = 100e6;
    assert_near(lab_forecast(&lab, &v).step_s, 0.2 + 0.01 + 10.0 / 6 * 5e6 / 80e6);
    cluster_free(&lab.cluster);
}

static void the_jobs_own_ring_keeps_links_within_hosts(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 4, batch: 16, hosts: \"n[1-2]:2\"}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"
                   "    - {between: [fast, fast], bandwidth: 1 MB/s, where: within-host}\n");
    lab_start(&lab, false);
    struct variant v = lab_variant(&lab);
    double within_s = 0.1 + 0.01 + 6.0 / 4 * 5e6 / 1e6;
    assert_near(lab_forecast(&lab, &v).step_s, within_s);
    v.n_changes = 1;
    v.change[0] = (struct link_change){{0, 0}, 50e6, -1};
    assert_near(lab_forecast(&lab, &v).step_s, within_s);
    v.change[0].bandwidth_Bps = 0.5e6;
    assert_near(lab_forecast(&lab, &v).step_s, 0.1 + 0.01 + 6.0 / 4 * 5e6 / 0.5e6);
    cluster_free(&lab.cluster);
}

static void types_on_shared_hosts_fill_them_one_after_the_other(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 4, batch: 16, hosts: \"n[1-2]:2\"}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 1 MB/s}\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s, where: within-host}\n");
    lab_start(&lab, true);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 2;
    assert_near(lab_forecast(&lab, &v).step_s, 0.1 + 0.01 + 5e6 / 100e6);
    v.job.type[0].count = 3;
    assert_near(lab_forecast(&lab, &v).step_s, 0.1 + 0.01 + 4.0 / 3 * 5e6 / 1e6);
    cluster_free(&lab.cluster);
}

/* With n1 full, a third device would have to go elsewhere, over a link that is not given. */
static void one_host_needs_no_links_across_hosts(void **state)
{
    (void)state;
    struct lab lab;
    struct outcome outcome;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 2, batch: 16, allow_full: true, hosts: \"n[1-2]:2\"}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s, where: within-host}\n");
    lab_start(&lab, true);
    struct variant v = lab_variant(&lab);
    assert_near(lab_forecast(&lab, &v).step_s, 0.1 + 0.01 + 5e6 / 100e6);
    v.job.type[0].count = 3;
    assert_false(what_if_forecast(&lab.what_if, &v, &outcome, &lab.cluster.e));
    assert_non_null(strstr(lab.cluster.e.text, "no link from fast to fast has a value"));
    cluster_free(&lab.cluster);
}

static void two_types_on_one_host_are_joined_within_it(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 2, batch: 16, allow_full: true, hosts: \"n1:4\"}\n"
                   "  slow: {count: 2, batch: 16, allow_full: true, hosts: \"n1:2, n2:2\"}\n"
                   "network:\n  links:\n"
                   "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"
                   "    - {between: [slow, slow], bandwidth: 100 MB/s}\n"
                   "    - {between: [fast, slow], bandwidth: 50 MB/s, where: within-host}\n"
                   "    - {between: [fast, slow], bandwidth: 1 MB/s, where: across-hosts}\n");
    lab_start(&lab, true);
    struct variant v = lab_variant(&lab);
    assert_near(lab_forecast(&lab, &v).step_s, 0.2 + 0.01 + 6.0 / 4 * 5e6 / 50e6);
    v.job.type[1].count = 3;
    assert_near(lab_forecast(&lab, &v).step_s, 0.2 + 0.01 + 8.0 / 5 * 5e6 / 1e6);
    cluster_free(&lab.cluster);
}

static void the_worst_that_was_measured_stands_for_two_types(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 3, batch: 16, hosts: \"n[1-3]\"}\n"
                   "network: {links: [{between: [fast, fast], bandwidth: 1 kB/s}]}\n");
    cluster_read_network(&lab.cluster, "from,to,bandwidth,latency\n"
                                       "n1,n2,100 MB/s,1 ms\n"
                                       "n2,n3,20 MB/s,5 ms\n"
                                       "n3,n1,50 MB/s,2 ms\n");
    lab_start(&lab, true);
    assert_true(lab.what_if.classes.worst_measured);
    const struct link *link = class_link(&lab.what_if.classes, 0, 0, false);
    assert_near(link->bandwidth_Bps, 20e6);
    assert_near(link->latency_s, 5e-3);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 100;
    assert_near(lab_forecast(&lab, &v).step_s, 0.1 + 0.01 + 198.0 / 100 * 5e6 / 20e6);
    cluster_free(&lab.cluster);
}

static void a_link_that_nobody_gave_is_refused_by_name(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "devices:\n"
                   "  fast: {count: 1, batch: 16, subsystem: 1}\n"
                   "  slow: {count: 1, batch: 16, subsystem: 1}\n"
                   "network: {links: [{between: [fast, slow], bandwidth: 100 MB/s}]}\n");
    lab_start(&lab, true);
    struct variant v = lab_variant(&lab);
    struct outcome o;
    v.job.type[1].count = 2;
    assert_false(what_if_forecast(&lab.what_if, &v, &o, &lab.cluster.e));
    assert_non_null(strstr(lab.cluster.e.text, "no link from slow to slow has a value"));
    cluster_free(&lab.cluster);
}

/* Stages in proportion, the optimizer and the rest as they are. */
static void another_batch_takes_its_part_longer(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, MODEL_TIMELINE);
    assert_true(what_if_allow_batch(&lab.what_if, 0, 32, &lab.cluster.e));
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 1;
    v.job.type[0].batch = 32;
    v.job.type[1].count = 0;
    struct outcome o = lab_forecast(&lab, &v);
    assert_near(o.step_s, 2 * (0.1 + 0.2 + 0.0005) + 0.01 + 0.001);
    assert_near(o.iterations, 2000);
    cluster_free(&lab.cluster);
}

static void several_measured_batches_make_a_line(void **state)
{
    (void)state;
    struct lab lab;
    struct profile measured[2];
    struct bucket bucket[2];
    start(&lab, MODEL_TIMELINE);
    measured[0] = lab.cluster.profile[0];
    measured[1] = lab_profile("fast", 64, 0.25, bucket);
    lab.what_if.batches[0] = (struct measured_batches){measured, 2};
    if (!what_if_allow_batch(&lab.what_if, 0, 40, &lab.cluster.e))
        fail_msg("%s", lab.cluster.e.text);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 1;
    v.job.type[0].batch = 40;
    v.job.type[1].count = 0;
    assert_near(lab_forecast(&lab, &v).step_s, 3 * 0.175 + 0.01 + 0.001 + 0.0005);
    cluster_free(&lab.cluster);
}

static void other_collectives_go_over_changed_links(void **state)
{
    (void)state;
    static const char job[] = "training: {collective: tree}\ndevices:\n"
                              "  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n"
                              "network:\n  links:\n"
                              "    - {between: [fast, fast], bandwidth: 100 MB/s}\n"
                              "    - {between: [slow, slow], bandwidth: 100 MB/s}\n"
                              "    - {between: [fast, slow], bandwidth: %s}\n";
    for (int model = 0; model < 2; model++) {
        struct lab lab, written;
        char yaml[512];
        snprintf(yaml, sizeof yaml, job, "100 MB/s");
        lab_read(&lab, yaml);
        lab.cluster.model = (enum forecast_model)model;
        lab_start(&lab, false);
        struct variant v = lab_variant(&lab);
        v.n_changes = 1;
        v.change[0] = (struct link_change){{0, 1}, 7e6, -1};
        snprintf(yaml, sizeof yaml, job, "7 MB/s");
        lab_read(&written, yaml);
        written.cluster.model = (enum forecast_model)model;
        cluster_forecast(&written.cluster);
        assert_near(lab_forecast(&lab, &v).step_s, written.cluster.forecast.step_s);
        assert_true(written.cluster.forecast.step_s > 1.2 * lab.what_if.base.step_s);
        cluster_free(&lab.cluster);
        cluster_free(&written.cluster);
    }
}

static void counts_vary_for_rings_only(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab, "training: {collective: tree}\ndevices:\n"
                   "  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n" LAB_LINKS);
    struct cluster *c = &lab.cluster;
    assert_false(
        what_if_start(&c->arena, &c->job, c->profile, NULL, c->model, true, &lab.what_if, &c->e));
    assert_non_null(strstr(c->e.text, "for the ring only"));
    cluster_free(c);
}

static void storage_feeds_all_that_there_are(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab,
             "data: {samples: 64000, sample_size: 1 MB}\nstorage: {bandwidth: 1 GB/s}\n"
             "devices:\n  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n" LAB_LINKS);
    lab_start(&lab, true);
    struct variant v = lab_variant(&lab);
    v.job.type[0].count = 100;
    assert_near(lab_forecast(&lab, &v).step_s, 103 * 16e6 / 1e9);
    cluster_free(&lab.cluster);
}

static void without_buckets_it_is_the_closed_form_and_says_why(void **state)
{
    (void)state;
    struct lab lab;
    lab_read(&lab,
             "devices:\n  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n" LAB_LINKS);
    lab.cluster.model = MODEL_TIMELINE;
    lab.cluster.profile[1].n_buckets = lab.cluster.profile[0].n_buckets = 0;
    lab_start(&lab, true);
    assert_int_equal(lab.what_if.model, MODEL_CLOSED_FORM);
    assert_non_null(strstr(lab.what_if.why_not, "buckets"));
    cluster_free(&lab.cluster);
}

static double between(struct random *r, double low, double high)
{
    return low * pow(high / low, random_unit(r));
}

/* Devices that cannot fill their links while they compute, or never. */
static void start_drawn(struct lab *lab, struct random *r, enum forecast_model model)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml,
             "devices:\n  fast: {count: 3, batch: 16}\n  slow: {count: 3, batch: 16}\n"
             "network:\n  links:\n"
             "    - {between: [fast, fast], bandwidth: %.0f kB/s, latency: %.0f us}\n"
             "    - {between: [slow, slow], bandwidth: %.0f kB/s}\n"
             "    - {between: [fast, slow], bandwidth: %.0f kB/s}\n",
             between(r, 1e4, 1e6), between(r, 1, 1e4), between(r, 1e4, 1e6), between(r, 1e4, 1e6));
    lab_read(lab, yaml);
    for (int t = 0; t < 2; t++) {
        struct bucket *bucket = lab->bucket[t];
        cluster_stage(&lab->cluster.profile[t], STAGE_FORWARD, between(r, 0.02, 0.5));
        for (int b = 0; b < 2; b++)
            bucket[b].done = lab_mean(bucket[b].ready.stats.mean + between(r, 0.02, 1));
    }
    lab->cluster.model = model;
    lab_start(lab, true);
}

/* What `foretrain size` counts on: exactly by the closed form, within 0.1 % by the timeline. */
static void more_devices_of_the_same_types_make_no_shorter_step(void **state)
{
    (void)state;
    enum { N = 120, MOST = 8 };
    for (uint64_t i = 0; i < N; i++) {
        struct random r = random_seed(2, i);
        struct lab lab;
        start_drawn(&lab, &r, i % 4 ? MODEL_TIMELINE : MODEL_CLOSED_FORM);
        struct variant v = lab_variant(&lab);
        for (int grown = 0; grown < 2; grown++) {
            double before_s = 0;
            v.job.type[!grown].count = 1 + (int64_t)random_below(&r, MOST);
            for (v.job.type[grown].count = 1; v.job.type[grown].count <= MOST;
                 v.job.type[grown].count++) {
                double step_s = lab_forecast(&lab, &v).step_s;
                if (!(step_s >= before_s * (1 - (i % 4 ? 1e-3 : 1e-9))))
                    fail_msg("system %d: %.17g after %.17g", (int)i, step_s, before_s);
                before_s = step_s;
            }
        }
        cluster_free(&lab.cluster);
    }
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(other_counts_are_forecast_as_a_job_with_them),
        cmocka_unit_test(links_by_size_are_forecast_as_in_a_job_with_them),
        cmocka_unit_test(a_count_of_none_leaves_the_type_out),
        cmocka_unit_test(nobody_at_all_is_no_system),
        cmocka_unit_test(one_device_needs_no_link),
        cmocka_unit_test(links_between_two_types_change_both_ways),
        cmocka_unit_test(a_link_with_a_table_does_not_lose_it_to_a_latency),
        cmocka_unit_test(the_jobs_own_ring_keeps_links_within_hosts),
        cmocka_unit_test(types_on_shared_hosts_fill_them_one_after_the_other),
        cmocka_unit_test(one_host_needs_no_links_across_hosts),
        cmocka_unit_test(two_types_on_one_host_are_joined_within_it),
        cmocka_unit_test(the_worst_that_was_measured_stands_for_two_types),
        cmocka_unit_test(a_link_that_nobody_gave_is_refused_by_name),
        cmocka_unit_test(another_batch_takes_its_part_longer),
        cmocka_unit_test(several_measured_batches_make_a_line),
        cmocka_unit_test(other_collectives_go_over_changed_links),
        cmocka_unit_test(counts_vary_for_rings_only),
        cmocka_unit_test(storage_feeds_all_that_there_are),
        cmocka_unit_test(without_buckets_it_is_the_closed_form_and_says_why),
        cmocka_unit_test(more_devices_of_the_same_types_make_no_shorter_step),
    };
    return cmocka_run_group_tests_name("what_if", test, NULL, NULL);
}
