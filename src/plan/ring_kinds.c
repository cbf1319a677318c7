/* Devices are numbered type by type, host by host: what is alike is together, or alone on hosts. */
#include "plan/ring_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "job/device_numbers.h"

struct finder {
    struct arena *arena;
    const struct job *job;
    const struct network *network;
    struct host_entry *entry;
    size_t n_entries;
    struct ring_kinds *kinds;
    size_t capacity;
};

static bool names(const struct network *network, const char *name)
{
    return network && name && network_find(network, name) != NETWORK_NO_NAME;
}

static size_t add_kind(struct finder *f, size_t device, int type, long host)
{
    struct ring_kinds *kinds = f->kinds;
    if (kinds->n == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 64;
        kinds->kind = memory_resize(kinds->kind, f->capacity, sizeof *kinds->kind);
    }
    kinds->kind[kinds->n] =
        (struct ring_kind){.type = type, .host = host, .first = device, .other = device};
    return kinds->n++;
}

static void join_kind(struct finder *f, size_t device, size_t kind)
{
    f->kinds->of[device] = (uint32_t)kind;
    f->kinds->kind[kind].other = device;
    f->kinds->kind[kind].count++;
}

/* What the next device of a type may join: the lone ones, or those on the host before it. */
struct open_kinds {
    size_t lone, on_host;
    const char *host; /* of `on_host`; NULL: none */
    bool has_lone;
};

static void place_device(struct finder *f, struct open_kinds *open, int type, size_t device)
{
    struct arena scratch = {0};
    const char *name = job_device_name(&scratch, f->job, device);
    const char *host = job_device_host(f->job, device, NULL);
    bool alone = !host || strcmp(name, host) == 0;
    bool by_slot = !alone && f->network && f->network->n_within > 0;
    bool named = names(f->network, name) || by_slot;
    long number = alone ? NETWORK_ALONE : (long)device_numbers_find(f->entry, f->n_entries, host);
    size_t kind;
    if (alone && !named && open->has_lone)
        kind = open->lone;
    else if (!alone && !named && open->host == host)
        kind = open->on_host;
    else
        kind = add_kind(f, device, type, number);
    if (alone && !named) {
        open->lone = kind;
        open->has_lone = true;
    } else if (!named) {
        open->on_host = kind;
        open->host = host;
    }
    join_kind(f, device, kind);
    arena_free(&scratch);
}

void ring_kinds_find(struct arena *arena, const struct job *job, const struct network *network,
                     struct ring_kinds *kinds)
{
    struct finder f = {.arena = arena, .job = job, .network = network, .kinds = kinds};
    *kinds = (struct ring_kinds){.of = ARENA_ARRAY(arena, job->n_devices, uint32_t)};
    f.entry = device_numbers_hosts(job, &f.n_entries);
    size_t device = 0;
    for (int t = 0; t < job->n_types; t++) {
        struct open_kinds open = {0};
        for (int64_t i = 0; i < job->type[t].count; i++)
            place_device(&f, &open, t, device++);
    }
    kinds->n_hosts = (long)f.n_entries;
    struct ring_kind *grown = kinds->kind;
    kinds->kind = ARENA_ARRAY(arena, kinds->n, struct ring_kind);
    memcpy(kinds->kind, grown, kinds->n * sizeof *grown);
    free(grown);
    free(f.entry);
}
