/* Which files are brought along of a folder of ours. */
#ifndef FORETRAIN_MEASURE_STAGE_LIST_H
#define FORETRAIN_MEASURE_STAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/launcher.h"

struct stage_list {
    const char *root;
    bool is_file;      /* `root` itself is the only file: its path is "" */
    const char **path; /* [n], below `root` */
    size_t n;
    double bytes;
};

/*
 * The regular files below a folder, links followed, or one file. Version control's own files and
 * Python's caches do not count. With `options->code`, what git would not ignore, where git knows
 * the folder. Fails where there is more than `options->limit_bytes`, and where it cannot be read.
 */
bool stage_list_make(struct arena *arena, const char *root, const struct stage_options *options,
                     struct stage_list *list, struct error *e);

/* `root`/`path`, or `root` where the path is "". */
char *stage_list_path(struct arena *arena, const char *root, const char *path);

#endif
