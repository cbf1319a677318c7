#include "trace/trace_cut.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Keys of all work of the device, sorted. */
static uint64_t *work_keys(struct arena *arena, const struct trace_collected *c)
{
    size_t n = c->n_works + c->n_comm_works;
    uint64_t *key = ARENA_ARRAY(arena, n + 1, uint64_t);
    for (size_t i = 0; i < c->n_works; i++)
        key[i] = c->work[i].key;
    for (size_t i = 0; i < c->n_comm_works; i++)
        key[c->n_works + i] = c->comm_work[i].key;
    qsort(key, n, sizeof *key, by_key);
    return key;
}

static void count_launches(struct arena *arena, const struct trace *t, size_t *n_single)
{
    const struct trace_collected *c = &t->collected;
    size_t n = c->n_works + c->n_comm_works;
    const uint64_t *keys = work_keys(arena, c);
    for (size_t i = 0; i < c->n_launches; i++) {
        const struct trace_step *step = trace_step_at(&t->steps, c->launch[i].start_ns);
        uint64_t key = c->launch[i].key;
        if (step && !bsearch(&key, keys, n, sizeof key, by_key))
            n_single[step - t->steps.step]++;
    }
}

/* The step behind whose first work on the device, the last one, some work began. */
static void count_work(const struct trace *t, uint64_t key, int64_t start_ns, size_t *n_single)
{
    if (trace_launch_find(&t->collected, key))
        return;
    for (size_t s = t->steps.n; s-- > 0;) {
        const struct trace_window *work = &t->steps.step[s].work;
        if (trace_window_is_empty(*work) || work->start_ns > start_ns)
            continue;
        n_single[s]++;
        return;
    }
}

/* Launches without work and work without a launch, in each step; 0 without a device. */
static size_t *count_singles(struct arena *arena, const struct trace *t)
{
    const struct trace_collected *c = &t->collected;
    size_t *n_single = ARENA_ARRAY(arena, t->steps.n, size_t);
    if (!t->device.used)
        return n_single;
    count_launches(arena, t, n_single);
    for (size_t i = 0; i < c->n_works; i++)
        count_work(t, c->work[i].key, c->work[i].start_ns, n_single);
    for (size_t i = 0; i < c->n_comm_works; i++)
        count_work(t, c->comm_work[i].key, c->comm_work[i].start_ns, n_single);
    return n_single;
}

/* No more is single than in the best step; and there is work, where there is a device. */
static bool is_paired(const struct trace *t, size_t s, const size_t *n_single, size_t least)
{
    return n_single[s] == least &&
           !(t->device.used && trace_window_is_empty(t->steps.step[s].work));
}

bool *trace_cut_whole(struct arena *arena, const struct trace *t)
{
    size_t n = t->steps.n, least = SIZE_MAX;
    bool *whole = ARENA_ARRAY(arena, n, bool);
    if (!t->collected.ending.truncated) {
        for (size_t s = 0; s < n; s++)
            whole[s] = true;
        return whole;
    }
    const size_t *n_single = count_singles(arena, t);
    for (size_t s = 0; s < n; s++)
        least = n_single[s] < least ? n_single[s] : least;
    for (size_t s = 0; s + 1 < n; s++)
        whole[s] = is_paired(t, s, n_single, least) && is_paired(t, s + 1, n_single, least);
    return whole;
}
