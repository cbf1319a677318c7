#include "trace/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_inflate.h"

static bool fail(const struct trace_file *file, struct error *e)
{
    error_set(e, ERROR_FILE, "cannot read %s: %s", file->path, strerror(errno));
    return false;
}

/* Waits until there is something to read, or until stopped. */
static bool wait_readable(struct trace_file *file)
{
    struct pollfd fds[] = {{.fd = file->fd, .events = POLLIN},
                           {.fd = file->wake_fd, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        ;
    return !file->stopped;
}

static bool read_some(struct trace_file *file, char *to, size_t capacity, size_t *length,
                      struct error *e)
{
    ssize_t n;
    do {
        if (!wait_readable(file)) {
            *length = 0;
            return true;
        }
        n = read(file->fd, to, capacity);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        return fail(file, e);
    *length = (size_t)n;
    file->stream.done_bytes += (size_t)n;
    return true;
}

bool trace_file_read(struct trace_file *file, char *to, size_t capacity, size_t *length,
                     struct error *e)
{
    size_t n = 0;
    for (; n < capacity && file->begin_used < file->n_begin; n++)
        to[n] = file->begin[file->begin_used++];
    for (size_t more = 1; n < capacity && more > 0; n += more) {
        if (!read_some(file, to + n, capacity - n, &more, e))
            return false;
    }
    *length = n;
    return true;
}

static bool fill(struct trace_stream *stream, char *to, size_t capacity, size_t *length,
                 struct error *e)
{
    struct trace_file *file = (struct trace_file *)stream;
    return file->inflate ? trace_inflate_fill(file->inflate, file, to, capacity, length, e)
                         : trace_file_read(file, to, capacity, length, e);
}

static void stop(struct trace_stream *stream)
{
    struct trace_file *file = (struct trace_file *)stream;
    file->stopped = true;
    eventfd_write(file->wake_fd, 1);
}

static bool open_input(struct trace_file *file, bool standard)
{
    struct stat status;
    file->fd = standard ? STDIN_FILENO : open(file->path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        return false;
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (S_ISREG(status.st_mode))
        file->stream.total_bytes = (uint64_t)status.st_size;
    file->wake_fd = eventfd(0, EFD_CLOEXEC);
    return file->wake_fd >= 0;
}

static bool look_at_begin(struct trace_file *file, struct error *e)
{
    if (!trace_file_read(file, file->begin, sizeof file->begin, &file->n_begin, e))
        return false;
    file->stream.compressed = file->n_begin == 2 && memcmp(file->begin, "\x1f\x8b", 2) == 0;
    if (file->stream.compressed)
        file->inflate = trace_inflate_new();
    return true;
}

bool trace_file_open(struct trace_file *file, const char *path, struct error *e)
{
    bool standard = strcmp(path, "-") == 0;
    *file = (struct trace_file){
        .stream = {.fill = fill, .stop = stop},
        .path = standard ? "standard input" : path,
        .fd = -1,
        .wake_fd = -1,
    };
    if (open_input(file, standard) ? look_at_begin(file, e) : fail(file, e))
        return true;
    trace_file_close(file);
    return false;
}

void trace_file_close(struct trace_file *file)
{
    trace_inflate_free(file->inflate);
    if (file->fd > STDIN_FILENO)
        close(file->fd);
    if (file->wake_fd >= 0)
        close(file->wake_fd);
}
