/* Mini-batches by device type, held against trying them all, and against what a user measured. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../predict/cluster.h"
#include "base/random.h"
#include "plan/split.h"

enum { N_BUCKETS = 2, GIVEN = 8, MOST_BATCH = 14 };

struct lab {
    struct cluster c;
    struct split_profiles profiles[CLUSTER_MOST_TYPES];
    struct split_wish wish;
    struct split split;
    double forward_s[CLUSTER_MOST_TYPES], backward_s[CLUSTER_MOST_TYPES]; /* at GIVEN */
};

static const double bucket_bytes[N_BUCKETS] = {2e6, 4e6};

static bool try_split(struct lab *lab)
{
    struct cluster *c = &lab->c;
    return split_find(&c->arena, &c->job, lab->profiles, NULL, c->model, &lab->wish, &lab->split,
                      &c->e);
}

static void split(struct lab *lab)
{
    if (!try_split(lab))
        fail_msg("%s", lab->c.e.text);
}

static void add_backward(struct lab *lab, int t)
{
    struct profile *p = &lab->c.profile[t];
    double backward_s = lab->backward_s[t];
    cluster_stage(p, STAGE_BACKWARD_COMPUTE, backward_s);
    cluster_stage(p, STAGE_OPTIMIZER, 0.004);
    cluster_stage(p, STAGE_REST, 0.002);
    p->bucket = ARENA_ARRAY(&lab->c.arena, N_BUCKETS, struct bucket);
    p->n_buckets = N_BUCKETS;
    for (size_t b = 0; b < N_BUCKETS; b++) {
        double ready_s = backward_s * (double)(b + 1) / N_BUCKETS;
        p->bucket[b] = (struct bucket){.bytes = bucket_bytes[b], .wire_bytes = bucket_bytes[b]};
        p->bucket[b].ready = (struct samples){
            .known = true, .stats = {.n = 81, .mean = ready_s, .min = ready_s, .max = ready_s}};
    }
}

static void make_lab(struct lab *lab, struct random *r, int n_types, enum forecast_model model)
{
    static const char name[] = "abc";
    char yaml[1024];
    *lab = (struct lab){0};
    int length = snprintf(yaml, sizeof yaml, "devices:\n");
    for (int t = 0; t < n_types; t++)
        length += snprintf(yaml + length, sizeof yaml - (size_t)length,
                           "  %c: {count: %d, batch: %d, max_batch: %d, profile: p}\n", name[t],
                           1 + (int)random_below(r, 3), GIVEN, MOST_BATCH);
    length += snprintf(yaml + length, sizeof yaml - (size_t)length, "network:\n  links:\n");
    for (int t = 0; t < n_types; t++)
        for (int u = t; u < n_types; u++)
            length +=
                snprintf(yaml + length, sizeof yaml - (size_t)length,
                         "    - {between: [%c, %c], bandwidth: 400 Mbit/s}\n", name[t], name[u]);
    cluster_read_job(&lab->c, yaml);
    lab->c.model = model;
    for (int t = 0; t < n_types; t++) {
        lab->forward_s[t] = 0.02 + 0.2 * random_unit(r);
        lab->backward_s[t] = 0.04 + 0.3 * random_unit(r);
        lab->c.profile[t] =
            cluster_profile(lab->c.job.type[t].name, GIVEN, lab->forward_s[t], 0.01, 6e6);
        if (model == MODEL_TIMELINE)
            add_backward(lab, t);
        lab->profiles[t] = (struct split_profiles){&lab->c.profile[t], 1};
    }
}

static size_t types_in_ring(const struct lab *lab, int *type_of)
{
    for (size_t i = 0; i < lab->c.job.n_devices; i++)
        type_of[i] = job_device_type(&lab->c.job, i);
    return lab->c.job.n_devices;
}

static double closed_form_s(const struct lab *lab, const int64_t *batch)
{
    struct ft_device_type type[CLUSTER_MOST_TYPES];
    double bandwidth_Bps[16];
    int type_of[16];
    size_t n = types_in_ring(lab, type_of);
    for (int t = 0; t < lab->c.job.n_types; t++) {
        double k = (double)batch[t] / GIVEN;
        type[t] = (struct ft_device_type){k * 0.0015, k * lab->forward_s[t], k * 0.01};
    }
    for (size_t i = 0; i < n; i++)
        bandwidth_Bps[i] = 5e7;
    struct ft_ring ring = {n, type_of, bandwidth_Bps, 6e6};
    struct ft_step_forecast step;
    assert_true(ft_closed_form(type, (size_t)lab->c.job.n_types, &ring, NULL, &step, NULL));
    return step.step_s;
}

static double timeline_s(const struct lab *lab, const int64_t *batch)
{
    struct ft_timeline_type type[CLUSTER_MOST_TYPES];
    double ready_s[CLUSTER_MOST_TYPES][N_BUCKETS];
    struct ft_link link[16];
    int type_of[16];
    size_t n = types_in_ring(lab, type_of);
    for (int t = 0; t < lab->c.job.n_types; t++) {
        double k = (double)batch[t] / GIVEN, backward_s = k * lab->backward_s[t];
        for (size_t b = 0; b < N_BUCKETS; b++)
            ready_s[t][b] = backward_s * (double)(b + 1) / N_BUCKETS;
        type[t] = (struct ft_timeline_type){k * 0.001,          false,      k * lab->forward_s[t],
                                            backward_s,         ready_s[t], 0.004,
                                            0.002 + k * 0.0005, INFINITY,   INFINITY};
    }
    for (size_t i = 0; i < n; i++)
        link[i] = (struct ft_link){.bandwidth_Bps = 5e7};
    struct ft_timeline in = {.type = type,
                             .n_types = (size_t)lab->c.job.n_types,
                             .type_of = type_of,
                             .link = link,
                             .n_devices = n,
                             .bucket_bytes = bucket_bytes,
                             .n_buckets = N_BUCKETS};
    struct ft_timeline_step step;
    assert_true(ft_timeline_step(&in, &step, NULL));
    return step.step_s;
}

static double step_s(const struct lab *lab, const int64_t *batch)
{
    return lab->c.model == MODEL_TIMELINE ? timeline_s(lab, batch) : closed_form_s(lab, batch);
}

static double global_batch(const struct lab *lab, const int64_t *batch)
{
    double sum = 0;
    for (int t = 0; t < lab->c.job.n_types; t++)
        sum += (double)(lab->c.job.type[t].count * batch[t]);
    return sum;
}

/* The least step over its samples, of all mini-batches with that sum (0: any). */
static double best_of_all(const struct lab *lab, double sum, int64_t *batch, int at)
{
    double best = INFINITY;
    if (at == lab->c.job.n_types)
        return sum > 0 && global_batch(lab, batch) != sum
                   ? INFINITY
                   : step_s(lab, batch) / global_batch(lab, batch);
    for (batch[at] = 1; batch[at] <= MOST_BATCH; batch[at]++)
        best = fmin(best, best_of_all(lab, sum, batch, at + 1));
    return best;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-8 * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static void check_against_all(struct random *r, int n_types, enum forecast_model model,
                              bool fastest)
{
    struct lab lab;
    int64_t batch[CLUSTER_MOST_TYPES], tried[CLUSTER_MOST_TYPES];
    make_lab(&lab, r, n_types, model);
    lab.wish.fastest = fastest;
    split(&lab);
    double own = global_batch(&lab, (const int64_t[]){GIVEN, GIVEN, GIVEN});
    double best = best_of_all(&lab, fastest ? 0 : own, tried, 0);
    for (int t = 0; t < n_types; t++)
        batch[t] = (int64_t)lab.split.type[t].found;
    assert_true(lab.split.exact);
    assert_near(lab.split.found.step_s, step_s(&lab, batch));
    assert_near(lab.split.found.global_batch, global_batch(&lab, batch));
    assert_near(1 / lab.split.found.samples_per_s, best);
    if (!fastest)
        assert_near(lab.split.found.global_batch, own);
    cluster_free(&lab.c);
}

static void no_other_mini_batches_are_better_by_the_closed_form(void **state)
{
    (void)state;
    struct random r = random_seed(8, 1);
    for (int trial = 0; trial < 80; trial++)
        check_against_all(&r, 1 + trial % 3, MODEL_CLOSED_FORM, trial % 2);
}

static void no_other_mini_batches_are_better_by_the_timeline(void **state)
{
    (void)state;
    struct random r = random_seed(9, 1);
    for (int trial = 0; trial < 30; trial++)
        check_against_all(&r, 2 + (trial % 5 == 0), MODEL_TIMELINE, trial % 2);
}

/* Forward times of a type at three mini-batches; lines between them. */
struct bends {
    double forward_s[3];
    struct profile profile[3];
};

static const double bend_at[] = {1, GIVEN, MOST_BATCH};

static void bend(struct lab *lab, struct random *r, struct bends *bends)
{
    for (int t = 0; t < lab->c.job.n_types; t++) {
        for (int i = 0; i < 3; i++) {
            bends[t].forward_s[i] = 0.02 + 0.3 * random_unit(r);
            bends[t].profile[i] = cluster_profile(lab->c.job.type[t].name, (int)bend_at[i],
                                                  bends[t].forward_s[i], 0.01, 6e6);
        }
        lab->profiles[t] = (struct split_profiles){bends[t].profile, 3};
    }
}

static double bent_s(const struct bends *bends, int64_t batch)
{
    int i = batch <= GIVEN ? 0 : 1;
    double share = ((double)batch - bend_at[i]) / (bend_at[i + 1] - bend_at[i]);
    return bends->forward_s[i] + share * (bends->forward_s[i + 1] - bends->forward_s[i]) + 0.01;
}

/* Two types; all links are the same, so that the slowest type is the step. */
static double best_bent(const struct lab *lab, const struct bends *bends, double sum)
{
    double best = INFINITY, n = (double)lab->c.job.n_devices;
    double ring_s = 2 * (n - 1) / n * 6e6 / 5e7;
    for (int64_t a = 1; a <= MOST_BATCH; a++) {
        for (int64_t b = 1; b <= MOST_BATCH; b++) {
            double samples = global_batch(lab, (const int64_t[]){a, b});
            double step_s = fmax(bent_s(&bends[0], a), bent_s(&bends[1], b)) + ring_s;
            if (sum == 0 || samples == sum)
                best = fmin(best, step_s / samples);
        }
    }
    return best;
}

static void no_other_mini_batches_are_better_where_times_fall(void **state)
{
    (void)state;
    struct random r = random_seed(10, 1);
    for (int trial = 0; trial < 60; trial++) {
        struct lab lab;
        struct bends bends[2];
        make_lab(&lab, &r, 2, MODEL_CLOSED_FORM);
        bend(&lab, &r, bends);
        lab.wish.fastest = trial % 2;
        split(&lab);
        double own = global_batch(&lab, (const int64_t[]){GIVEN, GIVEN});
        assert_true(lab.split.exact);
        assert_near(1 / lab.split.found.samples_per_s,
                    best_bent(&lab, bends, lab.wish.fastest ? 0 : own));
        cluster_free(&lab.c);
    }
}

#define TWO_TYPES                                                                                  \
    "devices:\n"                                                                                   \
    "  a: {count: 2, batch: 10, data: 300 samples, profile: p}\n"                                  \
    "  b: {count: 2, batch: 10, data: 300 samples, profile: p}\n"                                  \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [a, a], bandwidth: 80 Mbit/s}\n"                                              \
    "    - {between: [b, b], bandwidth: 80 Mbit/s}\n"                                              \
    "    - {between: [a, b], bandwidth: 80 Mbit/s}\n"

static void start(struct lab *lab)
{
    *lab = (struct lab){0};
    cluster_read_job(&lab->c, TWO_TYPES);
    lab->c.profile[0] = cluster_profile("a", 10, 0.1, 0, 6e6);
    lab->c.profile[1] = cluster_profile("b", 10, 0.3, 0, 6e6);
    for (int t = 0; t < 2; t++) {
        lab->profiles[t] = (struct split_profiles){&lab->c.profile[t], 1};
        cluster_stage(&lab->c.profile[t], STAGE_LOADER_INTERVAL, 0);
    }
}

/* a takes 10 ms a sample, b 30: 15 and 5 take 150 ms both. Data goes with the mini-batch. */
static void the_step_is_balanced_and_data_and_weights_go_with_it(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab);
    split(&lab);
    const struct split_type *a = &lab.split.type[0], *b = &lab.split.type[1];
    assert_near(a->found, 15);
    assert_near(b->found, 5);
    assert_near(lab.split.given.step_s, 0.3 + 0.9);
    assert_near(lab.split.found.step_s, 0.15 + 0.9);
    assert_near(a->weight, 1.5);
    assert_near(b->weight, 0.5);
    assert_near(a->data.value, 450);
    assert_near(b->data.value, 150);
    assert_int_equal(a->basis, SPLIT_ASSUMED);
    cluster_free(&lab.c);
}

/* b was measured at 4 and 10: 210 and 300 ms, so 15 ms a sample and 150 ms in any case. */
static void times_by_batch_are_used_where_they_were_measured(void **state)
{
    (void)state;
    struct lab lab;
    struct profile b[2];
    start(&lab);
    b[0] = lab.c.profile[1];
    b[1] = cluster_profile("b", 4, 0.21, 0, 6e6);
    cluster_stage(&b[1], STAGE_LOADER_INTERVAL, 0);
    lab.profiles[1] = (struct split_profiles){b, 2};
    lab.wish.global_batch = 56;
    split(&lab);
    assert_near(lab.split.type[0].found, 23);
    assert_near(lab.split.type[1].found, 5);
    assert_int_equal(lab.split.type[1].basis, SPLIT_FITTED);
    assert_near(lab.split.type[1].alone_s, 0.225);
    assert_near(lab.split.found.step_s, 0.23 + 0.9);
    lab.wish.global_batch = 36;
    split(&lab);
    assert_near(lab.split.type[1].found, 1);
    assert_int_equal(lab.split.type[1].basis, SPLIT_EXTRAPOLATED);
    cluster_free(&lab.c);
}

/* Without max_batch, the most samples a second use no more than what was measured. */
static void memory_limits_what_is_fastest(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab);
    lab.wish.fastest = true;
    split(&lab);
    assert_near(lab.split.type[0].found, 10);
    assert_false(lab.split.type[0].most_given);
    lab.c.job.type[0].max_batch = 40;
    lab.c.job.type[1].max_batch = 12;
    split(&lab);
    assert_near(lab.split.type[0].found, 40);
    assert_near(lab.split.type[1].found, 12);
    assert_near(lab.split.found.samples_per_s, 104 / 1.3);
    assert_true(lab.split.type[0].most_given);
    cluster_free(&lab.c);
}

static void a_global_batch_that_cannot_be_is_refused(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab);
    lab.wish.global_batch = 41;
    assert_false(try_split(&lab));
    assert_non_null(strstr(lab.c.e.text, "no whole mini-batches make a global batch of 41"));
    assert_non_null(strstr(lab.c.e.text, "a multiple of 2"));
    lab.c.job.type[0].max_batch = lab.c.job.type[1].max_batch = 10;
    lab.wish.global_batch = 50;
    assert_false(try_split(&lab));
    assert_non_null(strstr(lab.c.e.text, "from 4 to 40"));
    cluster_free(&lab.c);
}

/* The column `measured` of the row with these mini-batches; 0: no such file. */
static double reported(const char *batches)
{
    const char *shared = getenv("FORETRAIN_SHARED");
    char path[4096], line[1024];
    double measured = 0;
    snprintf(path, sizeof path, "%s/data/scaling/reported_figures.csv",
             shared ? shared : "../../shared");
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *found = strstr(line, batches);
        if (found && strstr(line, "pytorch-image-models/pull/580"))
            measured = strtod(found + strlen(batches), NULL);
    }
    if (file)
        fclose(file);
    return measured;
}

/* The larger mini-batch of the faster pair: 300 in the 400 ms in which the slower pair does 200. */
static void the_split_of_two_kinds_of_cards_comes_out_as_reported(void **state)
{
    (void)state;
    double equal = reported(",200/200/200/200,"), split_rate = reported(",300/300/200/200,");
    if (equal == 0 || split_rate == 0) {
        print_message("SKIPPED: no data/scaling/reported_figures.csv in FORETRAIN_SHARED\n");
        skip();
    }
    struct lab lab = {0};
    cluster_read_job(&lab.c, "devices:\n"
                             "  a6000: {count: 2, batch: 200, max_batch: 300, profile: p}\n"
                             "  2080ti: {count: 2, batch: 200, max_batch: 200, profile: p}\n"
                             "network:\n  links:\n"
                             "    - {between: [a6000, a6000], bandwidth: 10 GB/s}\n"
                             "    - {between: [2080ti, 2080ti], bandwidth: 10 GB/s}\n"
                             "    - {between: [a6000, 2080ti], bandwidth: 10 GB/s}\n");
    double payload_bytes = 21.2e6, all_reduce_s = 2 * 3 * payload_bytes / 4 / 10e9;
    double slow_s = 4 * 200 / equal - all_reduce_s;
    lab.c.profile[0] = cluster_profile("a6000", 200, slow_s * 200 / 300, 0, payload_bytes);
    lab.c.profile[1] = cluster_profile("2080ti", 200, slow_s, 0, payload_bytes);
    for (int t = 0; t < 2; t++)
        lab.profiles[t] = (struct split_profiles){&lab.c.profile[t], 1};
    lab.wish.fastest = true;
    split(&lab);
    assert_near(lab.split.given.samples_per_s, equal);
    assert_near(lab.split.type[0].found, 300);
    assert_near(lab.split.type[1].found, 200);
    assert_near(lab.split.found.step_s, lab.split.given.step_s);
    assert_near(lab.split.found.samples_per_s, split_rate);
    cluster_free(&lab.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_mini_batches_are_better_by_the_closed_form),
        cmocka_unit_test(no_other_mini_batches_are_better_by_the_timeline),
        cmocka_unit_test(no_other_mini_batches_are_better_where_times_fall),
        cmocka_unit_test(the_step_is_balanced_and_data_and_weights_go_with_it),
        cmocka_unit_test(times_by_batch_are_used_where_they_were_measured),
        cmocka_unit_test(memory_limits_what_is_fastest),
        cmocka_unit_test(a_global_batch_that_cannot_be_is_refused),
        cmocka_unit_test(the_split_of_two_kinds_of_cards_comes_out_as_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
