/* The worst of what a network file has between two types; classes are looked up on a small job that
 * has two devices of each type. */
#include "plan/class_links.h"

#include <math.h>
#include <string.h>

#include "job/device_numbers.h"

/* Whose name it is; host NULL: nobody's. */
struct owner {
    int type;
    const char *host;
};

static void note_owner(const struct network *network, const char *name, struct owner of,
                       struct owner *owner)
{
    long i = network_find(network, name);
    if (i != NETWORK_NO_NAME && !owner[i].host)
        owner[i] = of;
}

static void note_device(struct arena *arena, const struct network *network, const struct job *job,
                        size_t d, struct owner *owner)
{
    const char *name = job_device_name(arena, job, d);
    const char *host = job_device_host(job, d, NULL);
    struct owner of = {job_device_type(job, d), host ? host : name};
    note_owner(network, name, of, owner);
    note_owner(network, of.host, of, owner);
}

static struct owner *find_owners(struct arena *arena, const struct network *network,
                                 const struct job *job)
{
    struct owner *owner = ARENA_ARRAY(arena, network->n, struct owner);
    for (size_t d = 0; d < job->n_devices; d++)
        note_device(arena, network, job, d, owner);
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        for (size_t h = 0; h < type->n_subsystem_hosts; h++) {
            const char *host = type->subsystem_host[h].name;
            note_owner(network, host, (struct owner){t, host}, owner);
        }
    }
    return owner;
}

/* What a ring can count on: the slower of both, with the longer latency. */
static void take_worse(struct link *worst, const struct link *link)
{
    struct link other = *link;
    bool first = worst->source == LINK_UNKNOWN;
    double latency_s = fmax(worst->latency_s, link->latency_s);
    if (link_is_shared(link)) {
        other.bandwidth_Bps = link->together_Bps;
        other.curve = NULL;
    }
    if (first || other.bandwidth_Bps < worst->bandwidth_Bps)
        *worst = other;
    worst->latency_s = latency_s;
}

static void take_network(struct arena *arena, const struct network *network, const struct job *job,
                         struct class_links *classes)
{
    const struct owner *owner = find_owners(arena, network, job);
    for (size_t i = 0; i < network->n * network->n; i++) {
        const struct owner *from = &owner[i / network->n], *to = &owner[i % network->n];
        const struct link *link = &network->link[i];
        if (!from->host || !to->host || link->source == LINK_UNKNOWN)
            continue;
        bool within = strcmp(from->host, to->host) == 0;
        size_t pair = (size_t)from->type * classes->n_types + (size_t)to->type;
        take_worse(&(within ? classes->within : classes->across)[pair], link);
        classes->worst_measured = true;
    }
}

/* Of the ways within a type's hosts the worst, in whatever order a ring goes around them. */
static void take_hosts(const struct network *network, const struct job *job,
                       struct class_links *classes)
{
    for (size_t k = 0; k < network->n_within; k++) {
        const struct host_links *within = &network->within[k];
        int type = job_find_type(job, within->type);
        for (size_t i = 0; type != JOB_NO_TYPE && i < within->n * within->n; i++) {
            if (within->link[i].source != LINK_UNKNOWN)
                take_worse(&classes->within[(size_t)type * classes->n_types + (size_t)type],
                           &within->link[i]);
        }
    }
}

/* Two devices of each type, all on one host or each on its own. */
static struct job two_of_each(struct arena *arena, const struct job *job, bool on_one_host)
{
    size_t n = (size_t)job->n_types;
    struct job two = *job;
    two.ring = NULL;
    two.type = ARENA_ARRAY(arena, n, struct job_device_type);
    for (size_t t = 0; t < n; t++) {
        struct job_host *host = ARENA_NEW(arena, struct job_host);
        *host = (struct job_host){.name = "host", .n_devices = 2};
        two.type[t] = job->type[t];
        two.type[t].count = 2;
        two.type[t].host = host;
        two.type[t].n_hosts = on_one_host ? 1 : 0;
    }
    device_numbers_count(&two);
    return two;
}

static void fill_from_classes(struct arena *arena, const struct network *network,
                              const struct job *job, bool on_one_host, struct link *link)
{
    struct job two = two_of_each(arena, job, on_one_host);
    struct network unnamed = network ? *network : (struct network){0};
    unnamed.n = 0;
    size_t n = (size_t)job->n_types;
    for (size_t pair = 0; pair < n * n; pair++) {
        struct error none = {0};
        if (link[pair].source == LINK_UNKNOWN)
            network_link(&unnamed, &two, 2 * (pair / n), 2 * (pair % n) + 1, &link[pair], &none);
        error_clear(&none);
    }
}

struct class_links class_links_find(struct arena *arena, const struct network *network,
                                    const struct job *job)
{
    size_t n = (size_t)job->n_types;
    struct class_links classes = {.n_types = n,
                                  .across = ARENA_ARRAY(arena, n * n, struct link),
                                  .within = ARENA_ARRAY(arena, n * n, struct link)};
    if (network && network->n)
        take_network(arena, network, job, &classes);
    if (network)
        take_hosts(network, job, &classes);
    fill_from_classes(arena, network, job, false, classes.across);
    fill_from_classes(arena, network, job, true, classes.within);
    return classes;
}

const struct link *class_link(const struct class_links *classes, int from, int to, bool within)
{
    size_t pair = (size_t)from * classes->n_types + (size_t)to;
    return &(within ? classes->within : classes->across)[pair];
}
