/* This machine as the only host: children of ours, our own files. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "measure/address.h"
#include "measure/launcher_kind.h"

static void close_local(struct launcher *launcher)
{
    (void)launcher;
}

static bool address_local(struct launcher *launcher, const char *host, char *address,
                          struct error *e)
{
    (void)launcher;
    char numeric[ADDRESS_SIZE];
    if (!address_of_local_host(host, numeric, e)) {
        error_hint(e, "`launcher: local` starts processes on this machine only");
        return false;
    }
    snprintf(address, LAUNCHER_ADDRESS_SIZE, "%s", numeric);
    return true;
}

static size_t reach_local(struct launcher *launcher, const char *const *host, size_t n,
                          struct error *why)
{
    size_t n_failed = 0;
    char address[LAUNCHER_ADDRESS_SIZE];
    for (size_t i = 0; i < n; i++)
        n_failed += !address_local(launcher, host[i], address, &why[i]);
    return n_failed;
}

static bool interface_local(struct launcher *launcher, const char *host, char *interface,
                            struct error *e)
{
    char address[LAUNCHER_ADDRESS_SIZE];
    return address_local(launcher, host, address, e) &&
           address_interface(address, interface, LAUNCHER_INTERFACE_SIZE, e);
}

static bool free_port_local(struct launcher *launcher, const char *host, int *port, struct error *e)
{
    char address[LAUNCHER_ADDRESS_SIZE];
    return address_local(launcher, host, address, e) && address_free_port(address, port, e);
}

static bool start_local(struct launcher *launcher, const struct launch *launch,
                        struct launched *process, struct error *e)
{
    const struct child_options options = {
        .argv = launch->argv,
        .env = launch->env,
        .folder = launch->folder,
        .output = launch->output,
        .errors = launch->errors,
        .cpus = launch->cpus,
    };
    (void)launcher;
    return child_start(&options, &process->child, e);
}

static bool ended_local(struct launched *process)
{
    if (!child_ended(&process->child))
        return false;
    process->end = process->child.end;
    return true;
}

/* All of them at once, so that their five seconds pass together. */
static void stop_local(struct launched *process, size_t n)
{
    struct arena arena = {0};
    struct child *child = ARENA_ARRAY(&arena, n, struct child);
    for (size_t i = 0; i < n; i++)
        child[i] = process[i].child;
    child_stop(child, n);
    for (size_t i = 0; i < n; i++) {
        process[i].child = child[i];
        process[i].end = child[i].end;
    }
    arena_free(&arena);
}

static bool stage_local(struct launcher *launcher, const char *host, const char *path,
                        const struct stage_options *options, struct error *e)
{
    (void)launcher, (void)host, (void)path, (void)options, (void)e;
    return true;
}

static bool make_folder_local(struct launcher *launcher, const char *host, const char *path,
                              struct error *e)
{
    (void)launcher, (void)host, (void)path, (void)e;
    return true;
}

static char *path_local(const struct launcher *launcher, struct arena *arena, const char *host,
                        const char *path)
{
    (void)launcher, (void)host;
    return arena_copy(arena, path);
}

static bool fetch_local(struct launcher *launcher, const char *host, const char *there,
                        const char *here, struct error *e)
{
    enum { LIMIT = 1 << 30 };
    struct arena arena = {0};
    char *text = NULL;
    size_t length = 0;
    (void)launcher, (void)host;
    bool ok = strcmp(there, here) == 0 || (file_read(&arena, there, LIMIT, &text, &length, e) &&
                                           file_write(here, text, length, e));
    arena_free(&arena);
    return ok;
}

static void cool_local(struct launcher *launcher, const char *host, const char *path)
{
    (void)launcher, (void)host, (void)path;
}

static void unstage_local(struct launcher *launcher, const char *host)
{
    (void)launcher, (void)host;
}

const struct launcher_kind_functions launcher_local = {
    .name = "local",
    .close = close_local,
    .reach = reach_local,
    .address = address_local,
    .interface = interface_local,
    .free_port = free_port_local,
    .start = start_local,
    .ended = ended_local,
    .stop = stop_local,
    .stage = stage_local,
    .make_folder = make_folder_local,
    .path = path_local,
    .fetch = fetch_local,
    .cool = cool_local,
    .unstage = unstage_local,
};
