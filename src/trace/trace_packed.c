#include "trace/trace_packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/trace_room.h"

enum {
    RUN_RECORDS = 8192,
    NUMBER_BYTES = 10, /* the longest */
};

struct packed_run {
    unsigned char *bytes;
    size_t n;
};

struct packed_cursor {
    const unsigned char *at;
    size_t n_left; /* behind `record` */
    struct packed_record record;
};

static int by_columns(const void *a, const void *b)
{
    const struct packed_record *x = a, *y = b;
    for (size_t i = 0; i < PACKED_COLUMNS; i++) {
        if (x->column[i] != y->column[i])
            return x->column[i] < y->column[i] ? -1 : 1;
    }
    return 0;
}

/* Seven bits a byte, the lowest first; small negative differences are small numbers too. */
static unsigned char *write_difference(unsigned char *to, int64_t from, int64_t value)
{
    uint64_t difference = (uint64_t)value - (uint64_t)from;
    uint64_t left = difference << 1 ^ -(difference >> 63);
    for (; left >= 0x80; left >>= 7)
        *to++ = (unsigned char)(left | 0x80);
    *to++ = (unsigned char)left;
    return to;
}

static const unsigned char *read_difference(const unsigned char *at, int64_t *value)
{
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
        number |= (uint64_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80)
            break;
    }
    *value = (int64_t)((uint64_t)*value + (number >> 1 ^ -(number & 1)));
    return at;
}

static void pack_pending(struct trace_packed *p)
{
    struct packed_record last = {0};
    unsigned char *bytes = memory_resize(NULL, p->n_pending * p->n_columns, NUMBER_BYTES);
    unsigned char *to = bytes;
    qsort(p->pending, p->n_pending, sizeof *p->pending, by_columns);
    for (size_t i = 0; i < p->n_pending; i++) {
        for (size_t k = 0; k < p->n_columns; k++)
            to = write_difference(to, last.column[k], p->pending[i].column[k]);
        last = p->pending[i];
    }
    p->run = trace_room(p->run, p->n_runs, &p->run_capacity, sizeof *p->run);
    p->run[p->n_runs++] =
        (struct packed_run){memory_resize(bytes, (size_t)(to - bytes), 1), p->n_pending};
    p->n_pending = 0;
}

void trace_packed_add(struct trace_packed *p, const struct packed_record *record)
{
    if (!p->pending)
        p->pending = memory_resize(NULL, RUN_RECORDS, sizeof *p->pending);
    p->pending[p->n_pending++] = *record;
    p->n++;
    if (p->n_pending == RUN_RECORDS)
        pack_pending(p);
}

void trace_packed_finish(struct trace_packed *p)
{
    if (p->n_pending > 0)
        pack_pending(p);
    free(p->pending);
    p->pending = NULL;
}

void trace_packed_free(struct trace_packed *p)
{
    for (size_t i = 0; i < p->n_runs; i++)
        free(p->run[i].bytes);
    free(p->run);
    free(p->pending);
    *p = (struct trace_packed){.n_columns = p->n_columns};
}

static void unpack(struct packed_cursor *cursor, size_t n_columns)
{
    for (size_t k = 0; k < n_columns; k++)
        cursor->at = read_difference(cursor->at, &cursor->record.column[k]);
    cursor->n_left--;
}

/* Puts the cursor at `i` where it belongs among those below it. */
static void sift_down(struct packed_reader *r, size_t i)
{
    struct packed_cursor moved = r->cursor[i];
    for (size_t child = 2 * i + 1; child < r->n_cursors; child = 2 * i + 1) {
        if (child + 1 < r->n_cursors &&
            by_columns(&r->cursor[child + 1].record, &r->cursor[child].record) < 0)
            child++;
        if (by_columns(&moved.record, &r->cursor[child].record) <= 0)
            break;
        r->cursor[i] = r->cursor[child];
        i = child;
    }
    r->cursor[i] = moved;
}

struct packed_reader trace_packed_read(const struct trace_packed *p)
{
    struct packed_reader r = {.n_cursors = p->n_runs, .n_columns = p->n_columns};
    r.cursor = memory_resize(NULL, p->n_runs + 1, sizeof *r.cursor);
    for (size_t i = 0; i < p->n_runs; i++) {
        r.cursor[i] = (struct packed_cursor){.at = p->run[i].bytes, .n_left = p->run[i].n};
        unpack(&r.cursor[i], r.n_columns);
    }
    for (size_t i = r.n_cursors / 2; i-- > 0;)
        sift_down(&r, i);
    return r;
}

const struct packed_record *trace_packed_next(struct packed_reader *r)
{
    r->has_last = r->n_cursors > 0;
    if (!r->has_last)
        return NULL;
    r->last = r->cursor[0].record;
    if (r->cursor[0].n_left > 0)
        unpack(&r->cursor[0], r->n_columns);
    else
        r->cursor[0] = r->cursor[--r->n_cursors];
    if (r->n_cursors > 0)
        sift_down(r, 0);
    return &r->last;
}

const struct packed_record *trace_packed_next_other(struct packed_reader *r)
{
    while (r->has_last && r->n_cursors > 0 && by_columns(&r->last, &r->cursor[0].record) == 0)
        trace_packed_next(r);
    return trace_packed_next(r);
}

const struct packed_record *trace_packed_seek(struct packed_reader *r, int64_t key)
{
    bool more = r->has_last || trace_packed_next(r);
    while (more && r->last.column[0] < key)
        more = trace_packed_next(r) != NULL;
    return more && r->last.column[0] == key ? &r->last : NULL;
}

void trace_packed_read_end(struct packed_reader *r)
{
    free(r->cursor);
}
