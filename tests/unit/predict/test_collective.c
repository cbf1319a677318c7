/* Collectives: their closed forms, limits, every chunk walked one by one, and what they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "foretrain.h"

enum { MOST_DEVICES = 64, N_KINDS = FT_BRIDGE + 1 };
static const double BANDWIDTH_BPS = 1e9, LATENCY_S = 1e-3;

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* A collective, its links and its starts. */
struct system {
    struct ft_collective *collective;
    const struct ft_pair *pair;
    struct ft_link *link;
    size_t n_pairs, n_devices;
    double start_s[MOST_DEVICES], end_s[MOST_DEVICES];
};

static struct system make(enum ft_collective_kind kind, size_t n, const int *host_of,
                          const int *vendor_of)
{
    char message[FT_MESSAGE_SIZE];
    struct system s = {.n_devices = n};
    s.collective = ft_collective_make(kind, n, host_of, vendor_of, message);
    if (!s.collective)
        fail_msg("%s", message);
    s.pair = ft_collective_pairs(s.collective, &s.n_pairs);
    s.link = calloc(s.n_pairs + 1, sizeof *s.link);
    for (size_t k = 0; k < s.n_pairs; k++) {
        s.link[k].bandwidth_Bps = BANDWIDTH_BPS;
        s.link[k].latency_s = LATENCY_S;
    }
    return s;
}

static void free_system(struct system *s)
{
    ft_collective_free(s->collective);
    free(s->link);
}

static void draw(struct system *s, struct random *r)
{
    for (size_t k = 0; k < s->n_pairs; k++) {
        s->link[k].bandwidth_Bps = BANDWIDTH_BPS * (0.1 + random_unit(r));
        s->link[k].latency_s = LATENCY_S * random_unit(r);
    }
    for (size_t i = 0; i < s->n_devices; i++)
        s->start_s[i] = 0.05 * random_unit(r);
}

/* The last device's end. */
static double run(struct system *s, double payload_bytes)
{
    char message[FT_MESSAGE_SIZE];
    double last_s = 0;
    if (!ft_collective_all_reduce(s->collective, s->link, s->start_s, payload_bytes, s->end_s,
                                  message))
        fail_msg("%s", message);
    for (size_t i = 0; i < s->n_devices; i++)
        last_s = fmax(last_s, s->end_s[i]);
    return last_s;
}

static double takes(enum ft_collective_kind kind, size_t n, double payload_bytes)
{
    struct system s = make(kind, n, NULL, NULL);
    double last_s = run(&s, payload_bytes);
    free_system(&s);
    return last_s;
}

static double wire_s(double bytes)
{
    return bytes / BANDWIDTH_BPS;
}

static double floor_log2(size_t n)
{
    double log = 0;
    for (; n > 1; n /= 2)
        log++;
    return log;
}

static void equal_links_give_the_closed_forms(void **state)
{
    (void)state;
    const double bytes = 1e8;
    for (size_t n = 2; n <= MOST_DEVICES; n++) {
        double share = ((double)n - 1) / (double)n, power = exp2(floor_log2(n));
        double fold_s = (double)n > power ? 2 * (LATENCY_S + wire_s(bytes)) : 0;
        assert_near(takes(FT_RING, n, bytes),
                    2 * (((double)n - 1) * LATENCY_S + wire_s(bytes) * share));
        assert_near(takes(FT_HALVING_DOUBLING, n, bytes),
                    2 * (log2(power) * LATENCY_S + wire_s(bytes) * (1 - 1 / power)) + fold_s);
        assert_near(takes(FT_PARAMETER_SERVER, n, bytes), 2 * (LATENCY_S + wire_s(bytes) * share));
    }
}

static void number_groups(int *group_of, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        group_of[i] = (int)(i / size);
}

/* Rings across hosts share their uplinks, so that those carry all of the payload. */
static void hierarchical_is_rings_within_and_across(void **state)
{
    (void)state;
    const double bytes = 1e8;
    int host_of[MOST_DEVICES];
    for (size_t size = 1; size <= 8; size++) {
        size_t n_hosts = 6;
        number_groups(host_of, size * n_hosts, size);
        struct system s = make(FT_HIERARCHICAL, size * n_hosts, host_of, NULL);
        double within = (double)size - 1, across = (double)n_hosts - 1;
        assert_near(run(&s, bytes), 2 * within * (LATENCY_S + wire_s(bytes / (double)size)) +
                                        2 * across * (LATENCY_S + wire_s(bytes / (double)n_hosts)));
        free_system(&s);
    }
}

static void a_bridge_is_rings_an_exchange_and_rings(void **state)
{
    (void)state;
    const double bytes = 1e8;
    int vendor_of[MOST_DEVICES];
    for (size_t n = 1; n <= MOST_DEVICES / 2; n++) {
        number_groups(vendor_of, 2 * n, n);
        struct system s = make(FT_BRIDGE, 2 * n, NULL, vendor_of);
        double round_s = LATENCY_S + wire_s(bytes / (double)n);
        assert_near(run(&s, bytes), (3 * ((double)n - 1) + 1) * round_s);
        free_system(&s);
    }
}

/* Vendors of 3 and 2: thirds and halves overlap in four pieces; the larger shard takes longest. */
static void a_bridge_joins_vendors_of_any_size(void **state)
{
    (void)state;
    const int vendor_of[] = {0, 1, 0, 1, 0};
    const double bytes = 1e8;
    struct system s = make(FT_BRIDGE, 5, NULL, vendor_of);
    assert_int_equal(s.n_pairs, 3 + 2 + 4 + 4);
    double rings_s = 2 * (LATENCY_S + wire_s(bytes / 3)) + 4 * (LATENCY_S + wire_s(bytes / 3));
    assert_near(run(&s, bytes), rings_s + LATENCY_S + wire_s(bytes / 2));
    free_system(&s);
}

static void one_vendor_or_host_or_one_device_each_is_a_ring(void **state)
{
    (void)state;
    for (size_t n = 2; n < 20; n++) {
        double ring_s = takes(FT_RING, n, 1e8);
        assert_near(takes(FT_BRIDGE, n, 1e8), ring_s);
        assert_near(takes(FT_HIERARCHICAL, n, 1e8), ring_s);
        const int one_host[MOST_DEVICES] = {0};
        struct system s = make(FT_HIERARCHICAL, n, one_host, NULL);
        assert_near(run(&s, 1e8), ring_s);
        free_system(&s);
    }
}

static void two_devices_take_what_a_ring_takes(void **state)
{
    (void)state;
    double ring_s = takes(FT_RING, 2, 1e8);
    for (int kind = 0; kind < N_KINDS; kind++)
        assert_near(takes((enum ft_collective_kind)kind, 2, 1e8), ring_s);
}

static void latency_alone_counts_hops(void **state)
{
    (void)state;
    for (size_t n = 2; n <= MOST_DEVICES; n *= 2) {
        assert_near(takes(FT_TREE, n, 0), 2 * log2((double)n) * LATENCY_S);
        assert_near(takes(FT_HALVING_DOUBLING, n, 0), 2 * log2((double)n) * LATENCY_S);
        assert_near(takes(FT_PARAMETER_SERVER, n, 0), 2 * LATENCY_S);
        assert_near(takes(FT_RING, n, 0), 2 * ((double)n - 1) * LATENCY_S);
    }
}

/* Each device sends and receives all of the payload twice: up one half, down two, as a leaf one. */
static void a_tree_of_many_chunks_takes_twice_the_payload(void **state)
{
    (void)state;
    const double bytes = 1e11;
    for (size_t n = 4; n <= MOST_DEVICES; n++) {
        double took_s = takes(FT_TREE, n, bytes) / (2 * wire_s(bytes));
        assert_true(took_s > 0.999 && took_s < 1.01);
    }
}

static size_t chunks(double bytes, double depth)
{
    double half = bytes / 2, chunk = 524288;
    while (half / chunk < 8 * depth && chunk > 131072)
        chunk /= 2;
    while (half / chunk < 4 * depth && chunk > 65536)
        chunk /= 2;
    while (half / chunk < depth && chunk > 32768)
        chunk /= 2;
    return (size_t)fmax(1, ceil(half / chunk));
}

/* One tree as its messages say: parents, and which message goes up from a device and down to it. */
struct tree {
    size_t parent[MOST_DEVICES], up[MOST_DEVICES], down[MOST_DEVICES], root;
    size_t hops[MOST_DEVICES];
};

static struct tree tree_of(const struct system *s, size_t half)
{
    struct tree t = {0};
    bool has_parent[MOST_DEVICES] = {false};
    for (size_t k = half * s->n_pairs / 2; k < (half + 1) * s->n_pairs / 2; k += 2) {
        size_t child = s->pair[k].from;
        assert_false(has_parent[child]);
        assert_int_equal(s->pair[k + 1].to, child);
        assert_int_equal(s->pair[k + 1].from, s->pair[k].to);
        has_parent[child] = true;
        t.parent[child] = s->pair[k].to;
        t.up[child] = k;
        t.down[child] = k + 1;
    }
    for (size_t i = 0; i < s->n_devices; i++) {
        if (!has_parent[i])
            t.root = i;
    }
    for (size_t i = 0; i < s->n_devices; i++) {
        for (size_t at = i; at != t.root; at = t.parent[at])
            t.hops[i]++;
        assert_true(t.hops[i] < s->n_devices);
    }
    return t;
}

/* A turn of the longer of both its ports: a chunk of each message that passes it. */
static void find_turns(const struct system *s, double chunk_bytes, double *turn_s)
{
    double out_s[MOST_DEVICES] = {0}, in_s[MOST_DEVICES] = {0};
    for (size_t k = 0; k < s->n_pairs; k++) {
        out_s[s->pair[k].from] += chunk_bytes / s->link[k].bandwidth_Bps;
        in_s[s->pair[k].to] += chunk_bytes / s->link[k].bandwidth_Bps;
    }
    for (size_t k = 0; k < s->n_pairs; k++)
        turn_s[k] = fmax(out_s[s->pair[k].from], in_s[s->pair[k].to]);
}

/* When message k with the next chunk, ready at `ready_s`, arrives; its next turn is in free_s. */
static double pass(const struct system *s, size_t k, double ready_s, double chunk_bytes,
                   const double *turn_s, double *free_s)
{
    double begins_s = fmax(ready_s, free_s[k]);
    free_s[k] = begins_s + turn_s[k];
    return begins_s + chunk_bytes / s->link[k].bandwidth_Bps + s->link[k].latency_s;
}

/* Devices from those farthest from the root to the root. */
static void sum_up(const struct system *s, const struct tree *t, double chunk_bytes,
                   const double *turn_s, double *free_s, double *sum_s)
{
    memcpy(sum_s, s->start_s, s->n_devices * sizeof *sum_s);
    for (size_t hops = s->n_devices; hops > 0; hops--) {
        for (size_t i = 0; i < s->n_devices; i++) {
            double *parent_s = &sum_s[t->parent[i]];
            if (t->hops[i] == hops)
                *parent_s =
                    fmax(*parent_s, pass(s, t->up[i], sum_s[i], chunk_bytes, turn_s, free_s));
        }
    }
}

static void hand_down(const struct system *s, const struct tree *t, double chunk_bytes,
                      const double *turn_s, double *free_s, double *has_s, double *end_s)
{
    for (size_t hops = 1; hops < s->n_devices; hops++) {
        for (size_t i = 0; i < s->n_devices; i++) {
            size_t p = t->parent[i];
            if (t->hops[i] != hops)
                continue;
            has_s[i] = pass(s, t->down[i], has_s[p], chunk_bytes, turn_s, free_s);
            end_s[i] = fmax(end_s[i], has_s[i]);
            end_s[p] = fmax(end_s[p], has_s[i]);
        }
    }
}

static void walk_tree(const struct system *s, const struct tree *t, size_t n_chunks,
                      double chunk_bytes, double *end_s)
{
    double free_s[4 * MOST_DEVICES] = {0}, turn_s[4 * MOST_DEVICES];
    find_turns(s, chunk_bytes, turn_s);
    for (size_t i = 0; i < s->n_devices; i++) {
        if (i != t->root)
            free_s[t->up[i]] = fmax(s->start_s[i], s->start_s[t->parent[i]]);
    }
    for (size_t g = 0; g < n_chunks; g++) {
        double sum_s[MOST_DEVICES], has_s[MOST_DEVICES];
        sum_up(s, t, chunk_bytes, turn_s, free_s, sum_s);
        has_s[t->root] = sum_s[t->root];
        hand_down(s, t, chunk_bytes, turn_s, free_s, has_s, end_s);
    }
}

static void trees_take_what_chunks_walked_take(void **state)
{
    (void)state;
    struct random r = random_seed(11, 0);
    for (int c = 0; c < 300; c++) {
        size_t n = 2 + random_below(&r, MOST_DEVICES - 1), depth = 0;
        struct system s = make(FT_TREE, n, NULL, NULL);
        double expected_s[MOST_DEVICES] = {0};
        double bytes = exp2(10 + 15 * random_unit(&r));
        struct tree tree[2] = {tree_of(&s, 0), tree_of(&s, 1)};
        draw(&s, &r);
        for (size_t i = 0; i < 2 * n; i++)
            depth = tree[i % 2].hops[i / 2] > depth ? tree[i % 2].hops[i / 2] : depth;
        size_t n_chunks = chunks(bytes, (double)depth);
        for (int half = 0; half < 2; half++)
            walk_tree(&s, &tree[half], n_chunks, bytes / 2 / (double)n_chunks, expected_s);
        run(&s, bytes);
        for (size_t i = 0; i < n; i++)
            assert_near(s.end_s[i], expected_s[i]);
        free_system(&s);
    }
}

/* Up to two children a host in each tree, and for an even number, a leaf in one of the two. */
static void two_trees_use_both_directions_of_all_hosts(void **state)
{
    (void)state;
    for (size_t n = 4; n <= MOST_DEVICES; n++) {
        struct system s = make(FT_TREE, n, NULL, NULL);
        struct tree tree[2] = {tree_of(&s, 0), tree_of(&s, 1)};
        size_t children[2][MOST_DEVICES] = {{0}};
        for (size_t i = 0; i < 2 * n; i++) {
            if (i / 2 != tree[i % 2].root)
                children[i % 2][tree[i % 2].parent[i / 2]]++;
        }
        for (size_t i = 0; i < n; i++) {
            assert_true(children[0][i] <= 2 && children[1][i] <= 2);
            if (n % 2 == 0)
                assert_true(children[0][i] == 0 || children[1][i] == 0);
        }
        free_system(&s);
    }
}

static void draw_groups(int *group_of, size_t n, struct random *r)
{
    number_groups(group_of, n, 1 + random_below(r, n));
}

static struct system draw_system(int kind, struct random *r)
{
    size_t n = 2 + random_below(r, 31);
    int host_of[MOST_DEVICES], vendor_of[MOST_DEVICES];
    draw_groups(host_of, n, r);
    draw_groups(vendor_of, n, r);
    if (kind == FT_HIERARCHICAL) {
        n = 4 * (1 + n / 4);
        number_groups(host_of, n, 4);
        number_groups(vendor_of, n, 4);
    }
    struct system s = make((enum ft_collective_kind)kind, n, host_of, vendor_of);
    draw(&s, r);
    return s;
}

static void no_device_ends_sooner_for_a_worse_system(void **state)
{
    (void)state;
    struct random r = random_seed(11, 1);
    for (int c = 0; c < 3000; c++) {
        struct system s = draw_system(c % N_KINDS, &r);
        double before_s[MOST_DEVICES];
        run(&s, 1e7);
        memcpy(before_s, s.end_s, sizeof before_s);
        size_t k = random_below(&r, s.n_pairs);
        s.link[k].bandwidth_Bps *= 0.2 + 0.8 * random_unit(&r);
        s.link[k].latency_s += LATENCY_S * random_unit(&r);
        s.start_s[random_below(&r, s.n_devices)] += 0.1 * random_unit(&r);
        run(&s, 1e7);
        for (size_t i = 0; i < s.n_devices; i++)
            assert_true(s.end_s[i] >= before_s[i] * (1 - 1e-12));
        free_system(&s);
    }
}

static void all_that_begin_later_end_later_by_as_much(void **state)
{
    (void)state;
    struct random r = random_seed(11, 2);
    for (int c = 0; c < 600; c++) {
        struct system s = draw_system(c % N_KINDS, &r);
        double before_s[MOST_DEVICES], last_start_s = 0;
        run(&s, 1e7);
        memcpy(before_s, s.end_s, sizeof before_s);
        for (size_t i = 0; i < s.n_devices; i++) {
            last_start_s = fmax(last_start_s, s.start_s[i]);
            s.start_s[i] += 3;
        }
        run(&s, 1e7);
        for (size_t i = 0; i < s.n_devices; i++) {
            assert_true(before_s[i] >= last_start_s);
            assert_true(fabs(s.end_s[i] - before_s[i] - 3) < 1e-12);
        }
        free_system(&s);
    }
}

static void a_collective_of_one_is_done_when_it_starts(void **state)
{
    (void)state;
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct system s = make((enum ft_collective_kind)kind, 1, NULL, NULL);
        assert_int_equal(s.n_pairs, 0);
        s.start_s[0] = 3;
        assert_true(run(&s, 1e9) == 3);
        free_system(&s);
    }
}

/* What the timeline makes of the ring as a collective, and of the ring itself. */
static void the_timeline_takes_a_ring_by_either_way(void **state)
{
    (void)state;
    struct random r = random_seed(11, 3);
    for (int c = 0; c < 500; c++) {
        size_t n = 2 + random_below(&r, 20);
        struct system s = make(FT_RING, n, NULL, NULL);
        struct ft_timeline_type type[2];
        double ready_s[2][2], bucket_bytes[2] = {2e7 * random_unit(&r), 5e7 * random_unit(&r)};
        int type_of[MOST_DEVICES];
        draw(&s, &r);
        for (int t = 0; t < 2; t++) {
            double busy_Bps = BANDWIDTH_BPS * (0.05 + random_unit(&r));
            ready_s[t][0] = 0.1 * random_unit(&r);
            ready_s[t][1] = 0.1 + 0.1 * random_unit(&r);
            type[t] = (struct ft_timeline_type){.forward_s = random_unit(&r),
                                                .backward_s = 0.2,
                                                .ready_s = ready_s[t],
                                                .busy_Bps = busy_Bps,
                                                .idle_Bps = busy_Bps * (1 + random_unit(&r))};
        }
        for (size_t i = 0; i < n; i++)
            type_of[i] = (int)random_below(&r, 2);
        struct ft_timeline in = {.type = type,
                                 .n_types = 2,
                                 .type_of = type_of,
                                 .link = s.link,
                                 .n_devices = n,
                                 .bucket_bytes = bucket_bytes,
                                 .n_buckets = 2};
        struct ft_timeline_step ring, collective;
        assert_true(ft_timeline_step(&in, &ring, NULL));
        in.collective = s.collective;
        assert_true(ft_timeline_step(&in, &collective, NULL));
        assert_near(collective.step_s, ring.step_s);
        free_system(&s);
    }
}

/* Begun when the last bucket is ready; a device that computes sends at its busy ceiling. */
static void the_timeline_takes_any_collective(void **state)
{
    (void)state;
    enum { N = 8 };
    const double bytes = 1e8, ready_s[] = {1};
    const int type_of[N] = {0}, vendor_of[N] = {0, 0, 0, 0, 1, 1, 1, 1};
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct system s = make((enum ft_collective_kind)kind, N, vendor_of, vendor_of);
        struct ft_timeline_type type = {.forward_s = 1,
                                        .backward_s = 1,
                                        .ready_s = ready_s,
                                        .optimizer_s = 0.5,
                                        .busy_Bps = BANDWIDTH_BPS / 4,
                                        .idle_Bps = INFINITY};
        struct ft_timeline in = {.type = &type,
                                 .n_types = 1,
                                 .type_of = type_of,
                                 .link = s.link,
                                 .n_devices = N,
                                 .bucket_bytes = &bytes,
                                 .n_buckets = 1,
                                 .collective = s.collective};
        struct ft_timeline_step step;
        double alone_s = run(&s, bytes);
        assert_true(ft_timeline_step(&in, &step, NULL));
        assert_near(step.step_s, 2.5 + alone_s);
        type.backward_s = 100;
        assert_true(ft_timeline_step(&in, &step, NULL));
        assert_near(step.step_s, 101.5);
        type.busy_round_s = 1000;
        assert_true(ft_timeline_step(&in, &step, NULL));
        assert_true(step.step_s > 101.5);
        type.busy_round_s = 0;
        type.optimizer_s = 0;
        type.backward_s = 1 + alone_s;
        assert_true(ft_timeline_step(&in, &step, NULL));
        assert_true(step.step_s > 2 + alone_s);
        free_system(&s);
    }
}

/* Half as fast while all compute: what is sent by then counts half. */
static void interference_is_exact_where_all_devices_are_alike(void **state)
{
    (void)state;
    enum { N = 8 };
    const double bytes = 1e8, ready_s[] = {0}, ceiling_Bps = BANDWIDTH_BPS / 64;
    const int type_of[N] = {0}, group_of[N] = {0, 0, 0, 0, 1, 1, 1, 1};
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct system s = make((enum ft_collective_kind)kind, N, group_of, group_of);
        struct ft_timeline_type type = {
            .ready_s = ready_s, .busy_Bps = ceiling_Bps, .idle_Bps = ceiling_Bps};
        struct ft_timeline in = {&type, 1, type_of, s.link, N, &bytes, 1, s.collective};
        struct ft_timeline_step idle, busy;
        for (size_t k = 0; k < s.n_pairs; k++)
            s.link[k].latency_s = 0;
        assert_true(ft_timeline_step(&in, &idle, NULL));
        type.busy_Bps /= 2;
        type.backward_s = idle.step_s / 2;
        assert_true(ft_timeline_step(&in, &busy, NULL));
        assert_near(busy.step_s, idle.step_s * 1.25);
        free_system(&s);
    }
}

static void refuses(enum ft_collective_kind kind, size_t n, const int *host_of,
                    const int *vendor_of, const char *says)
{
    char message[FT_MESSAGE_SIZE] = "";
    assert_null(ft_collective_make(kind, n, host_of, vendor_of, message));
    assert_non_null(strstr(message, says));
}

static void refuses_devices_that_do_not_suit(void **state)
{
    (void)state;
    const int uneven[] = {0, 0, 1}, wrong[] = {0, 3, 0};
    refuses(FT_HIERARCHICAL, 3, uneven, NULL, "one has 1 and another 2");
    refuses(FT_TREE, 3, wrong, NULL, "host_of of position 1 must be 0 to 2 (got 3)");
    refuses(FT_BRIDGE, 3, NULL, wrong, "vendor_of of position 1");
    refuses(FT_RING, 0, NULL, NULL, "at least one device");
    refuses((enum ft_collective_kind)17, 3, NULL, NULL, "there is no collective 17");
    refuses(FT_PARAMETER_SERVER, 1025, NULL, NULL, "at most 1024 (got 1025)");
}

static void refuses_values_that_cannot_be(void **state)
{
    (void)state;
    char message[FT_MESSAGE_SIZE];
    struct system s = make(FT_TREE, 4, NULL, NULL);
    double before_s = s.end_s[0] = 7;
    const struct ft_collective *c = s.collective;
    assert_false(ft_collective_all_reduce(c, s.link, s.start_s, NAN, s.end_s, message));
    assert_non_null(strstr(message, "payload_bytes"));
    s.link[3].bandwidth_Bps = 1e-300;
    assert_false(ft_collective_all_reduce(c, s.link, s.start_s, 1e10, s.end_s, message));
    assert_non_null(strstr(message, "too long"));
    s.start_s[2] = -1;
    assert_false(ft_collective_all_reduce(c, s.link, s.start_s, 1, s.end_s, message));
    assert_non_null(strstr(message, "start_s of position 2"));
    s.link[1].latency_s = -1;
    assert_false(ft_collective_all_reduce(c, s.link, s.start_s, 1, s.end_s, message));
    assert_non_null(strstr(message, "latency_s from position"));
    s.link[0].bandwidth_Bps = 0;
    assert_false(ft_collective_all_reduce(c, s.link, s.start_s, 1, s.end_s, message));
    assert_non_null(strstr(message, "bandwidth_Bps from position"));
    assert_true(s.end_s[0] == before_s);
    free_system(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_links_give_the_closed_forms),
        cmocka_unit_test(hierarchical_is_rings_within_and_across),
        cmocka_unit_test(a_bridge_is_rings_an_exchange_and_rings),
        cmocka_unit_test(a_bridge_joins_vendors_of_any_size),
        cmocka_unit_test(one_vendor_or_host_or_one_device_each_is_a_ring),
        cmocka_unit_test(two_devices_take_what_a_ring_takes),
        cmocka_unit_test(latency_alone_counts_hops),
        cmocka_unit_test(a_tree_of_many_chunks_takes_twice_the_payload),
        cmocka_unit_test(trees_take_what_chunks_walked_take),
        cmocka_unit_test(two_trees_use_both_directions_of_all_hosts),
        cmocka_unit_test(no_device_ends_sooner_for_a_worse_system),
        cmocka_unit_test(all_that_begin_later_end_later_by_as_much),
        cmocka_unit_test(a_collective_of_one_is_done_when_it_starts),
        cmocka_unit_test(the_timeline_takes_a_ring_by_either_way),
        cmocka_unit_test(the_timeline_takes_any_collective),
        cmocka_unit_test(interference_is_exact_where_all_devices_are_alike),
        cmocka_unit_test(refuses_devices_that_do_not_suit),
        cmocka_unit_test(refuses_values_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
