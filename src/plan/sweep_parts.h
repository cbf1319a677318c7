/*
 * Parts of a sweep that several machines work on, as files in a folder that all of them see
 * (docs/formats.md, "A part of a sweep").
 */
#ifndef FORETRAIN_PLAN_SWEEP_PARTS_H
#define FORETRAIN_PLAN_SWEEP_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "plan/sweep.h"

enum { SWEEP_KEY_SIZE = 17, SWEEP_MOST_PARTS = 100000 };

/* What tells this sweep from others, by its inputs and values: 16 hexadecimal digits. */
void sweep_key(const struct what_if *what_if, const struct sweep *sweep, char key[SWEEP_KEY_SIZE]);

/* Path of a part in a folder. */
char *sweep_part_path(struct arena *arena, const char *folder, struct sweep_part part);

/* Writes the part that was forecast: it is there and whole, or not there. */
bool sweep_part_write(const char *folder, const char *key, const struct sweep *sweep,
                      struct error *e);

/* The same from text in memory, into its place in a sweep that is whole; for `file` in messages. */
bool sweep_part_parse(const char *text, const char *file, const char *key, struct sweep_part part,
                      struct sweep *sweep, struct error *e);

/* Numbers of the parts of `n` that a folder lacks, "3, 5"; NULL: none. */
const char *sweep_parts_missing(struct arena *arena, const char *folder, size_t n);

/* Reads all `n` parts into a sweep that is whole. Fails naming those that are missing. */
bool sweep_parts_join(struct arena *arena, const char *folder, const char *key, size_t n,
                      struct sweep *sweep, struct error *e);

#endif
