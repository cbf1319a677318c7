/*
 * Where a host's sockets are reached by the others. Nobody knows for sure but the user: first what
 * the user says (an interface in the type's env), then what the host's name means, then the address
 * at which ssh reached it or that Slurm knows; each must be one of the host's own.
 */
#include <stdio.h>
#include <string.h>

#include "measure/remote.h"

static const double ASK_LIMIT_S = 30;

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* The interface of the host that owns an address, or NULL. */
static const char *owner_of(const struct remote_host *host, const char *address)
{
    const json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(host->hello, "addresses"), i, pair)
    {
        const char *own = json_string_value(json_array_get(pair, 1));
        if (own && strcmp(own, address) == 0)
            return json_string_value(json_array_get(pair, 0));
    }
    return NULL;
}

/* The first address of an interface, or NULL. */
static const char *address_on(const struct remote_host *host, const char *interface)
{
    const json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(host->hello, "addresses"), i, pair)
    {
        const char *name = json_string_value(json_array_get(pair, 0));
        if (name && strcmp(name, interface) == 0)
            return json_string_value(json_array_get(pair, 1));
    }
    return NULL;
}

static bool has_host(const struct job_device_type *type, const char *name)
{
    for (size_t i = 0; i < type->n_hosts; i++) {
        if (strcmp(type->host[i].name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < type->n_subsystem_hosts; i++) {
        if (strcmp(type->subsystem_host[i].name, name) == 0)
            return true;
    }
    return false;
}

static const char *interface_of_type(const struct job_device_type *type)
{
    static const char *const names[] = {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"};
    for (size_t i = 0; i < type->n_env; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(type->env[i].name, names[k]) == 0)
                return type->env[i].value;
        }
    }
    return NULL;
}

/* The interface that the job names for a host, or NULL. */
static const char *named_interface(const struct remote_host *host)
{
    const struct job *job = host->launcher->job;
    for (int i = 0; i < job->n_types; i++) {
        const char *interface = interface_of_type(&job->type[i]);
        if (interface && has_host(&job->type[i], host->name))
            return interface;
    }
    return NULL;
}

/* What a name of the host means to a host of ours, the host itself last: it may say 127.0.1.1. */
static bool resolve_on(struct remote_host *asked, const struct remote_host *host, const char *name,
                       char *address)
{
    struct error e = {0};
    json_t *answer = NULL;
    const char *found = NULL;
    const json_t *each;
    size_t i;
    if (asked->state != REMOTE_GREETED ||
        !remote_ask(asked, json_pack("{s:s, s:o}", "op", "resolve", "name", agent_text(name)),
                    ASK_LIMIT_S, &answer, &e)) {
        error_clear(&e);
        return false;
    }
    json_array_foreach(json_object_get(answer, "found"), i, each)
    {
        const char *one = json_string_value(each);
        if (!found && one && !is_loopback(one) && owner_of(host, one))
            found = one;
    }
    if (found)
        snprintf(address, LAUNCHER_ADDRESS_SIZE, "%s", found);
    json_decref(answer);
    return found;
}

static bool resolve(struct remote_host *host, char *address)
{
    const struct remote *remote = host->launcher->remote;
    for (size_t i = 0; i < remote->n; i++) {
        if (remote->host[i] != host && remote->host[i]->state == REMOTE_GREETED)
            return resolve_on(remote->host[i], host, host->name, address) ||
                   resolve_on(host, host, host->name, address);
    }
    return resolve_on(host, host, host->name, address);
}

static bool use_interface(const struct remote_host *host, const char *interface, char *address,
                          struct error *e)
{
    const char *own = address_on(host, interface + strspn(interface, "="));
    if (own)
        snprintf(address, LAUNCHER_ADDRESS_SIZE, "%s", own);
    else
        error_set(e, ERROR_HOST,
                  "host '%s' has no interface '%s' with an address, as its type's "
                  "env names for training",
                  host->name, interface);
    return own;
}

/* The address or name by which it is reached from here. */
static const char *reached_at(const struct remote_host *host)
{
    struct launcher *launcher = host->launcher;
    return launcher->remote->reached_at
               ? launcher->remote->reached_at(launcher, host->name)
               : json_string_value(json_object_get(host->hello, "reached_at"));
}

static bool find_address(struct remote_host *host, char *address, struct error *e)
{
    const char *interface = named_interface(host);
    if (interface)
        return use_interface(host, interface, address, e);
    if (resolve(host, address))
        return true;
    const char *from_here = reached_at(host);
    if (from_here && *from_here && resolve_on(host, host, from_here, address))
        return true;
    error_set(e, ERROR_HOST,
              "at which address other hosts reach '%s' cannot be told: its name is "
              "none of its own addresses",
              host->name);
    error_hint(e, "name its interface: env: {GLOO_SOCKET_IFNAME: eth0} under its device type");
    return false;
}

bool remote_address(struct launcher *launcher, const char *name, char *address, struct error *e)
{
    struct remote_host *host = NULL;
    if (!remote_find(launcher, name, &host, e) ||
        (!*host->address && !find_address(host, host->address, e)))
        return false;
    snprintf(address, LAUNCHER_ADDRESS_SIZE, "%s", host->address);
    return true;
}

bool remote_interface(struct launcher *launcher, const char *name, char *interface, struct error *e)
{
    struct remote_host *host = NULL;
    char address[LAUNCHER_ADDRESS_SIZE];
    if (!remote_find(launcher, name, &host, e) || !remote_address(launcher, name, address, e))
        return false;
    snprintf(interface, LAUNCHER_INTERFACE_SIZE, "%s", owner_of(host, address));
    return true;
}

bool remote_free_port(struct launcher *launcher, const char *name, int *port, struct error *e)
{
    struct remote_host *host = NULL;
    char address[LAUNCHER_ADDRESS_SIZE];
    json_t *answer = NULL;
    if (!remote_find(launcher, name, &host, e) || !remote_address(launcher, name, address, e) ||
        !remote_ask(host, json_pack("{s:s, s:s}", "op", "port", "address", address), ASK_LIMIT_S,
                    &answer, e))
        return false;
    *port = (int)json_integer_value(json_object_get(answer, "port"));
    json_decref(answer);
    return true;
}
