/* The path that a step waits for, against steps by hand and many drawn systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "predict/critical_path.h"
#include "predict/remedies.h"

enum { MOST_DEVICES = 9, MOST_BUCKETS = 3, N_TYPES = 3, N_STEPS = 64, N_SYSTEMS = 3000 };

struct system {
    struct ft_timeline timeline;
    struct ft_timeline_type type[N_TYPES];
    double ready_s[N_TYPES][MOST_BUCKETS], bucket_bytes[MOST_BUCKETS];
    struct ft_link link[MOST_DEVICES];
    int type_of[MOST_DEVICES];
};

static struct critical_path path_of(struct arena *arena, const struct ft_timeline *timeline,
                                    struct step_record *record)
{
    char message[FT_MESSAGE_SIZE];
    if (!step_record_make(arena, timeline, N_STEPS, record, message))
        fail_msg("%s", message);
    return critical_path_find(arena, timeline, record);
}

static double length_of(const struct critical_path *path)
{
    double sum_s = 0;
    for (size_t k = 0; k < path->n; k++)
        sum_s += path->piece[k].to_s - path->piece[k].from_s;
    return sum_s;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void draw_type(struct system *s, size_t t, struct random *r, bool interference)
{
    struct ft_timeline_type *type = &s->type[t];
    *type = (struct ft_timeline_type){.load_s = 0.5 * random_unit(r),
                                      .load_inside = random_below(r, 2) == 0,
                                      .forward_s = random_unit(r),
                                      .backward_s = 2 * random_unit(r),
                                      .ready_s = s->ready_s[t],
                                      .optimizer_s = 0.1 * random_unit(r),
                                      .rest_s = 0.1 * random_unit(r),
                                      .busy_Bps = INFINITY,
                                      .idle_Bps = INFINITY};
    if (interference) {
        type->idle_Bps = 1e6 * (0.5 + random_unit(r));
        type->busy_Bps = type->idle_Bps * (0.2 + 0.8 * random_unit(r));
        type->idle_round_s = 0.1 * random_unit(r);
        type->busy_round_s = type->idle_round_s + 0.1 * random_unit(r);
        type->message_lost_s = 0.02 * random_unit(r);
        type->byte_lost_s = 1e-7 * random_unit(r);
    }
    for (size_t b = 0; b < MOST_BUCKETS; b++)
        s->ready_s[t][b] = type->backward_s / (double)(MOST_BUCKETS - b);
}

static void draw(struct system *s, struct random *r, bool interference)
{
    size_t n = 1 + random_below(r, MOST_DEVICES);
    for (size_t t = 0; t < N_TYPES; t++)
        draw_type(s, t, r, interference);
    for (size_t i = 0; i < n; i++) {
        s->type_of[i] = (int)random_below(r, N_TYPES);
        s->link[i] = (struct ft_link){1e6 * (0.2 + random_unit(r)), 0.01 * random_unit(r)};
    }
    for (size_t b = 0; b < MOST_BUCKETS; b++)
        s->bucket_bytes[b] = 1e6 * random_unit(r);
    s->timeline = (struct ft_timeline){.type = s->type,
                                       .n_types = N_TYPES,
                                       .type_of = s->type_of,
                                       .link = n > 1 ? s->link : NULL,
                                       .n_devices = n,
                                       .bucket_bytes = s->bucket_bytes,
                                       .n_buckets = 1 + random_below(r, MOST_BUCKETS)};
}

static void assert_no_gaps(const struct critical_path *path)
{
    for (size_t k = 1; k < path->n; k++)
        assert_near(path->piece[k].to_s + 1, path->piece[k - 1].from_s + 1);
}

/* Steps that have no rhythm of at most N_STEPS turns are few, and left out. */
static void a_path_without_gaps_is_as_long_as_its_steps(void **state)
{
    (void)state;
    size_t n_turns = 0;
    for (size_t k = 0; k < N_SYSTEMS; k++) {
        struct random r = random_seed(1, k);
        struct system s;
        struct arena arena = {0};
        struct step_record record;
        struct ft_timeline_step step;
        draw(&s, &r, k % 2 == 1);
        struct critical_path path = path_of(&arena, &s.timeline, &record);
        assert_true(ft_timeline_step(&s.timeline, &step, NULL));
        assert_no_gaps(&path);
        if (step.settled && path.n_steps < N_STEPS / 2) {
            assert_near(length_of(&path), (double)path.n_steps * step.step_s);
            n_turns++;
        }
        arena_free(&arena);
    }
    assert_true(n_turns > N_SYSTEMS * 9 / 10);
}

/* Two devices; the second computes longer, and its link is slow: 1 MB in two rounds of 0.5 MB. */
static void leads_through_the_slow_device_and_its_link(void **state)
{
    (void)state;
    const double ready_s[] = {2}, slow_ready_s[] = {4}, bytes[] = {1e6};
    const struct ft_timeline_type type[] = {
        {0, true, 1, 2, ready_s, 0.1, 0.2, INFINITY, INFINITY},
        {0, true, 2, 4, slow_ready_s, 0.3, 0.4, INFINITY, INFINITY},
    };
    const struct ft_link link[] = {{2e6, 0}, {1e6, 0}};
    const int type_of[] = {0, 1};
    struct ft_timeline timeline = {type, 2, type_of, link, 2, bytes, 1};
    struct arena arena = {0};
    struct step_record record;
    struct critical_path path = path_of(&arena, &timeline, &record);
    static const struct {
        enum path_stage stage;
        size_t position;
        double each_s;
    } expected[] = {{PATH_REST, 1, 0.4},
                    {PATH_OPTIMIZER, 1, 0.3},
                    {PATH_ALL_REDUCE, 1, 1},
                    {PATH_BACKWARD, 1, 4},
                    {PATH_FORWARD, 1, 2}};
    assert_int_equal(path.n_steps, 1);
    assert_int_equal(path.n, 5);
    for (size_t k = 0; k < path.n; k++) {
        assert_int_equal(path.piece[k].stage, expected[k].stage);
        assert_int_equal(path.piece[k].position, expected[k].position);
        assert_near(path.piece[k].to_s - path.piece[k].from_s, expected[k].each_s);
    }
    arena_free(&arena);
}

static void a_slow_loader_is_all_there_is(void **state)
{
    (void)state;
    const struct ft_timeline_type type = {9, false, 1, 2, NULL, 0.1, 0.2, INFINITY, INFINITY};
    const int type_of[] = {0};
    struct ft_timeline timeline = {&type, 1, type_of, NULL, 1, NULL, 0};
    struct arena arena = {0};
    struct step_record record;
    struct critical_path path = path_of(&arena, &timeline, &record);
    assert_int_equal(path.n, 1);
    assert_int_equal(path.piece[0].stage, PATH_LOADING);
    assert_near(length_of(&path), 9);
    arena_free(&arena);
}

/* Steps of 7.7 s, of which the slow device computes 6.7 and the slow link takes 1. */
static void remedies_say_what_would_remain(void **state)
{
    (void)state;
    const double ready_s[] = {2}, slow_ready_s[] = {4}, bytes[] = {1e6};
    const struct ft_timeline_type type[] = {
        {0, true, 1, 2, ready_s, 0, 0, INFINITY, INFINITY},
        {0, true, 2, 4, slow_ready_s, 0.3, 0.4, INFINITY, INFINITY},
    };
    const struct ft_link link[] = {{2e6, 0}, {1e6, 0}};
    const int type_of[] = {0, 1};
    struct ft_timeline timeline = {type, 2, type_of, link, 2, bytes, 1};
    struct arena arena = {0};
    size_t n;
    const struct remedy *remedy = remedies_find(&arena, &timeline, &n);
    assert_int_equal(n, 5);
    assert_int_equal(remedy[0].kind, REMEDY_ALL_REDUCE);
    assert_near(remedy[0].step_s, 6.7);
    assert_int_equal(remedy[1].kind, REMEDY_COMPUTING);
    assert_near(remedy[1].step_s, 7.7);
    assert_near(remedy[2].step_s, 4);
    assert_ptr_equal(remedies_best(remedy, n), &remedy[2]);
    assert_near(remedy_of_links(&arena, &timeline, 0, 1).step_s, 6.7);
    assert_near(remedy_of_links(&arena, &timeline, 0, 0).step_s, 7.7);
    arena_free(&arena);
}

/* Both types wait for one storage, one of them inside its step. Without one type's loading the
 * other still waits. */
static void what_several_types_wait_for_is_left_out_of_all(void **state)
{
    (void)state;
    const struct ft_timeline_type type[] = {
        {5, true, 1, 2, NULL, 0, 0, INFINITY, INFINITY},
        {5, false, 1, 3, NULL, 0, 0, INFINITY, INFINITY},
    };
    const struct ft_link link[] = {{1e6, 0}, {1e6, 0}};
    const int type_of[] = {0, 1};
    struct ft_timeline timeline = {type, 2, type_of, link, 2, NULL, 0};
    struct arena arena = {0};
    size_t n;
    const struct remedy *remedy = remedies_find(&arena, &timeline, &n);
    const struct remedy *best = remedies_best(remedy, n);
    assert_int_equal(n, 6);
    assert_int_equal(best->kind, REMEDY_LOADING);
    assert_int_equal(best->type, -1);
    assert_near(best->step_s, 4);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_without_gaps_is_as_long_as_its_steps),
        cmocka_unit_test(leads_through_the_slow_device_and_its_link),
        cmocka_unit_test(a_slow_loader_is_all_there_is),
        cmocka_unit_test(remedies_say_what_would_remain),
        cmocka_unit_test(what_several_types_wait_for_is_left_out_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
