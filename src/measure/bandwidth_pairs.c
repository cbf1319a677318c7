#include "measure/bandwidth_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/stats.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that grow; the same one may be added often. */
struct names {
    const char **name;
    size_t n, capacity;
};

static void add_name(struct names *names, const char *name)
{
    if (!name || (names->n > 0 && strcmp(names->name[names->n - 1], name) == 0))
        return;
    if (names->n == names->capacity) {
        names->capacity = names->capacity ? 2 * names->capacity : 64;
        names->name = memory_resize(names->name, names->capacity, sizeof *names->name);
    }
    names->name[names->n++] = name;
}

static void add_hosts(struct names *names, const struct job_device_type *type)
{
    for (size_t i = 0; i < type->n_hosts; i++)
        add_name(names, type->host[i].name);
    for (size_t i = 0; i < type->n_subsystem_hosts; i++)
        add_name(names, type->subsystem_host[i].name);
}

static void sort_names(struct names *names)
{
    size_t n_kept = 0;
    if (names->n > 0)
        qsort(names->name, names->n, sizeof *names->name, compare_names);
    for (size_t i = 0; i < names->n; i++) {
        if (n_kept == 0 || strcmp(names->name[n_kept - 1], names->name[i]) != 0)
            names->name[n_kept++] = names->name[i];
    }
    names->n = n_kept;
}

static bool check_names(const struct names *names, const struct job *job, struct error *e)
{
    if (names->n == 0)
        error_set(e, ERROR_INPUT, "%s: no device type has hosts, so there is no link to measure",
                  job->file);
    else if (names->n > NETWORK_MOST_NAMES)
        error_set(e, ERROR_INPUT, "%s: %zu hosts are too many to measure (at most %d)", job->file,
                  names->n, NETWORK_MOST_NAMES);
    return names->n > 0 && names->n <= NETWORK_MOST_NAMES;
}

static struct link *link_of(const struct network *network, struct host_pair pair)
{
    return &network->link[(size_t)pair.from * network->n + (size_t)pair.to];
}

static void keep_values(struct network *network, const struct network *kept)
{
    for (size_t i = 0; i < kept->n * kept->n; i++) {
        const struct link *link = &kept->link[i];
        if (link->source != LINK_MEASURED && link->source != LINK_GIVEN)
            continue;
        struct host_pair pair = {(int)network_find(network, kept->name[i / kept->n]),
                                 (int)network_find(network, kept->name[i % kept->n])};
        *link_of(network, pair) = *link;
    }
}

bool bandwidth_hosts(struct arena *arena, const struct job *job, const struct network *kept,
                     struct network *network, struct error *e)
{
    struct names names = {0};
    for (int i = 0; i < job->n_types; i++)
        add_hosts(&names, &job->type[i]);
    bool ok = check_names(&names, job, e);
    for (size_t i = 0; i < kept->n; i++)
        add_name(&names, kept->name[i]);
    sort_names(&names);
    ok = ok && check_names(&names, job, e);
    if (ok) {
        network->n = names.n;
        network->name = ARENA_ARRAY(arena, names.n, const char *);
        memcpy(network->name, names.name, names.n * sizeof *names.name);
        network->link = ARENA_ARRAY(arena, names.n * names.n, struct link);
        keep_values(network, kept);
    }
    free(names.name);
    return ok;
}

static bool find_pair(const struct network *network, const char *from, const char *to,
                      struct host_pair *pair)
{
    if (!from || !to)
        return false;
    *pair = (struct host_pair){(int)network_find(network, from), (int)network_find(network, to)};
    return pair->from >= 0 && pair->to >= 0;
}

bool bandwidth_ring_link(const struct job *job, const struct network *network, size_t position,
                         struct host_pair *pair)
{
    size_t next = position + 1 < job->n_devices ? position + 1 : 0;
    return job->n_devices > 1 &&
           find_pair(network, job_device_host(job, job_ring_device(job, position), NULL),
                     job_device_host(job, job_ring_device(job, next), NULL), pair);
}

struct wanted {
    const struct network *network;
    bool *link; /* [n][n] */
};

static void want(struct wanted *wanted, const char *from, const char *to)
{
    struct host_pair pair;
    if (find_pair(wanted->network, from, to, &pair))
        wanted->link[(size_t)pair.from * wanted->network->n + (size_t)pair.to] = true;
}

static void want_ring(struct wanted *wanted, const struct job *job)
{
    for (size_t i = 0; i < job->n_devices; i++) {
        struct host_pair pair;
        if (bandwidth_ring_link(job, wanted->network, i, &pair))
            wanted->link[(size_t)pair.from * wanted->network->n + (size_t)pair.to] = true;
    }
}

static void want_subsystem(struct arena *scratch, struct wanted *wanted,
                           const struct job_device_type *type)
{
    size_t n = (size_t)type->subsystem_devices;
    if (type->profile || n < 2)
        return;
    const char **host = ARENA_ARRAY(scratch, n, const char *);
    job_subsystem_hosts(type, host);
    for (size_t i = 0; i < n; i++)
        want(wanted, host[i], host[(i + 1) % n]);
}

static void want_from_host(struct wanted *wanted, const struct job *job,
                           const struct job_host *host)
{
    for (int t = 0; t < job->n_types; t++) {
        for (size_t i = 0; i < job->type[t].n_hosts; i++) {
            const char *to = job->type[t].host[i].name;
            if (strcmp(host->name, to) != 0 || host->n_on_host > 1)
                want(wanted, host->name, to);
        }
    }
}

/* All hosts with one another, and with themselves where they hold several devices. */
static void want_all(struct wanted *wanted, const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        for (size_t i = 0; i < job->type[t].n_hosts; i++)
            want_from_host(wanted, job, &job->type[t].host[i]);
    }
}

enum { SAMPLE_LINKS = 3, SAMPLE_TRIES = 50 };

static void want_sample_between(struct wanted *wanted, struct random *random,
                                const struct job_device_type *from,
                                const struct job_device_type *to)
{
    size_t n_found = 0;
    const char *found[SAMPLE_LINKS][2];
    for (int i = 0; i < SAMPLE_TRIES && n_found < SAMPLE_LINKS; i++) {
        const char *a = from->host[random_below(random, from->n_hosts)].name;
        const char *b = to->host[random_below(random, to->n_hosts)].name;
        bool is_new = strcmp(a, b) != 0;
        for (size_t k = 0; k < n_found; k++)
            is_new = is_new && (strcmp(found[k][0], a) != 0 || strcmp(found[k][1], b) != 0);
        if (!is_new)
            continue;
        found[n_found][0] = a;
        found[n_found++][1] = b;
        want(wanted, a, b);
    }
}

static void want_sample_within(struct wanted *wanted, struct random *random,
                               const struct job_device_type *type)
{
    for (int i = 0; i < SAMPLE_LINKS; i++) {
        const struct job_host *host = &type->host[random_below(random, type->n_hosts)];
        if (host->n_on_host > 1)
            want(wanted, host->name, host->name);
    }
}

static void want_sample(struct wanted *wanted, const struct job *job)
{
    struct random random = random_seed(job->data.seed, 0);
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].n_hosts)
            want_sample_within(wanted, &random, &job->type[t]);
        for (int u = 0; u < job->n_types; u++) {
            if (job->type[t].n_hosts && job->type[u].n_hosts)
                want_sample_between(wanted, &random, &job->type[t], &job->type[u]);
        }
    }
}

bool *bandwidth_wanted(struct arena *arena, const struct job *job, enum bandwidth_pairs pairs,
                       const struct network *network)
{
    static void (*const want_pairs[])(struct wanted *, const struct job *) = {
        [BANDWIDTH_RING] = want_ring,
        [BANDWIDTH_ALL] = want_all,
        [BANDWIDTH_SAMPLE] = want_sample,
    };
    struct arena scratch = {0};
    struct wanted wanted = {network, ARENA_ARRAY(arena, network->n * network->n, bool)};
    want_pairs[pairs](&wanted, job);
    for (int t = 0; t < job->n_types; t++)
        want_subsystem(&scratch, &wanted, &job->type[t]);
    arena_free(&scratch);
    return wanted.link;
}

static bool lists_host(const struct job_host *host, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(host[i].name, name) == 0)
            return true;
    }
    return false;
}

int bandwidth_type_of_host(const struct job *job, const char *host)
{
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        if (lists_host(type->host, type->n_hosts, host) ||
            lists_host(type->subsystem_host, type->n_subsystem_hosts, host))
            return t;
    }
    return JOB_NO_TYPE;
}

/* A link's types, and whether it is within a host. */
struct pair_class {
    int from_type, to_type;
    bool within;
};

struct sample {
    const struct job *job;
    struct network *network;
    int *type_of;         /* [network->n] */
    struct link **median; /* [n_types][n_types][2], filled in when first asked for */
};

static struct pair_class class_of(const struct sample *sample, struct host_pair pair)
{
    return (struct pair_class){sample->type_of[pair.from], sample->type_of[pair.to],
                               pair.from == pair.to};
}

static bool same_class(struct pair_class a, struct pair_class b)
{
    return a.from_type == b.from_type && a.to_type == b.to_type && a.within == b.within;
}

/* The median of what was measured in a class; LINK_UNKNOWN where nothing was. */
static struct link find_median(const struct sample *sample, struct pair_class kind)
{
    struct arena scratch = {0};
    size_t n = sample->network->n, n_found = 0;
    double *bandwidth_Bps = ARENA_ARRAY(&scratch, n * n, double);
    double *latency_s = ARENA_ARRAY(&scratch, n * n, double);
    for (size_t i = 0; i < n * n; i++) {
        const struct link *link = &sample->network->link[i];
        struct host_pair pair = {(int)(i / n), (int)(i % n)};
        if (link->source != LINK_MEASURED || !same_class(class_of(sample, pair), kind))
            continue;
        bandwidth_Bps[n_found] = link->bandwidth_Bps;
        latency_s[n_found++] = link->latency_s;
    }
    struct link median = {.bandwidth_Bps = stats_quantile(bandwidth_Bps, n_found, 0.5),
                          .latency_s = stats_quantile(latency_s, n_found, 0.5),
                          .source = n_found ? LINK_FILLED : LINK_UNKNOWN};
    arena_free(&scratch);
    return median;
}

static struct link median_of(struct arena *scratch, const struct sample *sample,
                             struct pair_class kind)
{
    size_t n_types = (size_t)sample->job->n_types;
    size_t index = ((size_t)kind.from_type * n_types + (size_t)kind.to_type) * 2 + kind.within;
    struct link **known = &sample->median[index];
    if (!*known) {
        *known = ARENA_NEW(scratch, struct link);
        **known = find_median(sample, kind);
    }
    return **known;
}

size_t bandwidth_fill_from_sample(const struct job *job, struct network *network)
{
    struct arena scratch = {0};
    size_t n_classes = (size_t)job->n_types * (size_t)job->n_types * 2, n_filled = 0;
    struct sample sample = {job, network, ARENA_ARRAY(&scratch, network->n, int),
                            ARENA_ARRAY(&scratch, n_classes, struct link *)};
    for (size_t i = 0; i < network->n; i++)
        sample.type_of[i] = bandwidth_type_of_host(job, network->name[i]);
    for (size_t i = 0; i < job->n_devices; i++) {
        struct host_pair pair;
        if (!bandwidth_ring_link(job, network, i, &pair))
            continue;
        struct link *link = link_of(network, pair);
        if (link->source != LINK_UNKNOWN || link->failed)
            continue;
        *link = median_of(&scratch, &sample, class_of(&sample, pair));
        n_filled += link->source == LINK_FILLED;
    }
    arena_free(&scratch);
    return n_filled;
}
