/* Whole forecasts: what goes in from profiles, job and network, and what is said when it does not
 * fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster.h"

#define LINKS                                                                                      \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [a, a], bandwidth: 80 Mbit/s}\n"                                              \
    "    - {between: [b, b], bandwidth: 40 Mbit/s}\n"                                              \
    "    - {between: [a, b], bandwidth: 16 Mbit/s}\n"

#define TYPES                                                                                      \
    "devices:\n"                                                                                   \
    "  a: {count: 3, batch: 16}\n"                                                                 \
    "  b: {count: 3, batch: 16}\n"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Every job here has more devices than its sub-systems. */
static void assert_only_warns_of_storage(const struct cluster *c)
{
    assert_int_equal(c->forecast.n_warnings, 1);
    assert_true(cluster_warns(c, "storage.bandwidth in the job would say"));
}

static void start(struct cluster *c, const char *yaml)
{
    *c = (struct cluster){0};
    cluster_read_job(c, yaml);
    c->profile[0] = cluster_profile("a", 16, 0.1, 0.01, 6e6);
    c->profile[1] = cluster_profile("b", 16, 0.2, 0.02, 6e6);
}

/* Ring a a a b b b, S = 6 MB: 10 MB over each link; 10, 10, 2, 5, 5, 2 MB/s: 1, 1, 5, 2, 2, 5 s. */
static void the_worked_ring(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "name: lab\n" TYPES LINKS);
    cluster_forecast(&c);
    const struct forecast *f = &c.forecast;
    assert_int_equal(f->n_devices, 6);
    assert_near(f->payload_bytes, 6e6);
    assert_near(f->device[0].ring_s, 1);
    assert_near(f->device[2].ring_s, 5);
    assert_near(f->device[3].ring_s, 2);
    assert_near(f->step_s, 5.22);
    assert_int_equal(f->deciding, 5);
    assert_string_equal(f->deciding_device, "b-2");
    assert_string_equal(f->deciding_next, "a-0");
    assert_string_equal(f->deciding_stage, "all-reduce");
    assert_near(f->deciding_link.bandwidth_Bps, 2e6);
    assert_near(f->type[0].step_s, 5.11);
    assert_near(f->type[0].ring_s, 5);
    assert_int_equal(f->type[0].slowest, 2);
    assert_near(f->type[1].load_s, 0.0015);
    assert_int_equal(f->n_links[LINK_GIVEN], 6);
    assert_false(f->epoch_known);
    assert_non_null(strstr(f->why_no_epoch, "data.size or data.samples is missing"));
    assert_near(f->samples_per_s, 6 * 16 / 5.22);
    cluster_free(&c);
}

static void loading_decides_where_it_is_longest(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_stage(&c.profile[0], STAGE_LOADER_INTERVAL, 7);
    cluster_forecast(&c);
    assert_near(c.forecast.step_s, 7.0005);
    assert_string_equal(c.forecast.deciding_stage, "loading");
    assert_string_equal(c.forecast.deciding_device, "a-0");
    cluster_free(&c);
}

static void computing_decides_where_it_outlasts_the_ring(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_stage(&c.profile[1], STAGE_FORWARD, 9);
    cluster_forecast(&c);
    assert_string_equal(c.forecast.deciding_stage, "computing");
    cluster_free(&c);
}

/* F = forward of all micro-batches + backward without all-reduce; the loader delivers each of them.
 */
static void accumulation_counts_every_micro_batch(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {samples: 960}\n" TYPES LINKS);
    for (int t = 0; t < 2; t++)
        c.profile[t].micro_batches = 4;
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "does not hold backward_unsynced_s"));
    cluster_stage(&c.profile[0], STAGE_BACKWARD_UNSYNCED, 0.3);
    cluster_stage(&c.profile[1], STAGE_BACKWARD_UNSYNCED, 0.6);
    cluster_forecast(&c);
    assert_near(c.forecast.step_s, 0.2 + 0.6 + 0.02 + 5);
    assert_near(c.forecast.type[0].batch, 64);
    assert_near(c.forecast.type[0].load_s, 4 * 0.001 + 0.0005);
    assert_near(c.forecast.epoch.iterations, 3);
    cluster_free(&c);
}

static void payload_is_the_mean_of_what_sub_systems_sent(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[1].n_devices = c.profile[1].ring_devices = 4;
    c.profile[1].bytes_sent = 6.03e6 * 2 * 3 / 4;
    cluster_forecast(&c);
    assert_near(c.forecast.payload_bytes, 6.015e6);
    c.profile[1].bytes_sent = 6.07e6 * 2 * 3 / 4;
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "6,000,000 B from 'a', 6,070,000 B from 'b'"));
    assert_non_null(strstr(c.e.text, "hint:"));
    cluster_free(&c);
}

static void one_mixed_ring_sends_by_its_own_size(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    for (int t = 0; t < 2; t++) {
        c.profile[t].one_ring = true;
        c.profile[t].ring_devices = 4;
        c.profile[t].bytes_sent = 9e6;
    }
    cluster_forecast(&c);
    assert_near(c.forecast.payload_bytes, 6e6);
    cluster_free(&c);
}

static void a_sub_system_of_one_takes_the_others_bytes(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[0].n_devices = c.profile[0].ring_devices = 1;
    c.profile[0].bytes_sent = 0;
    c.profile[0].gradient_bytes = 5e6;
    cluster_forecast(&c);
    assert_near(c.forecast.payload_bytes, 6e6);
    assert_true(cluster_warns(&c, "a: a sub-system of one device sends nothing"));
    c.profile[1].n_devices = c.profile[1].ring_devices = 1;
    c.profile[1].gradient_bytes = 5e6;
    cluster_forecast(&c);
    assert_near(c.forecast.payload_bytes, 5e6);
    assert_true(cluster_warns(&c, "gradients' bytes are those of the buckets"));
    c.profile[0].gradient_bytes = c.profile[1].gradient_bytes = 0;
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "no profile holds the gradients' bytes"));
    cluster_free(&c);
}

static void refuses_a_profile_without_bytes(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[1].bytes_sent = 0;
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "profile p.json of device type 'b' does not hold the bytes"));
    cluster_free(&c);
}

static void refuses_missing_stages_and_batches_all_at_once(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[0].stage[STAGE_FORWARD].known = false;
    c.profile[0].stage[STAGE_COPY].known = false;
    c.profile[1].batch = 32;
    c.forecast.n_devices = 77;
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "device type 'a' does not hold copy_s, forward_s"));
    assert_non_null(strstr(c.e.text, "made with batch 32, but device type 'b' has batch 16"));
    assert_non_null(strstr(c.e.text, "lab.yaml:3:3"));
    assert_int_equal(c.forecast.n_devices, 77);
    cluster_free(&c);
}

static void a_loader_that_was_not_seen_counts_nothing(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[0].loader_workers = -1;
    c.profile[0].stage[STAGE_LOADER_INTERVAL].known = false;
    c.profile[1].loader_workers = 0;
    cluster_forecast(&c);
    assert_true(c.forecast.type[0].load_s == 0);
    assert_true(cluster_warns(&c, "a: no data loader was seen"));
    assert_true(cluster_warns(&c, "b: loading is inside the step"));
    assert_true(c.forecast.type[1].loading_in_step);
    cluster_free(&c);
}

static void says_what_must_be_known_of_a_profile(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_forecast(&c);
    assert_only_warns_of_storage(&c);
    c.profile[0].assumed = true;
    c.profile[1].shares_host = true;
    c.profile[1].sample_bytes = 1e5;
    c.profile[0].bytes_measured = true;
    c.profile[0].interface_bytes = 1.5 * c.profile[0].bytes_sent;
    c.profile[1].bytes_read = 3e3;
    c.profile[1].note_line = (const char *[]){"the loader had no worker"};
    c.profile[1].n_notes = 1;
    c.profile[1].device_type = "c";
    c.profile[1].bytes_measured = false;
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "a: the profile is assumed"));
    assert_true(cluster_warns(&c, "share a host"));
    assert_true(cluster_warns(&c, "3 kB came from storage"));
    assert_true(cluster_warns(&c, "+50 % off"));
    assert_true(cluster_warns(&c, "b: the loader had no worker."));
    assert_true(cluster_warns(&c, "b: the profile p.json is that of a device type 'c'."));
    assert_true(cluster_warns(&c, "computed from the gradients' buckets"));
    cluster_free(&c);
}

static void names_what_the_network_file_misspells(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_read_network(&c, "from,to,bandwidth\na-0,a-1,80 Mbit/s\n");
    cluster_forecast(&c);
    assert_false(cluster_warns(&c, "The network file names"));
    cluster_read_network(&c, "from,to,bandwidth\na-0,a1,80 Mbit/s\n");
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "The network file names 'a1'"));
    assert_true(cluster_warns(&c, "and not 'a-1', which it has"));
    cluster_free(&c);
}

static void warns_of_links_with_spread(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_forecast(&c);
    assert_false(cluster_warns(&c, "both_ways or spread"));
    for (size_t i = 0; i < c.job.n_links; i++)
        c.job.link[i].spread = 0.1;
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "6 of the ring's links have both_ways or spread"));
    cluster_free(&c);
}

static void warns_of_shared_links_and_lower_bounds(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_forecast(&c);
    assert_false(cluster_warns(&c, "lower bounds"));
    assert_false(cluster_warns(&c, "share an uplink"));
    double alone_s = c.forecast.step_s;
    cluster_read_network(&c, "from,to,bandwidth,together,source\n"
                             "a-0,a-1,80 Mbit/s,8 Mbit/s,measured>=\n");
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "1 of the ring's links have lower bounds only (measured>=)"));
    assert_true(cluster_warns(&c, "1 of the ring's links share an uplink with others: they count "
                                  "with what was measured while all were busy, the slowest a-0 -> "
                                  "a-1 with 8 Mbit/s."));
    assert_true(c.forecast.step_s > alone_s);
    cluster_free(&c);
}

static void warns_once_where_types_share_a_fact(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[0].assumed = c.profile[1].assumed = true;
    cluster_forecast(&c);
    assert_int_equal(c.forecast.n_warnings, 1);
    assert_true(cluster_warns(&c, "a, b: the profile is assumed"));
    cluster_free(&c);
}

/* Own ring of two, S = 6 MB over 10 MB/s: 0.6 s; F + B1 = 0.11 s. */
static void forecasts_its_own_sub_systems(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_stage(&c.profile[0], STAGE_STEP, 0.75);
    cluster_stage(&c.profile[1], STAGE_STEP, 2.5);
    cluster_forecast(&c);
    const struct type_forecast *t = c.forecast.type;
    assert_true(t[0].self_known);
    assert_near(t[0].self_forecast_s, 0.71);
    assert_near(t[0].self_error, 0.71 / 0.75 - 1);
    assert_near(t[1].self_forecast_s, 1.42);
    assert_int_equal(c.forecast.n_warnings, 3);
    assert_true(cluster_warns(&c, "b: the closed form gives 1.42 s for its own sub-system, which "
                                  "took 2.50 s: 43 % too low"));
    assert_true(cluster_warns(&c, "b: expect the forecast of the whole to be as far off"));
    cluster_stage(&c.profile[1], STAGE_STEP, 1);
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "42 % too high"));
    cluster_free(&c);
}

/* a a b b in one ring, S = 6 MB: 9 MB over links of 10, 2, 5 and 2 MB/s: 4.5 s at 2 MB/s. */
static void forecasts_the_mixed_ring_of_its_sub_systems(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    for (int t = 0; t < 2; t++) {
        c.profile[t].one_ring = true;
        c.profile[t].ring_devices = 4;
        c.profile[t].bytes_sent = 9e6;
        cluster_stage(&c.profile[t], STAGE_STEP, 5);
    }
    cluster_forecast(&c);
    assert_near(c.forecast.type[0].self_forecast_s, 4.72);
    assert_near(c.forecast.type[1].self_forecast_s, 4.72);
    assert_near(c.forecast.type[1].self_link.bandwidth_Bps, 2e6);
    assert_only_warns_of_storage(&c);
    c.profile[1].one_ring = false;
    c.profile[1].bytes_sent = 6e6;
    cluster_forecast(&c);
    assert_string_equal(c.forecast.type[0].self_why_not, "sub-systems have changed");
    assert_true(c.forecast.type[1].self_known);
    cluster_free(&c);
}

static void says_why_it_cannot_forecast_a_sub_system(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    c.profile[0].assumed = true;
    cluster_forecast(&c);
    assert_string_equal(c.forecast.type[0].self_why_not, "assumed, not measured");
    assert_string_equal(c.forecast.type[1].self_why_not, "profile lacks step_s");
    cluster_stage(&c.profile[1], STAGE_STEP, 1.4);
    c.job.type[1].subsystem_devices = 3;
    cluster_forecast(&c);
    assert_string_equal(c.forecast.type[1].self_why_not, "sub-systems have changed");
    cluster_free(&c);
}

static void the_epoch_in_both_cases(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {size: 200 TB, sample_size: 100 kB}\n"
              "training: {epochs: 3}\n"
              "devices:\n"
              "  a: {count: 100, batch: 256, data: 100 GB}\n"
              "  b: {count: 100, batch: 64, data: 100 GB}\n" LINKS);
    c.profile[0].batch = 256;
    c.profile[1].batch = 64;
    cluster_forecast(&c);
    const struct forecast *f = &c.forecast;
    assert_near(f->total_samples, 2e9);
    assert_near(f->epoch.iterations, 156250);
    assert_near(f->epoch_s, 156250 * f->step_s);
    assert_near(f->total_s, 3 * f->epoch_s);
    assert_near(f->samples_per_s, 2e9 / f->epoch_s);
    assert_near(f->type[0].samples_per_s, 1e7 / f->epoch_s);
    assert_string_equal(f->sample_basis, "given");
    assert_true(cluster_warns(&c, "a runs out of data early: its data lasts 3,907 iterations of a "
                                  "round, that of b 15,625; 400 GB for each a would balance"));
    for (int t = 0; t < 2; t++)
        c.job.type[t].data.unit = AMOUNT_NONE;
    cluster_forecast(&c);
    assert_near(c.forecast.epoch.iterations, 62500);
    assert_only_warns_of_storage(&c);
    cluster_free(&c);
}

/* 10 steps of 96 samples and 48 more; each step 5.22 s. */
static void the_last_batch_is_kept_or_dropped(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {samples: 1008}\n" TYPES LINKS);
    cluster_forecast(&c);
    assert_near(c.forecast.epoch.iterations, 11);
    assert_near(c.forecast.epoch.last_share, 0.5);
    assert_near(c.forecast.epoch_s, 11 * 5.22);
    cluster_free(&c);
    start(&c, "data: {samples: 1008}\ntraining: {last_batch: drop}\n" TYPES LINKS);
    cluster_forecast(&c);
    assert_near(c.forecast.epoch.iterations, 10);
    assert_near(c.forecast.epoch.last_share, 1);
    assert_near(c.forecast.samples_per_s, 96 / 5.22);
    cluster_free(&c);
    start(&c, "data: {samples: 95}\ntraining: {last_batch: drop}\n" TYPES LINKS);
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "does not fill one step"));
    cluster_free(&c);
}

static void an_epoch_evaluates_and_saves(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {samples: 960}\n"
              "training: {epochs: 3, evaluation: 1 min, checkpoint: 2 s}\n" TYPES LINKS);
    cluster_forecast(&c);
    assert_near(c.forecast.epoch_s, 10 * 5.22 + 62);
    assert_near(c.forecast.total_s, 3 * (10 * 5.22 + 62));
    assert_near(c.forecast.total_span_s.high, c.forecast.total_s);
    cluster_free(&c);
}

/* 96 samples of 1 MB a step. */
static void the_storage_feeds_all_devices(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, TYPES LINKS);
    cluster_forecast(&c);
    assert_true(cluster_warns(&c, "loading was measured with 4 devices and counts the same for 6"));
    cluster_free(&c);
    start(&c, "data: {sample_size: 1 MB}\nstorage: {bandwidth: 12 MB/s}\n" TYPES LINKS);
    cluster_forecast(&c);
    assert_near(c.forecast.storage_s, 8);
    assert_near(c.forecast.step_s, 8);
    assert_near(c.forecast.type[0].load_s, 0.0015);
    assert_string_equal(c.forecast.deciding_stage, "loading");
    assert_false(cluster_warns(&c, "loading was measured"));
    cluster_free(&c);
    start(&c, "storage: {bandwidth: 12 MB/s}\n" TYPES LINKS);
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "how many bytes a sample has is not known"));
    cluster_free(&c);
}

static void bytes_and_samples_meet_through_what_is_known(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {size: 960 kB}\n" TYPES LINKS);
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "data.size is 960 kB, but how many samples that is"));
    assert_non_null(strstr(c.e.text, "data.samples or data.sample_size"));
    c.profile[0].sample_bytes = 900;
    c.profile[1].sample_bytes = 1100;
    cluster_forecast(&c);
    assert_near(c.forecast.total_samples, 960);
    assert_string_equal(c.forecast.sample_basis, "mean of the profiles");
    c.job.data.n_samples = 480;
    cluster_forecast(&c);
    assert_near(c.forecast.total_samples, 480);
    assert_near(c.forecast.sample_bytes, 2000);
    assert_string_equal(c.forecast.sample_basis, "size / samples");
    cluster_free(&c);
}

static void refuses_data_that_cannot_be_converted(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {samples: 960}\n" TYPES LINKS);
    c.job.type[0].data = (struct amount){1e6, AMOUNT_BYTES};
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "device type 'a' has data per device and 'b' has none"));
    c.job.type[1].data = (struct amount){1e6, AMOUNT_BYTES};
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "data of device type 'a' is 1 MB, but how many samples"));
    cluster_free(&c);
}

static void a_lone_device_needs_no_network(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "data: {samples: 160}\ndevices:\n  a: {count: 1, batch: 16, subsystem: 1}\n");
    c.profile[0].n_devices = c.profile[0].ring_devices = 1;
    c.profile[0].bytes_sent = 0;
    cluster_forecast(&c);
    assert_near(c.forecast.step_s, 0.11);
    assert_null(c.forecast.deciding_next);
    assert_string_equal(c.forecast.deciding_stage, "computing");
    assert_near(c.forecast.epoch.iterations, 10);
    cluster_free(&c);
}

static void refuses_a_step_of_nothing(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "devices:\n  a: {count: 1, batch: 16, subsystem: 1}\n");
    for (int s = 0; s < N_STAGES; s++)
        cluster_stage(&c.profile[0], (enum stage)s, 0);
    assert_false(cluster_try(&c));
    assert_non_null(strstr(c.e.text, "no stage takes any time"));
    cluster_free(&c);
}

static void forecasts_a_million_devices(void **state)
{
    (void)state;
    struct cluster c;
    start(&c, "devices:\n"
              "  a: {count: 500000, batch: 16}\n"
              "  b: {count: 500000, batch: 16}\n" LINKS);
    cluster_forecast(&c);
    assert_string_equal(c.forecast.deciding_device, "b-499999");
    cluster_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_ring),
        cmocka_unit_test(loading_decides_where_it_is_longest),
        cmocka_unit_test(computing_decides_where_it_outlasts_the_ring),
        cmocka_unit_test(accumulation_counts_every_micro_batch),
        cmocka_unit_test(payload_is_the_mean_of_what_sub_systems_sent),
        cmocka_unit_test(one_mixed_ring_sends_by_its_own_size),
        cmocka_unit_test(a_sub_system_of_one_takes_the_others_bytes),
        cmocka_unit_test(refuses_a_profile_without_bytes),
        cmocka_unit_test(refuses_missing_stages_and_batches_all_at_once),
        cmocka_unit_test(a_loader_that_was_not_seen_counts_nothing),
        cmocka_unit_test(says_what_must_be_known_of_a_profile),
        cmocka_unit_test(names_what_the_network_file_misspells),
        cmocka_unit_test(warns_of_links_with_spread),
        cmocka_unit_test(warns_of_shared_links_and_lower_bounds),
        cmocka_unit_test(warns_once_where_types_share_a_fact),
        cmocka_unit_test(forecasts_its_own_sub_systems),
        cmocka_unit_test(forecasts_the_mixed_ring_of_its_sub_systems),
        cmocka_unit_test(says_why_it_cannot_forecast_a_sub_system),
        cmocka_unit_test(the_epoch_in_both_cases),
        cmocka_unit_test(the_last_batch_is_kept_or_dropped),
        cmocka_unit_test(an_epoch_evaluates_and_saves),
        cmocka_unit_test(the_storage_feeds_all_devices),
        cmocka_unit_test(bytes_and_samples_meet_through_what_is_known),
        cmocka_unit_test(refuses_data_that_cannot_be_converted),
        cmocka_unit_test(a_lone_device_needs_no_network),
        cmocka_unit_test(refuses_a_step_of_nothing),
        cmocka_unit_test(forecasts_a_million_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
