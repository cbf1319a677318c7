#include "trace/trace_cut.h"

#include <stdlib.h>

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys of collectives' work, sorted. */
static int64_t *collective_keys(struct arena *arena, const struct trace_collected *c)
{
    int64_t *key = ARENA_ARRAY(arena, c->n_comm_works + 1, int64_t);
    for (size_t i = 0; i < c->n_comm_works; i++)
        key[i] = c->comm_work[i].key;
    qsort(key, c->n_comm_works, sizeof *key, by_number);
    return key;
}

static void count_launches(struct arena *arena, const struct trace *t, size_t *n_single)
{
    const struct trace_collected *c = &t->collected;
    const int64_t *keys = collective_keys(arena, c);
    struct packed_reader launches = trace_packed_read(&c->launches),
                         works = trace_packed_read(&c->works);
    struct trace_launch launch;
    while (trace_launch_next(&launches, &launch)) {
        const struct trace_step *step = trace_step_at(&t->steps, launch.start_ns);
        if (!trace_packed_seek(&works, launch.key) && step &&
            !bsearch(&launch.key, keys, c->n_comm_works, sizeof *keys, by_number))
            n_single[step - t->steps.step]++;
    }
    trace_packed_read_end(&launches);
    trace_packed_read_end(&works);
}

/* Work without a launch counts with the step behind whose first work on the device, the last one,
 * it began. */
static void count_work(const struct trace *t, int64_t start_ns, size_t *n_single)
{
    for (size_t s = t->steps.n; s-- > 0;) {
        const struct trace_window *work = &t->steps.step[s].work;
        if (trace_window_is_empty(*work) || work->start_ns > start_ns)
            continue;
        n_single[s]++;
        return;
    }
}

static void count_works(const struct trace *t, size_t *n_single)
{
    const struct trace_collected *c = &t->collected;
    struct packed_reader works = trace_packed_read(&c->works),
                         launches = trace_packed_read(&c->launches);
    struct trace_work work;
    while (trace_work_next(&works, &work)) {
        if (!trace_packed_seek(&launches, work.key))
            count_work(t, work.start_ns, n_single);
    }
    for (size_t i = 0; i < c->n_comm_works; i++) {
        if (!c->comm_work[i].launched)
            count_work(t, c->comm_work[i].start_ns, n_single);
    }
    trace_packed_read_end(&works);
    trace_packed_read_end(&launches);
}

/* Launches without work and work without a launch, in each step; 0 without a device. */
static size_t *count_singles(struct arena *arena, const struct trace *t)
{
    size_t *n_single = ARENA_ARRAY(arena, t->steps.n, size_t);
    if (!t->device.used)
        return n_single;
    count_launches(arena, t, n_single);
    count_works(t, n_single);
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
