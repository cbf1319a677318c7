/* Whole forecasts by the timeline: what it makes of profiles, and what it says where it cannot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline_lab.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/*
 * The slow ones have the last bucket ready at 0.6 s; five thirds of its 1 MB then take 1/60 s; then
 * optimizer, rest and copy.
 */
static void a_step_by_hand(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    assert_int_equal(f->model, MODEL_TIMELINE);
    assert_near(f->step_s, 0.6 + 1.0 / 60 + 0.01 + 0.001 + 0.0005);
    assert_near(f->closed_form.step_s, 0.2 + 0.01 + 5.0 / 60);
    assert_near(f->epoch_s, 67 * f->step_s);
    assert_string_equal(f->deciding_device, "slow-0");
    assert_string_equal(f->deciding_stage, "computing");
    assert_near(f->step_without_s, 0.3 + 1.0 / 60 + 0.0115);
    cluster_free(&lab.cluster);
}

static void its_own_sub_systems(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    for (int t = 0; t < 2; t++) {
        assert_null(f->type[t].why_no_ceilings);
        assert_true(isinf(f->type[t].ceilings.idle_Bps));
        assert_true(f->type[t].self_known);
        assert_true(fabs(f->type[t].self_error) < 1e-6);
    }
    assert_false(f->timeline.spread_known);
    assert_true(cluster_warns(&lab.cluster, "there is no interval"));
    cluster_free(&lab.cluster);
}

/* What was slower than its link in the small is so in the large. */
static void what_devices_cannot_feed_shows_in_the_whole(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.bucket[1][0].done = lab_mean(0.2 + 0.4);
    lab.bucket[1][1].done = lab_mean(0.2 + 0.5);
    cluster_stage(&lab.cluster.profile[1], STAGE_STEP, 0.2 + 0.7 + 0.0115);
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    assert_true(f->type[1].ceilings.idle_Bps < 15e6);
    assert_true(fabs(f->type[1].self_error) < 0.01);
    assert_true(f->step_s > 0.9);
    assert_string_equal(f->deciding_stage, "all-reduce");
    cluster_free(&lab.cluster);
}

static double step_over_links(const char *network, double *idle_Bps)
{
    struct lab lab;
    lab_start(&lab);
    cluster_read_network(&lab.cluster, network);
    cluster_forecast(&lab.cluster);
    *idle_Bps = lab.cluster.forecast.type[1].ceilings.idle_Bps;
    double step_s = lab.cluster.forecast.step_s;
    cluster_free(&lab.cluster);
    return step_s;
}

/* Buckets were done as fast as 100 MB/s allow: a link that is known to make 20 or more makes that.
 */
static void a_lower_bound_gives_way_to_what_was_seen_to_be_sent(void **state)
{
    (void)state;
#define ALL_LINKS(rate)                                                                            \
    "from,to,bandwidth,source\nfast-0,fast-1," rate "\nfast-1,fast-0," rate                        \
    "\nfast-1,fast-2," rate "\nfast-2,slow-0," rate "\nslow-0,slow-1," rate                        \
    "\nslow-1,slow-0," rate "\nslow-1,slow-2," rate "\nslow-2,fast-0," rate "\n"
    double idle_Bps;
    double known_s = step_over_links(ALL_LINKS("100 MB/s,measured"), &idle_Bps);
    double bound_s = step_over_links(ALL_LINKS("20 MB/s,measured>="), &idle_Bps);
    assert_true(fabs(idle_Bps / 100e6 - 1) < 0.05);
    assert_true(fabs(bound_s / known_s - 1) < 0.005);
    assert_true(step_over_links(ALL_LINKS("20 MB/s,measured"), &idle_Bps) > 1.05 * known_s);
    assert_true(isinf(idle_Bps));
}

/*
 * Small messages of 0.1 MB, of which the link takes 1 ms: the rest is the round's own, in each of
 * the ten rounds of the whole ring. The first bucket is done before backward ends. A slow device
 * behind a fast one, which began before it, is done a little earlier.
 */
static void rounds_cost_the_whole_ring_what_small_messages_told(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.cluster.profile[0].rounds = (struct profile_rounds){1e5, 0.005, 0.0002, 0, 0, 0};
    lab.cluster.profile[1].rounds = (struct profile_rounds){1e5, 0.005, 0.011, 0, 0, 0};
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    assert_near(f->type[0].idle_round_s, 0.004);
    assert_near(f->type[0].busy_round_s, 0.004);
    assert_near(f->type[1].idle_round_s, 0.004);
    assert_near(f->type[1].busy_round_s, 0.010);
    double all_at_once_s = 0.6 + 10 * 0.004 + 0.01 + 0.001 + 0.0005;
    assert_true(f->step_s < all_at_once_s && f->step_s > all_at_once_s - 0.004);
    cluster_free(&lab.cluster);
}

/*
 * Large messages of 2 MB, of which the link takes 20 ms. The slow ones' take 4 ms and 10 ms while
 * they compute beside 40 and 80 ms, however soon their buckets were done.
 */
static void large_rounds_bound_what_devices_send(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.cluster.profile[0].rounds =
        (struct profile_rounds){1e5, 0.005, 0.011, 0, 2e6, 0.02, 0.019, 0};
    lab.cluster.profile[1].rounds =
        (struct profile_rounds){1e5, 0.005, 0.011, 0, 2e6, 0.044, 0.09, 0};
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    assert_true(isinf(f->type[0].ceilings.idle_Bps) && isinf(f->type[0].ceilings.busy_Bps));
    assert_near(f->type[1].ceilings.idle_Bps, 50e6);
    assert_near(f->type[1].ceilings.busy_Bps, 25e6);
    assert_true(f->type[1].self_error > 0.02);
    cluster_free(&lab.cluster);
}

/*
 * 1 ms of computing a message and 1 ns a byte. Two messages of 2 MB cost the sub-system 6 ms of the
 * 40 ms that its first bucket took beside backward; ten of 0.67 MB cost the whole ring 16.7 ms.
 */
static void messages_cost_computing_in_the_small_and_in_the_large(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.cluster.profile[1].rounds =
        (struct profile_rounds){1e5, 0.001, 0.001, 0.001, 1.1e6, 0, 0, 0.002};
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    assert_near(f->type[1].backward_s, 0.4 - 0.006);
    assert_true(fabs(f->type[1].self_error) < 1e-6);
    assert_near(f->step_s, 0.2 + 0.394 + 1.0 / 60 + 1.0 / 60 + 0.0115);
    cluster_free(&lab.cluster);
}

/*
 * Six devices instead of two, 100 MB/s, 0.5 ms a round beside them: two more rounds of a
 * broadcast's 1 MB, ten of a sixth instead of two of a half of an all-reduce's 3 MB in every other
 * step, and an all-to-all as it was.
 */
static void other_collectives_take_more_rounds_among_more_devices(void **state)
{
    (void)state;
    struct lab lab;
    struct profile_collective collective[] = {{"broadcast", "forward", 1e6, 1, 0.1, -1},
                                              {"all_reduce", "rest", 3e6, 0.5, 0.1, -1},
                                              {"all_to_all", "forward", 5e6, 1, 0.1, -1},
                                              {"broadcast", "forward", -1, 1, 0.1, -1}};
    lab_start(&lab);
    lab.cluster.profile[1].rounds = (struct profile_rounds){1e5, 0.0015, 0.0015, 0, 0, 0};
    for (int t = 0; t < 2; t++) {
        lab.cluster.profile[t].collective = collective;
        lab.cluster.profile[t].n_collectives = 4;
    }
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    double rest_s = 0.5 * (10 * 0.005 - 2 * 0.015);
    for (int t = 0; t < 2; t++) {
        assert_near(f->type[t].others_forward_s, 2 * 0.01);
        assert_near(f->type[t].others_rest_s, rest_s);
    }
    assert_near(f->step_s, 0.6 + 1.0 / 60 + 0.0115 + 2 * 0.01 + rest_s);
    assert_true(cluster_warns(&lab.cluster, "(broadcast of 1 MB, all_reduce of 3 MB), measured "
                                            "among 2 devices, count 30 ms longer among all"));
    assert_true(cluster_warns(&lab.cluster, "(all_to_all of 5 MB, broadcast) count as"));
    cluster_free(&lab.cluster);
}

static double sample[4][6];

static void give_samples(struct samples *samples, double *value, double low, double high)
{
    for (size_t k = 0; k < 6; k++)
        value[k] = k % 3 == 0 ? high : low;
    *samples = (struct samples){true, value, stats_of(value, 6)};
}

/* Two devices, three iterations: one of three is long, on both. */
static void samples_give_an_interval(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.cluster.job.n_types = 1;
    lab.cluster.job.n_devices = 3;
    struct profile *p = &lab.cluster.profile[0];
    give_samples(&p->stage[STAGE_FORWARD], sample[0], 0.1, 0.4);
    give_samples(&p->stage[STAGE_STEP], sample[1], 0.3, 0.6);
    for (size_t s = 0; s < 6; s++)
        sample[2][s] = 0.1, sample[3][s] = 0.2;
    p->bucket[0].ready = (struct samples){true, sample[2], stats_of(sample[2], 6)};
    p->bucket[1].ready = p->stage[STAGE_BACKWARD_COMPUTE] =
        (struct samples){true, sample[3], stats_of(sample[3], 6)};
    static double copy[6], optimizer[6], rest[6];
    give_samples(&p->stage[STAGE_COPY], copy, 0, 0);
    give_samples(&p->stage[STAGE_OPTIMIZER], optimizer, 0, 0);
    give_samples(&p->stage[STAGE_REST], rest, 0, 0);
    cluster_forecast(&lab.cluster);
    const struct forecast *f = &lab.cluster.forecast;
    double shortest_s = 0.3 + 4.0 / 3 * 1e6 / 100e6, mean_s = shortest_s + 0.3 * 5 / 9;
    assert_true(f->timeline.spread_known);
    assert_true(f->timeline.between_runs == 0 && f->timeline.model_error == 0.02);
    /* 4 of 9 steps are short, the others long, and normal by the model's error around that. */
    assert_true(fabs(f->timeline.step_s.low / shortest_s - (1 - 0.76 * 0.02)) < 0.01);
    assert_true(fabs(f->timeline.step_s.high / (shortest_s + 0.3) - (1 + 0.92 * 0.02)) < 0.01);
    assert_true(fabs(f->step_s - mean_s) < 0.03);
    double off =
        1.2815515655446004 * hypot(0.02, f->timeline.step_deviation / sqrt(f->epoch.iterations));
    assert_near(f->epoch_span_s.high, f->epoch_s * (1 + off));
    assert_near(f->epoch_span_s.low, f->epoch_s * (1 - off));
    cluster_free(&lab.cluster);
}

static void assert_closed_form(struct lab *lab, const char *why)
{
    cluster_forecast(&lab->cluster);
    const struct forecast *f = &lab->cluster.forecast;
    assert_int_equal(f->model, MODEL_CLOSED_FORM);
    assert_near(f->step_s, f->closed_form.step_s);
    assert_non_null(strstr(f->timeline.why_not, why));
    assert_true(cluster_warns(&lab->cluster, "this is the closed form"));
    cluster_free(&lab->cluster);
}

static void falls_back_to_the_closed_form_and_says_why(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.cluster.profile[1].n_buckets = 0;
    assert_closed_form(&lab, "lacks buckets with ready_s");
    lab_start(&lab);
    lab.bucket[1][1].wire_bytes = 2e6;
    assert_closed_form(&lab, "buckets are not the same");
    lab_start(&lab);
    lab.cluster.profile[0].stage[STAGE_OPTIMIZER].known = false;
    assert_closed_form(&lab, "lacks optimizer_s");
}

static void says_where_ceilings_are_not_known(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    lab.bucket[0][1].done.known = false;
    cluster_forecast(&lab.cluster);
    assert_int_equal(lab.cluster.forecast.model, MODEL_TIMELINE);
    assert_true(cluster_warns(&lab.cluster, "the profile lacks done_s of its buckets"));
    cluster_free(&lab.cluster);
}

/* A device alone has no buckets: they are as far into backward as another type's. */
static void a_type_of_one_device_takes_the_others_buckets(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    struct profile *p = &lab.cluster.profile[1];
    p->n_devices = p->ring_devices = 1;
    p->bytes_sent = 0;
    p->n_buckets = 0;
    cluster_stage(p, STAGE_BACKWARD, 0.4);
    cluster_forecast(&lab.cluster);
    assert_int_equal(lab.cluster.forecast.model, MODEL_TIMELINE);
    assert_near(lab.cluster.forecast.step_s, 0.6 + 1.0 / 60 + 0.0115);
    cluster_free(&lab.cluster);
}

/* Its backward_s is that of all micro-batches: those without all-reduce must not count twice. */
static void a_device_alone_that_accumulates(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab);
    struct profile *p = &lab.cluster.profile[1];
    p->n_devices = p->ring_devices = 1;
    p->bytes_sent = 0;
    p->n_buckets = 0;
    cluster_stage(p, STAGE_BACKWARD, 0.4);
    cluster_forecast(&lab.cluster);
    double once_s = lab.cluster.forecast.step_s;
    p->micro_batches = 3;
    cluster_stage(p, STAGE_BACKWARD_UNSYNCED, 0.8);
    cluster_stage(p, STAGE_BACKWARD, 1.2);
    cluster_forecast(&lab.cluster);
    assert_near(lab.cluster.forecast.step_s, once_s + 0.8);
    cluster_free(&lab.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_by_hand),
        cmocka_unit_test(its_own_sub_systems),
        cmocka_unit_test(what_devices_cannot_feed_shows_in_the_whole),
        cmocka_unit_test(a_lower_bound_gives_way_to_what_was_seen_to_be_sent),
        cmocka_unit_test(rounds_cost_the_whole_ring_what_small_messages_told),
        cmocka_unit_test(large_rounds_bound_what_devices_send),
        cmocka_unit_test(messages_cost_computing_in_the_small_and_in_the_large),
        cmocka_unit_test(other_collectives_take_more_rounds_among_more_devices),
        cmocka_unit_test(samples_give_an_interval),
        cmocka_unit_test(falls_back_to_the_closed_form_and_says_why),
        cmocka_unit_test(says_where_ceilings_are_not_known),
        cmocka_unit_test(a_type_of_one_device_takes_the_others_buckets),
        cmocka_unit_test(a_device_alone_that_accumulates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
