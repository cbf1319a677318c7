/* Folder by folder from a list of those still to enter: a tree may be deeper than the stack. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/draw_set.h"

struct folder_stack {
    const char **path; /* [n], relative to the root, "" for itself */
    size_t n, capacity;
};

struct scan {
    struct arena *arena; /* of the set's paths */
    const char *root;
    int root_fd;
    struct folder_stack open; /* still to enter */
    struct growing_set found;
};

static void push(struct folder_stack *stack, const char *path)
{
    if (stack->n == stack->capacity) {
        stack->capacity = stack->capacity ? 2 * stack->capacity : 64;
        stack->path = memory_resize(stack->path, stack->capacity, sizeof *stack->path);
    }
    stack->path[stack->n++] = path;
}

static bool fail(const struct scan *scan, const char *path, const char *what, struct error *e)
{
    int saved = errno;
    struct arena arena = {0};
    error_set(e, ERROR_FILE, "%s: %s: %s",
              text_printable(&arena, path_join(&arena, scan->root, path), 0), what,
              strerror(saved));
    arena_free(&arena);
    return false;
}

enum entry_kind { ENTRY_OTHER, ENTRY_FILE, ENTRY_FOLDER };

/* Most file systems say the kind in the listing; the others, and links, are asked about. */
static bool entry_kind(const struct scan *scan, DIR *dir, const struct dirent *entry,
                       const char *path, enum entry_kind *kind, struct error *e)
{
    struct stat st;
    *kind = entry->d_type == DT_REG   ? ENTRY_FILE
            : entry->d_type == DT_DIR ? ENTRY_FOLDER
                                      : ENTRY_OTHER;
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN)
        return true;
    if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return fail(scan, path, "cannot tell what it is", e);
    bool link = S_ISLNK(st.st_mode);
    if (link && fstatat(dirfd(dir), entry->d_name, &st, 0) != 0)
        return fail(scan, path, "a link in the training set that leads nowhere", e);
    *kind = S_ISREG(st.st_mode) ? ENTRY_FILE : ENTRY_OTHER;
    if (!link && S_ISDIR(st.st_mode))
        *kind = ENTRY_FOLDER;
    return true;
}

static bool scan_entry(struct scan *scan, DIR *dir, const struct dirent *entry, const char *folder,
                       uint32_t folder_number, struct error *e)
{
    enum entry_kind kind;
    char *path = path_join(scan->arena, folder, entry->d_name);
    if (!entry_kind(scan, dir, entry, path, &kind, e))
        return false;
    if (kind == ENTRY_FOLDER)
        push(&scan->open, path);
    if (kind == ENTRY_FILE)
        draw_set_add(&scan->found, path, folder_number);
    return true;
}

static DIR *open_folder(const struct scan *scan, const char *folder)
{
    const char *name = folder[0] ? folder : ".";
    int fd = openat(scan->root_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir)
        close(fd);
    return dir;
}

static bool scan_entries(struct scan *scan, DIR *dir, const char *folder, struct error *e)
{
    uint32_t number = (uint32_t)scan->found.n_folders;
    size_t before = scan->found.n;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry)
            break;
        if (entry->d_name[0] != '.' && !scan_entry(scan, dir, entry, folder, number, e))
            return false;
    }
    scan->found.n_folders += scan->found.n > before;
    return errno == 0 || fail(scan, folder, "cannot list the folder", e);
}

static bool scan_folder(struct scan *scan, const char *folder, struct error *e)
{
    DIR *dir = open_folder(scan, folder);
    if (!dir)
        return fail(scan, folder, "cannot open the folder", e);
    bool ok = scan_entries(scan, dir, folder, e);
    closedir(dir);
    return ok;
}

static bool scan_all(struct scan *scan, struct error *e)
{
    scan->root_fd = open(scan->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scan->root_fd < 0)
        return fail(scan, "", "cannot open the folder", e);
    push(&scan->open, "");
    bool ok = true;
    while (ok && scan->open.n > 0)
        ok = scan_folder(scan, scan->open.path[--scan->open.n], e);
    close(scan->root_fd);
    if (ok && scan->found.n == 0) {
        error_set(e, ERROR_FILE, "%s: no files in the training set", scan->root);
        ok = false;
    }
    return ok;
}

bool draw_scan_folder(struct arena *arena, const char *path, struct data_set *set, struct error *e)
{
    char *root = NULL;
    if (!path_absolute(arena, path, &root, e))
        return false;
    struct scan scan = {.arena = arena, .root = root};
    bool ok = scan_all(&scan, e);
    if (ok)
        draw_set_finish(arena, &scan.found, root, NULL, set);
    draw_set_free(&scan.found);
    free(scan.open.path);
    return ok;
}
