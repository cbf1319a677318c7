/* What devices do when, by hand: docs/model.md, "The timeline". */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/step_record.h"
#include "timeline_lab.h"

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void record(struct lab *lab, size_t n_steps, struct step_record *r)
{
    char message[FT_MESSAGE_SIZE];
    cluster_forecast(&lab->cluster);
    if (!step_record_make(&lab->cluster.arena, lab->cluster.forecast.timeline.ring, n_steps, r,
                          message))
        fail_msg("%s", message);
}

/* 4 MB over six devices: ten rounds of a sixth at 100 MB/s take 1/15 s, 1 MB 1/60 s. */
static void devices_and_buckets_by_hand(void **state)
{
    (void)state;
    struct lab lab;
    struct step_record r;
    lab_start(&lab);
    record(&lab, 1, &r);
    const struct step_device *fast = step_record_device(&r, 0, 0);
    const struct step_device *slow = step_record_device(&r, 0, 5);
    const struct step_bucket *of_fast = step_record_buckets(&r, 0, 0);
    double step_s = 0.6 + 1.0 / 60 + 0.0115;
    assert_near(r.step_s, step_s);
    assert_near(fast->forward_end_s - fast->begin_s, 0.1);
    assert_near(fast->backward_end_s - fast->begin_s, 0.3);
    assert_near(fast->optimizer_s - fast->begin_s, 0.6 + 1.0 / 60);
    assert_near(fast->optimizer_end_s - fast->optimizer_s, 0.01);
    assert_near(slow->backward_end_s - slow->begin_s, 0.6);
    assert_near(slow->end_s - slow->begin_s, step_s);
    assert_near(of_fast[0].ready_s - fast->begin_s, 0.2);
    assert_near(of_fast[0].start_s - fast->begin_s, 0.2);
    assert_near(of_fast[0].all_s - fast->begin_s, 0.4);
    assert_near(of_fast[0].done_s - fast->begin_s, 0.4 + 1.0 / 15);
    assert_near(of_fast[1].enter_s, of_fast[0].done_s);
    cluster_free(&lab.cluster);
}

static void parts_add_up_to_the_step(void **state)
{
    (void)state;
    struct lab lab;
    struct step_record r;
    lab_start(&lab);
    record(&lab, 3, &r);
    for (int t = 0; t < 2; t++) {
        struct step_parts p = step_record_parts(&r, lab.cluster.forecast.timeline.ring->type_of, t);
        assert_near(p.forward_s + p.backward_s + p.sends_s + p.waits_s + p.rest_s + p.loads_s,
                    r.step_s);
    }
    struct step_parts fast = step_record_parts(&r, lab.cluster.forecast.timeline.ring->type_of, 0);
    assert_near(fast.sends_s, 1.0 / 15 + 1.0 / 60);
    assert_near(fast.waits_s, 0.3 - 1.0 / 15);
    cluster_free(&lab.cluster);
}

/* Steps follow each other; a slow loader beside them is what all wait for. */
static void a_slow_loader_sets_the_step(void **state)
{
    (void)state;
    struct lab lab;
    struct step_record r;
    lab_start(&lab);
    cluster_stage(&lab.cluster.profile[0], STAGE_LOADER_INTERVAL, 2);
    record(&lab, 3, &r);
    assert_near(r.step_s, 2);
    for (size_t k = 0; k < 2; k++) {
        const struct step_device *d = step_record_device(&r, k, 1);
        assert_near(d->load_end_s - d->load_begin_s, 2);
        assert_near(d->load_begin_s, d->begin_s);
        assert_near(d->end_s, step_record_device(&r, k + 1, 1)->begin_s);
    }
    cluster_free(&lab.cluster);
}

static void loading_inside_the_step_follows_rest(void **state)
{
    (void)state;
    struct lab lab;
    struct step_record r;
    lab_start(&lab);
    lab.cluster.profile[1].loader_workers = 0;
    cluster_stage(&lab.cluster.profile[1], STAGE_WAIT, 0.5);
    record(&lab, 1, &r);
    const struct step_device *slow = step_record_device(&r, 0, 4);
    assert_near(slow->load_begin_s, slow->rest_end_s);
    assert_near(slow->end_s - slow->load_begin_s, 0.5);
    cluster_free(&lab.cluster);
}

static void one_device_has_no_buckets(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct step_record r;
    const double ready_s[] = {0.1, 0.2}, bytes[] = {4e6, 1e6};
    const int type_of[] = {0};
    const struct ft_timeline_type type = {.forward_s = 0.1,
                                          .backward_s = 0.2,
                                          .ready_s = ready_s,
                                          .optimizer_s = 0.01,
                                          .busy_Bps = INFINITY,
                                          .idle_Bps = INFINITY};
    const struct ft_timeline alone = {.type = &type,
                                      .n_types = 1,
                                      .type_of = type_of,
                                      .n_devices = 1,
                                      .bucket_bytes = bytes,
                                      .n_buckets = 2};
    assert_true(step_record_make(&arena, &alone, 2, &r, NULL));
    assert_int_equal(r.n_buckets, 0);
    assert_near(r.step_s, 0.31);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_and_buckets_by_hand),
        cmocka_unit_test(parts_add_up_to_the_step),
        cmocka_unit_test(a_slow_loader_sets_the_step),
        cmocka_unit_test(loading_inside_the_step_follows_rest),
        cmocka_unit_test(one_device_has_no_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
