#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static bool fail(struct error *e, const char *what, const char *path)
{
    error_set(e, ERROR_FILE, "%s: %s: %s", *path ? path : "''", what, strerror(errno));
    return false;
}

static bool read_all(int fd, const char *path, size_t limit_bytes, struct text *content,
                     struct error *e)
{
    char buffer[65536];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(e, "cannot read", path);
        if (n == 0)
            return true;
        text_add_n(content, buffer, (size_t)n);
        if (content->length > limit_bytes) {
            error_set(e, ERROR_FILE, "%s: larger than %zu bytes, which no such file is", path,
                      limit_bytes);
            return false;
        }
    }
}

bool file_read(struct arena *arena, const char *path, size_t limit_bytes, char **text,
               size_t *length, struct error *e)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(e, "cannot open", path);
    struct text content = {0};
    bool ok = read_all(fd, path, limit_bytes, &content, e);
    if (!standard)
        close(fd);
    if (ok) {
        *text = arena_copy_n(arena, content.data ? content.data : "", content.length);
        if (length)
            *length = content.length;
    }
    text_free(&content);
    return ok;
}

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        length -= (size_t)n;
    }
    return true;
}

/* A terminal, pipe or device is no file to be replaced. */
static bool write_into(const char *path, const char *data, size_t length)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return false;
    bool ok = write_all(fd, data, length);
    return close(fd) == 0 && ok;
}

static bool fill(int fd, mode_t mode, const char *data, size_t length)
{
    bool ok = fchmod(fd, mode) == 0 && write_all(fd, data, length) && fsync(fd) == 0;
    return close(fd) == 0 && ok;
}

static bool replace(const char *path, mode_t mode, const char *data, size_t length)
{
    char *part = NULL;
    if (asprintf(&part, "%s.XXXXXX", path) < 0)
        memory_exhausted();
    int fd = mkostemp(part, O_CLOEXEC);
    bool ok = fd >= 0 && fill(fd, mode, data, length) && rename(part, path) == 0;
    int saved = errno;
    if (fd >= 0 && !ok)
        unlink(part);
    free(part);
    errno = saved;
    return ok;
}

bool file_write(const char *path, const char *data, size_t length, struct error *e)
{
    struct stat st;
    char target[PATH_MAX];
    bool ok = false;
    if (stat(path, &st) != 0)
        ok = replace(path, 0600, data, length);
    else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        ok = write_into(path, data, length);
    else
        ok = realpath(path, target) && replace(target, st.st_mode & 0777, data, length);
    return ok || fail(e, "cannot write", path);
}

bool file_make_folders(const char *path, struct error *e)
{
    char *partial = strdup(path);
    if (!partial)
        memory_exhausted();
    bool ok = true;
    for (char *slash = partial; ok && slash;) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            ok = fail(e, "cannot make the folder", partial);
        if (slash)
            *slash = '/';
    }
    struct stat st;
    if (ok && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))) {
        errno = ENOTDIR;
        ok = fail(e, "cannot make the folder", path);
    }
    free(partial);
    return ok;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

bool file_remove_tree(const char *path, struct error *e)
{
    struct stat st;
    if (lstat(path, &st) != 0 && errno == ENOENT)
        return true;
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        return fail(e, "cannot remove", path);
    return true;
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_hash(const char *path, char hash[FILE_HASH_SIZE], struct error *e)
{
    if (!SHA256File(path, hash))
        return fail(e, "cannot read", path);
    return true;
}

char *path_join(struct arena *arena, const char *folder, const char *name)
{
    if (name[0] == '/' || folder[0] == '\0' || strcmp(folder, ".") == 0)
        return arena_copy(arena, name);
    return arena_format(arena, "%s/%s", folder, name);
}

char *path_folder(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return arena_copy(arena, ".");
    return arena_copy_n(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

bool path_absolute(struct arena *arena, const char *path, char **absolute, struct error *e)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return fail(e, "not found", path);
    *absolute = arena_copy(arena, resolved);
    return true;
}
