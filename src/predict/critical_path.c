#include "predict/critical_path.h"

#include <math.h>
#include <stdbool.h>

#include "predict/message.h"
#include "predict/ring_paths.h"

const char *path_stage_name(enum path_stage stage)
{
    static const char *const name[] = {"loading",    "forward",   "backward",
                                       "all-reduce", "optimizer", "rest"};
    return name[stage];
}

struct trace {
    const struct ft_timeline *in;
    const struct step_record *record;
    struct critical_path path;
    size_t step, position; /* where it is */
};

static void add(struct trace *t, enum path_stage stage, size_t position, double from_s, double to_s)
{
    const double rounding = 1e-12;
    if (to_s - from_s > rounding * to_s)
        t->path.piece[t->path.n++] = (struct path_piece){stage, position, 0, from_s, to_s};
}

static const struct step_bucket *bucket_at(const struct trace *t, size_t position, size_t bucket)
{
    return step_record_buckets(t->record, t->step, position) + bucket;
}

/* A round spent at a position, or on the link from it, when nobody computes. */
static double round_s(const struct trace *t, size_t position, size_t bucket, bool passing)
{
    double chunk_bytes = t->in->bucket_bytes[bucket] / (double)t->in->n_devices;
    const struct ft_link *link = &t->in->link[position];
    struct sender sender = sender_of(&t->in->type[t->in->type_of[position]], false);
    return passing ? message_from_s(link, chunk_bytes, sender)
                   : message_stay_s(link, chunk_bytes, sender);
}

/* Whose start a position's end of a bucket goes back to, and the slowest link on the way. */
struct origin {
    size_t position, slowest;
};

/*
 * A path of 2 (N-1) rounds from `distance` places before passes each link between once and spends
 * the other rounds on the slowest of them ("The ring, exactly").
 */
static struct origin origin_of(const struct trace *t, size_t bucket)
{
    size_t n = t->in->n_devices, rounds = 2 * (n - 1), slowest = t->position;
    double slowest_s = round_s(t, slowest, bucket, false), passed_s = 0, latest_s = -INFINITY;
    struct origin origin = {t->position, t->position};
    for (size_t distance = 0; distance <= rounds; distance++) {
        size_t from = (t->position + 2 * n - distance) % n;
        double cost_s = round_s(t, from, bucket, false);
        if (distance > 0)
            passed_s += round_s(t, from, bucket, true);
        if (cost_s > slowest_s) {
            slowest = from;
            slowest_s = cost_s;
        }
        double end_s = bucket_at(t, from, bucket)->clock_s + passed_s +
                       (double)(rounds - distance) * slowest_s;
        if (end_s > latest_s) {
            latest_s = end_s;
            origin = (struct origin){from, slowest};
        }
    }
    return origin;
}

/* Another collective than the ring needs all devices before the first of them is done. */
static struct origin last_to_enter(const struct trace *t, size_t bucket)
{
    struct origin last = {0, 0};
    for (size_t i = 1; i < t->in->n_devices; i++) {
        if (bucket_at(t, i, bucket)->start_s > bucket_at(t, last.position, bucket)->start_s)
            last = (struct origin){i, i};
    }
    return last;
}

/* To the device that is ready last where one sends and the next receives. */
static void go_to_the_later(struct trace *t, size_t sender, size_t bucket)
{
    size_t receiver = (sender + 1) % t->in->n_devices;
    bool receiver_is_later =
        bucket_at(t, receiver, bucket)->enter_s > bucket_at(t, sender, bucket)->enter_s;
    t->position = receiver_is_later ? receiver : sender;
}

/* From when a bucket is done on a device back to when the gradients of one of them were ready: that
 * time. */
static double trace_buckets(struct trace *t)
{
    for (size_t b = t->record->n_buckets - 1;; b--) {
        double done_s = bucket_at(t, t->position, b)->done_s;
        struct origin origin = t->in->collective ? last_to_enter(t, b) : origin_of(t, b);
        struct path_piece *piece = &t->path.piece[t->path.n++];
        *piece = (struct path_piece){PATH_ALL_REDUCE, origin.slowest, b,
                                     bucket_at(t, origin.position, b)->start_s, done_s};
        if (t->in->collective)
            t->position = origin.position;
        else
            go_to_the_later(t, origin.position, b);
        double ready_s = bucket_at(t, t->position, b)->ready_s;
        if (b == 0 || ready_s >= bucket_at(t, t->position, b - 1)->done_s)
            return ready_s;
    }
}

/* Where a step's last stages lead back to: the end of backward, or of a part of it. */
static double trace_end(struct trace *t)
{
    const struct step_device *d = step_record_device(t->record, t->step, t->position);
    add(t, PATH_LOADING, t->position, d->rest_end_s, d->end_s);
    add(t, PATH_REST, t->position, d->optimizer_end_s, d->rest_end_s);
    add(t, PATH_OPTIMIZER, t->position, d->optimizer_s, d->optimizer_end_s);
    return d->optimizer_s > d->backward_end_s ? trace_buckets(t) : d->backward_end_s;
}

/* A step that waits for a loader beside it has nothing else in its way. */
static bool waits_for_loader(const struct trace *t)
{
    const struct step_device *d = step_record_device(t->record, t->step, t->position);
    return !t->in->type[t->in->type_of[t->position]].load_inside && d->load_end_s > d->rest_end_s;
}

static void trace_step(struct trace *t)
{
    const struct step_device *d = step_record_device(t->record, t->step, t->position);
    if (waits_for_loader(t)) {
        add(t, PATH_LOADING, t->position, d->begin_s, d->end_s);
        return;
    }
    double computed_s = trace_end(t);
    d = step_record_device(t->record, t->step, t->position);
    add(t, PATH_BACKWARD, t->position, d->forward_end_s, computed_s);
    add(t, PATH_FORWARD, t->position, d->begin_s, d->forward_end_s);
}

/* The pieces behind the first ones, which lead through so many steps. */
static struct critical_path behind(struct critical_path path, size_t first_piece, size_t n_steps)
{
    path.piece += first_piece;
    path.n -= first_piece;
    path.n_steps = n_steps;
    return path;
}

/* Where steps of different length take turns, being at the same device is not enough. */
static bool is_a_turn(const struct critical_path *path, double step_s)
{
    const double close = 1e-9;
    double length_s = path->n ? path->piece[0].to_s - path->piece[path->n - 1].from_s : 0;
    double expected_s = (double)path->n_steps * step_s;
    return fabs(length_s - expected_s) <= close * expected_s;
}

struct critical_path critical_path_find(struct arena *arena, const struct ft_timeline *timeline,
                                        const struct step_record *record)
{
    size_t n_steps = record->n_steps, most = n_steps * (record->n_buckets + N_PATH_STAGES);
    size_t *ends_at = ARENA_ARRAY(arena, n_steps, size_t);
    size_t *n_before = ARENA_ARRAY(arena, n_steps, size_t);
    struct trace t = {.in = timeline, .record = record, .step = n_steps};
    t.path.piece = ARENA_ARRAY(arena, most, struct path_piece);
    for (size_t k = 0; k < n_steps; k++) {
        ends_at[k] = t.position;
        n_before[k] = t.path.n;
        t.step--;
        trace_step(&t);
        for (size_t j = 0; j <= k; j++) {
            struct critical_path turn = behind(t.path, n_before[j], k + 1 - j);
            if (ends_at[j] == t.position && is_a_turn(&turn, record->step_s))
                return turn;
        }
    }
    return behind(t.path, 0, n_steps);
}
