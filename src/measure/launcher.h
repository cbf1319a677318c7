/*
 * Running processes on the hosts of a job, and bringing files there and back: one table entry per
 * kind of launcher, all behind these functions.
 *
 * A launcher is opened for one command and closed at its end; then no process of ours runs on any
 * host and no file of ours is left there, however it ended. Hosts are named as the job names them.
 * Nothing here waits for long without looking at the user's wish to end it.
 */
#ifndef FORETRAIN_MEASURE_LAUNCHER_H
#define FORETRAIN_MEASURE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/progress.h"

enum { LAUNCHER_ADDRESS_SIZE = 64, LAUNCHER_INTERFACE_SIZE = 16 };

struct launcher;

/* A file that grows on the host, copied to one here as it grows; complete when the process ended.
 * As long as it has the name FILE.part there, it has it here. */
struct launch_file {
    const char *there, *here;
    bool late; /* only when the process has ended */
};

struct launch {
    const char *host;
    const char *const *argv; /* ends with NULL; argv[0] is looked up in the host's PATH */
    const char *const *env;  /* as child_options.env, added to the host's environment; or NULL */
    const char *folder;      /* working directory on the host; NULL: any */
    const char *output;      /* file here for all that it prints; NULL: nowhere */
    const char *errors;      /* file here for its standard error; NULL: with its output */
    const char *cpus;        /* or NULL */
    const struct launch_file *file; /* [n_files], where they are not on a shared file system */
    size_t n_files;
};

/* A process that was started; a zeroed struct is none. Must be given to launcher_stop. */
struct launched {
    struct launcher *launcher;
    struct child child;     /* local */
    struct remote_host *on; /* else the host, and its number there */
    long number;
    bool started, ended;
    struct child_end end; /* where ended */
    const char *lost;     /* why the host is lost, where that ended it; lives with the launcher */
};

/*
 * A launcher of the job's kind. Nothing is started yet.
 *
 *   worker     absolute folder of the worker: agent.py, loop.py, ...
 *   progress   must outlive the launcher
 *
 * Fails (ERROR_USAGE) for a kind that this version cannot run.
 */
bool launcher_open(const struct job *job, const char *worker, const struct progress *progress,
                   struct launcher **launcher, struct error *e);

/* Ends what runs, removes what was staged, at most some seconds; NULL does nothing. */
void launcher_close(struct launcher *launcher);

/* Whether processes run on this machine, with its files. */
bool launcher_is_local(const struct launcher *launcher);

/*
 * Reaches hosts, all at once, each within its deadline; those reached before are passed over.
 * `why[n]` says what is wrong with each, ERROR_NONE where it is reached. Returns how many are not.
 * The other functions reach their host where nobody did.
 */
size_t launcher_reach(struct launcher *launcher, const char *const *host, size_t n,
                      struct error *why);

/* The same, all failures in one error. */
bool launcher_reach_all(struct launcher *launcher, const char *const *host, size_t n,
                        struct error *e);

/* The numeric address at which other hosts reach the sockets of a host. */
bool launcher_address(struct launcher *launcher, const char *host,
                      char address[LAUNCHER_ADDRESS_SIZE], struct error *e);

/* The network interface of the host that owns that address. */
bool launcher_interface(struct launcher *launcher, const char *host,
                        char interface[LAUNCHER_INTERFACE_SIZE], struct error *e);

/* A TCP port that is free on a host, at its address. Another program may take it at any time. */
bool launcher_free_port(struct launcher *launcher, const char *host, int *port, struct error *e);

/* Starts a process in a session of its own, with nothing as its input. */
bool launcher_start(struct launcher *launcher, const struct launch *launch,
                    struct launched *process, struct error *e);

/* Whether it has ended by now; does not wait. Moves what all processes printed. A host that is lost
 * ended it with CHILD_EXITED and 255. */
bool launcher_ended(struct launched *process);

/* Ends processes of one launcher and all that they started, as child_stop. */
void launcher_stop(struct launched *process, size_t n);

/* Starts a process, waits for its end or a limit, and stops it: child_run on a host. */
bool launcher_run(struct launcher *launcher, const struct launch *launch,
                  const struct child_limits *limits, struct child_end *end, struct error *e);

/* child_capture on a host; `launch` names no files. */
bool launcher_capture(struct launcher *launcher, struct arena *arena, const struct launch *launch,
                      const struct child_limits *limits, struct child_end *end, char **text,
                      char **errors, struct error *e);

/* What to bring along of a folder. */
struct stage_options {
    const char *const *except; /* [n_except], absolute paths here that stay here */
    size_t n_except;
    bool code;          /* only what git would not ignore */
    double limit_bytes; /* 0: no limit */
};

/*
 * Brings a folder or file of ours (an absolute path) to a host, links followed, unless the host
 * sees the very same one at that path. `options` may be NULL.
 */
bool launcher_stage(struct launcher *launcher, const char *host, const char *path,
                    const struct stage_options *options, struct error *e);

/* A new private folder on a host that stands for `path` here, unless the host sees that very folder
 * (which must exist). */
bool launcher_make_folder(struct launcher *launcher, const char *host, const char *path,
                          struct error *e);

/* Where a path of ours is on a host: below what was staged, else the same. */
char *launcher_path(const struct launcher *launcher, struct arena *arena, const char *host,
                    const char *path);

/* Copies a file of a host, at its path there, to one here; complete or not at all. */
bool launcher_fetch(struct launcher *launcher, const char *host, const char *there,
                    const char *here, struct error *e);

/* Drops staged files below `path` from the host's page cache. */
void launcher_cool(struct launcher *launcher, const char *host, const char *path);

/* Removes all that was staged on a host. */
void launcher_unstage(struct launcher *launcher, const char *host);

#endif
