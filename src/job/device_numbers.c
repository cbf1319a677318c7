/* Devices count type by type, host by host; nothing is kept per device. */
#include "job/device_numbers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "job/sections.h"

static int by_name(const void *a, const void *b)
{
    const struct host_entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0)
        return order;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

struct host_entry *device_numbers_hosts(const struct job *job, size_t *n)
{
    *n = 0;
    size_t total = 0;
    for (int t = 0; t < job->n_types; t++)
        total += job->type[t].n_hosts;
    struct host_entry *entry = total ? memory_resize(NULL, total, sizeof *entry) : NULL;
    for (int t = 0; t < job->n_types; t++) {
        for (size_t h = 0; h < job->type[t].n_hosts; h++) {
            struct job_host *host = &job->type[t].host[h];
            entry[(*n)++] = (struct host_entry){host->name, t, host};
        }
    }
    if (entry)
        qsort(entry, *n, sizeof *entry, by_name);
    return entry;
}

size_t device_numbers_find(const struct host_entry *entry, size_t n, const char *name)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(entry[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && strcmp(entry[low].name, name) == 0 ? low : n;
}

static void refuse_twice(struct reading *r, const struct job_device_type *type, const char *name)
{
    reading_refuse_at(
        r, &type->hosts_place, arena_format(r->arena, "write '%s:2' for two devices on it", name),
        "host '%s' is listed twice in device type '%s'", name, reading_shown(r, type->name));
}

static void count_used(struct job_device_type *type)
{
    int64_t first = 0;
    for (size_t h = 0; h < type->n_hosts; h++) {
        struct job_host *host = &type->host[h];
        int64_t left = type->count - first;
        host->first_device = first;
        host->n_used = (int)(left < host->n_devices ? left : host->n_devices);
        first += host->n_used;
    }
}

/* Slots of one host's entries `entry[n]`, all of one name. */
static void number_slots(struct host_entry *entry, size_t n)
{
    int slot = 0;
    for (size_t i = 0; i < n; i++) {
        entry[i].host->first_slot = slot;
        if (__builtin_add_overflow(slot, entry[i].host->n_used, &slot))
            slot = 0;
    }
    for (size_t i = 0; i < n; i++)
        entry[i].host->n_on_host = slot;
}

static size_t same_name(const struct host_entry *entry, size_t n)
{
    size_t i = 1;
    while (i < n && strcmp(entry[i].name, entry[0].name) == 0)
        i++;
    return i;
}

static int compare_hosts(const void *a, const void *b)
{
    return strcmp(((const struct job_host *)a)->name, ((const struct job_host *)b)->name);
}

static void refuse_subsystem_twice(struct reading *r, const struct job_device_type *type)
{
    size_t n = type->n_subsystem_hosts;
    struct job_host *host = memory_resize(NULL, n, sizeof *host);
    if (n > 0)
        memcpy(host, type->subsystem_host, n * sizeof *host);
    qsort(host, n, sizeof *host, compare_hosts);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(host[i].name, host[i - 1].name) != 0)
            continue;
        reading_refuse_at(
            r, &type->subsystem_place,
            arena_format(r->arena, "write '%s:2' for two devices on it", host[i].name),
            "host '%s' is listed twice in the sub-system of device type '%s'", host[i].name,
            reading_shown(r, type->name));
    }
    free(host);
}

enum { MOST_DEVICES = 10000000 };

static bool has_slots(const struct job_device_type *type)
{
    int64_t used = 0;
    for (size_t h = 0; h < type->n_hosts; h++)
        used += type->host[h].n_used;
    return type->count > 0 && (type->n_hosts == 0 || used == type->count);
}

static void refuse_hosts_twice(struct reading *r, const struct job *job,
                               const struct host_entry *entry, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (entry[i].type == entry[i - 1].type && strcmp(entry[i].name, entry[i - 1].name) == 0)
            refuse_twice(r, &job->type[entry[i].type], entry[i].name);
    }
}

static void assign_slots(struct host_entry *entry, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t same = same_name(entry + i, n - i);
        number_slots(entry + i, same);
        i += same;
    }
}

void device_numbers_assign(struct reading *r, struct job *job)
{
    size_t n_devices = 0;
    bool sound = true;
    for (int t = 0; t < job->n_types; t++) {
        count_used(&job->type[t]);
        refuse_subsystem_twice(r, &job->type[t]);
        sound = has_slots(&job->type[t]) && sound;
        n_devices += (size_t)job->type[t].count;
    }
    size_t n = 0;
    struct host_entry *entry = device_numbers_hosts(job, &n);
    refuse_hosts_twice(r, job, entry, n);
    assign_slots(entry, n);
    free(entry);
    if (n_devices > MOST_DEVICES)
        reading_refuse_at(r, &job->type[0].place, NULL,
                          "the device types have %zu devices together; at most 10 million can be "
                          "computed",
                          n_devices);
    else if (sound)
        job->n_devices = n_devices;
}

void device_numbers_count(struct job *job)
{
    job->n_devices = 0;
    for (int t = 0; t < job->n_types; t++) {
        count_used(&job->type[t]);
        job->n_devices += (size_t)job->type[t].count;
    }
    size_t n = 0;
    struct host_entry *entry = device_numbers_hosts(job, &n);
    assign_slots(entry, n);
    free(entry);
}

size_t device_numbers_first(const struct job *job, int type)
{
    size_t first = 0;
    for (int t = 0; t < type; t++)
        first += (size_t)job->type[t].count;
    return first;
}

size_t job_ring_device(const struct job *job, size_t position)
{
    assert(position < job->n_devices);
    return job->ring ? job->ring[position] : position;
}

int job_device_type(const struct job *job, size_t device)
{
    assert(device < job->n_devices);
    int t = 0;
    for (; device >= (size_t)job->type[t].count; t++)
        device -= (size_t)job->type[t].count;
    return t;
}

/* The host that holds device `index` of a type. */
static const struct job_host *find_host(const struct job_device_type *type, int64_t index)
{
    size_t low = 0, high = type->n_hosts;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (type->host[middle].first_device <= index && type->host[middle].n_used > 0)
            low = middle;
        else
            high = middle;
    }
    return &type->host[low];
}

static const struct job_host *device_host(const struct job *job, size_t device, int *slot)
{
    int t = job_device_type(job, device);
    const struct job_device_type *type = &job->type[t];
    if (type->n_hosts == 0)
        return NULL;
    int64_t index = (int64_t)(device - device_numbers_first(job, t));
    const struct job_host *host = find_host(type, index);
    *slot = host->first_slot + (int)(index - host->first_device);
    return host;
}

const char *job_device_host(const struct job *job, size_t device, int *slot)
{
    int unused = 0;
    const struct job_host *host = device_host(job, device, slot ? slot : &unused);
    return host ? host->name : NULL;
}

char *job_device_name(struct arena *arena, const struct job *job, size_t device)
{
    int slot = 0;
    const struct job_host *host = device_host(job, device, &slot);
    if (host && host->n_on_host == 1)
        return arena_copy(arena, host->name);
    if (host)
        return arena_format(arena, "%s:%d", host->name, slot);
    int t = job_device_type(job, device);
    return arena_format(arena, "%s-%zu", job->type[t].name, device - device_numbers_first(job, t));
}

int job_find_type(const struct job *job, const char *name)
{
    for (int t = 0; t < job->n_types; t++) {
        if (strcmp(job->type[t].name, name) == 0)
            return t;
    }
    return JOB_NO_TYPE;
}

void job_subsystem_hosts(const struct job_device_type *type, const char **host)
{
    bool own = type->n_subsystem_hosts > 0;
    const struct job_host *from = own ? type->subsystem_host : type->host;
    size_t n = own ? type->n_subsystem_hosts : type->n_hosts;
    int filled = 0;
    bool any = n > 0;
    for (int round = 0; any && filled < type->subsystem_devices; round++) {
        any = false;
        for (size_t i = 0; i < n && filled < type->subsystem_devices; i++) {
            if (from[i].n_devices <= round)
                continue;
            host[filled++] = from[i].name;
            any = true;
        }
    }
    for (; filled < type->subsystem_devices; filled++)
        host[filled] = NULL;
}
