#include "trace/trace_outer.h"

#include <stdlib.h>

#include "base/arena.h"

/* By thread and start; what lasts longer first, so that it comes before what it holds. */
static struct packed_record pack(const struct trace_span *span)
{
    return (struct packed_record){
        {span->track, span->start_ns, span->start_ns - span->end_ns, span->name}};
}

static struct trace_span unpack(const struct packed_record *record)
{
    const int64_t *column = record->column;
    return (struct trace_span){.track = (uint32_t)column[0],
                               .start_ns = column[1],
                               .end_ns = column[1] - column[2],
                               .name = (uint32_t)column[3]};
}

/* `inner` is left out where `outer` is there; of two of the same time neither is known to be. */
static bool holds(const struct trace_span *outer, const struct trace_span *inner)
{
    bool same = outer->start_ns == inner->start_ns && outer->end_ns == inner->end_ns;
    return outer->track == inner->track && !same && outer->start_ns <= inner->start_ns &&
           inner->end_ns <= outer->end_ns && inner->start_ns < outer->end_ns;
}

static void keep_last(struct trace_outer *outer)
{
    enum { N_COLUMNS = 4 };
    struct packed_record record = pack(&outer->last);
    outer->added.n_columns = N_COLUMNS;
    trace_packed_add(&outer->added, &record);
}

void trace_outer_add(struct trace_outer *outer, struct trace_span span)
{
    if (outer->has_last && holds(&outer->last, &span))
        return;
    if (outer->has_last && !holds(&span, &outer->last))
        keep_last(outer);
    outer->last = span;
    outer->has_last = true;
}

/* It lies in no span before it, of which `last` is the last that is kept, and `longest` the one
 * that ends last. */
static bool is_outermost(const struct trace_span *span, const struct trace_span *last,
                         const struct trace_span *longest)
{
    return (last->track != span->track || span->start_ns >= last->end_ns) && !holds(longest, span);
}

void trace_outer_finish(struct trace_outer *outer)
{
    struct trace_span last = {.end_ns = INT64_MIN}, longest = last;
    const struct packed_record *record;
    if (outer->has_last)
        keep_last(outer);
    trace_packed_finish(&outer->added);
    outer->span = memory_resize(NULL, outer->added.n + 1, sizeof *outer->span);
    struct packed_reader reader = trace_packed_read(&outer->added);
    while ((record = trace_packed_next(&reader))) {
        struct trace_span span = unpack(record);
        if (is_outermost(&span, &last, &longest))
            outer->span[outer->n++] = last = span;
        if (longest.track != span.track || span.end_ns >= longest.end_ns)
            longest = span;
    }
    trace_packed_read_end(&reader);
    trace_packed_free(&outer->added);
    outer->span = memory_resize(outer->span, outer->n + 1, sizeof *outer->span);
}

void trace_outer_free(struct trace_outer *outer)
{
    trace_packed_free(&outer->added);
    free(outer->span);
}

const struct trace_span *trace_outer_find(const struct trace_outer *outer, uint32_t track,
                                          int64_t at_ns)
{
    size_t low = 0, high = outer->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct trace_span *span = &outer->span[middle];
        if (span->track < track || (span->track == track && span->start_ns <= at_ns))
            low = middle + 1;
        else
            high = middle;
    }
    const struct trace_span *found = low > 0 ? &outer->span[low - 1] : NULL;
    return found && found->track == track && at_ns <= found->end_ns ? found : NULL;
}
