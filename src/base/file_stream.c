#include "base/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

static bool fail(struct file_stream *stream, struct error *e)
{
    error_set(e, ERROR_FILE, "%s: cannot write: %s", stream->path, strerror(errno));
    free(stream->part);
    free(stream->path);
    return false;
}

/* A file of its own beside `path`, with the mode of the one that is there. */
static int open_part(struct file_stream *stream, mode_t mode)
{
    if (asprintf(&stream->part, "%s.XXXXXX", stream->path) < 0)
        memory_exhausted();
    int fd = mkostemp(stream->part, O_CLOEXEC);
    if (fd >= 0)
        fchmod(fd, mode);
    return fd;
}

static int open_fd(struct file_stream *stream)
{
    struct stat st;
    char target[PATH_MAX];
    if (strcmp(stream->path, "-") == 0)
        return dup(STDOUT_FILENO);
    if (stat(stream->path, &st) != 0)
        return open_part(stream, 0600);
    if (!S_ISREG(st.st_mode))
        return open(stream->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (!realpath(stream->path, target))
        return -1;
    free(stream->path);
    stream->path = strdup(target);
    return stream->path ? open_part(stream, st.st_mode & 0777) : -1;
}

bool file_stream_open(struct file_stream *stream, const char *path, struct error *e)
{
    *stream = (struct file_stream){.path = strdup(path)};
    if (!stream->path)
        memory_exhausted();
    int fd = open_fd(stream);
    stream->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    return stream->out || fail(stream, e);
}

bool file_stream_close(struct file_stream *stream, struct error *e)
{
    bool ok = fflush(stream->out) == 0 && !ferror(stream->out);
    if (stream->part)
        ok = ok && fsync(fileno(stream->out)) == 0;
    ok = fclose(stream->out) == 0 && ok;
    if (stream->part) {
        ok = ok && rename(stream->part, stream->path) == 0;
        int saved = errno;
        if (!ok)
            unlink(stream->part);
        errno = saved;
    }
    if (!ok)
        return fail(stream, e);
    free(stream->part);
    free(stream->path);
    return true;
}
