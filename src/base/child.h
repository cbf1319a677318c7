/*
 * Child processes that cannot outlive us, hang us or drive the terminal.
 *
 * A child is started from an argument list, never a shell, in a session of its own (so it has its
 * own process group and no terminal), with /dev/null as its input. It gets SIGKILL when the thread
 * that started it dies. The program becomes the reaper of its descendants, so those that changed
 * group or lost their parent are found again and ended with the child.
 */
#ifndef FORETRAIN_BASE_CHILD_H
#define FORETRAIN_BASE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

struct child_options {
    const char *const *argv; /* ends with NULL; argv[0] is looked up in our PATH */
    const char *const *env;  /* ends with NULL, may be NULL: "NAME=value" is added to our
                                environment, "NAME" taken out */
    const char *folder;      /* working directory; NULL: ours */
    const char *output;      /* file for what it prints, made with mode 0600; NULL: nowhere */
    const char *errors;      /* file for its standard error; NULL: with its output */
    const char *cpus;        /* CPUs it may use, "0" or "2-3,5"; NULL: as we */
    bool talks;              /* its standard input and output are pipes to us, not `output` */
};

enum child_how {
    CHILD_EXITED,    /* number: exit status */
    CHILD_SIGNALLED, /* number: the signal */
    CHILD_TIMED_OUT, /* we ended it: its deadline passed */
    CHILD_STALLED,   /* we ended it: it printed nothing for too long */
    CHILD_FLOODED,   /* we ended it: it printed too much */
    CHILD_CANCELLED, /* we ended it: the user wanted so */
};

struct child_end {
    enum child_how how;
    int number;
};

enum { CHILD_MARK_SIZE = 64 };

struct child {
    pid_t pid; /* 0: none was started, or it was stopped and reaped */
    bool ended;
    bool talks;
    int to, from; /* where it talks: our ends of its pipes, not blocking; child_stop closes them.
                     Whoever writes to `to` ignores SIGPIPE. */
    struct child_end end;       /* where ended */
    char mark[CHILD_MARK_SIZE]; /* variable in its environment by which descendants are known */
};

/* Zero means no limit. */
struct child_limits {
    double timeout_s;
    double stall_timeout_s;
    size_t output_bytes;
    const volatile sig_atomic_t *cancel; /* or NULL; not zero: end it */
};

/*
 * Starts a child; it runs when this returns. Every started child must be given to child_stop.
 * Fails with ERROR_HOST naming the program, and the folder, file or CPUs that could not be had.
 */
bool child_start(const struct child_options *options, struct child *child, struct error *e);

/* Whether it has ended by now; does not wait. Sets `ended` and `end`. */
bool child_ended(struct child *child);

/*
 * Ends `child[n]` and all their descendants and reaps them: SIGTERM, five seconds later SIGKILL.
 * Children not started or stopped before are passed over. At once where all have ended.
 */
void child_stop(struct child *child, size_t n);

/* Closes our ends of the pipes of a child that talks. */
void child_hang_up(struct child *child);

/* Starts a child, waits for its end or a limit, and stops it. True where it could be started. */
bool child_run(const struct child_options *options, const struct child_limits *limits,
               struct child_end *end, struct error *e);

/*
 * The same; what it prints on standard output is in `text`, and what on standard error in
 * `errors`, both ended with a zero and at most `limits->output_bytes` long (1 MiB where 0).
 * `errors` may be NULL: then both are in `text`. Files of `options` are not used.
 */
bool child_capture(struct arena *arena, const struct child_options *options,
                   const struct child_limits *limits, struct child_end *end, char **text,
                   char **errors, struct error *e);

/* How it ended, to follow a name: "exited with status 3", "was killed by signal 9 (Killed)". */
char *child_end_text(struct arena *arena, struct child_end end);

/* The last `n_lines` lines of a file, at most 16 KiB, safe to show; empty where there is none. */
char *child_tail(struct arena *arena, const char *path, size_t n_lines);

/* Whether a list of CPUs can be read ("0", "2-3,5") and this machine lets us use one of them. */
bool child_check_cpus(const char *cpus, struct error *e);

#endif
