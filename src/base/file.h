/* Whole files in and out; what is written is complete or not there. */
#ifndef FORETRAIN_BASE_FILE_H
#define FORETRAIN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { FILE_HASH_SIZE = 65 }; /* SHA-256 in hexadecimal and a zero */

/*
 * The whole of `path` as text ending in a zero; `length` without it, may be NULL. "-" is standard
 * input. Fails with ERROR_FILE when it cannot be read, is a folder, or is larger than
 * `limit_bytes`.
 */
bool file_read(struct arena *arena, const char *path, size_t limit_bytes, char **text,
               size_t *length, struct error *e);

/*
 * Writes beside `path`, flushes to the disk and renames: `path` holds the old or the new content. A
 * new file has mode 0600; one that is there keeps its mode, a link still leads to it, and a device
 * or pipe is written to.
 */
bool file_write(const char *path, const char *data, size_t length, struct error *e);

/* mkdir -p with mode 0700 for what it makes. */
bool file_make_folders(const char *path, struct error *e);

/* Removes a folder and all in it, not following links; true when it is not there. */
bool file_remove_tree(const char *path, struct error *e);

bool file_exists(const char *path);

/* SHA-256 of a file's content. */
bool file_hash(const char *path, char hash[FILE_HASH_SIZE], struct error *e);

/* `folder`/`name`; `name` alone where it is absolute or folder is empty or ".". */
char *path_join(struct arena *arena, const char *folder, const char *name);

/* The folder part of a path, "." where there is none. */
char *path_folder(struct arena *arena, const char *path);

/* Absolute path of something that exists, links resolved; ERROR_FILE where it does not. */
bool path_absolute(struct arena *arena, const char *path, char **absolute, struct error *e);

#endif
