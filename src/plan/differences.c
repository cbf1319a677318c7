/* Values are compared as they are and shown as people write them. */
#include "plan/differences.h"

#include <string.h>

#include "base/units.h"
#include "plan/class_links.h"

struct list {
    struct arena *arena;
    const struct compare_side *side;
    enum compare_group group;
    struct difference *item;
    size_t n, capacity;
};

static void add(struct list *list, const char *what, const char *a, const char *b)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 32;
        struct difference *item = ARENA_ARRAY(list->arena, capacity, struct difference);
        if (list->n)
            memcpy(item, list->item, list->n * sizeof *item);
        list->item = item;
        list->capacity = capacity;
    }
    list->item[list->n++] = (struct difference){list->group, what, {a ? a : "-", b ? b : "-"}};
}

/* A value that a side may lack. */
struct value {
    bool given;
    double is;
};

enum show { SHOW_COUNT, SHOW_BYTES, SHOW_RATE, SHOW_TIME, SHOW_PRICE };

static const char *shown(struct arena *arena, struct value value, enum show show)
{
    static const enum dimension dimension[] = {[SHOW_BYTES] = DIMENSION_BYTES,
                                               [SHOW_RATE] = DIMENSION_BANDWIDTH,
                                               [SHOW_TIME] = DIMENSION_TIME,
                                               [SHOW_PRICE] = DIMENSION_PRICE};
    char text[UNITS_TEXT_SIZE];
    if (!value.given)
        return NULL;
    return arena_copy(arena, show == SHOW_COUNT ? units_format_count(value.is, text)
                                                : units_format(value.is, dimension[show], text));
}

static void compare(struct list *list, const char *name, const char *key, enum show show,
                    struct value a, struct value b)
{
    if (a.given == b.given && (!a.given || a.is == b.is))
        return;
    const char *what = *name ? arena_format(list->arena, "%s %s", name, key) : key;
    add(list, what, shown(list->arena, a, show), shown(list->arena, b, show));
}

static struct value given(bool is_given, double value)
{
    return (struct value){is_given, value};
}

static void compare_amounts(struct list *list, const char *name, const char *key, struct amount a,
                            struct amount b)
{
    enum amount_unit unit = a.unit != AMOUNT_NONE ? a.unit : b.unit;
    if (a.unit != AMOUNT_NONE && b.unit != AMOUNT_NONE && a.unit != b.unit)
        unit = AMOUNT_NONE;
    if (unit != AMOUNT_NONE) {
        compare(list, name, key, unit == AMOUNT_BYTES ? SHOW_BYTES : SHOW_COUNT,
                given(a.unit != AMOUNT_NONE, a.value), given(b.unit != AMOUNT_NONE, b.value));
    } else if (a.unit != b.unit) {
        compare(list, name, key, SHOW_BYTES, given(a.unit == AMOUNT_BYTES, a.value),
                given(b.unit == AMOUNT_BYTES, b.value));
        compare(list, name, arena_format(list->arena, "%s in samples", key), SHOW_COUNT,
                given(a.unit == AMOUNT_SAMPLES, a.value), given(b.unit == AMOUNT_SAMPLES, b.value));
    }
}

/* A type of either side; NULL: a side does not have it. */
struct pair {
    const char *name;
    const struct job_device_type *type[2];
    const struct profile *profile[2];
};

typedef void compare_pair(struct list *list, const struct pair *pair);

static struct pair find_pair(const struct list *list, const char *name)
{
    struct pair pair = {.name = name};
    for (int i = 0; i < 2; i++) {
        int t = job_find_type(list->side[i].job, name);
        if (t == JOB_NO_TYPE)
            continue;
        pair.type[i] = &list->side[i].job->type[t];
        pair.profile[i] = &list->side[i].profile[t];
    }
    return pair;
}

/* The first side's types, then those that only the second has. */
static void for_each_type(struct list *list, compare_pair *compare_one)
{
    for (int i = 0; i < 2; i++) {
        const struct job *job = list->side[i].job;
        for (int t = 0; t < job->n_types; t++) {
            struct pair pair = find_pair(list, job->type[t].name);
            if (i == 0 || !pair.type[0])
                compare_one(list, &pair);
        }
    }
}

static void compare_devices(struct list *list, const struct pair *pair)
{
    const struct job_device_type *a = pair->type[0], *b = pair->type[1];
    compare(list, pair->name, "count", SHOW_COUNT, given(a, a ? (double)a->count : 0),
            given(b, b ? (double)b->count : 0));
    if (!a || !b)
        return;
    compare_amounts(list, pair->name, "data", a->data, b->data);
    compare(list, pair->name, "price", SHOW_PRICE, given(a->price.given, a->price.per_s),
            given(b->price.given, b->price.per_s));
    compare(list, pair->name, "hosts", SHOW_COUNT, given(a->n_hosts > 0, (double)a->n_hosts),
            given(b->n_hosts > 0, (double)b->n_hosts));
}

/* Names of devices at each position; only worth a look where counts are the same. */
static bool same_ring(const struct list *list)
{
    const struct job *a = list->side[0].job, *b = list->side[1].job;
    struct arena scratch = {0};
    bool same = a->n_devices == b->n_devices;
    for (size_t i = 0; same && i < a->n_devices; i++) {
        same = strcmp(job_device_name(&scratch, a, job_ring_device(a, i)),
                      job_device_name(&scratch, b, job_ring_device(b, i))) == 0;
    }
    arena_free(&scratch);
    return same;
}

static void compare_rings(struct list *list)
{
    static const char *const order[] = {"as listed", "in its own order"};
    const struct job *a = list->side[0].job, *b = list->side[1].job;
    if (list->n == 0 && !same_ring(list))
        add(list, "ring", order[a->ring != NULL], order[b->ring != NULL]);
}

static void compare_stages(struct list *list, const struct pair *pair)
{
    const struct profile *a = pair->profile[0], *b = pair->profile[1];
    for (int s = 0; s < N_STAGES; s++) {
        const struct samples *x = &a->stage[s], *y = &b->stage[s];
        compare(list, pair->name, stage_key((enum stage)s), SHOW_TIME,
                given(x->known, x->stats.mean), given(y->known, y->stats.mean));
    }
}

static void compare_profiles(struct list *list, const struct pair *pair)
{
    const struct profile *a = pair->profile[0], *b = pair->profile[1];
    if (!a || !b)
        return;
    compare(list, pair->name, "batch", SHOW_COUNT, given(true, a->batch), given(true, b->batch));
    compare(list, pair->name, "micro-batches", SHOW_COUNT, given(true, a->micro_batches),
            given(true, b->micro_batches));
    compare(list, pair->name, "loader workers", SHOW_COUNT,
            given(a->loader_workers >= 0, a->loader_workers),
            given(b->loader_workers >= 0, b->loader_workers));
    compare_stages(list, pair);
    compare(list, pair->name, "bytes sent", SHOW_BYTES, given(true, a->bytes_sent),
            given(true, b->bytes_sent));
    compare(list, pair->name, "buckets", SHOW_COUNT, given(true, (double)a->n_buckets),
            given(true, (double)b->n_buckets));
}

static struct link find_link(const struct class_links *classes, const struct job *job,
                             const char *from, const char *to, bool within)
{
    int a = job_find_type(job, from), b = job_find_type(job, to);
    return a == JOB_NO_TYPE || b == JOB_NO_TYPE ? (struct link){0}
                                                : *class_link(classes, a, b, within);
}

static void compare_link(struct list *list, const struct class_links *classes, const char *from,
                         const char *to, bool within)
{
    struct link link[2];
    const char *name =
        arena_format(list->arena, "%s to %s%s", from, to, within ? " on a host" : "");
    for (int i = 0; i < 2; i++)
        link[i] = find_link(&classes[i], list->side[i].job, from, to, within);
    compare(list, name, "bandwidth", SHOW_RATE,
            given(link[0].source != LINK_UNKNOWN, link[0].bandwidth_Bps),
            given(link[1].source != LINK_UNKNOWN, link[1].bandwidth_Bps));
    compare(list, name, "latency", SHOW_TIME, given(link[0].latency_s > 0, link[0].latency_s),
            given(link[1].latency_s > 0, link[1].latency_s));
}

static bool has_slots(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        for (size_t h = 0; h < job->type[t].n_hosts; h++) {
            if (job->type[t].host[h].n_on_host > 1)
                return true;
        }
    }
    return false;
}

static bool same_values(const struct network *a, const struct network *b)
{
    size_t n = a ? a->n : 0;
    bool same = n == (b ? b->n : 0);
    for (size_t i = 0; same && i < n; i++)
        same = strcmp(a->name[i], b->name[i]) == 0;
    for (size_t i = 0; same && i < n * n; i++)
        same = a->link[i].bandwidth_Bps == b->link[i].bandwidth_Bps &&
               a->link[i].latency_s == b->link[i].latency_s &&
               a->link[i].together_Bps == b->link[i].together_Bps;
    return same;
}

/* By pairs of the second's types; what is between hosts only where that tells nothing. */
static void compare_networks(struct list *list)
{
    const struct compare_side *side = list->side;
    const struct job *second = side[1].job;
    bool slots = has_slots(side[0].job) || has_slots(second);
    int n = second->n_types;
    size_t n_before = list->n;
    struct class_links classes[2];
    for (int i = 0; i < 2; i++)
        classes[i] = class_links_find(list->arena, side[i].network, side[i].job);
    for (int pair = 0; pair < n * n; pair++) {
        const char *from = second->type[pair / n].name, *to = second->type[pair % n].name;
        compare_link(list, classes, from, to, false);
        if (slots)
            compare_link(list, classes, from, to, true);
    }
    if (list->n == n_before && !same_values(side[0].network, side[1].network))
        add(list, "links between hosts", "as measured there", "as measured here");
}

static void compare_training(struct list *list)
{
    const struct job *a = list->side[0].job, *b = list->side[1].job;
    compare(list, "", "epochs", SHOW_COUNT, given(true, a->training.epochs),
            given(true, b->training.epochs));
    compare_amounts(list, "", "data size", a->data.size, b->data.size);
    compare(list, "", "data samples", SHOW_COUNT, given(a->data.n_samples > 0, a->data.n_samples),
            given(b->data.n_samples > 0, b->data.n_samples));
    compare(list, "", "sample size", SHOW_BYTES,
            given(a->data.sample_bytes > 0, a->data.sample_bytes),
            given(b->data.sample_bytes > 0, b->data.sample_bytes));
}

struct difference *differences_find(struct arena *arena, const struct compare_side *side, size_t *n)
{
    struct list list = {.arena = arena, .side = side, .group = COMPARE_DEVICES};
    for_each_type(&list, compare_devices);
    compare_rings(&list);
    list.group = COMPARE_PROFILES;
    for_each_type(&list, compare_profiles);
    list.group = COMPARE_NETWORK;
    compare_networks(&list);
    list.group = COMPARE_TRAINING;
    compare_training(&list);
    *n = list.n;
    return list.item;
}
