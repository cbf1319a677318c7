/* Steps of more or fewer micro-batches than were measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "predict/accumulate.h"

struct lab {
    struct arena arena;
    struct profile from, to;
    struct error e;
};

static void set(struct lab *lab, enum stage stage, double seconds)
{
    struct samples *s = &lab->from.stage[stage];
    *s = (struct samples){.known = true, .value = ARENA_ARRAY(&lab->arena, 2, double)};
    s->value[0] = 0.9 * seconds;
    s->value[1] = 1.1 * seconds;
    s->stats = stats_of(s->value, 2);
}

/* A step of m micro-batches: each 1 s forward, 2 s backward, 0.1 s to copy; then 0.5 s more. */
static void start(struct lab *lab, double m)
{
    *lab = (struct lab){.from = {.file = "p.json",
                                 .n_devices = 2,
                                 .ring_devices = 2,
                                 .batch = 8,
                                 .micro_batches = m,
                                 .bytes_read = 100 * m}};
    set(lab, STAGE_FORWARD, m);
    set(lab, STAGE_COPY, 0.1 * m);
    set(lab, STAGE_BACKWARD_COMPUTE, 2);
    set(lab, STAGE_BACKWARD, 2 * m + 0.3);
    set(lab, STAGE_OPTIMIZER, 0.2);
    set(lab, STAGE_STEP, 3.1 * m + 0.5);
    if (m > 1)
        set(lab, STAGE_BACKWARD_UNSYNCED, 2 * (m - 1));
}

static void finish(struct lab *lab)
{
    arena_free(&lab->arena);
    error_clear(&lab->e);
}

static void assert_stage(const struct lab *lab, enum stage stage, double mean_s)
{
    const struct samples *s = &lab->to.stage[stage];
    if (!(s->known && fabs(s->stats.mean - mean_s) < 1e-9))
        fail_msg("%s is %g, not %g", stage_key(stage), s->stats.mean, mean_s);
    assert_true(fabs(s->value[0] - 0.9 * mean_s) < 1e-9 && fabs(s->value[1] - 1.1 * mean_s) < 1e-9);
}

static void from_any_number_to_any_other(void **state)
{
    (void)state;
    static const double numbers[] = {1, 2, 4};
    for (int i = 0; i < 9; i++) {
        double m = numbers[i / 3], k = numbers[i % 3];
        struct lab lab;
        start(&lab, m);
        if (!accumulate_profile(&lab.arena, &lab.from, k, &lab.to, &lab.e))
            fail_msg("%s", lab.e.text);
        assert_stage(&lab, STAGE_FORWARD, k);
        assert_stage(&lab, STAGE_COPY, 0.1 * k);
        assert_stage(&lab, STAGE_BACKWARD_COMPUTE, 2);
        assert_stage(&lab, STAGE_BACKWARD, 2 * k + 0.3);
        assert_stage(&lab, STAGE_OPTIMIZER, 0.2);
        assert_stage(&lab, STAGE_STEP, 3.1 * k + 0.5);
        if (k > 1)
            assert_stage(&lab, STAGE_BACKWARD_UNSYNCED, 2 * (k - 1));
        assert_true(lab.to.micro_batches == k && lab.to.bytes_read == 100 * k);
        assert_int_equal(lab.to.n_notes, m != k);
        finish(&lab);
    }
}

static void a_device_alone_has_its_backward_pass(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, 1);
    lab.from.n_devices = lab.from.ring_devices = 1;
    lab.from.stage[STAGE_BACKWARD_COMPUTE].known = false;
    set(&lab, STAGE_BACKWARD, 2);
    assert_true(accumulate_profile(&lab.arena, &lab.from, 3, &lab.to, &lab.e));
    assert_stage(&lab, STAGE_BACKWARD_UNSYNCED, 4);
    assert_stage(&lab, STAGE_BACKWARD, 6);
    finish(&lab);
}

static void refuses_what_does_not_tell_computing_from_waiting(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, 1);
    lab.from.stage[STAGE_BACKWARD_COMPUTE].known = false;
    assert_false(accumulate_profile(&lab.arena, &lab.from, 3, &lab.to, &lab.e));
    assert_non_null(strstr(lab.e.text, "p.json does not hold backward_compute_s"));
    assert_null(lab.to.file);
    finish(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_any_number_to_any_other),
        cmocka_unit_test(a_device_alone_has_its_backward_pass),
        cmocka_unit_test(refuses_what_does_not_tell_computing_from_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
