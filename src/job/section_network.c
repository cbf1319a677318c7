/* The network: a file with values, and classes of links between device types. */
#include <string.h>

#include "job/sections.h"

enum { MOST_LINKS = 10000, MOST_FILES = 100000 };

/* A link while it is read. */
struct draft {
    struct job_link link;
    const struct node *between, *from, *to;
};

static void keep_node(struct reading *r, const struct node *node, void *out)
{
    (void)r;
    *(const struct node **)out = node;
}

static void read_where(struct reading *r, const struct node *node, void *out)
{
    static const struct choice where[] = {{"within-host", LINK_WITHIN_HOST, false},
                                          {"across-hosts", LINK_ACROSS_HOSTS, false},
                                          {"anywhere", LINK_ANYWHERE, false}};
    int value = 0;
    if (field_choose(r, node, where, sizeof where / sizeof *where, &value))
        *(enum link_where *)out = (enum link_where)value;
}

static const struct field link_field[] = {
    {"between", keep_node, offsetof(struct draft, between), false},
    {"from", keep_node, offsetof(struct draft, from), false},
    {"to", keep_node, offsetof(struct draft, to), false},
    {"bandwidth", field_bandwidth, offsetof(struct draft, link.bandwidth_Bps), false},
    {"latency", field_latency, offsetof(struct draft, link.latency_s), false},
    {"nccl_tests", field_text, offsetof(struct draft, link.nccl_tests), false},
    {"both_ways", field_bandwidth, offsetof(struct draft, link.both_ways_Bps), false},
    {"spread", field_share, offsetof(struct draft, link.spread), false},
    {"where", read_where, offsetof(struct draft, link.where), false},
};

static char *nearest_type(struct reading *r, const struct job *job, const char *name)
{
    if (!reading_tells(r))
        return NULL;
    size_t n = (size_t)job->n_types;
    const char **word = ARENA_ARRAY(r->arena, n, const char *);
    for (size_t i = 0; i < n; i++)
        word[i] = job->type[i].name;
    return reading_nearest(r, name, word, n);
}

int section_type(struct reading *r, const struct node *node, const struct job *job)
{
    const char *name = field_word(r, node);
    if (!name)
        return JOB_NO_TYPE;
    int type = job_find_type(job, name);
    if (type == JOB_NO_TYPE && job->n_types > 0)
        reading_refuse(r, node, nearest_type(r, job, name), "%s: no device type is called '%s'",
                       node->name, reading_shown(r, name));
    return type;
}

bool section_has_rate(struct reading *r, const struct node *link)
{
    const struct node *table = node_find(link, "nccl_tests");
    bool has_bandwidth = node_find(link, "bandwidth");
    if (table && (has_bandwidth || node_find(link, "latency")))
        reading_refuse(r, table, NULL,
                       "a link has either 'bandwidth' and 'latency', or 'nccl_tests', which says "
                       "both");
    else if (!table && !has_bandwidth)
        reading_refuse(r, link->key ? link->key : link,
                       "or give nccl_tests: FILE, a table of all_reduce_perf",
                       "'bandwidth' is missing in %s", link->name);
    else
        return true;
    return false;
}

static bool read_between(struct reading *r, const struct node *node, const struct job *job,
                         struct job_link *link)
{
    if (node->kind != NODE_LIST || node->n != 2) {
        reading_refuse(r, node, NULL, "%s must be two device types such as [a100, mlu370] (got %s)",
                       node->name, node_found(r, node));
        return false;
    }
    link->from_type = section_type(r, node->first, job);
    link->to_type = section_type(r, node->last, job);
    return link->from_type != JOB_NO_TYPE && link->to_type != JOB_NO_TYPE;
}

static bool read_ends(struct reading *r, const struct node *node, const struct draft *draft,
                      const struct job *job, struct job_link *link)
{
    bool directed = draft->from || draft->to;
    if (draft->between && directed) {
        reading_refuse(r, draft->between, NULL,
                       "a link has either 'between' (both directions) or 'from' and 'to' (one)");
        return false;
    }
    if (draft->between)
        return read_between(r, draft->between, job, link);
    if (!draft->from || !draft->to) {
        reading_refuse(r, node, NULL, "a link needs 'between: [a, b]', or 'from' and 'to'");
        return false;
    }
    link->directed = true;
    link->from_type = section_type(r, draft->from, job);
    link->to_type = section_type(r, draft->to, job);
    return link->from_type != JOB_NO_TYPE && link->to_type != JOB_NO_TYPE;
}

static bool is_same_class(const struct job_link *a, const struct job_link *b)
{
    if (a->where != b->where || a->directed != b->directed)
        return false;
    bool same = a->from_type == b->from_type && a->to_type == b->to_type;
    bool crossed = a->from_type == b->to_type && a->to_type == b->from_type;
    return same || (crossed && !a->directed);
}

static void add_link(struct reading *r, const struct node *node, const struct job_link *link,
                     struct job *job)
{
    for (size_t i = 0; i < job->n_links; i++) {
        if (!is_same_class(&job->link[i], link))
            continue;
        reading_refuse(r, node, NULL, "this class of links is given twice (first in line %d)",
                       job->link[i].place.line);
        return;
    }
    job->link[job->n_links++] = *link;
}

/* One direction alone cannot have more than both together. */
static bool check_both_ways(struct reading *r, const struct node *node, const struct job_link *link)
{
    const struct node *value = node_find(node, "both_ways");
    if (link->nccl_tests && (value || link->spread > 0))
        reading_refuse(r, value ? value : node_find(node, "spread"), NULL,
                       "both_ways and spread go with 'bandwidth', not with 'nccl_tests'");
    else if (value && link->directed)
        reading_refuse(r, value, NULL, "both_ways is for links 'between' two types");
    else if (link->both_ways_Bps > 0 && link->both_ways_Bps < link->bandwidth_Bps)
        reading_refuse(r, value, NULL,
                       "both_ways must be at least the bandwidth of one way (got %s)",
                       node_found(r, value));
    else
        return true;
    return false;
}

static void read_link(struct reading *r, const struct node *node, struct job *job)
{
    struct draft draft = {0};
    if (!fields_read(r, node, link_field, sizeof link_field / sizeof *link_field, &draft))
        return;
    draft.link.place = reading_place(r, node->line, node->column);
    bool has_ends = read_ends(r, node, &draft, job, &draft.link);
    bool has_rate = section_has_rate(r, node);
    if (has_ends && has_rate && (draft.link.bandwidth_Bps > 0 || draft.link.nccl_tests) &&
        check_both_ways(r, node, &draft.link))
        add_link(r, node, &draft.link, job);
}

static void read_links(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    if (node->kind != NODE_LIST || node->n > MOST_LINKS) {
        reading_refuse(r, node, NULL,
                       "links must be a list of classes of links, at most 10000 "
                       "(got %s)",
                       node->n > MOST_LINKS ? "more" : node_found(r, node));
        return;
    }
    job->link = ARENA_ARRAY(r->arena, node->n, struct job_link);
    for (const struct node *item = node->first; item; item = item->next)
        read_link(r, item, job);
}

static const struct field file_field[] = {
    {"file", field_text, offsetof(struct job_network_file, path), true},
    {"from", field_text, offsetof(struct job_network_file, from), false},
    {"to", field_text, offsetof(struct job_network_file, to), false},
};

/* A path, or {file, from, to}. */
static void read_file(struct reading *r, const struct node *node, struct job_network_file *file)
{
    file->place = reading_place(r, node->line, node->column);
    if (node->kind != NODE_MAPPING)
        field_text(r, node, &file->path);
    else if (fields_read(r, node, file_field, sizeof file_field / sizeof *file_field, file) &&
             !file->from != !file->to)
        reading_refuse(r, node, NULL, "a file of one link needs 'from' and 'to', or neither");
}

static void read_measured(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    bool list = node->kind == NODE_LIST;
    size_t n = list ? node->n : 1;
    job->network_place = reading_place(r, node->line, node->column);
    if (n == 0 || n > MOST_FILES) {
        reading_refuse(r, node, NULL, "measured is a file, or a list of 1 to %d files", MOST_FILES);
        return;
    }
    job->network_files = ARENA_ARRAY(r->arena, n, struct job_network_file);
    for (const struct node *item = list ? node->first : node; item; item = item->next) {
        read_file(r, item, &job->network_files[job->n_network_files++]);
        if (!list)
            break;
    }
    job->network_file = job->network_files[0].path;
}

static const struct field network_field[] = {
    {"measured", read_measured, 0, false},
    {"links", read_links, 0, false},
    {"topology", section_topology, 0, false},
};

void section_network(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    job->network_place = reading_place(r, node->key->line, node->key->column);
    fields_read(r, node, network_field, sizeof network_field / sizeof *network_field, out);
}
