#include "trace/trace_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool fail_two(const struct trace_rank *a, const struct trace_rank *b, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s and %s are both of rank %d", a->file, b->file, a->rank);
    error_hint(e, "give one trace of each rank, and say which with --rank FILE=N");
    return false;
}

static bool check_pair(const struct trace_rank *a, const struct trace_rank *b, struct error *e)
{
    if (a->rank < 0 || b->rank < 0) {
        error_set(e, ERROR_INPUT, "%s and %s: nothing tells which rank made %s", a->file, b->file,
                  a->rank < 0 ? a->file : b->file);
        error_hint(e, "say so: --rank FILE=N");
        return false;
    }
    if (a->rank == b->rank)
        return fail_two(a, b, e);
    if (a->world_size > 0 && b->world_size > 0 && a->world_size != b->world_size) {
        error_set(e, ERROR_INPUT,
                  "%s and %s are not of one training: %d ranks took part in one, %d in the other",
                  a->file, b->file, a->world_size, b->world_size);
        return false;
    }
    if (a->backend && b->backend && strcmp(a->backend, b->backend) != 0) {
        error_set(e, ERROR_INPUT,
                  "%s and %s are not of one training: one communicates by %s, the other by %s",
                  a->file, b->file, a->backend, b->backend);
        return false;
    }
    return true;
}

/* As some trace says; else by the ranks that there are. */
static int world_of(const struct trace_rank *rank, size_t n, bool *guessed)
{
    int said = 0, highest = 0;
    for (size_t r = 0; r < n; r++) {
        said = rank[r].world_size > said ? rank[r].world_size : said;
        highest = rank[r].rank > highest ? rank[r].rank : highest;
    }
    *guessed = said == 0 && n > 1;
    return *guessed ? highest + 1 : said;
}

static bool check_world(const struct trace_rank *rank, size_t n, int world, struct error *e)
{
    if (world == 0) {
        error_set(e, ERROR_INPUT, "%s: nothing tells how many ranks took part", rank[0].file);
        error_hint(e, "give the traces of all ranks, or say so: --world-size N");
        return false;
    }
    for (size_t r = 0; r < n; r++) {
        if (rank[r].rank < world)
            continue;
        error_set(e, ERROR_INPUT, "%s: it is of rank %d, but ranks are 0 to %d in a world of %d",
                  rank[r].file, rank[r].rank, world - 1, world);
        return false;
    }
    return true;
}

bool trace_ranks_check(struct trace_rank *rank, size_t n, bool *guessed, struct error *e)
{
    for (size_t b = 1; b < n; b++) {
        for (size_t a = 0; a < b; a++) {
            if (!check_pair(&rank[a], &rank[b], e))
                return false;
        }
    }
    int world = world_of(rank, n, guessed);
    if (!check_world(rank, n, world, e))
        return false;
    for (size_t r = 0; r < n; r++) {
        rank[r].record.rank = rank[r].rank < 0 ? 0 : rank[r].rank;
        rank[r].record.world_size = rank[r].world_size = world;
    }
    return true;
}

static const struct record_iteration *find_step(const struct trace_rank *rank, int64_t number)
{
    for (size_t k = 0; k < rank->record.n_iterations; k++) {
        if (rank->number[k] == number)
            return &rank->record.iteration[k];
    }
    return NULL;
}

/* All hold it. */
static bool is_common(const struct trace_rank *rank, size_t n, int64_t number)
{
    for (size_t r = 0; r < n; r++) {
        if (!find_step(&rank[r], number))
            return false;
    }
    return true;
}

static bool counts_in_all(const struct trace_rank *rank, size_t n, int64_t number)
{
    for (size_t r = 0; r < n; r++) {
        if (!find_step(&rank[r], number)->counted)
            return false;
    }
    return true;
}

static bool fail_nothing_common(const struct trace_rank *rank, size_t n, size_t n_common,
                                struct error *e)
{
    const struct trace_rank *first = &rank[0], *last = &rank[n - 1];
    error_set(e, ERROR_INPUT,
              "%s (steps %" PRId64 " to %" PRId64 ") and %s (steps %" PRId64 " to %" PRId64
              "): no step %s in all of the %zu traces",
              first->file, first->number[0], first->number[first->record.n_iterations - 1],
              last->file, last->number[0], last->number[last->record.n_iterations - 1],
              n_common ? "counts" : "is", n);
    return false;
}

/* From the begin of the first common step to the end of the last. */
static struct trace_window when_of(const struct trace_rank *rank, const int64_t *common,
                                   size_t n_common)
{
    struct trace_window when = TRACE_NO_WINDOW;
    for (size_t k = 0; k < n_common; k++) {
        const struct trace_window *step =
            &rank->when[find_step(rank, common[k]) - rank->record.iteration];
        trace_window_add(&when, step->start_ns, step->end_ns);
    }
    return when;
}

/* Steps of one number are of one moment, but for the difference of two hosts' clocks. */
static bool check_moments(const struct trace_rank *rank, size_t n, const int64_t *common,
                          size_t n_common, struct error *e)
{
    const double clocks_s = 5;
    for (size_t r = 1; r < n; r++) {
        if (!rank[0].when || !rank[r].when)
            continue;
        struct trace_window a = when_of(&rank[0], common, n_common),
                            b = when_of(&rank[r], common, n_common);
        int64_t apart_ns = b.start_ns > a.end_ns ? b.start_ns - a.end_ns : a.start_ns - b.end_ns;
        if ((double)apart_ns / 1e9 <= clocks_s)
            continue;
        error_set(e, ERROR_INPUT,
                  "%s and %s are not of one training: between their steps of the same numbers lie "
                  "%.0f s",
                  rank[0].file, rank[r].file, (double)apart_ns / 1e9);
        return false;
    }
    return true;
}

bool trace_ranks_align(struct arena *arena, struct trace_rank *rank, size_t n, struct error *e)
{
    size_t most = rank[0].record.n_iterations, n_common = 0, n_counting = 0;
    int64_t *common = ARENA_ARRAY(arena, most, int64_t);
    for (size_t k = 0; k < most; k++) {
        int64_t number = rank[0].number[k];
        if (!is_common(rank, n, number))
            continue;
        common[n_common++] = number;
        n_counting += counts_in_all(rank, n, number);
    }
    if (n_counting == 0)
        return fail_nothing_common(rank, n, n_common, e);
    if (!check_moments(rank, n, common, n_common, e))
        return false;
    for (size_t r = 0; r < n; r++) {
        struct record *record = &rank[r].record;
        struct record_iteration *kept = ARENA_ARRAY(arena, n_common, struct record_iteration);
        for (size_t k = 0; k < n_common; k++) {
            kept[k] = *find_step(&rank[r], common[k]);
            kept[k].i = (int)k + 1;
        }
        record->iteration = kept;
        record->n_iterations = n_common;
        record->first = 1;
        record->last = (int)n_common;
    }
    return true;
}

static void share_least(struct trace_rank *rank, size_t n, size_t k, size_t bucket)
{
    double least_s = INFINITY;
    for (size_t r = 0; r < n; r++) {
        const struct record_iteration *it = &rank[r].record.iteration[k];
        double span_s = bucket < it->n_buckets ? it->bucket[bucket].span_s : -1;
        least_s = span_s < 0 ? -1 : fmin(least_s, span_s);
    }
    for (size_t r = 0; r < n && least_s >= 0; r++)
        rank[r].record.iteration[k].bucket[bucket].transfer_s = least_s;
}

static bool same_kind(const struct record_collective *a, const struct record_collective *b)
{
    return strcmp(a->op, b->op) == 0 && strcmp(a->group, b->group) == 0;
}

/* How many of its kind came before the i-th. */
static size_t order_of(const struct record_iteration *it, size_t i)
{
    size_t order = 0;
    for (size_t before = 0; before < i; before++)
        order += same_kind(&it->collective[before], &it->collective[i]);
    return order;
}

/* The one of another rank's step that is the same collective, or NULL. */
static struct record_collective *counterpart(const struct record_iteration *it,
                                             const struct record_collective *of, size_t order)
{
    for (size_t i = 0; i < it->n_collectives; i++) {
        if (same_kind(&it->collective[i], of) && order-- == 0)
            return &it->collective[i];
    }
    return NULL;
}

static void find_transfer(struct trace_rank *rank, size_t n, size_t k, struct record_collective *of,
                          size_t order)
{
    double least_s = of->span_s;
    for (size_t r = 0; r < n; r++) {
        const struct record_collective *other =
            counterpart(&rank[r].record.iteration[k], of, order);
        if (!other || other->span_s < 0)
            return;
        least_s = fmin(least_s, other->span_s);
    }
    of->transfer_s = least_s;
}

void trace_ranks_find_transfers(struct trace_rank *rank, size_t n)
{
    for (size_t k = 0; n > 1 && k < rank[0].record.n_iterations; k++) {
        for (size_t b = 0; b < rank[0].record.iteration[k].n_buckets; b++)
            share_least(rank, n, k, b);
        for (size_t r = 0; r < n; r++) {
            struct record_iteration *it = &rank[r].record.iteration[k];
            for (size_t i = 0; i < it->n_collectives; i++)
                find_transfer(rank, n, k, &it->collective[i], order_of(it, i));
        }
    }
}
