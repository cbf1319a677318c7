#include "trace/trace_outer.h"

#include <stdlib.h>

#include "base/arena.h"

/* By thread and start; what lasts longer first, so that it comes before what it holds. */
static int by_place(const void *a, const void *b)
{
    const struct trace_span *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

void trace_outer_finish(struct trace_outer *outer)
{
    size_t n = 0;
    if (outer->n > 0)
        qsort(outer->span, outer->n, sizeof *outer->span, by_place);
    for (size_t i = 0; i < outer->n; i++) {
        const struct trace_span *last = n ? &outer->span[n - 1] : NULL, *span = &outer->span[i];
        if (!last || last->track != span->track || span->start_ns >= last->end_ns)
            outer->span[n++] = *span;
    }
    outer->n = n;
}

void trace_outer_add(struct trace_outer *outer, struct trace_span span)
{
    enum { FEWEST = 1024 };
    if (outer->n == outer->capacity) {
        trace_outer_finish(outer);
        if (2 * outer->n >= outer->capacity) {
            outer->capacity = outer->capacity ? 2 * outer->capacity : FEWEST;
            outer->span = memory_resize(outer->span, outer->capacity, sizeof *outer->span);
        }
    }
    outer->span[outer->n++] = span;
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
