/* Whole numbers by boxes, held against trying them all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "plan/batch_boxes.h"

enum { MOST = 3 };

/* A step is as long as the slowest of what grows by steps and lines, and something on top. */
struct growth {
    size_t n;
    double fixed_s[MOST], slope_s[MOST], coarse[MOST], rest_s;
};

static double step_s(void *self, const int64_t *number)
{
    const struct growth *g = self;
    double longest_s = 0;
    for (size_t i = 0; i < g->n; i++) {
        double whole = ceil((double)number[i] / g->coarse[i]) * g->coarse[i];
        longest_s = fmax(longest_s, g->fixed_s[i] + g->slope_s[i] * whole);
    }
    return longest_s + g->rest_s;
}

static void draw(struct random *r, struct growth *g)
{
    g->n = 1 + random_below(r, MOST);
    g->rest_s = random_unit(r);
    for (size_t i = 0; i < g->n; i++) {
        g->fixed_s[i] = random_below(r, 2) ? random_unit(r) : 0;
        g->slope_s[i] = random_below(r, 4) ? 0.1 * random_unit(r) : 0;
        g->coarse[i] = (double)(1 + random_below(r, 3));
    }
}

static double try_all(const struct batch_problem *p, int64_t *number, size_t at)
{
    double best = INFINITY;
    if (at == p->n) {
        int64_t sum = 0;
        for (size_t i = 0; i < p->n; i++)
            sum += p->weight[i] * number[i];
        return p->sum > 0 && sum != p->sum ? INFINITY : p->step_s(p->self, number) / (double)sum;
    }
    for (number[at] = p->least[at]; number[at] <= p->most[at]; number[at]++)
        best = fmin(best, try_all(p, number, at + 1));
    return best;
}

static void the_answer_is_the_best_of_all(void **state)
{
    (void)state;
    struct random r = random_seed(7, 1);
    size_t n_without = 0;
    for (int trial = 0; trial < 500; trial++) {
        struct growth growth;
        int64_t weight[MOST], least[MOST], most[MOST], number[MOST], sum = 0;
        draw(&r, &growth);
        for (size_t i = 0; i < growth.n; i++) {
            weight[i] = 1 + (int64_t)random_below(&r, 5);
            least[i] = 1 + (int64_t)random_below(&r, 3);
            most[i] = least[i] + (int64_t)random_below(&r, 16);
            sum += weight[i] * (least[i] + (int64_t)random_below(&r, 12));
        }
        struct batch_problem p = {.n = growth.n,
                                  .weight = weight,
                                  .least = least,
                                  .most = most,
                                  .sum = trial % 2 ? sum : 0,
                                  .step_s = step_s,
                                  .self = &growth,
                                  .most_tries = 1000000};
        struct batch_answer answer = {.s_a_sample = INFINITY, .number = number};
        batch_boxes_search(&p, &answer);
        int64_t tried[MOST];
        double best = try_all(&p, tried, 0);
        assert_true(answer.exact);
        assert_int_equal(answer.found, isfinite(best));
        if (answer.found && !(fabs(answer.s_a_sample - best) <= 1e-8 * best))
            fail_msg("trial %d: %.12g is not %.12g", trial, answer.s_a_sample, best);
        n_without += !answer.found;
    }
    assert_true(n_without > 0);
}

static void what_it_starts_from_stays_where_nothing_is_better(void **state)
{
    (void)state;
    struct growth growth = {.n = 2, .coarse = {1, 1}, .rest_s = 1};
    const int64_t weight[] = {1, 1}, least[] = {1, 1}, most[] = {9, 9};
    int64_t number[] = {4, 6};
    struct batch_problem p = {2, weight, least, most, 10, step_s, NULL, &growth, 100};
    struct batch_answer answer = {.s_a_sample = 0.1, .number = number};
    batch_boxes_search(&p, &answer);
    assert_true(answer.found && answer.exact);
    assert_int_equal(number[0], 4);
}

static void a_search_that_is_cut_off_says_so_and_keeps_its_bound(void **state)
{
    (void)state;
    struct growth growth = {.n = 2, .slope_s = {1, 1.5}, .coarse = {1, 1}, .rest_s = 0.5};
    const int64_t weight[] = {1, 1}, least[] = {1, 1}, most[] = {99, 99};
    int64_t number[2], tried[2];
    struct batch_problem p = {2, weight, least, most, 100, step_s, NULL, &growth, 4};
    struct batch_answer answer = {.s_a_sample = INFINITY, .number = number};
    batch_boxes_search(&p, &answer);
    assert_false(answer.exact);
    assert_true(answer.bound <= try_all(&p, tried, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_the_best_of_all),
        cmocka_unit_test(what_it_starts_from_stays_where_nothing_is_better),
        cmocka_unit_test(a_search_that_is_cut_off_says_so_and_keeps_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
