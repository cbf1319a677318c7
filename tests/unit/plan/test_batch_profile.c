/* What grows with the batch, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"
#include "plan/batch_profile.h"

static double mean_of(const struct profile *p, enum stage stage)
{
    return p->stage[stage].stats.mean;
}

static struct profile measured(struct bucket *bucket)
{
    struct profile p = lab_profile("fast", 16, 0.125, bucket);
    cluster_stage(&p, STAGE_WAIT, 0.002);
    cluster_stage(&p, STAGE_STEP, 0.5);
    return p;
}

static void computing_and_loading_take_their_part(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bucket bucket[2];
    struct profile p = measured(bucket), q = batch_profile_scaled(&arena, &p, 40);
    assert_true(q.batch == 40);
    assert_true(mean_of(&q, STAGE_FORWARD) == 0.125 * 2.5);
    assert_true(mean_of(&q, STAGE_BACKWARD_COMPUTE) == 0.25 * 2.5);
    assert_true(mean_of(&q, STAGE_LOADER_INTERVAL) == 0.001 * 2.5);
    assert_true(mean_of(&q, STAGE_COPY) == 0.0005 * 2.5);
    assert_true(q.bucket[1].ready.stats.mean == 0.25 * 2.5);
    assert_true(p.bucket[1].ready.stats.mean == 0.25);
    arena_free(&arena);
}

static void optimizer_and_bytes_stay(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bucket bucket[2];
    struct profile p = measured(bucket), q = batch_profile_scaled(&arena, &p, 8);
    assert_true(mean_of(&q, STAGE_OPTIMIZER) == 0.01);
    assert_true(mean_of(&q, STAGE_REST) == 0.001);
    assert_true(q.bytes_sent == p.bytes_sent);
    assert_true(q.bucket[0].wire_bytes == 4e6);
    arena_free(&arena);
}

static void waiting_is_loading_only_without_loader_workers(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bucket bucket[2];
    struct profile p = measured(bucket);
    struct profile beside = batch_profile_scaled(&arena, &p, 32);
    assert_true(mean_of(&beside, STAGE_WAIT) == 0.002);
    p.loader_workers = 0;
    struct profile inside = batch_profile_scaled(&arena, &p, 32);
    assert_true(mean_of(&inside, STAGE_WAIT) == 0.004);
    arena_free(&arena);
}

static void nothing_measured_of_the_whole_step_is_left(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bucket bucket[2];
    struct profile p = measured(bucket), q = batch_profile_scaled(&arena, &p, 32);
    assert_false(q.stage[STAGE_STEP].known);
    assert_false(q.bucket[0].done.known);
    arena_free(&arena);
}

static void the_measured_batch_is_the_measurement(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bucket bucket[2];
    struct profile p = measured(bucket), q = batch_profile_scaled(&arena, &p, 16);
    assert_true(q.stage[STAGE_STEP].known);
    assert_ptr_equal(q.bucket, p.bucket);
    arena_free(&arena);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(computing_and_loading_take_their_part),
        cmocka_unit_test(optimizer_and_bytes_stay),
        cmocka_unit_test(waiting_is_loading_only_without_loader_workers),
        cmocka_unit_test(nothing_measured_of_the_whole_step_is_left),
        cmocka_unit_test(the_measured_batch_is_the_measurement),
    };
    return cmocka_run_group_tests_name("batch_profile", test, NULL, NULL);
}
