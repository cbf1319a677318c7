/* A training set that grows while it is scanned. */
#ifndef FORETRAIN_MEASURE_DRAW_SET_H
#define FORETRAIN_MEASURE_DRAW_SET_H

#include "measure/draw.h"

struct growing_set {
    const char **path;
    uint32_t *folder;
    size_t n, capacity;
    size_t n_folders;
};

/* `path` must live in the arena of the set. */
void draw_set_add(struct growing_set *set, const char *path, uint32_t folder);

/* Moves the files into the arena and frees the rest; `root` and `list` are set. */
void draw_set_finish(struct arena *arena, struct growing_set *growing, const char *root,
                     const char *list, struct data_set *set);

void draw_set_free(struct growing_set *set);

/* Size of a file in bytes; asked once. */
bool draw_set_size(struct data_set *set, size_t file, double *bytes, struct error *e);

/* 64-bit FNV-1a. */
uint64_t draw_set_hash(const char *path);

#endif
