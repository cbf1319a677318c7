#include "predict/remedies.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double mean_step(const struct ft_timeline *timeline)
{
    struct ft_timeline_step step;
    return ft_timeline_step(timeline, &step, NULL) ? step.step_s : INFINITY;
}

static struct remedy without_all_reduce(const struct ft_timeline *timeline)
{
    struct ft_timeline without = *timeline;
    without.n_buckets = 0;
    return (struct remedy){.kind = REMEDY_ALL_REDUCE, .type = -1, .step_s = mean_step(&without)};
}

/* `type` is the timeline's own copy, which is as before afterwards. */
static struct remedy without_computing(const struct ft_timeline *timeline,
                                       struct ft_timeline_type *type, int t, const double *no_time)
{
    const struct ft_timeline_type kept = type[t];
    type[t].forward_s = type[t].backward_s = type[t].optimizer_s = type[t].rest_s = 0;
    type[t].ready_s = no_time;
    struct remedy r = {.kind = REMEDY_COMPUTING, .type = t, .step_s = mean_step(timeline)};
    type[t] = kept;
    return r;
}

static struct remedy without_loading(const struct ft_timeline *timeline,
                                     struct ft_timeline_type *type, int t)
{
    const struct ft_timeline_type kept = type[t];
    type[t].load_s = 0;
    struct remedy r = {.kind = REMEDY_LOADING, .type = t, .step_s = mean_step(timeline)};
    type[t] = kept;
    return r;
}

static size_t count_loading(const struct ft_timeline *timeline)
{
    size_t n = 0;
    for (size_t t = 0; t < timeline->n_types; t++)
        n += timeline->type[t].load_s > 0;
    return n;
}

/* `type` is the timeline's own copy, which is not as before afterwards. */
static struct remedy without_any_loading(const struct ft_timeline *timeline,
                                         struct ft_timeline_type *type)
{
    for (size_t t = 0; t < timeline->n_types; t++)
        type[t].load_s = 0;
    return (struct remedy){.kind = REMEDY_LOADING, .type = -1, .step_s = mean_step(timeline)};
}

struct remedy *remedies_find(struct arena *arena, const struct ft_timeline *timeline, size_t *n)
{
    size_t n_types = timeline->n_types;
    struct remedy *remedy = ARENA_ARRAY(arena, 2 * n_types + 2, struct remedy);
    struct ft_timeline_type *type = ARENA_ARRAY(arena, n_types, struct ft_timeline_type);
    double *no_time = ARENA_ARRAY(arena, timeline->n_buckets, double);
    struct ft_timeline changed = *timeline;
    changed.type = type;
    memcpy(type, timeline->type, n_types * sizeof *type);
    for (size_t b = 0; b < timeline->n_buckets; b++)
        no_time[b] = 0;
    *n = 0;
    if (timeline->n_devices > 1)
        remedy[(*n)++] = without_all_reduce(timeline);
    for (int t = 0; t < (int)n_types; t++)
        remedy[(*n)++] = without_computing(&changed, type, t, no_time);
    for (int t = 0; t < (int)n_types; t++)
        remedy[(*n)++] = without_loading(&changed, type, t);
    if (count_loading(timeline) > 1)
        remedy[(*n)++] = without_any_loading(&changed, type);
    return remedy;
}

struct remedy remedy_of_links(struct arena *arena, const struct ft_timeline *timeline, int type,
                              int to_type)
{
    const struct ft_link fast = {.bandwidth_Bps = 1e300};
    size_t n = timeline->n_devices;
    struct ft_link *link = ARENA_ARRAY(arena, n, struct ft_link);
    struct ft_timeline changed = *timeline;
    changed.link = link;
    for (size_t i = 0; i < n; i++) {
        int from = timeline->type_of[i], to = timeline->type_of[(i + 1) % n];
        bool joins = (from == type && to == to_type) || (from == to_type && to == type);
        link[i] = joins ? fast : timeline->link[i];
    }
    return (struct remedy){REMEDY_LINKS, type, to_type, mean_step(&changed)};
}

const struct remedy *remedies_best(const struct remedy *remedy, size_t n)
{
    const struct remedy *best = remedy;
    for (size_t k = 1; k < n; k++) {
        if (remedy[k].step_s < best->step_s)
            best = &remedy[k];
    }
    return best;
}
