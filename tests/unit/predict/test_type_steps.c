/* What the timeline takes from a profile. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/type_steps.h"
#include "timeline_lab.h"

static struct samples sampled(double *value, size_t n)
{
    return (struct samples){.known = true, .value = value, .stats = stats_of(value, n)};
}

/* Into `done_s`, of a profile whose two buckets were done so. */
static void done_times(struct samples first, struct samples second, double *done_s)
{
    struct arena arena = {0};
    struct bucket bucket[2];
    struct ring_buckets buckets;
    struct type_steps steps;
    struct profile p = lab_profile("fast", 0.1, bucket);
    bucket[0].done = first;
    bucket[1].done = second;
    assert_null(ring_buckets_find(&arena, &p, 1, &buckets));
    assert_null(type_steps_make(&arena, &p, &buckets, &steps));
    done_s[0] = steps.done_s[0];
    done_s[1] = steps.done_s[1];
    arena_free(&arena);
}

/* The first is done at 1 and 3 s, the second at 2 s: all before it are at 2 and 3 s. */
static void a_bucket_is_done_when_all_before_it_are_in_each_iteration(void **state)
{
    (void)state;
    double first[] = {1, 3}, second[] = {2, 2}, done_s[2];
    done_times(sampled(first, 2), sampled(second, 2), done_s);
    assert_true(fabs(done_s[0] - 2) < 1e-12 && fabs(done_s[1] - 2.5) < 1e-12);
}

static void of_means_the_latest_counts(void **state)
{
    (void)state;
    double first[] = {1, 3}, done_s[2];
    done_times(sampled(first, 2), lab_mean(1.5), done_s);
    assert_true(done_s[0] == 2 && done_s[1] == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_is_done_when_all_before_it_are_in_each_iteration),
        cmocka_unit_test(of_means_the_latest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
