#include <string.h>

#include "profile/merge.h"

static bool same_set(const struct record_iteration *a, const struct record_iteration *b)
{
    if (a->n_buckets != b->n_buckets)
        return false;
    for (size_t i = 0; i < a->n_buckets; i++) {
        if (a->bucket[i].index != b->bucket[i].index || a->bucket[i].bytes != b->bucket[i].bytes ||
            strcmp(a->bucket[i].module, b->bucket[i].module) != 0)
            return false;
    }
    return true;
}

/* Few sets occur, so that each is counted once: O(iterations * sets). */
static const struct record_iteration *most_frequent(struct arena *arena,
                                                    const struct record_window *w, size_t *count)
{
    size_t n = record_window_size(w), n_sets = 0, best = 0;
    const struct record_iteration **set = ARENA_ARRAY(arena, n, const struct record_iteration *);
    size_t *times = ARENA_ARRAY(arena, n, size_t);
    for (size_t k = 0; k < n; k++) {
        size_t s = 0;
        while (s < n_sets && !same_set(set[s], record_window_at(w, k)))
            s++;
        if (s == n_sets)
            set[n_sets++] = record_window_at(w, k);
        times[s]++;
    }
    for (size_t s = 1; s < n_sets; s++) {
        if (times[s] > times[best])
            best = s;
    }
    *count = times[best];
    return set[best];
}

static bool rank_has(const struct record_window *w, size_t rank, const struct record_iteration *set)
{
    for (size_t k = 0; k < w->n_iterations; k++) {
        if (same_set(record_window_at(w, rank * w->n_iterations + k), set))
            return true;
    }
    return false;
}

static bool check_ranks(const struct record_window *w, const struct record_iteration *set,
                        struct error *e)
{
    for (size_t r = 0; r < w->n_ranks; r++) {
        if (rank_has(w, r, set))
            continue;
        const struct record_iteration *own = record_window_at(w, r * w->n_iterations);
        error_set(e, ERROR_INPUT,
                  "%s: its gradients' buckets are not those of the other ranks: %zu in iteration "
                  "%d, %zu in most",
                  w->record[r].file, own->n_buckets, own->i, set->n_buckets);
        return false;
    }
    return true;
}

static struct samples known_times(double *value, size_t n)
{
    return n ? (struct samples){.known = true, .value = value, .stats = stats_of(value, n)}
             : (struct samples){0};
}

/* Those that are known of one time of bucket `b`, in the first `n` iterations. */
static struct samples times_at(struct arena *arena, const struct record_window *w,
                               const struct record_iteration *set, size_t b, size_t n,
                               size_t time_at)
{
    size_t n_known = 0;
    double *value = ARENA_ARRAY(arena, n, double);
    for (size_t k = 0; k < n; k++) {
        const struct record_iteration *it = record_window_at(w, k);
        double time_s = -1;
        if (same_set(it, set))
            memcpy(&time_s, (const char *)&it->bucket[b] + time_at, sizeof time_s);
        if (time_s >= 0)
            value[n_known++] = time_s;
    }
    return known_times(value, n_known);
}

/* Times of bucket `b` in all iterations of the set. */
static void collect_times(struct arena *arena, const struct record_window *w,
                          const struct record_iteration *set, size_t b, struct bucket *bucket)
{
    static const size_t time_at[] = {
        offsetof(struct record_bucket, ready_s), offsetof(struct record_bucket, done_s),
        offsetof(struct record_bucket, span_s), offsetof(struct record_bucket, transfer_s)};
    struct samples *samples[] = {&bucket->ready, &bucket->done, &bucket->span, &bucket->transfer};
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        bool once = samples[s] == &bucket->transfer; /* all ranks have the same */
        size_t n = once ? w->n_iterations : record_window_size(w);
        *samples[s] = times_at(arena, w, set, b, n, time_at[s]);
    }
}

bool merge_buckets(struct arena *arena, const struct record_window *w, struct merge_notes *notes,
                   struct profile *p, struct error *e)
{
    size_t count = 0;
    const struct record_iteration *set = most_frequent(arena, w, &count);
    if (!check_ranks(w, set, e))
        return false;
    if (count < record_window_size(w))
        merge_note(notes,
                   "the gradients' buckets vary: %zu of %zu iterations had others, whose times are "
                   "left out",
                   record_window_size(w) - count, record_window_size(w));
    p->n_buckets = set->n_buckets;
    p->bucket = ARENA_ARRAY(arena, set->n_buckets, struct bucket);
    for (size_t b = 0; b < set->n_buckets; b++) {
        p->bucket[b].bytes = set->bucket[b].bytes;
        p->bucket[b].wire_bytes = set->bucket[b].wire_bytes;
        collect_times(arena, w, set, b, &p->bucket[b]);
    }
    return true;
}
