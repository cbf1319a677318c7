/* What the job's classes of links say by files: tables of nccl-tests, and within hosts nvidia-smi's
 * table. */
#include <string.h>

#include "base/text.h"
#include "network/nccl_tests.h"
#include "network/network.h"
#include "network/topology.h"

struct reading {
    struct arena *arena;
    const struct job *job;
    struct network *network;
    struct link_table *table; /* room for all */
    struct host_links *within;
};

bool network_table(const struct network *network, const char *file, struct link *link)
{
    for (size_t i = 0; i < network->n_tables; i++) {
        if (strcmp(network->table[i].file, file) != 0)
            continue;
        *link = network->table[i].link;
        return true;
    }
    return false;
}

/* Each file once, however many classes name it. */
static bool read_table(struct reading *r, const char *file, const struct place *place,
                       struct error *e)
{
    struct nccl_table table;
    struct link known;
    if (!file || network_table(r->network, file, &known))
        return true;
    if (!nccl_tests_read_file(r->arena, job_path(r->arena, r->job, file), &table, e)) {
        error_in(e, "the link in line %d of %s", place->line, r->job->file);
        return false;
    }
    r->table[r->network->n_tables++] = (struct link_table){file, nccl_tests_link(r->arena, &table)};
    return true;
}

static bool read_tables(struct reading *r, struct error *e)
{
    const struct job *job = r->job;
    for (size_t i = 0; i < job->n_links; i++) {
        if (!read_table(r, job->link[i].nccl_tests, &job->link[i].place, e))
            return false;
    }
    for (size_t i = 0; i < job->n_topologies; i++) {
        for (size_t k = 0; k < job->topology[i].n_classes; k++) {
            const struct job_path_class *class = &job->topology[i].class[k];
            if (!read_table(r, class->nccl_tests, &class->place, e))
                return false;
        }
    }
    return true;
}

/* NULL where the job does not give it. */
static const struct job_path_class *find_class(const struct job_topology *topology,
                                               const char *name)
{
    for (size_t i = 0; i < topology->n_classes; i++) {
        if (strcmp(topology->class[i].name, name) == 0)
            return &topology->class[i];
    }
    return NULL;
}

/* The classes of the table that nobody gave, each once: "SYS, NODE"; NULL: none. */
static const char *list_missing(struct arena *arena, const struct job_topology *given,
                                const struct topology *table)
{
    const char *list = NULL;
    for (size_t i = 0; i < table->n * table->n; i++) {
        const char *name = table->class[i];
        bool is_new = name && !find_class(given, name);
        for (size_t k = 0; is_new && k < i; k++)
            is_new = !table->class[k] || strcmp(table->class[k], name) != 0;
        if (is_new)
            list = list ? arena_format(arena, "%s, %s", list, name) : name;
    }
    return list;
}

static bool check_classes(struct arena *arena, const struct job_topology *topology,
                          const struct topology *table, struct error *e)
{
    const char *missing = list_missing(arena, topology, table);
    if (!missing)
        return true;
    error_at(e, &topology->place, "%s has pairs of class %s, which 'classes' does not give",
             text_printable(arena, topology->file, 0), missing);
    error_hint(e, "the table has no bandwidths, and none is assumed");
    return false;
}

/* Devices are the table's by their slot on the host. */
static bool check_hosts(const struct job_device_type *type, const struct job_topology *topology,
                        const struct topology *table, struct error *e)
{
    for (size_t i = 0; i < type->n_hosts; i++) {
        int last = type->host[i].first_slot + type->host[i].n_used - 1;
        if (last < (int)table->n)
            continue;
        error_at(e, &topology->place, "'%s' has a device %s:%d, and the table GPU0 to GPU%zu only",
                 type->name, type->host[i].name, last, table->n - 1);
        return false;
    }
    return true;
}

static struct link link_of(const struct network *network, const struct job_path_class *class)
{
    struct link link = {
        .bandwidth_Bps = class->bandwidth_Bps, .latency_s = class->latency_s, .source = LINK_GIVEN};
    if (class->nccl_tests)
        network_table(network, class->nccl_tests, &link);
    return link;
}

static const struct link *join_pairs(struct reading *r, const struct job_topology *topology,
                                     const struct topology *table)
{
    struct link *link = ARENA_ARRAY(r->arena, table->n * table->n, struct link);
    for (size_t i = 0; i < table->n * table->n; i++) {
        if (table->class[i])
            link[i] = link_of(r->network, find_class(topology, table->class[i]));
    }
    return link;
}

/* The topology of a type's hosts: its own, else that of all types; NULL: none. */
static const struct job_topology *topology_of(const struct job *job, const char *type)
{
    const struct job_topology *found = NULL;
    for (size_t i = 0; i < job->n_topologies; i++) {
        const struct job_topology *topology = &job->topology[i];
        if (topology->type && strcmp(topology->type, type) == 0)
            return topology;
        if (!topology->type)
            found = topology;
    }
    return found;
}

static bool read_within(struct reading *r, const struct job_device_type *type, struct error *e)
{
    struct topology table;
    const struct job_topology *topology = topology_of(r->job, type->name);
    if (!topology)
        return true;
    if (!topology_read(r->arena, job_path(r->arena, r->job, topology->file), &table, e) ||
        !check_classes(r->arena, topology, &table, e) || !check_hosts(type, topology, &table, e))
        return false;
    r->within[r->network->n_within++] =
        (struct host_links){type->name, table.n, join_pairs(r, topology, &table)};
    return true;
}

static size_t count_classes(const struct job *job)
{
    size_t n = job->n_links;
    for (size_t i = 0; i < job->n_topologies; i++)
        n += job->topology[i].n_classes;
    return n;
}

bool network_read_classes(struct arena *arena, const struct job *job, struct network *network,
                          struct error *e)
{
    struct reading r = {arena, job, network,
                        ARENA_ARRAY(arena, count_classes(job), struct link_table),
                        ARENA_ARRAY(arena, (size_t)job->n_types, struct host_links)};
    network->table = r.table;
    network->within = r.within;
    network->n_tables = network->n_within = 0;
    bool ok = read_tables(&r, e);
    for (int t = 0; ok && t < job->n_types; t++)
        ok = read_within(&r, &job->type[t], e);
    return ok;
}
