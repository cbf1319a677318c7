/* What limits are held against while a child runs, and files in memory for what it prints. */
#ifndef FORETRAIN_BASE_CHILD_WATCH_H
#define FORETRAIN_BASE_CHILD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/error.h"

struct child_watch {
    const char *output, *errors; /* files, or NULL */
    double start_s, growth_s;
    off_t output_bytes;
};

/* A watch that begins now. The names must outlive it. */
struct child_watch child_watch_start(const char *output, const char *errors);

/* Looks at the files; whether a limit is reached, and by `how` the child then ended. */
bool child_over_limit(const struct child_limits *limits, struct child_watch *watch,
                      enum child_how *how);

enum { CHILD_CAPTURE_LIMIT = 1 << 20 };

/* Two files in memory, by names under which this process and its children open them. */
struct child_memory {
    int fd[2];
    char path[2][32];
};

/* Fails (ERROR_HOST) naming `program`. */
bool child_memory_open(struct child_memory *memory, const char *program, struct error *e);

/* What is in one of them, ended by a zero, at most `limit_bytes`. */
char *child_memory_read(struct arena *arena, const struct child_memory *memory, int which,
                        size_t limit_bytes);

void child_memory_close(struct child_memory *memory);

#endif
