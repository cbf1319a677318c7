#include "measure/bandwidth_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "measure/iperf3.h"
#include "network/nccl_tests.h"

enum { MOST_ERRORS = 20 };

struct value {
    const char *from, *to, *path;
    struct link link;
};

/* Values of all files; they grow. */
struct values {
    struct arena *arena;
    struct value *item;
    size_t n, capacity;
};

struct source {
    const char *path, *from, *to; /* from, to: NULL where the file names its hosts */
    const char *text;
};

static void add(struct values *values, const char *from, const char *to, const char *path,
                struct link link)
{
    if (values->n == values->capacity) {
        values->capacity = values->capacity ? 2 * values->capacity : 64;
        values->item = memory_resize(values->item, values->capacity, sizeof *values->item);
    }
    values->item[values->n++] = (struct value){from, to, path, link};
}

static bool unnamed(const struct source *source, const char *what, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s: %s", source->path, what);
    error_hint(e, "in the job, network.measured: [{file: %s, from: HOST, to: HOST}]", source->path);
    return false;
}

static bool in_file(const struct source *source, struct error *inner, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s: %s", source->path, inner->text);
    error_clear(inner);
    return false;
}

static bool add_iperf3(struct values *values, const struct source *source, struct error *e)
{
    struct iperf3_result result;
    struct error inner = {0};
    if (!iperf3_read(source->text, &result, &inner))
        return in_file(source, &inner, e);
    const char *from = source->from ? source->from : arena_copy(values->arena, result.from);
    const char *to = source->to ? source->to : arena_copy(values->arena, result.to);
    if (!*from || !*to)
        return unnamed(source, "does not say between which addresses it was measured", e);
    add(values, from, to, source->path,
        (struct link){.bandwidth_Bps = result.bandwidth_Bps,
                      .source = LINK_MEASURED,
                      .at_least = result.cpu_bound});
    return true;
}

static bool ring_has(const char *const *host, size_t n, size_t before, const char *from,
                     const char *to)
{
    for (size_t i = 0; i < before; i++) {
        if (strcmp(host[i], from) == 0 && strcmp(host[(i + 1) % n], to) == 0)
            return true;
    }
    return false;
}

static bool add_nccl(struct values *values, const struct source *source, struct error *e)
{
    struct nccl_table table;
    struct error inner = {0};
    if (!nccl_tests_read(values->arena, source->text, &table, &inner))
        return in_file(source, &inner, e);
    const struct link link = nccl_tests_link(values->arena, &table);
    if (source->from) {
        add(values, source->from, source->to, source->path, link);
        return true;
    }
    if (!table.host) {
        char rate[UNITS_TEXT_SIZE];
        units_format(table.bandwidth_Bps, DIMENSION_BANDWIDTH, rate);
        return unnamed(source,
                       arena_format(values->arena,
                                    "does not list the hosts of its %zu ranks (%s a link)",
                                    table.n_ranks, rate),
                       e);
    }
    for (size_t i = 0; i < table.n_ranks; i++) {
        const char *from = table.host[i], *to = table.host[(i + 1) % table.n_ranks];
        if (!ring_has(table.host, table.n_ranks, i, from, to))
            add(values, from, to, source->path, link);
    }
    return true;
}

static bool add_network(struct values *values, const struct source *source, struct error *e)
{
    struct network network;
    if (source->from) {
        error_set(e, ERROR_INPUT, "%s: a network file names its hosts; leave 'from' and 'to' out",
                  source->path);
        return false;
    }
    if (!network_parse(values->arena, source->text, source->path, &network, e))
        return false;
    for (size_t i = 0; i < network.n * network.n; i++) {
        const struct link *link = &network.link[i];
        if (link->failed || (link->source != LINK_UNKNOWN && link->source != LINK_FILLED))
            add(values, network.name[i / network.n], network.name[i % network.n], source->path,
                *link);
    }
    return true;
}

static bool is_json(const char *text)
{
    return text[strspn(text, " \t\r\n\xef\xbb\xbf")] == '{' || strstr(text, "\"sum_received\"");
}

typedef bool add_values(struct values *values, const struct source *source, struct error *e);

static add_values *kind_of(const char *text)
{
    return is_json(text) ? add_iperf3 : nccl_tests_is_table(text) ? add_nccl : add_network;
}

static bool load(struct arena *arena, struct source *source, struct error *e)
{
    const size_t limit_bytes = (size_t)1 << 30;
    char *text = NULL;
    size_t length = 0;
    if (!file_read(arena, source->path, limit_bytes, &text, &length, e))
        return false;
    if (strlen(text) != length) {
        error_set(e, ERROR_INPUT, "%s: holds a zero byte; a network file is text", source->path);
        return false;
    }
    source->text = text;
    return true;
}

static bool add_file(struct values *values, struct source *source, struct error *e)
{
    return load(values->arena, source, e) && kind_of(source->text)(values, source, e);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool make_names(struct arena *arena, const struct values *values, struct network *network,
                       struct error *e)
{
    size_t n = 0, n_kept = 0;
    const char **name = ARENA_ARRAY(arena, 2 * values->n, const char *);
    for (size_t i = 0; i < values->n; i++) {
        name[n++] = values->item[i].from;
        name[n++] = values->item[i].to;
    }
    if (n > 0)
        qsort(name, n, sizeof *name, compare_names);
    for (size_t i = 0; i < n; i++) {
        if (n_kept == 0 || strcmp(name[n_kept - 1], name[i]) != 0)
            name[n_kept++] = name[i];
    }
    if (n_kept > NETWORK_MOST_NAMES) {
        error_set(e, ERROR_INPUT, "the network's files name %zu hosts; at most %d are read", n_kept,
                  NETWORK_MOST_NAMES);
        return false;
    }
    *network = (struct network){
        .name = name, .n = n_kept, .link = ARENA_ARRAY(arena, n_kept * n_kept, struct link)};
    return true;
}

static void place_value(const struct value *value, const struct network *network, const char **path,
                        struct error_list *errors)
{
    size_t slot = (size_t)network_find(network, value->from) * network->n +
                  (size_t)network_find(network, value->to);
    if (path[slot]) {
        struct error e = {0};
        error_set(&e, ERROR_INPUT, "%s: the link from '%s' to '%s' is in %s too", value->path,
                  value->from, value->to, path[slot]);
        error_list_add(errors, &e);
        return;
    }
    path[slot] = value->path;
    network->link[slot] = value->link;
}

static bool join(struct arena *arena, const struct values *values, struct network *network,
                 struct error *e)
{
    struct network made;
    struct arena scratch = {0};
    struct error_list errors = {0};
    if (!make_names(arena, values, &made, e))
        return false;
    const char **path = ARENA_ARRAY(&scratch, made.n * made.n, const char *);
    for (size_t i = 0; i < values->n && errors.n < MOST_ERRORS; i++)
        place_value(&values->item[i], &made, path, &errors);
    arena_free(&scratch);
    if (errors.n) {
        error_list_join(&errors, e);
        return false;
    }
    network_fill(&made);
    *network = made;
    return true;
}

static bool read_all(struct arena *arena, struct source *source, size_t n, struct network *network,
                     struct error *e)
{
    struct values values = {.arena = arena};
    struct error_list errors = {0};
    for (size_t i = 0; i < n && errors.n < MOST_ERRORS; i++) {
        struct error one = {0};
        if (!add_file(&values, &source[i], &one))
            error_list_add(&errors, &one);
    }
    bool ok = errors.n == 0;
    if (!ok)
        error_list_join(&errors, e);
    ok = ok && join(arena, &values, network, e);
    free(values.item);
    return ok;
}

/* A network file of its own may be large, and is the network already. */
static bool read_one(struct arena *arena, struct source *source, struct network *network,
                     struct error *e)
{
    if (!load(arena, source, e))
        return false;
    return !source->from && kind_of(source->text) == add_network
               ? network_parse(arena, source->text, source->path, network, e)
               : read_all(arena, source, 1, network, e);
}

static bool read_sources(struct arena *arena, struct source *source, size_t n,
                         struct network *network, struct error *e)
{
    return n == 1 ? read_one(arena, source, network, e) : read_all(arena, source, n, network, e);
}

bool bandwidth_paths_read(struct arena *arena, const char *const *path, size_t n,
                          struct network *network, struct error *e)
{
    struct source *source = ARENA_ARRAY(arena, n, struct source);
    for (size_t i = 0; i < n; i++)
        source[i].path = path[i];
    return read_sources(arena, source, n, network, e);
}

bool bandwidth_files_read(struct arena *arena, const struct job *job, struct network *network,
                          struct error *e)
{
    struct source *source = ARENA_ARRAY(arena, job->n_network_files, struct source);
    for (size_t i = 0; i < job->n_network_files; i++) {
        const struct job_network_file *file = &job->network_files[i];
        source[i] = (struct source){
            .path = job_path(arena, job, file->path), .from = file->from, .to = file->to};
    }
    return read_sources(arena, source, job->n_network_files, network, e);
}
