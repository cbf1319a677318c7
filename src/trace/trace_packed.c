#include "trace/trace_packed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "trace/trace_room.h"
#include "trace/trace_spill.h"

enum {
    RUN_RECORDS = 8192,
    NUMBER_BYTES = 10, /* the longest */
    RECORD_BYTES = PACKED_COLUMNS * NUMBER_BYTES,
    MOST_KEPT_BYTES = 4 << 20,
    BLOCK_BYTES = 1 << 14, /* that are written to the file or read from it at once */
};

struct packed_cursor {
    const unsigned char *at, *end;
    size_t n_left; /* behind `record` */
    struct packed_record record;
    unsigned char *block; /* of what is in the file, of which there are */
    uint64_t offset;      /* from here */
    size_t n_bytes;       /* as many more */
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

static unsigned char *write_record(unsigned char *to, const struct packed_record *last,
                                   const struct packed_record *record, size_t n_columns)
{
    for (size_t k = 0; k < n_columns; k++)
        to = write_difference(to, last->column[k], record->column[k]);
    return to;
}

static void add_run(struct trace_packed *p, struct packed_run run)
{
    p->run = trace_room(p->run, p->n_runs, &p->run_capacity, sizeof *p->run);
    p->run[p->n_runs++] = run;
}

static void pack_pending(struct trace_packed *p)
{
    struct packed_record last = {0};
    unsigned char *bytes = memory_resize(NULL, p->n_pending * p->n_columns, NUMBER_BYTES);
    unsigned char *to = bytes;
    qsort(p->pending, p->n_pending, sizeof *p->pending, by_columns);
    for (size_t i = 0; i < p->n_pending; i++) {
        to = write_record(to, &last, &p->pending[i], p->n_columns);
        last = p->pending[i];
    }
    size_t n_bytes = (size_t)(to - bytes);
    p->kept_bytes += n_bytes;
    add_run(p, (struct packed_run){.bytes = memory_resize(bytes, n_bytes, 1),
                                   .n_bytes = n_bytes,
                                   .n = p->n_pending});
    p->n_pending = 0;
}

static void free_kept(struct trace_packed *p)
{
    for (size_t i = p->n_spilled; i < p->n_runs; i++)
        free(p->run[i].bytes);
    p->n_runs = p->n_spilled;
    p->kept_bytes = 0;
}

static struct packed_reader read_runs(const struct trace_packed *p, size_t first);

/* The records of all runs in memory, one after the other, behind the file's; whether they are all
 * there. */
static bool write_merged(const struct trace_packed *p, struct packed_run *run)
{
    unsigned char block[BLOCK_BYTES + RECORD_BYTES], *to = block;
    struct packed_record last = {0};
    const struct packed_record *record;
    bool ok = true;
    struct packed_reader r = read_runs(p, p->n_spilled);
    while (ok && (record = trace_packed_next(&r))) {
        to = write_record(to, &last, record, p->n_columns);
        last = *record;
        run->n++;
        if (to - block >= BLOCK_BYTES) {
            ok =
                trace_spill_write(p->file, run->offset + run->n_bytes, block, (size_t)(to - block));
            run->n_bytes += (size_t)(to - block);
            to = block;
        }
    }
    trace_packed_read_end(&r);
    ok = ok && trace_spill_write(p->file, run->offset + run->n_bytes, block, (size_t)(to - block));
    run->n_bytes += (size_t)(to - block);
    return ok;
}

static void spill(struct trace_packed *p)
{
    struct packed_run run = {0};
    if (!p->has_file) {
        p->file = trace_spill_open();
        p->has_file = p->file >= 0;
    }
    if (p->n_spilled > 0)
        run.offset = p->run[p->n_spilled - 1].offset + p->run[p->n_spilled - 1].n_bytes;
    p->must_keep = !p->has_file || !write_merged(p, &run);
    if (p->must_keep)
        return;
    free_kept(p);
    add_run(p, run);
    p->n_spilled = p->n_runs;
}

void trace_packed_add(struct trace_packed *p, const struct packed_record *record)
{
    if (!p->pending)
        p->pending = memory_resize(NULL, RUN_RECORDS, sizeof *p->pending);
    p->pending[p->n_pending++] = *record;
    p->n++;
    if (p->n_pending == RUN_RECORDS)
        pack_pending(p);
    if (p->kept_bytes > MOST_KEPT_BYTES && !p->must_keep)
        spill(p);
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
    free_kept(p);
    free(p->run);
    free(p->pending);
    if (p->has_file)
        close(p->file);
    *p = (struct trace_packed){.n_columns = p->n_columns};
}

/* Makes sure that a whole record lies behind `at`, if there is one. */
static void read_on(struct packed_cursor *cursor, int file)
{
    size_t n_kept = (size_t)(cursor->end - cursor->at);
    if (cursor->n_bytes == 0 || n_kept >= RECORD_BYTES)
        return;
    size_t n = cursor->n_bytes < BLOCK_BYTES ? cursor->n_bytes : BLOCK_BYTES;
    memmove(cursor->block, cursor->at, n_kept);
    trace_spill_read(file, cursor->offset, cursor->block + n_kept, n);
    cursor->offset += n;
    cursor->n_bytes -= n;
    cursor->at = cursor->block;
    cursor->end = cursor->block + n_kept + n;
}

static void unpack(const struct packed_reader *r, struct packed_cursor *cursor)
{
    read_on(cursor, r->file);
    for (size_t k = 0; k < r->n_columns; k++)
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

/* Of what is in the file, with a block of its own. */
static struct packed_cursor begin_of(const struct packed_run *run, unsigned char *block)
{
    if (run->bytes)
        return (struct packed_cursor){
            .at = run->bytes, .end = run->bytes + run->n_bytes, .n_left = run->n};
    return (struct packed_cursor){.at = block,
                                  .end = block,
                                  .n_left = run->n,
                                  .block = block,
                                  .offset = run->offset,
                                  .n_bytes = run->n_bytes};
}

static struct packed_reader read_runs(const struct trace_packed *p, size_t first)
{
    enum { SIZE = BLOCK_BYTES + RECORD_BYTES };
    struct packed_reader r = {
        .n_cursors = p->n_runs - first, .n_columns = p->n_columns, .file = p->file};
    r.cursor = memory_resize(NULL, r.n_cursors + 1, sizeof *r.cursor);
    r.blocks = memory_resize(NULL, p->n_spilled, SIZE);
    for (size_t i = 0; i < r.n_cursors; i++) {
        r.cursor[i] =
            begin_of(&p->run[first + i], first + i < p->n_spilled ? r.blocks + i * SIZE : NULL);
        unpack(&r, &r.cursor[i]);
    }
    for (size_t i = r.n_cursors / 2; i-- > 0;)
        sift_down(&r, i);
    return r;
}

struct packed_reader trace_packed_read(const struct trace_packed *p)
{
    return read_runs(p, 0);
}

const struct packed_record *trace_packed_next(struct packed_reader *r)
{
    r->has_last = r->n_cursors > 0;
    if (!r->has_last)
        return NULL;
    r->last = r->cursor[0].record;
    if (r->cursor[0].n_left > 0)
        unpack(r, &r->cursor[0]);
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
    free(r->blocks);
}
