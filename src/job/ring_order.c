/* The ring as a list of device names; a host's name alone stands for all its devices. */
#include <stdlib.h>
#include <string.h>

#include "job/device_numbers.h"
#include "job/host_list.h"
#include "job/sections.h"

/* Suggesting a name compares it with all others: done for few errors, and among few names. */
enum { MOST_SUGGESTIONS = 10, MOST_CANDIDATES = 10000 };

struct order {
    struct reading *r;
    struct job *job;
    struct host_entry *host;
    size_t n_hosts;
    size_t *ring;
    bool *seen;
    size_t n; /* positions filled */
    bool ok;
};

static size_t host_device(const struct order *o, const struct host_entry *entry, int slot)
{
    return device_numbers_first(o->job, entry->type) + (size_t)entry->host->first_device +
           (size_t)(slot - entry->host->first_slot);
}

static bool parse_index(const char *text, int64_t *index)
{
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 9 || text[digits] || (text[0] == '0' && digits > 1))
        return false;
    *index = strtol(text, NULL, 10);
    return true;
}

/* "host:slot" */
static bool find_slot(const struct order *o, const char *name, size_t *device)
{
    const char *colon = strrchr(name, ':');
    int64_t slot = 0;
    if (!colon || !parse_index(colon + 1, &slot))
        return false;
    char *host = arena_copy_n(o->r->arena, name, (size_t)(colon - name));
    for (size_t i = device_numbers_find(o->host, o->n_hosts, host);
         i < o->n_hosts && strcmp(o->host[i].name, host) == 0; i++) {
        const struct job_host *h = o->host[i].host;
        if (slot >= h->first_slot && slot < h->first_slot + h->n_used) {
            *device = host_device(o, &o->host[i], (int)slot);
            return true;
        }
    }
    return false;
}

/* "type-index", for a type without hosts */
static bool find_index(const struct order *o, const char *name, size_t *device)
{
    const char *dash = strrchr(name, '-');
    int64_t index = 0;
    if (!dash || !parse_index(dash + 1, &index))
        return false;
    int t = job_find_type(o->job, arena_copy_n(o->r->arena, name, (size_t)(dash - name)));
    if (t == JOB_NO_TYPE || o->job->type[t].n_hosts > 0 || index >= o->job->type[t].count)
        return false;
    *device = device_numbers_first(o->job, t) + (size_t)index;
    return true;
}

static void add_device(struct order *o, const struct node *node, size_t device)
{
    if (!o->seen[device]) {
        o->seen[device] = true;
        o->ring[o->n++] = device;
        return;
    }
    o->ok = false;
    reading_refuse(o->r, node, NULL, "ring: device '%s' is listed twice",
                   job_device_name(o->r->arena, o->job, device));
}

/* All devices of a host; false where there is no such host. */
static bool add_host(struct order *o, const struct node *node, const char *name)
{
    size_t first = device_numbers_find(o->host, o->n_hosts, name);
    for (size_t i = first; i < o->n_hosts && strcmp(o->host[i].name, name) == 0; i++) {
        const struct job_host *host = o->host[i].host;
        for (int k = 0; k < host->n_used; k++)
            add_device(o, node, host_device(o, &o->host[i], host->first_slot + k));
    }
    return first < o->n_hosts && o->host[first].host->n_on_host > 0;
}

static char *suggest(const struct order *o, const char *name)
{
    struct reading *r = o->r;
    size_t n = o->job->n_devices;
    if (r->n_findings >= MOST_SUGGESTIONS || n > MOST_CANDIDATES)
        return NULL;
    const char **word = ARENA_ARRAY(r->arena, n, const char *);
    for (size_t i = 0; i < n; i++)
        word[i] = job_device_name(r->arena, o->job, i);
    return reading_nearest(r, name, word, n);
}

static void add_name(struct order *o, const struct node *node, const char *name)
{
    size_t device = 0;
    if (find_slot(o, name, &device) || find_index(o, name, &device)) {
        add_device(o, node, device);
        return;
    }
    if (add_host(o, node, name))
        return;
    o->ok = false;
    reading_refuse(o->r, node, suggest(o, name), "ring: no device is called '%s'",
                   reading_shown(o->r, name));
}

static void refuse_missing(struct order *o, const struct node *node)
{
    size_t missing = o->job->n_devices - o->n;
    size_t device = 0;
    while (o->seen[device])
        device++;
    const char *name = job_device_name(o->r->arena, o->job, device);
    if (missing == 1)
        reading_refuse(o->r, node, NULL, "ring: device '%s' is missing", name);
    else
        reading_refuse(o->r, node, NULL, "ring: %zu devices are missing, the first is '%s'",
                       missing, name);
}

static void add_item(struct order *o, const struct node *item)
{
    struct name_list names = {0};
    if (!host_list_expand(o->r, item, &names))
        o->ok = false;
    for (size_t i = 0; i < names.n; i++)
        add_name(o, item, names.item[i]);
    free(names.item);
}

static void read_names(struct reading *r, const struct node *node, struct job *job)
{
    struct order o = {.r = r, .job = job, .ok = true};
    o.ring = ARENA_ARRAY(r->arena, job->n_devices, size_t);
    o.seen = memory_resize(NULL, job->n_devices, sizeof *o.seen);
    memset(o.seen, 0, job->n_devices * sizeof *o.seen);
    o.host = device_numbers_hosts(job, &o.n_hosts);
    for (const struct node *item = node->first; item; item = item->next)
        add_item(&o, item);
    if (o.ok && o.n < job->n_devices)
        refuse_missing(&o, node);
    job->ring = o.ring;
    free(o.host);
    free(o.seen);
}

void ring_order_read(struct reading *r, const struct node *node, struct job *job)
{
    static const struct choice order[] = {{"as-listed", 0, false}, {"a list of devices", 0, false}};
    int value = 0;
    if (node->kind == NODE_LIST)
        read_names(r, node, job);
    else if (node->kind == NODE_SCALAR && strcmp(node->text, "optimal") == 0)
        reading_refuse(r, node, "`foretrain order -o FILE` writes this job with the best order",
                       "ring: the best order is looked for once, and then listed");
    else
        field_choose(r, node, order, sizeof order / sizeof *order, &value);
}
