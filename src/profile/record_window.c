#include "profile/record_window.h"

static size_t window_length(const struct record *r)
{
    return (size_t)(r->last - r->first) + 1;
}

static bool in_window(const struct record *r, const struct record_iteration *it)
{
    return it->i >= r->first && it->i <= r->last;
}

static bool counts(const struct record_iteration *it)
{
    return it->counted && !it->edge && !it->profiled;
}

static void fail_lacking(const struct record *r, size_t n_found, int first_missing, struct error *e)
{
    size_t length = window_length(r);
    error_set(e, ERROR_INPUT,
              "%s: lacks %zu of the %zu iterations %d to %d that count (the first: %d)", r->file,
              length - n_found, length, r->first, r->last, first_missing);
}

static bool fail_twice(const struct record *r, const struct record_iteration *it, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s:%d: a second line of iteration %d", r->file, it->line, it->i);
    return false;
}

/* One slot an iteration of the window; what does not count never hides one that does. */
static bool fill_slots(const struct record *r, const struct record_iteration **slot,
                       struct error *e)
{
    size_t n_found = 0;
    for (size_t k = 0; k < r->n_iterations; k++) {
        const struct record_iteration *it = &r->iteration[k];
        const struct record_iteration **at = &slot[in_window(r, it) ? it->i - r->first : 0];
        if (!in_window(r, it) || (*at && !it->counted))
            continue;
        if (*at && (*at)->counted)
            return fail_twice(r, it, e);
        n_found += !*at;
        *at = it;
    }
    int missing = 0;
    for (size_t length = window_length(r); n_found < length && slot[missing];)
        missing++;
    if (n_found < window_length(r))
        fail_lacking(r, n_found, r->first + missing, e);
    return n_found == window_length(r);
}

/* Before room is made for a window that may be as long as its two numbers say. */
static bool check_length(const struct record *r, struct error *e)
{
    size_t n = 0;
    int next = r->first;
    for (size_t k = 0; k < r->n_iterations; k++) {
        n += in_window(r, &r->iteration[k]);
        next += next < r->last && r->iteration[k].i == next;
    }
    if (n < window_length(r))
        fail_lacking(r, n, next, e);
    return n >= window_length(r);
}

/* Moves the iterations that count in every rank together; returns how many they are. */
static size_t keep_counting(const struct record_iteration **slot, size_t n_ranks, size_t length,
                            const struct record_iteration **kept)
{
    size_t n = 0;
    for (size_t k = 0; k < length; k++) {
        bool all = true;
        for (size_t r = 0; r < n_ranks; r++)
            all = all && counts(slot[r * length + k]);
        for (size_t r = 0; all && r < n_ranks; r++)
            kept[r * length + n] = slot[r * length + k];
        n += all;
    }
    return n;
}

static bool fail_none_left(const struct record *r, struct error *e)
{
    error_set(e, ERROR_INPUT,
              "%s: none of the iterations %d to %d counts: each is at the edge of a pass over the "
              "data",
              r->file, r->first, r->last);
    error_hint(e, "give each device more data, so that a pass lasts longer than the window");
    return false;
}

bool record_window_make(struct arena *arena, const struct record *record, size_t n,
                        struct record_window *window, struct error *e)
{
    for (size_t r = 0; r < n; r++) {
        if (!check_length(&record[r], e))
            return false;
    }
    size_t length = window_length(&record[0]);
    const struct record_iteration **slot =
        ARENA_ARRAY(arena, n * length, const struct record_iteration *);
    const struct record_iteration **kept =
        ARENA_ARRAY(arena, n * length, const struct record_iteration *);
    for (size_t r = 0; r < n; r++) {
        if (!fill_slots(&record[r], slot + r * length, e))
            return false;
    }
    size_t n_kept = keep_counting(slot, n, length, kept);
    if (n_kept == 0)
        return fail_none_left(&record[0], e);
    for (size_t r = 1; r < n; r++) {
        for (size_t k = 0; k < n_kept; k++)
            kept[r * n_kept + k] = kept[r * length + k];
    }
    *window = (struct record_window){.record = record,
                                     .n_ranks = n,
                                     .iteration = kept,
                                     .n_iterations = n_kept,
                                     .n_left_out = length - n_kept};
    return true;
}

const struct record_iteration *record_window_at(const struct record_window *window, size_t k)
{
    return window->iteration[k];
}

size_t record_window_size(const struct record_window *window)
{
    return window->n_ranks * window->n_iterations;
}
