/*
 * Drawing each sub-system's training data at random from the whole training set.
 *
 * All devices of all types of a job draw from one seeded order of the files, one after the other,
 * so that no file is drawn twice. The order depends on the seed and on the files' paths below the
 * set's folder only: not on where the folder is, nor on the order in which it lists its files. A
 * file is a sample.
 */
#ifndef FORETRAIN_MEASURE_DRAW_H
#define FORETRAIN_MEASURE_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"

/* The files of a training set. */
struct data_set {
    const char *root;   /* absolute folder that all paths are below */
    const char **path;  /* [n], relative to `root` */
    uint32_t *folder;   /* [n], number of the folder that a file is in */
    double *size_bytes; /* [n], negative: not asked yet */
    size_t n;
    size_t n_folders; /* that files are in */
    const char *list; /* the list file that names them, or NULL */
};

/*
 * Finds the files below a folder. Regular files and links to them count; names that begin with a
 * dot do not. Sub-folders are entered, links to folders are not. Fails (ERROR_FILE) at folders that
 * cannot be read, at links to nothing, and where there is no file at all. A million files take
 * about a second.
 */
bool draw_scan_folder(struct arena *arena, const char *path, struct data_set *set, struct error *e);

/*
 * Reads a list file: one path a line, absolute or relative to the list's folder; blank lines and
 * lines that begin with '#' do not count. Fails with all missing files and their lines together,
 * and where a file is named twice. `root` becomes the deepest folder that has all of them.
 */
bool draw_scan_list(struct arena *arena, const char *path, struct data_set *set, struct error *e);

/* Bytes of the whole set; asks the file system for the size of each file, once. */
bool draw_total_bytes(struct data_set *set, double *bytes, struct error *e);

/* What each of `n_devices` devices of a type is to get; AMOUNT_NONE: nothing. */
struct draw_request {
    const char *device_type;
    int n_devices;
    struct amount amount;
};

/* What one device got; its mean sample has bytes / n. */
struct draw_share {
    size_t *file; /* [n], indices in the set, in the order of the draw */
    size_t n;
    double bytes;
};

/*
 * Draws for all devices of all types: `share` gets the first request's devices, then the second's,
 * and so on. An amount in bytes is filled while the next file fits, with one file at least.
 *
 * Fails (ERROR_INPUT, without a place) where the set is too small, saying what is needed, what was
 * found and what is missing. O(n log n) for a set of n files; asks for the sizes of drawn files
 * only.
 */
bool draw_make(struct arena *arena, struct data_set *set, const struct draw_request *request,
               size_t n_requests, uint64_t seed, struct draw_share *share, struct error *e);

/* Folders of the set that the shares' files are in: fewer than `n_folders` where a class has no
 * file drawn. */
size_t draw_count_folders(const struct data_set *set, const struct draw_share *share, size_t n);

/*
 * Makes `folder` anew (what it held is removed) with links to the files of `share[n]`: all of them
 * in `folder`/all, and with `per_device` those of share k in `folder`/deviceK, each at its path
 * below the set's root. For a set from a list also `folder`/all.txt and deviceK.txt: the links, one
 * a line relative to `folder`, in the list's order.
 */
bool draw_link(const struct data_set *set, const struct draw_share *share, size_t n,
               const char *folder, bool per_device, struct error *e);

/* How much of the drawn files the page cache still holds. */
struct draw_cache {
    size_t n_files;
    double bytes;
};

/*
 * Drops the files from the page cache, so that they are read from storage again. `left` gets the
 * files that could not be dropped at all or in part, and their bytes: files in memory (tmpfs), in
 * use, or just written. Of files that may not be written to, the kernel does not say what is left.
 */
void draw_forget_cache(const struct data_set *set, const struct draw_share *share, size_t n,
                       struct draw_cache *left);

#endif
