/* The links within hosts: a table of nvidia-smi, and what each of its classes is. */
#include <stddef.h>
#include <string.h>

#include "job/sections.h"

enum { MOST_TOPOLOGIES = 1000, MOST_CLASSES = 64 };

static const char *const word[] = {"PIX", "PXB", "PHB", "NODE", "SYS", "NV1"};
enum { N_WORDS = sizeof word / sizeof *word, N_FIXED = N_WORDS - 1 };

bool job_is_path_class(const char *name)
{
    for (size_t i = 0; i < N_FIXED; i++) {
        if (strcmp(word[i], name) == 0)
            return true;
    }
    bool bonded = strncmp(name, "NV", 2) == 0 && name[2] >= '1' && name[2] <= '9';
    return bonded && name[2 + strspn(name + 2, "0123456789")] == '\0';
}

static const struct field class_field[] = {
    {"bandwidth", field_bandwidth, offsetof(struct job_path_class, bandwidth_Bps), false},
    {"latency", field_latency, offsetof(struct job_path_class, latency_s), false},
    {"nccl_tests", field_text, offsetof(struct job_path_class, nccl_tests), false},
};

static bool read_class(struct reading *r, const struct node *node, struct job_path_class *class)
{
    *class = (struct job_path_class){.name = node->key->text,
                                     .place = reading_place(r, node->line, node->column)};
    if (!job_is_path_class(class->name)) {
        reading_refuse(r, node->key, reading_nearest(r, class->name, word, N_WORDS),
                       "'%s' is no class of nvidia-smi topo -m: NV# (NV1, NV2, ...), PIX, PXB, "
                       "PHB, NODE or SYS",
                       node->name);
        return false;
    }
    if (node->kind != NODE_MAPPING)
        field_bandwidth(r, node, &class->bandwidth_Bps);
    else if (!fields_read(r, node, class_field, sizeof class_field / sizeof *class_field, class) ||
             !section_has_rate(r, node))
        return false;
    return class->bandwidth_Bps > 0 || class->nccl_tests;
}

static void read_classes(struct reading *r, const struct node *node, void *out)
{
    struct job_topology *topology = out;
    if (node->kind != NODE_MAPPING || node->n == 0 || node->n > MOST_CLASSES) {
        reading_refuse(r, node, "write classes: {NV2: 50 GB/s, SYS: 10 GB/s}",
                       "%s must be a mapping of classes to their bandwidths (got %s)", node->name,
                       node_found(r, node));
        return;
    }
    topology->class = ARENA_ARRAY(r->arena, node->n, struct job_path_class);
    for (const struct node *value = node->first; value; value = value->next) {
        if (read_class(r, value, &topology->class[topology->n_classes]))
            topology->n_classes++;
    }
}

/* A topology while it is read. */
struct draft {
    struct job_topology topology;
    const struct node *type;
};

static void keep_node(struct reading *r, const struct node *node, void *out)
{
    (void)r;
    *(const struct node **)out = node;
}

static const struct field topology_field[] = {
    {"file", field_text, offsetof(struct draft, topology.file), true},
    {"type", keep_node, offsetof(struct draft, type), false},
    {"classes", read_classes, offsetof(struct draft, topology), true},
};

static bool is_given(struct reading *r, const struct node *node, const struct job *job,
                     const char *type)
{
    for (size_t i = 0; i < job->n_topologies; i++) {
        const char *other = job->topology[i].type;
        if (type != other && (!type || !other || strcmp(type, other) != 0))
            continue;
        reading_refuse(r, node, "say whose each is: type: NAME",
                       "the topology of %s is given twice (first in line %d)",
                       type ? type : "all types", job->topology[i].place.line);
        return true;
    }
    return false;
}

static void read_topology(struct reading *r, const struct node *node, struct job *job)
{
    struct draft draft = {0};
    if (!fields_read(r, node, topology_field, sizeof topology_field / sizeof *topology_field,
                     &draft))
        return;
    struct job_topology *topology = &draft.topology;
    topology->place = reading_place(r, node->line, node->column);
    int type = draft.type ? section_type(r, draft.type, job) : JOB_NO_TYPE;
    if (type != JOB_NO_TYPE)
        topology->type = job->type[type].name;
    if (draft.type && type == JOB_NO_TYPE)
        return;
    if (!is_given(r, node, job, topology->type))
        job->topology[job->n_topologies++] = *topology;
}

void section_topology(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    bool list = node->kind == NODE_LIST;
    size_t n = list ? node->n : 1;
    if (n == 0 || n > MOST_TOPOLOGIES) {
        reading_refuse(r, node, NULL, "%s is a mapping, or a list of 1 to %d of them", node->name,
                       MOST_TOPOLOGIES);
        return;
    }
    job->topology = ARENA_ARRAY(r->arena, n, struct job_topology);
    for (const struct node *item = list ? node->first : node; item; item = item->next) {
        read_topology(r, item, job);
        if (!list)
            break;
    }
}
