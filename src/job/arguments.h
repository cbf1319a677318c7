/*
 * Placeholders in the arguments of a training script: {data}, {batch}, {rank}, ...
 *
 * Only the known words in braces are filled in; any other text with braces, such as JSON, stays as
 * it is. `{{` is one literal brace.
 */
#ifndef FORETRAIN_JOB_ARGUMENTS_H
#define FORETRAIN_JOB_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct job_placeholder {
    const char *name; /* "rank", without braces */
    const char *value;
};

/* Fills in an argument by `value[n]`; fails naming a known placeholder that has no value there. */
bool job_fill_argument(struct arena *arena, const char *arg, const struct job_placeholder *value,
                       size_t n, char **filled, struct error *e);

/* Whether an argument holds `{name}`. */
bool job_argument_uses(const char *arg, const char *name);

/*
 * The first word in braces that is no placeholder but nearly one: its length at `*word`, or 0 where
 * there is none; `*meant` is the placeholder.
 */
size_t job_argument_near_miss(const char *arg, const char **word, const char **meant);

#endif
