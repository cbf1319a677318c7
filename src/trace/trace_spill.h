/*
 * What is too much for memory, in a file without a name: in $TMPDIR, else in /var/tmp or /tmp. It
 * is gone with the process, however that ends.
 */
#ifndef FORETRAIN_TRACE_TRACE_SPILL_H
#define FORETRAIN_TRACE_TRACE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `fd` of an empty one; -1 where no folder takes it. Closing it removes it. */
int trace_spill_open(void);

/* Puts `n` bytes at `offset`; whether all are there (the disk may be full). */
bool trace_spill_write(int fd, uint64_t offset, const void *bytes, size_t n);

/* Takes back `n` bytes that were put at `offset`. Where they cannot be read any more, the program
 * says so and ends with 74: nothing that is known would be right without them. */
void trace_spill_read(int fd, uint64_t offset, void *bytes, size_t n);

#endif
