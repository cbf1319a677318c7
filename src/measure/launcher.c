#include "measure/launcher.h"

#include <stdio.h>

#include "measure/address.h"

static bool reach_local(const char *host, char *address, size_t size, struct error *e)
{
    char numeric[ADDRESS_SIZE];
    if (!address_of_local_host(host, numeric, e)) {
        error_hint(e, "`launcher: local` starts processes on this machine only");
        return false;
    }
    snprintf(address, size, "%s", numeric);
    return true;
}

static bool free_port_local(const char *host, int *port, struct error *e)
{
    char address[ADDRESS_SIZE];
    return address_of_local_host(host, address, e) && address_free_port(address, port, e);
}

static bool start_local(const struct launch *launch, struct child *child, struct error *e)
{
    const struct child_options options = {
        .argv = launch->argv,
        .env = launch->env,
        .folder = launch->folder,
        .output = launch->output,
        .cpus = launch->cpus,
    };
    return child_start(&options, child, e);
}

static const struct launcher launchers[] = {
    [LAUNCHER_LOCAL] = {"local", reach_local, free_port_local, start_local},
};

bool launcher_find(enum launcher_kind kind, const struct launcher **launcher, struct error *e)
{
    if ((size_t)kind >= sizeof launchers / sizeof *launchers || !launchers[kind].name) {
        error_set(e, ERROR_USAGE, "only `launcher: local` can start sub-systems in this version");
        return false;
    }
    *launcher = &launchers[kind];
    return true;
}
