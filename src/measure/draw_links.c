/* Folders of links; parents are made when a link finds none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/draw.h"

static bool fail(const char *path, struct error *e)
{
    int saved = errno;
    struct arena arena = {0};
    error_set(e, ERROR_FILE, "%s: cannot make the link: %s", text_printable(&arena, path, 0),
              strerror(saved));
    arena_free(&arena);
    return false;
}

static bool make_link(const char *target, const char *path, struct error *e)
{
    if (symlink(target, path) == 0)
        return true;
    if (errno != ENOENT)
        return fail(path, e);
    struct arena arena = {0};
    bool ok = file_make_folders(path_folder(&arena, path), e) &&
              (symlink(target, path) == 0 || fail(path, e));
    arena_free(&arena);
    return ok;
}

static bool link_file(const struct data_set *set, size_t file, const char *folder, struct error *e)
{
    struct arena arena = {0};
    const char *target = arena_format(&arena, "%s/%s", set->root, set->path[file]);
    const char *path = arena_format(&arena, "%s/%s", folder, set->path[file]);
    bool ok = make_link(target, path, e);
    arena_free(&arena);
    return ok;
}

static int ascending(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Indices of a listed set ascend with the list's lines. */
static bool write_list(const struct data_set *set, size_t *file, size_t n, const char *folder,
                       struct error *e)
{
    struct arena arena = {0};
    struct text text = {0};
    if (n > 0)
        qsort(file, n, sizeof *file, ascending);
    const char *name = strrchr(folder, '/') + 1;
    for (size_t i = 0; i < n; i++)
        text_format(&text, "%s/%s\n", name, set->path[file[i]]);
    bool ok = file_write(arena_format(&arena, "%s.txt", folder), text.data ? text.data : "",
                         text.length, e);
    text_free(&text);
    arena_free(&arena);
    return ok;
}

static size_t count_files(const struct draw_share *share, size_t n)
{
    size_t count = 0;
    for (size_t s = 0; s < n; s++)
        count += share[s].n;
    return count;
}

/* Links all files of the shares into one folder, with its list where the set came from one. */
static bool link_shares(const struct data_set *set, const struct draw_share *share, size_t n,
                        const char *folder, struct error *e)
{
    size_t n_files = 0;
    size_t *file = memory_resize(NULL, count_files(share, n), sizeof *file);
    bool ok = file_make_folders(folder, e);
    for (size_t s = 0; s < n; s++) {
        for (size_t i = 0; ok && i < share[s].n; i++) {
            file[n_files++] = share[s].file[i];
            ok = link_file(set, share[s].file[i], folder, e);
        }
    }
    if (ok && set->list)
        ok = write_list(set, file, n_files, folder, e);
    free(file);
    return ok;
}

bool draw_link(const struct data_set *set, const struct draw_share *share, size_t n,
               const char *folder, bool per_device, struct error *e)
{
    struct arena arena = {0};
    bool ok = file_remove_tree(folder, e) &&
              link_shares(set, share, n, arena_format(&arena, "%s/all", folder), e);
    for (size_t s = 0; ok && per_device && s < n; s++)
        ok = link_shares(set, &share[s], 1, arena_format(&arena, "%s/device%zu", folder, s), e);
    arena_free(&arena);
    return ok;
}
