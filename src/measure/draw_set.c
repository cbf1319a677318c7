#include "measure/draw_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void draw_set_add(struct growing_set *set, const char *path, uint32_t folder)
{
    if (set->n == set->capacity) {
        set->capacity = set->capacity ? 2 * set->capacity : 1024;
        set->path = memory_resize(set->path, set->capacity, sizeof *set->path);
        set->folder = memory_resize(set->folder, set->capacity, sizeof *set->folder);
    }
    set->path[set->n] = path;
    set->folder[set->n++] = folder;
}

void draw_set_finish(struct arena *arena, struct growing_set *growing, const char *root,
                     const char *list, struct data_set *set)
{
    size_t n = growing->n;
    *set = (struct data_set){.root = root,
                             .path = ARENA_ARRAY(arena, n, const char *),
                             .folder = ARENA_ARRAY(arena, n, uint32_t),
                             .size_bytes = ARENA_ARRAY(arena, n, double),
                             .n = n,
                             .n_folders = growing->n_folders,
                             .list = list};
    for (size_t i = 0; i < n; i++) {
        set->path[i] = growing->path[i];
        set->folder[i] = growing->folder[i];
        set->size_bytes[i] = -1;
    }
    draw_set_free(growing);
}

void draw_set_free(struct growing_set *set)
{
    free(set->path);
    free(set->folder);
    *set = (struct growing_set){0};
}

bool draw_set_size(struct data_set *set, size_t file, double *bytes, struct error *e)
{
    if (set->size_bytes[file] < 0) {
        struct arena arena = {0};
        struct stat st;
        const char *path = arena_format(&arena, "%s/%s", set->root, set->path[file]);
        bool found = stat(path, &st) == 0;
        if (!found)
            error_set(e, ERROR_FILE, "%s: cannot tell its size: %s", path, strerror(errno));
        arena_free(&arena);
        if (!found)
            return false;
        set->size_bytes[file] = (double)st.st_size;
    }
    *bytes = set->size_bytes[file];
    return true;
}

uint64_t draw_set_hash(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        hash = (hash ^ *c) * 0x100000001b3u;
    return hash;
}

bool draw_total_bytes(struct data_set *set, double *bytes, struct error *e)
{
    double sum = 0;
    for (size_t i = 0; i < set->n; i++) {
        double size = 0;
        if (!draw_set_size(set, i, &size, e))
            return false;
        sum += size;
    }
    *bytes = sum;
    return true;
}
