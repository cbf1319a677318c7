/*
 * One reading of a job file: where its text lies, and the errors found so far.
 *
 * Readers note errors here and go on, so that one run reports all of them.
 */
#ifndef FORETRAIN_JOB_READING_H
#define FORETRAIN_JOB_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct node; /* job/yaml_tree.h */

struct finding {
    int line, column;
    size_t order;
    struct error error;
};

struct reading {
    struct arena *arena;
    const char *file;
    const char **line; /* [n_lines], start of each line in the text */
    size_t n_lines;
    const char *context; /* "device type 'a100'", added to errors; or NULL */
    struct finding *finding;
    size_t n_findings, capacity;
    size_t n_untold; /* found beyond the most that are told */
    size_t n_names;  /* written out from ranges so far, over the whole file */
};

/* `text` ends with a zero and outlives the reading and all places in it. */
void reading_start(struct reading *r, struct arena *arena, const char *file, const char *text,
                   size_t length);

/* A place by line and column, both from 1. */
struct place reading_place(const struct reading *r, int line, int column);

/* Notes an error at a place; `hint` may be NULL. */
__attribute__((format(printf, 4, 5))) void reading_refuse_at(struct reading *r,
                                                             const struct place *place,
                                                             const char *hint, const char *format,
                                                             ...);

/* Notes an error at a node. */
__attribute__((format(printf, 4, 5))) void reading_refuse(struct reading *r,
                                                          const struct node *node, const char *hint,
                                                          const char *format, ...);

/* Whether one more error would be told, not only counted: else its hint is not worth the work. */
bool reading_tells(const struct reading *r);

/* A hint `did you mean 'x'?` with the word of `word[n]` nearest to `text`, or NULL. */
char *reading_nearest(struct reading *r, const char *text, const char *const *word, size_t n);

/* The user's words, safe and short enough to show in a message. */
const char *reading_shown(struct reading *r, const char *text);

/* Joins all errors, by line, into `e`; true when there are none. Ends the reading either way. */
bool reading_end(struct reading *r, struct error *e);

#endif
