/*
 * Mappings of the job file by table: each key with the function that reads its value.
 *
 * A reader notes what is wrong (job/reading.h) and then leaves what it would have set untouched.
 */
#ifndef FORETRAIN_JOB_FIELDS_H
#define FORETRAIN_JOB_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/job.h"
#include "job/reading.h"
#include "job/yaml_tree.h"

typedef void field_reader(struct reading *r, const struct node *node, void *out);

struct field {
    const char *key;
    field_reader *read;
    size_t offset; /* of what it sets in the struct */
    bool required;
};

/*
 * Reads a mapping into `out` by the table `field[n]`, in the table's order. Unknown keys are
 * refused with the nearest one, required ones that are missing too. Returns false where `node` is
 * no mapping.
 */
bool fields_read(struct reading *r, const struct node *node, const struct field *field, size_t n,
                 void *out);

/* Readers of one value; the type of what `out` points to is named. */
field_reader field_text;        /* const char *: not empty, no control characters */
field_reader field_option;      /* const char *: text that cannot be taken for an option */
field_reader field_texts;       /* struct text_list */
field_reader field_bool;        /* bool: true or false */
field_reader field_count;       /* int64_t: whole, 1 to 10^7 */
field_reader field_small_count; /* int: whole, 1 to 10^7 */
field_reader field_natural;     /* int: whole, 0 to 10^7 */
field_reader field_epochs;      /* double: whole, from 1 to 10^9 */
field_reader field_samples;     /* double: whole, from 1 to 2^53 */
field_reader field_seed;        /* uint64_t: whole, from 0 */
field_reader field_bytes;       /* double: a size above 0 */
field_reader field_size;        /* struct amount in bytes, above 0 */
field_reader field_amount;      /* struct amount, bytes or samples, above 0 */
field_reader field_bandwidth;   /* double: a rate above 0, bytes per second */
field_reader field_latency;     /* double: a time, 0 or more */
field_reader field_share;       /* double: a share from 0 to below 100 % */
field_reader field_duration;    /* double: a time above 0 */
field_reader field_price;       /* struct price: a price by time, 0 or more */
field_reader field_cpu_lists;   /* struct text_list: CPU lists */

struct text_list {
    const char **item;
    size_t n;
};

/* A word out of a table; `later`: it comes in a later version and is refused as such. */
struct choice {
    const char *word;
    int value;
    bool later;
};

/* Reads a word out of `choice[n]`; false where it is none of them (noted). */
bool field_choose(struct reading *r, const struct node *node, const struct choice *choice, size_t n,
                  int *value);

/* Whole number from `least` to `most`; false where it is not (noted). */
bool field_whole(struct reading *r, const struct node *node, uint64_t least, uint64_t most,
                 uint64_t *value);

/* Text of a scalar, not empty, without control characters; NULL where it is not (noted). */
const char *field_word(struct reading *r, const struct node *node);

/* "a, b or c", for messages. */
const char *field_words(struct reading *r, const char *const *word, size_t n);

#endif
