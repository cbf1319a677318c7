/*
 * A list of any number of records, each a few whole numbers, in little memory: sorted in runs, and
 * these written as the differences from record to record; where they come to more than 4 MiB they
 * are merged into a file without a name. Read in order, number by number.
 *
 * Bytes: one to four for most numbers of records that are near each other in time or by number.
 * Memory: these to 4 MiB, 350 kB for each list that is added to, and 16 kB for each 4 MiB in the
 * file while it is read. Where no file can be had, or the disk is full, all stays in memory.
 */
#ifndef FORETRAIN_TRACE_TRACE_PACKED_H
#define FORETRAIN_TRACE_TRACE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKED_COLUMNS = 5 };

/* Columns that a list does not use are 0. */
struct packed_record {
    int64_t column[PACKED_COLUMNS];
};

/* Sorted. */
struct packed_run {
    unsigned char *bytes; /* NULL: in the file, at `offset` */
    uint64_t offset;
    size_t n_bytes, n; /* `n` records */
};

/* Zeroed, but for `n_columns`, it is empty. */
struct trace_packed {
    size_t n_columns;
    struct packed_record *pending; /* [n_pending], not in a run yet */
    size_t n_pending;
    struct packed_run *run; /* [n_runs], first the `n_spilled` in the file */
    size_t n_runs, n_spilled, run_capacity;
    size_t kept_bytes;        /* of the runs in memory */
    size_t n;                 /* records in all */
    bool has_file, must_keep; /* what comes, since no file takes it */
    int file;
};

/* In any order. O(log n), in the mean. */
void trace_packed_add(struct trace_packed *packed, const struct packed_record *record);

/* Behind the last record, and before the first is read. */
void trace_packed_finish(struct trace_packed *packed);

void trace_packed_free(struct trace_packed *packed);

struct packed_cursor;

/* Where a reader of a list is. */
struct packed_reader {
    struct packed_cursor *cursor; /* [n_cursors], a heap: the least record comes first */
    unsigned char *blocks;        /* of the runs in the file */
    size_t n_cursors, n_columns;
    int file;
    struct packed_record last; /* that was read */
    bool has_last;
};

struct packed_reader trace_packed_read(const struct trace_packed *packed);

/* The next record in order of its columns, equal ones all; NULL at the end. O(log runs). */
const struct packed_record *trace_packed_next(struct packed_reader *reader);

/* The same, but of equal ones only the first. */
const struct packed_record *trace_packed_next_other(struct packed_reader *reader);

/* The first record whose first column is `key`, or NULL. Keys that are asked for must not
 * decrease. */
const struct packed_record *trace_packed_seek(struct packed_reader *reader, int64_t key);

void trace_packed_read_end(struct packed_reader *reader);

#endif
