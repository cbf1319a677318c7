/* Bytes of the gradients' buckets, where a step, or a whole trace, does not tell them. */
#include <math.h>

#include "base/units.h"
#include "trace/trace_ranks.h"

struct buckets {
    struct trace_rank *rank; /* [n_ranks] */
    size_t n_ranks;
    size_t n;      /* of the first step that counts */
    double *bytes; /* [n]; negative: not known */
};

static size_t usual_number(const struct trace_rank *rank)
{
    const struct record *record = &rank->record;
    for (size_t k = 0; k < record->n_iterations; k++) {
        if (record->iteration[k].counted)
            return record->iteration[k].n_buckets;
    }
    return 0;
}

typedef void visit(struct buckets *buckets, size_t b, struct record_bucket *bucket);

/* All buckets of the steps that count and have as many as usual. */
static void visit_all(struct buckets *buckets, visit *each)
{
    for (size_t r = 0; r < buckets->n_ranks; r++) {
        const struct record *record = &buckets->rank[r].record;
        for (size_t k = 0; k < record->n_iterations; k++) {
            struct record_iteration *it = &record->iteration[k];
            for (size_t b = 0; it->n_buckets == buckets->n && b < buckets->n; b++)
                each(buckets, b, &it->bucket[b]);
        }
    }
}

static void learn(struct buckets *buckets, size_t b, struct record_bucket *bucket)
{
    if (buckets->bytes[b] < 0)
        buckets->bytes[b] = bucket->bytes;
}

static void tell(struct buckets *buckets, size_t b, struct record_bucket *bucket)
{
    if (bucket->bytes < 0)
        bucket->bytes = bucket->wire_bytes = buckets->bytes[b];
}

static bool all_known(const struct buckets *buckets)
{
    for (size_t b = 0; b < buckets->n; b++) {
        if (buckets->bytes[b] < 0)
            return false;
    }
    return true;
}

/* The shortest span of each bucket over all steps and ranks, that is the least waiting. */
static void keep_shortest(struct buckets *buckets, size_t b, struct record_bucket *bucket)
{
    if (bucket->span_s >= 0)
        buckets->bytes[b] =
            buckets->bytes[b] < 0 ? bucket->span_s : fmin(buckets->bytes[b], bucket->span_s);
}

static bool fail_number(const struct buckets *buckets, size_t n_given, struct error *e)
{
    error_set(e, ERROR_INPUT,
              "--grad-bytes gives %zu sizes, but %s has %zu gradient buckets in a step", n_given,
              buckets->rank[0].file, buckets->n);
    error_hint(e, "give one size for each bucket, or one for all");
    return false;
}

/* One for all is divided as the times are; where none is known, there must be one bucket. */
static bool divide(struct buckets *buckets, double total_bytes, struct error *e)
{
    double sum_s = 0;
    visit_all(buckets, keep_shortest);
    for (size_t b = 0; b < buckets->n; b++)
        sum_s += buckets->bytes[b];
    if (buckets->n > 1 && (!all_known(buckets) || !(sum_s > 0)))
        return fail_number(buckets, 1, e);
    for (size_t b = 0; b < buckets->n; b++)
        buckets->bytes[b] = buckets->n > 1 ? total_bytes * buckets->bytes[b] / sum_s : total_bytes;
    return true;
}

static bool take_given(struct buckets *buckets, const struct trace_options *options,
                       struct error *e)
{
    if (options->n_gradient_bytes == 1)
        return divide(buckets, options->gradient_bytes[0], e);
    if (options->n_gradient_bytes != buckets->n)
        return fail_number(buckets, options->n_gradient_bytes, e);
    for (size_t b = 0; b < buckets->n; b++)
        buckets->bytes[b] = options->gradient_bytes[b];
    return true;
}

static bool check_given(const struct buckets *buckets, const struct trace_options *options,
                        struct error *e)
{
    const double close = 0.01;
    double given = 0, found = 0;
    char text[2][UNITS_TEXT_SIZE];
    for (size_t i = 0; i < options->n_gradient_bytes; i++)
        given += options->gradient_bytes[i];
    for (size_t b = 0; b < buckets->n; b++)
        found += buckets->bytes[b];
    if (options->n_gradient_bytes == 0 || fabs(given - found) <= close * found)
        return true;
    error_set(e, ERROR_INPUT, "--grad-bytes gives %s, but %s all-reduces %s of gradients in a step",
              units_format(given, DIMENSION_BYTES, text[0]), buckets->rank[0].file,
              units_format(found, DIMENSION_BYTES, text[1]));
    return false;
}

static void mark_unknown(struct arena *arena, struct record *record, const char *why)
{
    struct profile_unknown *all = ARENA_ARRAY(arena, record->n_unknown + 1, struct profile_unknown);
    for (size_t i = 0; i < record->n_unknown; i++)
        all[i] = record->unknown[i];
    all[record->n_unknown++] = (struct profile_unknown){"all_reduce", why};
    record->unknown = all;
}

/* What a device sends goes by the ring that it is in, which is not the world then. */
static void check_groups(struct arena *arena, struct trace_rank *rank, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        if (rank[r].gradient_group < 1 || rank[r].gradient_group >= rank[r].world_size)
            continue;
        mark_unknown(arena, &rank[0].record,
                     arena_format(arena,
                                  "gradients are all-reduced in groups of %d ranks, but the world "
                                  "has %d",
                                  rank[r].gradient_group, rank[r].world_size));
        return;
    }
}

bool trace_ranks_fill_bytes(struct arena *arena, struct trace_rank *rank, size_t n,
                            const struct trace_options *options, struct error *e)
{
    struct buckets buckets = {rank, n, usual_number(&rank[0]), NULL};
    buckets.bytes = ARENA_ARRAY(arena, buckets.n, double);
    for (size_t b = 0; b < buckets.n; b++)
        buckets.bytes[b] = -1;
    if (buckets.n == 0 && options->n_gradient_bytes > 0) {
        error_set(e, ERROR_INPUT,
                  "--grad-bytes is given, but %s all-reduces no gradients in a step", rank[0].file);
        return false;
    }
    if (buckets.n == 0) {
        if (rank[0].world_size > 1)
            mark_unknown(arena, &rank[0].record,
                         "no all-reduce of gradients was called during backward");
        return true;
    }
    visit_all(&buckets, learn);
    if (all_known(&buckets)) {
        if (!check_given(&buckets, options, e))
            return false;
    } else if (options->n_gradient_bytes > 0) {
        for (size_t b = 0; b < buckets.n; b++)
            buckets.bytes[b] = -1;
        if (!take_given(&buckets, options, e))
            return false;
    }
    if (!all_known(&buckets)) {
        mark_unknown(arena, &rank[0].record,
                     "the traces do not hold the gradients' bytes: record with "
                     "record_shapes=True, or give them with --grad-bytes");
        return true;
    }
    visit_all(&buckets, tell);
    check_groups(arena, rank, n);
    return true;
}
