/* Steps of a timeline by hand, against every chunk walked one by one, and that nothing helps by
 * being worse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "foretrain.h"

enum { MOST_DEVICES = 24, MOST_TYPES = 3, MOST_BUCKETS = 4, STEPS = 128 };

struct system {
    struct ft_timeline_type type[MOST_TYPES];
    double ready_s[MOST_TYPES][MOST_BUCKETS], bucket_bytes[MOST_BUCKETS];
    int type_of[MOST_DEVICES];
    struct ft_link link[MOST_DEVICES];
    size_t n_devices, n_types, n_buckets;
};

static double step_of(struct system *s)
{
    struct ft_timeline in = {.type = s->type,
                             .n_types = s->n_types,
                             .type_of = s->type_of,
                             .link = s->link,
                             .n_devices = s->n_devices,
                             .bucket_bytes = s->bucket_bytes,
                             .n_buckets = s->n_buckets};
    for (size_t t = 0; t < s->n_types; t++)
        s->type[t].ready_s = s->ready_s[t];
    struct ft_timeline_step step;
    char message[FT_MESSAGE_SIZE];
    if (!ft_timeline_step(&in, &step, message))
        fail_msg("%s", message);
    return step.step_s;
}

static void assert_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/*
 * When a chunk that enters at `from_s` has arrived, or when its sender can send the next, which
 * what a round costs does not keep it from: slower until the device has computed.
 */
static double chunk_arrives_s(const struct system *s, size_t i, double chunk_bytes, double from_s,
                              double computing_until_s, bool passing)
{
    const struct ft_timeline_type *type = &s->type[s->type_of[i]];
    const struct ft_link *link = &s->link[i];
    double wire_s = chunk_bytes / link->bandwidth_Bps;
    double busy_round_s = passing ? type->busy_round_s : 0;
    double idle_round_s = passing ? type->idle_round_s : 0;
    double busy_s = link->latency_s + fmax(wire_s, busy_round_s + chunk_bytes / type->busy_Bps);
    double idle_s = link->latency_s + fmax(wire_s, idle_round_s + chunk_bytes / type->idle_Bps);
    double computing_s = fmax(0, computing_until_s - from_s);
    if (computing_s >= busy_s)
        return from_s + busy_s;
    return from_s + computing_s + (1 - computing_s / busy_s) * idle_s;
}

/* Every chunk of every bucket by the clock on the wall; begin_s becomes the next step's. */
static void walk_step(const struct system *s, double *begin_s)
{
    double at_s[MOST_DEVICES], until_s[MOST_DEVICES];
    size_t n = s->n_devices;
    for (size_t i = 0; i < n; i++) {
        const struct ft_timeline_type *type = &s->type[s->type_of[i]];
        at_s[i] = begin_s[i];
        until_s[i] = begin_s[i] + type->forward_s + type->backward_s;
    }
    for (size_t b = 0; b < s->n_buckets; b++) {
        double chunk_bytes = s->bucket_bytes[b] / (double)n;
        for (size_t i = 0; i < n; i++) {
            double ready_s = s->ready_s[s->type_of[i]][b] + s->type[s->type_of[i]].forward_s;
            at_s[i] = fmax(at_s[i], begin_s[i] + ready_s);
        }
        double first_s = at_s[0];
        for (size_t i = 0; i < n; i++)
            at_s[i] = fmax(at_s[i], i + 1 < n ? at_s[i + 1] : first_s);
        for (size_t round = 0; round < 2 * (n - 1); round++) {
            double free_s[MOST_DEVICES], arrives_s[MOST_DEVICES];
            for (size_t i = 0; i < n; i++) {
                free_s[i] = chunk_arrives_s(s, i, chunk_bytes, at_s[i], until_s[i], false);
                arrives_s[i] = chunk_arrives_s(s, i, chunk_bytes, at_s[i], until_s[i], true);
            }
            for (size_t i = 0; i < n; i++)
                at_s[i] = fmax(free_s[i], arrives_s[(i + n - 1) % n]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct ft_timeline_type *type = &s->type[s->type_of[i]];
        double free_s = fmax(at_s[i], until_s[i]) + type->optimizer_s + type->rest_s;
        begin_s[i] =
            type->load_inside ? free_s + type->load_s : fmax(free_s, begin_s[i] + type->load_s);
    }
}

/* The least number of steps after which all begin later by the same; 0 where they never do. */
static int period_of(double begin_s[STEPS + 1][MOST_DEVICES], size_t n)
{
    for (int period = 1; period <= STEPS / 2; period++) {
        const double *last_s = begin_s[STEPS], *earlier_s = begin_s[STEPS - period];
        size_t i = 1;
        while (i < n && fabs(last_s[i] - earlier_s[i] - (last_s[0] - earlier_s[0])) < 1e-10)
            i++;
        if (i == n)
            return period;
    }
    return 0;
}

static double walked_step_s(const struct system *s)
{
    static double begin_s[STEPS + 1][MOST_DEVICES];
    memset(begin_s[0], 0, sizeof begin_s[0]);
    for (int k = 0; k < STEPS; k++) {
        memcpy(begin_s[k + 1], begin_s[k], sizeof begin_s[k]);
        walk_step(s, begin_s[k + 1]);
    }
    int period = period_of(begin_s, s->n_devices);
    int over = period > 0 ? period : STEPS / 2;
    double most_s = 0;
    for (size_t i = 0; i < s->n_devices; i++)
        most_s = fmax(most_s, begin_s[STEPS][i] - begin_s[STEPS - over][i]);
    return most_s / over;
}

/* Computing and all-reducing take about as long; ceilings from well below the links to above. */
static struct system draw(struct random *r, bool interference)
{
    struct system s = {.n_devices = 2 + random_below(r, MOST_DEVICES - 1),
                       .n_types = 1 + random_below(r, MOST_TYPES),
                       .n_buckets = 1 + random_below(r, MOST_BUCKETS)};
    for (size_t t = 0; t < s.n_types; t++) {
        struct ft_timeline_type *type = &s.type[t];
        double longest_load_s = random_below(r, 4) ? 0.5 : 8;
        *type = (struct ft_timeline_type){.load_s = longest_load_s * random_unit(r),
                                          .load_inside = random_below(r, 2) == 0,
                                          .forward_s = 0.2 + random_unit(r),
                                          .backward_s = 0.2 + 2 * random_unit(r),
                                          .optimizer_s = 0.1 * random_unit(r),
                                          .rest_s = 0.1 * random_unit(r),
                                          .busy_Bps = INFINITY,
                                          .idle_Bps = INFINITY};
        type->idle_Bps = random_below(r, 2) ? 50e6 * (0.5 + random_unit(r)) : INFINITY;
        type->busy_Bps =
            interference ? fmin(type->idle_Bps, 50e6 * (0.2 + random_unit(r))) : type->idle_Bps;
        type->idle_round_s = random_below(r, 2) ? 0.02 * random_unit(r) : 0;
        type->busy_round_s = type->idle_round_s + (interference ? 0.05 * random_unit(r) : 0);
        for (size_t b = 0; b < s.n_buckets; b++)
            s.ready_s[t][b] =
                fmin(type->backward_s, type->backward_s * (double)(b + 1) / (double)s.n_buckets);
    }
    for (size_t i = 0; i < s.n_devices; i++) {
        s.type_of[i] = (int)(i * s.n_types / s.n_devices);
        s.link[i] = (struct ft_link){50e6 * (0.5 + random_unit(r)), 1e-3 * random_unit(r)};
    }
    for (size_t b = 0; b < s.n_buckets; b++)
        s.bucket_bytes[b] = 100e6 * random_unit(r) / (double)s.n_buckets;
    return s;
}

static struct system two_equal(void)
{
    return (struct system){.type = {{.forward_s = 1,
                                     .backward_s = 2,
                                     .optimizer_s = 0.25,
                                     .rest_s = 0.125,
                                     .busy_Bps = INFINITY,
                                     .idle_Bps = INFINITY}},
                           .ready_s = {{2}},
                           .bucket_bytes = {4e6},
                           .link = {{1e6, 0.5}, {1e6, 0.5}},
                           .n_devices = 2,
                           .n_types = 1,
                           .n_buckets = 1};
}

/* Two rounds of 2 MB at 1 MB/s and half a second. */
static void without_overlap_all_stages_add_up(void **state)
{
    (void)state;
    struct system s = two_equal();
    assert_near(step_of(&s), 1 + 2 + 2 * 2.5 + 0.25 + 0.125, 1e-12);
}

/* Ready a second before the end: a second of the ring is hidden. */
static void a_bucket_is_sent_beside_backward(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.ready_s[0][0] = 1;
    assert_near(step_of(&s), 1 + 1 + 2 * 2.5 + 0.25 + 0.125, 1e-12);
    s.link[0] = s.link[1] = (struct ft_link){1e9, 0};
    assert_near(step_of(&s), 1 + 2 + 0.25 + 0.125, 1e-12);
}

/* At a quarter of its pace for that second, so that a quarter of it is hidden. */
static void a_device_that_computes_sends_slower(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.ready_s[0][0] = 1;
    s.link[0].latency_s = s.link[1].latency_s = 0;
    s.type[0].busy_Bps = 0.25e6;
    assert_near(step_of(&s), 1 + 2 + (4 - 0.25) + 0.25 + 0.125, 1e-12);
    s.type[0].idle_Bps = 0.5e6;
    assert_near(step_of(&s), 1 + 2 + (8 - 0.5) + 0.25 + 0.125, 1e-12);
}

/* Two rounds, a tenth of a second each beside 2 s of the device's, and half a second while it
 * computes. */
static void a_round_costs_a_device_beside_its_bytes(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.link[0].latency_s = s.link[1].latency_s = 0;
    s.type[0].busy_Bps = s.type[0].idle_Bps = 1e6;
    s.type[0].idle_round_s = s.type[0].busy_round_s = 0.1;
    assert_near(step_of(&s), 1 + 2 + 2 * 2.1 + 0.25 + 0.125, 1e-12);
    s.type[0].busy_round_s = 0.5;
    assert_near(step_of(&s), 1 + 2 + 2 * 2.1 + 0.25 + 0.125, 1e-12);
    s.ready_s[0][0] = 1;
    assert_near(step_of(&s), 1 + 2 + (2 - 1 / 2.5) * 2.1 + 0.25 + 0.125, 1e-12);
    s.link[0].bandwidth_Bps = s.link[1].bandwidth_Bps = 0.5e6;
    assert_near(step_of(&s), 1 + 1 + 2 * 4 + 0.25 + 0.125, 1e-12);
}

/*
 * Two messages of 2 MB in a second, half of which they cost a device that computes: as long as it
 * does.
 */
static void messages_cost_a_device_computing(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.link[0] = s.link[1] = (struct ft_link){.bandwidth_Bps = 4e6};
    s.ready_s[0][0] = 1;
    s.type[0].message_lost_s = 0.25;
    assert_near(step_of(&s), 1 + 2.5 + 0.25 + 0.125, 1e-12);
    s.type[0].backward_s = 10;
    assert_near(step_of(&s), 1 + 10.5 + 0.25 + 0.125, 1e-12);
    s.type[0].message_lost_s = 0.1;
    s.type[0].byte_lost_s = 0.15 / 2e6;
    assert_near(step_of(&s), 1 + 10.5 + 0.25 + 0.125, 1e-12);
    s.type[0].backward_s = 1.25;
    assert_near(step_of(&s), 1 + 1 + 1 + 0.25 + 0.125, 1e-12);
    s.type[0].byte_lost_s = 1;
    s.type[0].backward_s = 10;
    assert_near(step_of(&s), 1 + 10.9 + 0.25 + 0.125, 1e-12);
}

static void draw_losses(struct random *r, struct system *s)
{
    for (size_t t = 0; t < s->n_types; t++) {
        s->type[t].message_lost_s = random_below(r, 2) ? 0.05 * random_unit(r) : 0;
        s->type[t].byte_lost_s = random_below(r, 2) ? 2e-8 * random_unit(r) : 0;
    }
}

static void no_step_is_shorter_where_messages_cost_computing(void **state)
{
    (void)state;
    struct random r = random_seed(7, 9);
    size_t n_longer = 0;
    for (int c = 0; c < 1000; c++) {
        struct system s = draw(&r, true), losing = s;
        draw_losses(&r, &losing);
        double step_s = step_of(&s), longer_s = step_of(&losing);
        assert_true(longer_s >= step_s * (1 - 1e-9));
        n_longer += longer_s > step_s * 1.001;
    }
    assert_true(n_longer > 100);
}

static void loading_adds_inside_and_counts_beside_where_it_is_longest(void **state)
{
    (void)state;
    struct system s = two_equal();
    double step_s = step_of(&s);
    s.type[0].load_s = 3;
    assert_near(step_of(&s), step_s, 1e-12);
    s.type[0].load_inside = true;
    assert_near(step_of(&s), step_s + 3, 1e-12);
    s.type[0].load_inside = false;
    s.type[0].load_s = 30;
    assert_near(step_of(&s), 30, 1e-12);
}

/* Two buckets of which the second waits for the first, not for its gradients. */
static void buckets_go_one_after_the_other(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.n_buckets = 2;
    s.bucket_bytes[1] = 2e6;
    s.ready_s[0][0] = 1;
    s.ready_s[0][1] = 2;
    assert_near(step_of(&s), 1 + 1 + 2 * 2.5 + 2 * 1.5 + 0.25 + 0.125, 1e-12);
}

static void one_device_has_no_ring(void **state)
{
    (void)state;
    struct system s = two_equal();
    s.n_devices = 1;
    assert_near(step_of(&s), 1 + 2 + 0.25 + 0.125, 1e-12);
    s.n_devices = 2;
    s.n_buckets = 0;
    assert_near(step_of(&s), 1 + 2 + 0.25 + 0.125, 1e-12);
}

static void without_interference_it_is_what_chunks_walked_take(void **state)
{
    (void)state;
    struct random r = random_seed(7, 0);
    for (int c = 0; c < 1500; c++) {
        struct system s = draw(&r, false);
        assert_near(step_of(&s), walked_step_s(&s), 1e-9);
    }
}

/* All alike: all slow down and speed up at once, and the ring as a whole with them. */
static void with_equal_devices_interference_is_exact_too(void **state)
{
    (void)state;
    struct random r = random_seed(7, 1);
    for (int c = 0; c < 500; c++) {
        struct system s = draw(&r, true);
        s.n_types = 1;
        memset(s.type_of, 0, sizeof s.type_of);
        for (size_t i = 1; i < s.n_devices; i++)
            s.link[i] = s.link[0];
        assert_near(step_of(&s), walked_step_s(&s), 1e-9);
    }
}

static void with_interference_it_is_near_what_chunks_walked_take(void **state)
{
    (void)state;
    struct random r = random_seed(7, 2);
    double sum = 0, worst = 0;
    enum { CASES = 1000 };
    for (int c = 0; c < CASES; c++) {
        struct system s = draw(&r, true);
        double error = fabs(step_of(&s) / walked_step_s(&s) - 1);
        sum += error;
        worst = fmax(worst, error);
    }
    assert_true(sum / CASES < 0.004);
    assert_true(worst < 0.08);
}

enum worse { STAGES, BUSY_CEILING, LINKS };

static void worsen_busy(struct ft_timeline_type *type, bool rate, double more)
{
    if (rate)
        type->busy_Bps /= more;
    else
        type->busy_round_s *= more;
}

static void worsen(struct random *r, struct system *s, enum worse what)
{
    size_t t = random_below(r, s->n_types), i = random_below(r, s->n_devices);
    double more = 1 + random_unit(r);
    struct ft_timeline_type *type = &s->type[t];
    double *stage[] = {&type->load_s,     &type->forward_s,
                       &type->backward_s, &type->optimizer_s,
                       &type->rest_s,     &s->bucket_bytes[random_below(r, s->n_buckets)]};
    double *link[] = {&s->link[i].bandwidth_Bps, &s->link[i].latency_s, &type->idle_Bps,
                      &type->idle_round_s};
    size_t l = random_below(r, sizeof link / sizeof *link);
    if (what == STAGES)
        *stage[random_below(r, sizeof stage / sizeof *stage)] *= more;
    else if (what == BUSY_CEILING)
        worsen_busy(type, random_below(r, 2), more);
    else
        *link[l] *= l % 2 ? more : 1 / more;
    type->busy_Bps = fmin(type->busy_Bps, type->idle_Bps);
    type->busy_round_s = fmax(type->busy_round_s, type->idle_round_s);
}

/* How much shorter a step gets at the most by what is worse. */
static double gained(uint64_t stream, bool interference, enum worse what)
{
    struct random r = random_seed(7, stream);
    double most = 0;
    for (int c = 0; c < 1500; c++) {
        struct system s = draw(&r, interference), worse = s;
        worsen(&r, &worse, what);
        most = fmax(most, 1 - step_of(&worse) / step_of(&s));
    }
    return most;
}

static void no_step_is_shorter_for_a_worse_system(void **state)
{
    (void)state;
    assert_true(gained(3, false, STAGES) < 1e-9);
    assert_true(gained(4, false, LINKS) < 1e-9);
    assert_true(gained(5, true, STAGES) < 1e-9);
    assert_true(gained(6, true, BUSY_CEILING) < 1e-9);
}

/* The ring is slowed by its slowest link's measure, which a slower link makes a coarser one. */
static void a_slower_link_gains_little_where_devices_interfere(void **state)
{
    (void)state;
    assert_true(gained(7, true, LINKS) < 0.03);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct system s = two_equal();
    double negative[] = {-1}, late[] = {2.5}, no_number[] = {NAN};
    const struct ft_timeline_type good = s.type[0];
    struct ft_timeline_type type[16];
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        type[i] = good;
        type[i].ready_s = s.ready_s[0];
    }
    type[0].load_s = -1;
    type[1].forward_s = NAN;
    type[2].backward_s = INFINITY;
    type[3].optimizer_s = -1;
    type[4].rest_s = NAN;
    type[5].busy_Bps = 0;
    type[6].busy_Bps = NAN;
    type[7].idle_Bps = 1;
    type[8].ready_s = negative;
    type[9].ready_s = late;
    type[10].ready_s = no_number;
    type[11].ready_s = NULL;
    type[12].idle_round_s = -1;
    type[13].idle_round_s = 1;
    type[14].message_lost_s = -1;
    type[15].byte_lost_s = NAN;
    static const char *says[] = {"load_s of type 0",  "forward_s",    "backward_s",
                                 "optimizer_s",       "rest_s",       "busy_Bps",
                                 "busy_Bps",          "idle_Bps",     "ready_s of bucket 0",
                                 "within backward_s", "ready_s",      "needs ready_s",
                                 "idle_round_s",      "busy_round_s", "message_lost_s",
                                 "byte_lost_s"};
    struct ft_timeline_step step = {.step_s = 7};
    char message[FT_MESSAGE_SIZE];
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        struct ft_timeline in = {&type[i], 1, s.type_of, s.link, 2, s.bucket_bytes, 1, NULL};
        assert_false(ft_timeline_step(&in, &step, message));
        assert_non_null(strstr(message, says[i]));
    }
    assert_true(step.step_s == 7);
}

static void refuses_rings_that_cannot_be(void **state)
{
    (void)state;
    struct system s = two_equal();
    struct ft_timeline_type type = s.type[0];
    type.ready_s = s.ready_s[0];
    const int no_type[] = {0, 1};
    const double no_bytes[] = {-1}, too_many[] = {1e308};
    const struct ft_link no_rate[] = {{1, 0}, {0, 0}}, no_latency[] = {{1, NAN}, {1, 0}};
    const struct ft_link slow[] = {{1e-300, 0}, {1e-300, 0}};
    const struct {
        struct ft_timeline in;
        const char *says;
    } refusal[] = {
        {{&type, 1, s.type_of, s.link, 0, s.bucket_bytes, 1, NULL}, "at least one device"},
        {{&type, 1, NULL, s.link, 2, s.bucket_bytes, 1, NULL}, "at least one device"},
        {{NULL, 1, s.type_of, s.link, 2, s.bucket_bytes, 1, NULL}, "no device type"},
        {{&type, 0, s.type_of, s.link, 2, s.bucket_bytes, 1, NULL}, "no device type"},
        {{&type, 1, s.type_of, NULL, 2, s.bucket_bytes, 1, NULL}, "needs links"},
        {{&type, 1, s.type_of, s.link, 2, NULL, 1, NULL}, "need their bytes"},
        {{&type, 1, no_type, s.link, 2, s.bucket_bytes, 1, NULL}, "position 1 has type 1"},
        {{&type, 1, s.type_of, s.link, 2, no_bytes, 1, NULL}, "bucket_bytes of bucket 0"},
        {{&type, 1, s.type_of, no_rate, 2, s.bucket_bytes, 1, NULL}, "bandwidth_Bps of position 1"},
        {{&type, 1, s.type_of, no_latency, 2, s.bucket_bytes, 1, NULL}, "latency_s of position 0"},
        {{&type, 1, s.type_of, slow, 2, too_many, 1, NULL}, "too long to count"},
    };
    for (size_t i = 0; i < sizeof refusal / sizeof *refusal; i++) {
        struct ft_timeline_step step = {.step_s = 7};
        char message[FT_MESSAGE_SIZE] = "";
        assert_false(ft_timeline_step(&refusal[i].in, &step, message));
        assert_non_null(strstr(message, refusal[i].says));
        assert_true(step.step_s == 7);
    }
}

static double any_size(struct random *r)
{
    double value = pow(10, 640 * random_unit(r) - 320);
    return random_below(r, 8) ? value : 0;
}

/* Nothing between 0 and the largest number ends as no number, or hangs. */
static void extreme_values_are_refused_or_counted(void **state)
{
    (void)state;
    struct random r = random_seed(7, 8);
    size_t counted = 0;
    for (int c = 0; c < 4000; c++) {
        struct system s = draw(&r, true);
        struct ft_timeline_type *type = &s.type[random_below(&r, s.n_types)];
        double *value[] = {&type->load_s,       &type->forward_s,     &type->optimizer_s,
                           &type->busy_Bps,     &s.bucket_bytes[0],   &s.link[0].latency_s,
                           &type->idle_Bps,     &s.link[1].latency_s, &s.link[0].bandwidth_Bps,
                           &type->idle_round_s, &type->busy_round_s,  &type->message_lost_s,
                           &type->byte_lost_s};
        for (int v = 0; v < 3; v++)
            *value[random_below(&r, sizeof value / sizeof *value)] = any_size(&r);
        for (size_t t = 0; t < s.n_types; t++)
            s.type[t].ready_s = s.ready_s[t];
        struct ft_timeline in = {s.type,      s.n_types,      s.type_of,   s.link,
                                 s.n_devices, s.bucket_bytes, s.n_buckets, NULL};
        struct ft_timeline_step step;
        char message[FT_MESSAGE_SIZE] = "";
        bool ok = ft_timeline_step(&in, &step, message);
        assert_true(ok ? isfinite(step.step_s) && step.step_s >= 0 : message[0] != '\0');
        counted += ok;
    }
    assert_true(counted > 500 && counted < 3500);
}

enum { MANY = 4400 };

/* Of two types, links all different. Those of the second feed the ring by `slower` less while they
 * compute. */
static double step_of_many(struct random r, double slower)
{
    static int type_of[MANY];
    static struct ft_link link[MANY];
    static const double ready_s[] = {0.05, 0.1}, bucket_bytes[] = {25e6, 10e6};
    const struct ft_timeline_type like = {.forward_s = 0.05,
                                          .backward_s = 0.1,
                                          .ready_s = ready_s,
                                          .busy_Bps = 0.5e9,
                                          .idle_Bps = 1e9,
                                          .busy_round_s = 2e-5,
                                          .idle_round_s = 1e-5,
                                          .message_lost_s = 1e-6};
    struct ft_timeline_type type[] = {like, like};
    type[0].load_s = 0.02;
    type[0].load_inside = true;
    type[1].busy_Bps = type[1].idle_Bps * (1 - slower);
    type[1].busy_round_s = type[1].idle_round_s;
    for (size_t i = 0; i < MANY; i++) {
        type_of[i] = i % 8 == 0;
        link[i] = (struct ft_link){.bandwidth_Bps = 1e9 * (0.7 + random_unit(&r)),
                                   .latency_s = 1e-6 * random_unit(&r)};
    }
    struct ft_timeline in = {type, 2, type_of, link, MANY, bucket_bytes, 2, NULL};
    struct ft_timeline_step step;
    assert_true(ft_timeline_step(&in, &step, NULL));
    return step.step_s;
}

/* 3850 devices that are slowed are taken one by one, 4400 are not: hardly slowed ones change that
 * and nothing else. */
static void very_many_that_compute_are_taken_together(void **state)
{
    (void)state;
    double one_by_one_s = step_of_many(random_seed(9, 0), 0);
    double together_s = step_of_many(random_seed(9, 0), 1e-9);
    assert_true(together_s != one_by_one_s);
    assert_near(together_s, one_by_one_s, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_overlap_all_stages_add_up),
        cmocka_unit_test(a_bucket_is_sent_beside_backward),
        cmocka_unit_test(a_device_that_computes_sends_slower),
        cmocka_unit_test(a_round_costs_a_device_beside_its_bytes),
        cmocka_unit_test(messages_cost_a_device_computing),
        cmocka_unit_test(no_step_is_shorter_where_messages_cost_computing),
        cmocka_unit_test(loading_adds_inside_and_counts_beside_where_it_is_longest),
        cmocka_unit_test(buckets_go_one_after_the_other),
        cmocka_unit_test(one_device_has_no_ring),
        cmocka_unit_test(without_interference_it_is_what_chunks_walked_take),
        cmocka_unit_test(with_equal_devices_interference_is_exact_too),
        cmocka_unit_test(very_many_that_compute_are_taken_together),
        cmocka_unit_test(with_interference_it_is_near_what_chunks_walked_take),
        cmocka_unit_test(no_step_is_shorter_for_a_worse_system),
        cmocka_unit_test(a_slower_link_gains_little_where_devices_interfere),
        cmocka_unit_test(extreme_values_are_refused_or_counted),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(refuses_rings_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
