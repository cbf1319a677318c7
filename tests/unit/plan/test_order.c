/* Ring orders, held against all orders of small systems. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../predict/cluster.h"
#include "base/random.h"
#include "base/text.h"
#include "plan/order.h"

enum { MOST_DEVICES = 12, N_BUCKETS = 2 };

/* Devices of up to three types on hosts of up to three devices, each type on hosts of its own. */
struct lab {
    struct cluster c;
    struct order order;
    size_t n;
};

static const double ready_share[N_BUCKETS] = {0.4, 1};
static const double bucket_bytes[N_BUCKETS] = {2e6, 4e6};

static void add_times(struct profile *p, double backward_s, struct bucket *bucket)
{
    cluster_stage(p, STAGE_BACKWARD_COMPUTE, backward_s);
    cluster_stage(p, STAGE_OPTIMIZER, 0.004);
    cluster_stage(p, STAGE_REST, 0.002);
    p->bucket = bucket;
    p->n_buckets = N_BUCKETS;
    for (size_t b = 0; b < N_BUCKETS; b++) {
        double ready_s = ready_share[b] * backward_s;
        bucket[b] = (struct bucket){.bytes = bucket_bytes[b], .wire_bytes = bucket_bytes[b]};
        bucket[b].ready = (struct samples){
            .known = true, .stats = {.n = 81, .mean = ready_s, .min = ready_s, .max = ready_s}};
    }
}

static const double forward_s[] = {0.1, 0.25, 0.16}, backward_s[] = {0.12, 0.2, 0.3};

static void draw_types(struct lab *lab, struct random *r, size_t most, struct text *yaml)
{
    int n_types = 1 + (int)random_below(r, 3);
    text_add(yaml, "name: lab\ndevices:\n");
    for (int t = 0; t < n_types; t++) {
        size_t left = most - lab->n - (size_t)(n_types - 1 - t);
        size_t count = 1 + random_below(r, left < 4 ? left : 4), slots = 1 + random_below(r, 3);
        text_format(yaml, "  %c: {count: %zu, batch: 16, hosts: \"%c[0-%zu]:%zu\"", 'a' + t, count,
                    'a' + t, (count - 1) / slots, slots);
        text_format(yaml, ", profile: p.json}\n");
        lab->n += count;
    }
}

/* From host to host, and within each. */
static void draw_links(struct random *r, const struct lab *lab, struct text *csv)
{
    static const int few[] = {10, 20, 100, 400};
    bool ties = random_below(r, 2) == 0;
    text_add(csv, "from,to,bandwidth\n");
    for (size_t k = 0; k < lab->n * lab->n; k++) {
        int from_slot = 0, to_slot = 0;
        const char *from = job_device_host(&lab->c.job, k / lab->n, &from_slot);
        const char *to = job_device_host(&lab->c.job, k % lab->n, &to_slot);
        if (from_slot == 0 && to_slot == 0)
            text_format(csv, "%s,%s,%d Mbit/s\n", from, to,
                        ties ? few[random_below(r, 4)] : 8 + (int)random_below(r, 400));
    }
}

static void make_lab(struct lab *lab, struct random *r, size_t most, enum forecast_model model)
{
    *lab = (struct lab){0};
    struct text yaml = {0}, csv = {0};
    do {
        lab->n = 0;
        text_free(&yaml);
        draw_types(lab, r, most, &yaml);
    } while (lab->n < 2);
    cluster_read_job(&lab->c, yaml.data);
    draw_links(r, lab, &csv);
    cluster_read_network(&lab->c, csv.data);
    for (int t = 0; t < lab->c.job.n_types; t++) {
        lab->c.profile[t] = cluster_profile(lab->c.job.type[t].name, 16, forward_s[t], 0.01, 6e6);
        if (model == MODEL_TIMELINE)
            add_times(&lab->c.profile[t], backward_s[t],
                      ARENA_ARRAY(&lab->c.arena, N_BUCKETS, struct bucket));
    }
    lab->c.model = model;
    text_free(&yaml);
    text_free(&csv);
}

static void find(struct lab *lab)
{
    struct cluster *c = &lab->c;
    if (!order_find(&c->arena, &c->job, c->profile, &c->network, c->model, &lab->order, &c->e))
        fail_msg("%s", c->e.text);
}

static void free_lab(struct lab *lab)
{
    cluster_free(&lab->c);
}

static bool crosses(const struct lab *lab, size_t a, size_t b)
{
    return strcmp(job_device_host(&lab->c.job, a, NULL), job_device_host(&lab->c.job, b, NULL)) !=
           0;
}

/* The links of an order, as the network has them, uplinks shared by those that leave or enter. */
static void links_of(const struct lab *lab, const size_t *ring, struct ft_link *link)
{
    const struct job *job = &lab->c.job;
    for (size_t i = 0; i < lab->n; i++) {
        size_t from = ring[i], to = ring[(i + 1) % lab->n];
        struct link found;
        struct error e = {0};
        assert_true(network_link(&lab->c.network, job, from, to, &found, &e));
        size_t out = 1, in = 1;
        for (size_t k = 0; crosses(lab, from, to) && k < lab->n; k++) {
            size_t other = ring[k], next = ring[(k + 1) % lab->n];
            if (k == i || !crosses(lab, other, next))
                continue;
            out += !crosses(lab, from, other);
            in += !crosses(lab, to, next);
        }
        link[i] =
            (struct ft_link){.bandwidth_Bps = found.bandwidth_Bps / (double)(out > in ? out : in)};
    }
}

static double closed_form_s(const struct lab *lab, const size_t *ring, const struct ft_link *link)
{
    struct ft_device_type type[CLUSTER_MOST_TYPES];
    double bandwidth_Bps[MOST_DEVICES];
    int type_of[MOST_DEVICES];
    for (int t = 0; t < lab->c.job.n_types; t++)
        type[t] = (struct ft_device_type){0.0015, forward_s[t], 0.01};
    for (size_t i = 0; i < lab->n; i++) {
        type_of[i] = job_device_type(&lab->c.job, ring[i]);
        bandwidth_Bps[i] = link[i].bandwidth_Bps;
    }
    struct ft_ring in = {lab->n, type_of, bandwidth_Bps, 6e6};
    struct ft_step_forecast step;
    assert_true(ft_closed_form(type, (size_t)lab->c.job.n_types, &in, NULL, &step, NULL));
    return step.step_s;
}

static double timeline_s(const struct lab *lab, const size_t *ring, const struct ft_link *link)
{
    struct ft_timeline_type type[CLUSTER_MOST_TYPES];
    double ready_s[CLUSTER_MOST_TYPES][N_BUCKETS];
    int type_of[MOST_DEVICES];
    for (int t = 0; t < lab->c.job.n_types; t++) {
        for (size_t b = 0; b < N_BUCKETS; b++)
            ready_s[t][b] = ready_share[b] * backward_s[t];
        type[t] = (struct ft_timeline_type){0.001,          false,      forward_s[t],
                                            backward_s[t],  ready_s[t], 0.004,
                                            0.002 + 0.0005, INFINITY,   INFINITY};
    }
    for (size_t i = 0; i < lab->n; i++)
        type_of[i] = job_device_type(&lab->c.job, ring[i]);
    struct ft_timeline in = {.type = type,
                             .n_types = (size_t)lab->c.job.n_types,
                             .type_of = type_of,
                             .link = link,
                             .n_devices = lab->n,
                             .bucket_bytes = bucket_bytes,
                             .n_buckets = N_BUCKETS};
    struct ft_timeline_step step;
    assert_true(ft_timeline_step(&in, &step, NULL));
    return step.step_s;
}

static double step_s(const struct lab *lab, const size_t *ring)
{
    struct ft_link link[MOST_DEVICES];
    links_of(lab, ring, link);
    return lab->c.model == MODEL_TIMELINE ? timeline_s(lab, ring, link)
                                          : closed_form_s(lab, ring, link);
}

/* The best of all orders: the first device stays, the others in every way. */
static double best_of_all(const struct lab *lab, size_t *ring, size_t at)
{
    double best_s = INFINITY;
    if (at == lab->n)
        return step_s(lab, ring);
    for (size_t i = at; i < lab->n; i++) {
        size_t kept = ring[at];
        ring[at] = ring[i];
        ring[i] = kept;
        best_s = fmin(best_s, best_of_all(lab, ring, at + 1));
        ring[i] = ring[at];
        ring[at] = kept;
    }
    return best_s;
}

static void assert_near(double value, double expected, int trial)
{
    if (!(fabs(value - expected) <= 1e-8 * expected))
        fail_msg("trial %d: %.12g is not %.12g", trial, value, expected);
}

static void assert_holds_every_device(const struct lab *lab, const size_t *ring)
{
    bool met[MOST_DEVICES] = {false};
    for (size_t i = 0; i < lab->n; i++) {
        assert_true(ring[i] < lab->n && !met[ring[i]]);
        met[ring[i]] = true;
    }
}

static void check_against_all(struct random *r, size_t most, enum forecast_model model, int trial)
{
    struct lab lab;
    size_t ring[MOST_DEVICES];
    make_lab(&lab, r, most, model);
    find(&lab);
    for (size_t i = 0; i < lab.n; i++)
        ring[i] = i;
    double best_s = best_of_all(&lab, ring, 1);
    assert_holds_every_device(&lab, lab.order.best.ring);
    assert_near(lab.order.listed.step_s, step_s(&lab, ring), trial);
    assert_near(lab.order.best.step_s, step_s(&lab, lab.order.best.ring), trial);
    assert_near(lab.order.best.step_s, best_s, trial);
    if (model == MODEL_CLOSED_FORM && lab.order.listed.n_sharing == 0)
        assert_near(lab.order.listed.forecast.step_s, lab.order.listed.step_s, trial);
    assert_near(lab.order.bound_s, best_s, trial);
    assert_true(lab.order.optimal);
    free_lab(&lab);
}

static void no_order_of_up_to_seven_devices_is_better_by_the_closed_form(void **state)
{
    (void)state;
    struct random r = random_seed(3, 1);
    for (int trial = 0; trial < 150; trial++)
        check_against_all(&r, 7, MODEL_CLOSED_FORM, trial);
}

static void no_order_of_up_to_six_devices_is_better_by_the_timeline(void **state)
{
    (void)state;
    struct random r = random_seed(4, 1);
    for (int trial = 0; trial < 60; trial++)
        check_against_all(&r, 6, MODEL_TIMELINE, trial);
}

static void no_order_of_nine_devices_is_better(void **state)
{
    (void)state;
    struct random r = random_seed(5, 1);
    for (int trial = 0; trial < 6; trial++)
        check_against_all(&r, 9, trial < 5 ? MODEL_CLOSED_FORM : MODEL_TIMELINE, trial);
}

/* Beyond nine devices the bound still holds for any order. */
static void shuffle(struct random *r, size_t *ring, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = random_below(r, i), kept = ring[i - 1];
        ring[i - 1] = ring[k];
        ring[k] = kept;
    }
}

static void no_drawn_order_is_below_the_bound(void **state)
{
    (void)state;
    struct random r = random_seed(6, 1);
    for (int trial = 0; trial < 60; trial++) {
        struct lab lab;
        size_t ring[MOST_DEVICES];
        make_lab(&lab, &r, MOST_DEVICES, trial % 2 ? MODEL_CLOSED_FORM : MODEL_TIMELINE);
        find(&lab);
        for (size_t i = 0; i < lab.n; i++)
            ring[i] = i;
        for (int k = 0; k < 200; k++) {
            double drawn_s = step_s(&lab, ring);
            if (!(drawn_s >= lab.order.bound_s * (1 - 1e-9)))
                fail_msg("trial %d: an order takes %.12g, the bound is %.12g", trial, drawn_s,
                         lab.order.bound_s);
            if (!(drawn_s >= lab.order.best.step_s * (1 - 1e-9)) && lab.order.optimal)
                fail_msg("trial %d: an order takes %.12g, the optimal one %.12g", trial, drawn_s,
                         lab.order.best.step_s);
            shuffle(&r, ring, lab.n);
        }
        free_lab(&lab);
    }
}

#define FAST_AND_SLOW                                                                              \
    "network:\n"                                                                                   \
    "  links:\n"                                                                                   \
    "    - {between: [a, a], bandwidth: 80 Mbit/s}\n"                                              \
    "    - {between: [b, b], bandwidth: 80 Mbit/s}\n"                                              \
    "    - {between: [a, b], bandwidth: 16 Mbit/s}\n"

static void start(struct lab *lab, const char *yaml)
{
    *lab = (struct lab){0};
    cluster_read_job(&lab->c, yaml);
    lab->n = lab->c.job.n_devices;
    lab->c.profile[0] = cluster_profile("a", 16, 0.1, 0.01, 6e6);
    lab->c.profile[1] = cluster_profile("b", 16, 0.2, 0.02, 6e6);
}

static bool try_find(struct lab *lab)
{
    struct cluster *c = &lab->c;
    const struct network *network = c->network.n ? &c->network : NULL;
    return order_find(&c->arena, &c->job, c->profile, network, c->model, &lab->order, &c->e);
}

/* A cross link decides in any order: nothing is better than what is listed. */
static void the_listed_order_stays_where_none_is_better(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 3, batch: 16}\n  b: {count: 3, batch: 16}\n"
                "ring: [a-0, b-0, a-1, b-1, a-2, b-2]\n" FAST_AND_SLOW);
    assert_true(try_find(&lab));
    assert_true(lab.order.optimal);
    assert_ptr_equal(lab.order.best.ring, lab.order.listed.ring);
    assert_int_equal(lab.order.listed.n_between_types, 6);
    assert_near(lab.order.best.step_s, 0.22 + 5, 0);
    free_lab(&lab);
}

/* Hosts x and y hold one device of each type: type by type the ring leaves each host twice. Best is
 * once, from the faster device. */
static void devices_of_a_host_come_together_where_its_uplink_is_shared(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 2, batch: 16, hosts: \"x,y\", profile: p}\n"
                "  b: {count: 2, batch: 16, hosts: \"x,y\", profile: p}\n"
                "network:\n  links:\n"
                "    - {between: [a, a], bandwidth: 72 Mbit/s}\n"
                "    - {between: [b, b], bandwidth: 72 Mbit/s}\n"
                "    - {between: [a, b], bandwidth: 72 Mbit/s}\n"
                "    - {between: [a, b], bandwidth: 720 Mbit/s, where: within-host}\n");
    assert_true(try_find(&lab));
    assert_int_equal(lab.order.listed.n_between_hosts, 4);
    assert_int_equal(lab.order.listed.n_sharing, 4);
    assert_int_equal(lab.order.best.n_between_hosts, 2);
    assert_int_equal(lab.order.best.n_sharing, 0);
    assert_int_equal(lab.order.n_hosts, 2);
    assert_near(lab.order.listed.step_s, 0.22 + 2, 0);
    assert_near(lab.order.best.step_s, 0.11 + 1, 0);
    free_lab(&lab);
}

static void devices_that_are_alike_count_as_one_kind(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 5000, batch: 16}\n"
                "  b: {count: 5000, batch: 16}\n" FAST_AND_SLOW);
    assert_true(try_find(&lab));
    assert_int_equal(lab.order.n_kinds, 2);
    assert_true(lab.order.optimal);
    free_lab(&lab);
    start(&lab, "devices:\n  a: {count: 8, batch: 16, hosts: \"n[1-4]:2\", profile: p}\n"
                "  b: {count: 3, batch: 16, hosts: \"m[1-3]\", profile: p}\n" FAST_AND_SLOW);
    assert_true(try_find(&lab));
    assert_int_equal(lab.order.n_kinds, 5);
    assert_int_equal(lab.order.n_hosts, 7);
    free_lab(&lab);
}

static void too_many_kinds_and_a_ring_of_one_are_refused(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 4002, batch: 16, hosts: \"n[1-2001]:2\", profile: p}\n"
                "  b: {count: 2, batch: 16, profile: p}\n" FAST_AND_SLOW);
    assert_false(try_find(&lab));
    assert_non_null(strstr(lab.c.e.text, "2002 of the 4004 devices differ"));
    free_lab(&lab);
    start(&lab, "devices:\n  a: {count: 1, batch: 16, profile: p}\n");
    assert_false(try_find(&lab));
    assert_non_null(strstr(lab.c.e.text, "one device has no ring"));
    free_lab(&lab);
}

/* Only what has a value is used; the listed ring is all that is known here. */
static void links_without_a_value_are_not_used(void **state)
{
    (void)state;
    struct lab lab;
    start(&lab, "devices:\n  a: {count: 2, batch: 16, hosts: \"x,y\", profile: p}\n"
                "  b: {count: 2, batch: 16, hosts: \"v,w\", profile: p}\n");
    cluster_read_network(&lab.c, "from,to,bandwidth\nx,y,9 Mbit/s\ny,v,8 Mbit/s\n"
                                 "v,w,7 Mbit/s\nw,x,6 Mbit/s\n");
    assert_true(try_find(&lab));
    assert_int_equal(lab.order.n_pairs, 12);
    assert_int_equal(lab.order.n_unknown, 4);
    assert_true(lab.order.optimal);
    free_lab(&lab);
}

/* Of the four slots of one host, 0 -> 2 -> 1 -> 3 -> 0 is wired, the rest goes a slow way. */
static void the_wires_of_a_host_put_its_slots_in_order(void **state)
{
    (void)state;
    struct lab lab;
    struct link wire[16] = {0};
    static const size_t next[] = {2, 3, 1, 0};
    for (size_t i = 0; i < 16; i++)
        wire[i] =
            (struct link){.bandwidth_Bps = next[i / 4] == i % 4 ? 9e6 : 1e6, .source = LINK_GIVEN};
    const struct host_links within = {"a", 4, wire};
    start(&lab, "devices:\n  a: {count: 4, batch: 16, hosts: \"x:4\", profile: p}\n");
    lab.c.network = (struct network){.within = &within, .n_within = 1};
    struct cluster *c = &lab.c;
    if (!order_find(&c->arena, &c->job, c->profile, &c->network, c->model, &lab.order, &c->e))
        fail_msg("%s", c->e.text);
    assert_int_equal(lab.order.n_kinds, 4);
    assert_near(lab.order.best.step_s, 0.11 + 1, 0);
    assert_int_equal(lab.order.best.ring[1], 2);
    assert_int_equal(lab.order.best.ring[2], 1);
    free_lab(&lab);
}

/* 1.5 MB take 250 ms whatever the bandwidth of the longest messages is: six times that. */
static void messages_take_what_their_curve_says(void **state)
{
    (void)state;
    struct lab lab;
    static const struct ft_message point[] = {{1e6, 0.2}, {2e6, 0.3}};
    const struct link_curve curve = {point, 2};
    struct link link[4] = {0};
    for (size_t i = 0; i < 4; i++)
        link[i] = (struct link){.bandwidth_Bps = 1e7, .source = LINK_GIVEN, .curve = &curve};
    const char *name[] = {"x", "y"};
    start(&lab, "devices:\n  a: {count: 4, batch: 16, hosts: \"x:2,y:2\", profile: p}\n");
    lab.c.network = (struct network){.name = name, .n = 2, .link = link};
    assert_true(try_find(&lab));
    assert_near(lab.order.listed.step_s, 0.11 + 6 * 0.25, 0);
    assert_near(lab.order.listed.forecast.step_s, lab.order.listed.step_s, 0);
    assert_true(lab.order.optimal);
    free_lab(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_order_of_up_to_seven_devices_is_better_by_the_closed_form),
        cmocka_unit_test(no_order_of_up_to_six_devices_is_better_by_the_timeline),
        cmocka_unit_test(no_order_of_nine_devices_is_better),
        cmocka_unit_test(no_drawn_order_is_below_the_bound),
        cmocka_unit_test(the_listed_order_stays_where_none_is_better),
        cmocka_unit_test(devices_of_a_host_come_together_where_its_uplink_is_shared),
        cmocka_unit_test(devices_that_are_alike_count_as_one_kind),
        cmocka_unit_test(too_many_kinds_and_a_ring_of_one_are_refused),
        cmocka_unit_test(links_without_a_value_are_not_used),
        cmocka_unit_test(the_wires_of_a_host_put_its_slots_in_order),
        cmocka_unit_test(messages_take_what_their_curve_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
