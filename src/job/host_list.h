/*
 * Lists of hosts as people write them: "node[01-16]", "10.0.1.[1-100]", "a[1-2,5]:8, b".
 *
 * Ranges keep their zeros; several groups in one name count with the last one fastest. Names that
 * could be taken for an option or by a shell are refused.
 */
#ifndef FORETRAIN_JOB_HOST_LIST_H
#define FORETRAIN_JOB_HOST_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "job/job.h"
#include "job/reading.h"
#include "job/yaml_tree.h"

/* Names in one list; and written out in one file, with the numbers that they are made of. */
enum { HOST_LIST_MOST = 2000000, HOST_LIST_MOST_IN_FILE = 8000000 };

struct host_list {
    struct job_host *item;
    size_t n, capacity;
};

/* Reads a string or a list of strings into a struct host_list in the arena (a field_reader); what
 * is wrong is noted, and then the list is left untouched. */
void host_list_read(struct reading *r, const struct node *node, void *out);

/* Names out of commas and ranges: "a100-[0-99]", "n1:0, n1:1". */
struct name_list {
    const char **item; /* malloc'ed; the names are in the arena */
    size_t n, capacity;
};

/* Adds the names of a scalar; false where it cannot be read (noted). */
bool host_list_expand(struct reading *r, const struct node *node, struct name_list *list);

#endif
