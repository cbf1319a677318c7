/*
 * Each file's rank in the order is a random number from the seed and a hash of its path, so that
 * no list has to be sorted by name first, and a file added to the set moves no other.
 */
#include "measure/draw.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/draw_set.h"

struct drawn_file {
    uint64_t rank;
    const char *path;
    size_t index;
};

static int by_rank(const void *a, const void *b)
{
    const struct drawn_file *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(x->path, y->path);
}

static struct drawn_file *seeded_order(const struct data_set *set, uint64_t seed)
{
    struct drawn_file *file = memory_resize(NULL, set->n, sizeof *file);
    for (size_t i = 0; i < set->n; i++) {
        struct random random = random_seed(seed, draw_set_hash(set->path[i]));
        file[i] = (struct drawn_file){random_next(&random), set->path[i], i};
    }
    if (set->n > 0)
        qsort(file, set->n, sizeof *file, by_rank);
    return file;
}

/* Takes files from the order, from `next` on. */
struct drawing {
    struct data_set *set;
    const struct drawn_file *order; /* [set->n] */
    size_t next;
};

static bool wants_more(const struct amount *amount, const struct draw_share *share,
                       double next_bytes)
{
    if (amount->unit == AMOUNT_SAMPLES)
        return (double)share->n < amount->value;
    return amount->unit == AMOUNT_BYTES &&
           (share->n == 0 || share->bytes + next_bytes <= amount->value);
}

static bool is_full(const struct amount *amount, const struct draw_share *share)
{
    double got = amount->unit == AMOUNT_SAMPLES ? (double)share->n : share->bytes;
    return amount->unit == AMOUNT_NONE || got >= amount->value;
}

/* `enough` tells whether the set lasted. */
static bool draw_device(struct arena *arena, struct drawing *d, const struct amount *amount,
                        struct draw_share *share, bool *enough, struct error *e)
{
    size_t first = d->next;
    double bytes = 0;
    *share = (struct draw_share){0};
    for (; d->next < d->set->n; d->next++) {
        if (amount->unit == AMOUNT_SAMPLES && is_full(amount, share))
            break;
        if (!draw_set_size(d->set, d->order[d->next].index, &bytes, e))
            return false;
        if (!wants_more(amount, share, bytes))
            break;
        share->n++;
        share->bytes += bytes;
    }
    *enough = d->next < d->set->n || is_full(amount, share);
    share->file = ARENA_ARRAY(arena, share->n, size_t);
    for (size_t i = 0; i < share->n; i++)
        share->file[i] = d->order[first + i].index;
    return true;
}

static double needed(const struct draw_request *request, size_t n, enum amount_unit unit)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (request[i].amount.unit == unit)
            sum += request[i].n_devices * request[i].amount.value;
    }
    return sum;
}

static char *amount_text(struct arena *arena, double value, enum amount_unit unit)
{
    char text[UNITS_TEXT_SIZE];
    if (unit == AMOUNT_BYTES)
        return arena_copy(arena, units_format(value, DIMENSION_BYTES, text));
    return arena_format(arena, "%s files", units_format_count(value, text));
}

static char *request_text(struct arena *arena, const struct draw_request *request, size_t n)
{
    struct text text = {0};
    for (size_t i = 0; i < n; i++) {
        if (request[i].amount.unit == AMOUNT_NONE)
            continue;
        text_format(&text, "%s%d of %s with %s each", text.length > 0 ? ", " : "",
                    request[i].n_devices, request[i].device_type,
                    amount_text(arena, request[i].amount.value, request[i].amount.unit));
    }
    char *copy = arena_copy(arena, text.data ? text.data : "");
    text_free(&text);
    return copy;
}

static void describe_too_small(struct arena *arena, const struct data_set *set,
                               const struct draw_request *request, size_t n, double found,
                               enum amount_unit unit, struct error *e)
{
    double need = needed(request, n, unit);
    const char *from = set->list ? set->list : set->root;
    if (need > found)
        error_set(
            e, ERROR_INPUT,
            "the training set is too small: the sub-systems need %s, %s has %s: %s are missing",
            amount_text(arena, need, unit), text_printable(arena, from, 0),
            amount_text(arena, found, unit), amount_text(arena, need - found, unit));
    else
        error_set(e, ERROR_INPUT,
                  "the training set is too small: %s has %s in %zu files, which run out before "
                  "each device has its part",
                  text_printable(arena, from, 0), amount_text(arena, found, unit), set->n);
    error_hint(e, "drawn without replacement: %s", request_text(arena, request, n));
}

/* In the unit of the request that found no more. */
static bool fail_too_small(struct data_set *set, const struct draw_request *request, size_t n,
                           enum amount_unit unit, struct error *e)
{
    double found = (double)set->n;
    if (unit == AMOUNT_BYTES && !draw_total_bytes(set, &found, e))
        return false;
    struct arena arena = {0};
    describe_too_small(&arena, set, request, n, found, unit, e);
    arena_free(&arena);
    return false;
}

static bool draw_all(struct arena *arena, struct drawing *d, const struct draw_request *request,
                     size_t n, struct draw_share *share, struct error *e)
{
    bool enough = true;
    for (size_t i = 0; i < n; i++) {
        for (int device = 0; device < request[i].n_devices; device++, share++) {
            if (!draw_device(arena, d, &request[i].amount, share, &enough, e))
                return false;
            if (!enough)
                return fail_too_small(d->set, request, n, request[i].amount.unit, e);
        }
    }
    return true;
}

bool draw_make(struct arena *arena, struct data_set *set, const struct draw_request *request,
               size_t n_requests, uint64_t seed, struct draw_share *share, struct error *e)
{
    size_t n_shares = 0;
    for (size_t i = 0; i < n_requests; i++)
        n_shares += request[i].n_devices > 0 ? (size_t)request[i].n_devices : 0;
    struct draw_share *drawn = ARENA_ARRAY(arena, n_shares, struct draw_share);
    struct drawn_file *order = seeded_order(set, seed);
    struct drawing drawing = {.set = set, .order = order};
    bool ok = draw_all(arena, &drawing, request, n_requests, drawn, e);
    for (size_t i = 0; ok && i < n_shares; i++)
        share[i] = drawn[i];
    free(order);
    return ok;
}

size_t draw_count_folders(const struct data_set *set, const struct draw_share *share, size_t n)
{
    bool *seen = memory_resize(NULL, set->n_folders, sizeof *seen);
    memset(seen, 0, set->n_folders * sizeof *seen);
    size_t count = 0;
    for (size_t s = 0; s < n; s++) {
        for (size_t i = 0; i < share[s].n; i++) {
            bool *folder = &seen[set->folder[share[s].file[i]]];
            count += !*folder;
            *folder = true;
        }
    }
    free(seen);
    return count;
}
