/*
 * What is the same for all kinds of launcher is here; the rest is in the kinds' own files.
 */
#include "measure/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/child_watch.h"
#include "base/clock.h"
#include "measure/launcher_kind.h"

static const double POLL_S = 0.01;

static const struct launcher_kind_functions *const kinds[] = {
    [LAUNCHER_LOCAL] = &launcher_local,
    [LAUNCHER_SSH] = &launcher_ssh,
    [LAUNCHER_SLURM] = &launcher_slurm,
};

bool launcher_open(const struct job *job, const char *worker, const struct progress *progress,
                   struct launcher **launcher, struct error *e)
{
    size_t kind = (size_t)job->launcher.kind;
    if (kind >= sizeof kinds / sizeof *kinds || !kinds[kind]) {
        error_set(e, ERROR_USAGE, "this version has launchers `local` and `ssh` only");
        return false;
    }
    struct launcher *made = memory_resize(NULL, 1, sizeof *made);
    *made =
        (struct launcher){.kind = kinds[kind], .job = job, .worker = worker, .progress = progress};
    if (made->kind->open && !made->kind->open(made, e)) {
        arena_free(&made->arena);
        free(made);
        return false;
    }
    *launcher = made;
    return true;
}

void launcher_close(struct launcher *launcher)
{
    if (!launcher)
        return;
    launcher->kind->close(launcher);
    arena_free(&launcher->arena);
    free(launcher);
}

bool launcher_is_local(const struct launcher *launcher)
{
    return launcher->kind == &launcher_local;
}

size_t launcher_reach(struct launcher *launcher, const char *const *host, size_t n,
                      struct error *why)
{
    return launcher->kind->reach(launcher, host, n, why);
}

/* Hosts that were asked for together fail together. */
static bool is_told(const struct error *why, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (why[i].text && strcmp(why[i].text, why[n].text) == 0)
            return true;
    }
    return false;
}

/* Takes over the errors, each once. */
static void join(struct error *why, size_t n, struct error *e)
{
    struct error_list list = {0};
    for (size_t i = 0; i < n; i++) {
        if (why[i].kind != ERROR_NONE && is_told(why, i))
            why[i].kind = ERROR_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        if (why[i].kind != ERROR_NONE)
            error_list_add(&list, &why[i]);
        error_clear(&why[i]);
    }
    error_list_join(&list, e);
}

bool launcher_reach_all(struct launcher *launcher, const char *const *host, size_t n,
                        struct error *e)
{
    struct arena arena = {0};
    struct error *why = ARENA_ARRAY(&arena, n, struct error);
    bool ok = launcher_reach(launcher, host, n, why) == 0;
    if (!ok)
        join(why, n, e);
    arena_free(&arena);
    return ok;
}

bool launcher_address(struct launcher *launcher, const char *host,
                      char address[LAUNCHER_ADDRESS_SIZE], struct error *e)
{
    return launcher->kind->address(launcher, host, address, e);
}

bool launcher_interface(struct launcher *launcher, const char *host,
                        char interface[LAUNCHER_INTERFACE_SIZE], struct error *e)
{
    return launcher->kind->interface(launcher, host, interface, e);
}

bool launcher_free_port(struct launcher *launcher, const char *host, int *port, struct error *e)
{
    return launcher->kind->free_port(launcher, host, port, e);
}

bool launcher_start(struct launcher *launcher, const struct launch *launch,
                    struct launched *process, struct error *e)
{
    struct launched started = {.launcher = launcher, .started = true};
    if (!launcher->kind->start(launcher, launch, &started, e))
        return false;
    *process = started;
    return true;
}

bool launcher_ended(struct launched *process)
{
    if (!process->started || process->ended)
        return true;
    process->ended = process->launcher->kind->ended(process);
    return process->ended;
}

void launcher_stop(struct launched *process, size_t n)
{
    struct arena arena = {0};
    struct launched *running = ARENA_ARRAY(&arena, n, struct launched);
    size_t *place = ARENA_ARRAY(&arena, n, size_t);
    size_t n_running = 0;
    for (size_t i = 0; i < n; i++) {
        if (!process[i].started)
            continue;
        place[n_running] = i;
        running[n_running++] = process[i];
    }
    if (n_running > 0)
        running[0].launcher->kind->stop(running, n_running);
    for (size_t i = 0; i < n_running; i++) {
        process[place[i]] = running[i];
        process[place[i]].started = false;
    }
    arena_free(&arena);
}

bool launcher_run(struct launcher *launcher, const struct launch *launch,
                  const struct child_limits *limits, struct child_end *end, struct error *e)
{
    struct launched process;
    if (!launcher_start(launcher, launch, &process, e))
        return false;
    struct child_watch watch = child_watch_start(launch->output, launch->errors);
    enum child_how how = CHILD_EXITED;
    bool stopped = false;
    while (!launcher_ended(&process) && !stopped) {
        clock_sleep(POLL_S);
        stopped = child_over_limit(limits, &watch, &how);
    }
    launcher_stop(&process, 1);
    *end = process.end;
    if (stopped)
        *end = (struct child_end){.how = how};
    if (!process.lost || stopped)
        return true;
    error_set(e, ERROR_HOST, "%s", process.lost);
    return false;
}

bool launcher_capture(struct launcher *launcher, struct arena *arena, const struct launch *launch,
                      const struct child_limits *limits, struct child_end *end, char **text,
                      char **errors, struct error *e)
{
    struct child_memory memory;
    if (!child_memory_open(&memory, launch->argv[0], e))
        return false;
    struct launch into_memory = *launch;
    struct child_limits bounded = *limits;
    into_memory.output = memory.path[0];
    into_memory.errors = errors ? memory.path[1] : NULL;
    if (bounded.output_bytes == 0)
        bounded.output_bytes = CHILD_CAPTURE_LIMIT;
    bool ok = launcher_run(launcher, &into_memory, &bounded, end, e);
    if (ok)
        *text = child_memory_read(arena, &memory, 0, bounded.output_bytes);
    if (ok && errors)
        *errors = child_memory_read(arena, &memory, 1, bounded.output_bytes);
    child_memory_close(&memory);
    return ok;
}

bool launcher_stage(struct launcher *launcher, const char *host, const char *path,
                    const struct stage_options *options, struct error *e)
{
    return launcher->kind->stage(launcher, host, path, options, e);
}

bool launcher_make_folder(struct launcher *launcher, const char *host, const char *path,
                          struct error *e)
{
    return launcher->kind->make_folder(launcher, host, path, e);
}

char *launcher_path(const struct launcher *launcher, struct arena *arena, const char *host,
                    const char *path)
{
    return launcher->kind->path(launcher, arena, host, path);
}

bool launcher_fetch(struct launcher *launcher, const char *host, const char *there,
                    const char *here, struct error *e)
{
    return launcher->kind->fetch(launcher, host, there, here, e);
}

void launcher_cool(struct launcher *launcher, const char *host, const char *path)
{
    launcher->kind->cool(launcher, host, path);
}

void launcher_unstage(struct launcher *launcher, const char *host)
{
    launcher->kind->unstage(launcher, host);
}
