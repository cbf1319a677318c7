/*
 * Launchers that reach their hosts through an agent on each (agent.h): one connection a host, for
 * processes, files and questions alike. What differs between ssh and others is how an agent starts.
 */
#ifndef FORETRAIN_MEASURE_REMOTE_H
#define FORETRAIN_MEASURE_REMOTE_H

#include "measure/agent.h"
#include "measure/launcher_kind.h"

enum remote_state { REMOTE_NEW, REMOTE_STARTED, REMOTE_GREETED, REMOTE_LOST };

/* A file here that gets what a process prints or writes there. */
struct remote_sink {
    int fd;           /* -1: nowhere */
    const char *name; /* of a followed file, else NULL */
};

struct remote_process {
    struct remote_process *next;
    long number;
    struct remote_sink *sink; /* output, errors, then [n_files] */
    size_t n_sinks;
    bool has_errors, ended, stopped;
    struct child_end end;
};

/* What stands on the host for a path here. */
struct remote_staged {
    struct remote_staged *next;
    const char *here, *there;
};

struct remote_host {
    struct launcher *launcher;
    const char *name;
    enum remote_state state;
    struct agent agent;
    double started_s;
    const char *why; /* where lost: the whole message */
    json_t *hello;   /* what the agent said of its host */
    char address[LAUNCHER_ADDRESS_SIZE];
    long n_started;
    struct remote_process *process;
    struct remote_staged *staged;
};

struct remote {
    struct remote_host **host; /* [n] */
    size_t n, capacity;
    char *source; /* of the agent */

    /* The words that run `command` on a host. */
    bool (*command)(struct launcher *launcher, const char *host, const char *const *command,
                    const char *const **argv, struct error *e);
    /* What to do about what that program said, or NULL. */
    const char *(*hint)(const char *said);
    /* Why a host is lost, where more is known than that its connection ended; or NULL. */
    const char *(*explain)(struct launcher *launcher, const char *host);
    /* An address or name by which a host is reached from here, or NULL. */
    const char *(*reached_at)(struct launcher *launcher, const char *host);
};

/* Makes `launcher->remote`, once. */
bool remote_open(struct launcher *launcher, struct error *e);

/* A host that is reached, or fails saying why not. */
bool remote_find(struct launcher *launcher, const char *name, struct remote_host **host,
                 struct error *e);

/* The host of a name where it was asked for before, else NULL. */
struct remote_host *remote_look_up(const struct launcher *launcher, const char *name);

/* Moves messages of all hosts; sees which are lost. */
void remote_pump(struct launcher *launcher);

/* Asks a host and waits for its answer, at most `limit_s`; the caller frees it. */
bool remote_ask(struct remote_host *host, json_t *request, double limit_s, json_t **answer,
                struct error *e);

/* Makes `e` say why a host is lost. */
bool remote_fail(const struct remote_host *host, struct error *e);

/* What the agent says by itself. */
void remote_process_event(void *host, const json_t *event, const char *payload, size_t size);

/* Ends the processes of a host that is lost. */
void remote_process_lost(struct remote_host *host);

/* The functions of a launcher. */
void remote_close(struct launcher *);
size_t remote_reach(struct launcher *, const char *const *host, size_t n, struct error *why);
bool remote_address(struct launcher *, const char *host, char *address, struct error *e);
bool remote_interface(struct launcher *, const char *host, char *interface, struct error *e);
bool remote_free_port(struct launcher *, const char *host, int *port, struct error *e);
bool remote_start(struct launcher *, const struct launch *, struct launched *, struct error *e);
bool remote_ended(struct launched *);
void remote_stop(struct launched *, size_t n);
bool remote_stage(struct launcher *, const char *host, const char *path,
                  const struct stage_options *, struct error *e);
bool remote_make_folder(struct launcher *, const char *host, const char *path, struct error *e);
char *remote_path(const struct launcher *, struct arena *, const char *host, const char *path);
bool remote_fetch(struct launcher *, const char *host, const char *there, const char *here,
                  struct error *e);
void remote_cool(struct launcher *, const char *host, const char *path);
void remote_unstage(struct launcher *, const char *host);

#endif
