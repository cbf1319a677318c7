/* Texts numbered from 0 by first appearance. */
#ifndef FORETRAIN_TRACE_NUMBERING_H
#define FORETRAIN_TRACE_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* A zeroed struct holds none. */
struct numbering {
    struct text texts; /* one behind the other */
    size_t *begin;     /* [n + 1], of each in `texts` */
    uint32_t *slot;    /* [n_slots], a hash table of numbers + 1; 0: empty */
    size_t n, n_slots, capacity;
};

/* The number of `data[length]`, a new one where it is not there yet. */
uint32_t numbering_of(struct numbering *numbering, const char *data, size_t length);

/* The text of a number, until the next one is numbered. */
const char *numbering_text(const struct numbering *numbering, uint32_t number, size_t *length);

void numbering_free(struct numbering *numbering);

#endif
