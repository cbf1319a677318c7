#include "base/child_watch.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static off_t file_bytes(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 ? st.st_size : 0;
}

struct child_watch child_watch_start(const char *output, const char *errors)
{
    double now_s = clock_now_s();
    return (struct child_watch){output, errors, now_s, now_s, 0};
}

static void watch_output(struct child_watch *watch)
{
    off_t bytes = file_bytes(watch->output) + file_bytes(watch->errors);
    if (bytes != watch->output_bytes) {
        watch->output_bytes = bytes;
        watch->growth_s = clock_now_s();
    }
}

bool child_over_limit(const struct child_limits *limits, struct child_watch *watch,
                      enum child_how *how)
{
    watch_output(watch);
    double now_s = clock_now_s();
    const struct {
        bool reached;
        enum child_how how;
    } limit[] = {
        {limits->cancel && *limits->cancel, CHILD_CANCELLED},
        {limits->timeout_s > 0 && now_s - watch->start_s > limits->timeout_s, CHILD_TIMED_OUT},
        {limits->stall_timeout_s > 0 && now_s - watch->growth_s > limits->stall_timeout_s,
         CHILD_STALLED},
        {limits->output_bytes > 0 && (size_t)watch->output_bytes > limits->output_bytes,
         CHILD_FLOODED},
    };
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        if (limit[i].reached) {
            *how = limit[i].how;
            return true;
        }
    }
    return false;
}

bool child_memory_open(struct child_memory *memory, const char *program, struct error *e)
{
    for (int i = 0; i < 2; i++) {
        memory->fd[i] = memfd_create("foretrain", MFD_CLOEXEC);
        snprintf(memory->path[i], sizeof memory->path[i], "/proc/self/fd/%d", memory->fd[i]);
    }
    if (memory->fd[0] >= 0 && memory->fd[1] >= 0)
        return true;
    child_memory_close(memory);
    error_set(e, ERROR_HOST, "%s could not be started: no memory for its output", program);
    return false;
}

char *child_memory_read(struct arena *arena, const struct child_memory *memory, int which,
                        size_t limit_bytes)
{
    struct stat st;
    size_t size = fstat(memory->fd[which], &st) == 0 ? (size_t)st.st_size : 0;
    if (size > limit_bytes)
        size = limit_bytes;
    char *content = arena_array(arena, size + 1, 1);
    ssize_t n = pread(memory->fd[which], content, size, 0);
    content[n > 0 ? n : 0] = '\0';
    return content;
}

void child_memory_close(struct child_memory *memory)
{
    for (int i = 0; i < 2; i++) {
        if (memory->fd[i] >= 0)
            close(memory->fd[i]);
        memory->fd[i] = -1;
    }
}
