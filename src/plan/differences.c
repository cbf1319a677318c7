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

enum show { SHOW_COUNT, SHOW_BYTES, SHOW_RATE, SHOW_TIME, SHOW_PRICE, SHOW_SHARE };

static const char *shown(struct arena *arena, struct value value, enum show show)
{
    static const enum dimension dimension[] = {[SHOW_BYTES] = DIMENSION_BYTES,
                                               [SHOW_RATE] = DIMENSION_BANDWIDTH,
                                               [SHOW_TIME] = DIMENSION_TIME,
                                               [SHOW_PRICE] = DIMENSION_PRICE};
    char text[UNITS_TEXT_SIZE];
    if (!value.given)
        return NULL;
    if (show == SHOW_SHARE)
        return arena_format(arena, "%g %%", 100 * value.is);
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

static struct value above_0(double value)
{
    return given(value > 0, value);
}

/* What is too long to be shown. */
static void add_measured(struct list *list, const char *name, const char *what)
{
    add(list, *name ? arena_format(list->arena, "%s %s", name, what) : what, "as measured there",
        "as measured here");
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

static bool same_counts(const struct list *list)
{
    const struct job *a = list->side[0].job, *b = list->side[1].job;
    bool same = a->n_types == b->n_types;
    for (int t = 0; same && t < a->n_types; t++) {
        struct pair pair = find_pair(list, a->type[t].name);
        same = pair.type[1] && pair.type[0]->count == pair.type[1]->count &&
               pair.type[0]->n_hosts == pair.type[1]->n_hosts;
    }
    return same;
}

/* Names of devices at each position. */
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
    if (same_counts(list) && !same_ring(list))
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

static bool same_samples(const struct samples *a, const struct samples *b)
{
    const struct stats *x = &a->stats, *y = &b->stats;
    return a->known == b->known &&
           (!a->known || (x->mean == y->mean && x->sd == y->sd && x->min == y->min &&
                          x->max == y->max && x->n == y->n));
}

static bool same_spread(const struct profile *a, const struct profile *b)
{
    bool same = true;
    for (int s = 0; s < N_STAGES; s++)
        same = same && (a->stage[s].stats.mean != b->stage[s].stats.mean ||
                        same_samples(&a->stage[s], &b->stage[s]));
    return same;
}

static bool same_buckets(const struct profile *a, const struct profile *b)
{
    bool same = true;
    for (size_t i = 0; same && i < a->n_buckets; i++) {
        const struct bucket *x = &a->bucket[i], *y = &b->bucket[i];
        same = x->bytes == y->bytes && x->wire_bytes == y->wire_bytes &&
               same_samples(&x->ready, &y->ready) && same_samples(&x->done, &y->done);
    }
    return same;
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
    compare(list, pair->name, "bytes read", SHOW_BYTES, above_0(a->bytes_read),
            above_0(b->bytes_read));
    compare(list, pair->name, "sample size", SHOW_BYTES, above_0(a->sample_bytes),
            above_0(b->sample_bytes));
    compare(list, pair->name, "buckets", SHOW_COUNT, given(true, (double)a->n_buckets),
            given(true, (double)b->n_buckets));
    if (!same_spread(a, b))
        add_measured(list, pair->name, "spread of times");
    if (a->n_buckets == b->n_buckets && !same_buckets(a, b))
        add_measured(list, pair->name, "times and sizes of buckets");
}

static struct link find_link(const struct class_links *classes, const struct job *job,
                             const char *from, const char *to, bool within)
{
    int a = job_find_type(job, from), b = job_find_type(job, to);
    struct link link = {0};
    if (a != JOB_NO_TYPE && b != JOB_NO_TYPE)
        link = *class_link(classes, a, b, within);
    return link;
}

static bool same_curve(const struct link_curve *a, const struct link_curve *b)
{
    bool same = (a != NULL) == (b != NULL) && (!a || a->n == b->n);
    for (size_t i = 0; same && a && i < a->n; i++)
        same = a->point[i].bytes == b->point[i].bytes && a->point[i].time_s == b->point[i].time_s;
    return same;
}

static void compare_curves(struct list *list, const char *name, const struct link_curve *a,
                           const struct link_curve *b)
{
    if (a && b && !same_curve(a, b))
        add_measured(list, name, "by size");
    else if (a || b)
        compare(list, name, "sizes in its table", SHOW_COUNT, given(a, a ? (double)a->n : 0),
                given(b, b ? (double)b->n : 0));
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
    compare(list, name, "latency", SHOW_TIME, above_0(link[0].latency_s),
            above_0(link[1].latency_s));
    compare(list, name, "both ways", SHOW_RATE, above_0(link[0].both_ways_Bps),
            above_0(link[1].both_ways_Bps));
    compare(list, name, "spread", SHOW_SHARE, above_0(link[0].spread), above_0(link[1].spread));
    compare_curves(list, name, link[0].curve, link[1].curve);
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

static bool same_links(const struct link *a, const struct link *b, size_t n)
{
    bool same = true;
    for (size_t i = 0; same && i < n * n; i++)
        same = a[i].source == b[i].source && a[i].bandwidth_Bps == b[i].bandwidth_Bps &&
               a[i].latency_s == b[i].latency_s && a[i].together_Bps == b[i].together_Bps &&
               a[i].both_ways_Bps == b[i].both_ways_Bps && a[i].spread == b[i].spread &&
               same_curve(a[i].curve, b[i].curve);
    return same;
}

static bool same_values(const struct network *a, const struct network *b)
{
    size_t n = a ? a->n : 0;
    bool same = n == (b ? b->n : 0);
    for (size_t i = 0; same && i < n; i++)
        same = strcmp(a->name[i], b->name[i]) == 0;
    return same && (n == 0 || same_links(a->link, b->link, n));
}

static bool same_topology(const struct network *a, const struct network *b)
{
    size_t n = a ? a->n_within : 0;
    bool same = n == (b ? b->n_within : 0);
    for (size_t i = 0; same && i < n; i++) {
        const struct host_links *x = &a->within[i], *y = &b->within[i];
        same = x->n == y->n && strcmp(x->type, y->type) == 0 && same_links(x->link, y->link, x->n);
    }
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
    bool told = list->n > n_before;
    if (!told && !same_values(side[0].network, side[1].network))
        add_measured(list, "", "links between hosts");
    if (!told && !same_topology(side[0].network, side[1].network))
        add_measured(list, "", "links within hosts");
}

static void compare_epochs(struct list *list, const struct job_training *a,
                           const struct job_training *b)
{
    static const char *const last[] = {"as it is", "dropped"};
    compare(list, "", "epochs", SHOW_COUNT, given(true, a->epochs), given(true, b->epochs));
    compare(list, "", "evaluation", SHOW_TIME, above_0(a->evaluation_s), above_0(b->evaluation_s));
    compare(list, "", "checkpoint", SHOW_TIME, above_0(a->checkpoint_s), above_0(b->checkpoint_s));
    if (a->collective != b->collective)
        add(list, "collective", ft_collective_name(a->collective),
            ft_collective_name(b->collective));
    if (a->drops_last != b->drops_last)
        add(list, "last batch", last[a->drops_last], last[b->drops_last]);
}

static void compare_training(struct list *list)
{
    const struct job *a = list->side[0].job, *b = list->side[1].job;
    compare_epochs(list, &a->training, &b->training);
    compare(list, "", "storage bandwidth", SHOW_RATE, above_0(a->storage.bandwidth_Bps),
            above_0(b->storage.bandwidth_Bps));
    compare_amounts(list, "", "data size", a->data.size, b->data.size);
    compare(list, "", "data samples", SHOW_COUNT, above_0(a->data.n_samples),
            above_0(b->data.n_samples));
    compare(list, "", "sample size", SHOW_BYTES, above_0(a->data.sample_bytes),
            above_0(b->data.sample_bytes));
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
