/*
 * Which value a link has: the matrix by name first, then the job's classes. Names and hosts are
 * looked up once for each device, so that a ring costs O(N), and nothing at all on names where
 * there is no matrix.
 */
#include "network/both_ways.h"
#include "network/slowest_link.h"
#include "network/uplinks.h"

#include <stdlib.h>
#include <string.h>

/* One end of a link: what the matrix and the classes know it by. */
struct end {
    int type;
    const char *host; /* or NULL */
    int slot;         /* on that host */
    long device_name; /* index in the matrix, or NETWORK_NO_NAME */
    long host_name;
};

static long find_name(const struct network *network, const char *name)
{
    return network && name ? network_find(network, name) : NETWORK_NO_NAME;
}

static struct end end_of_host(const struct network *network, int type, const char *host, int slot)
{
    return (struct end){type, host, slot, NETWORK_NO_NAME, find_name(network, host)};
}

static struct end end_of_device(const struct network *network, const struct job *job, size_t device)
{
    int slot = 0;
    const char *host = job_device_host(job, device, &slot);
    struct end end = end_of_host(network, job_device_type(job, device), host, slot);
    if (network && network->n) {
        struct arena scratch = {0};
        end.device_name = find_name(network, job_device_name(&scratch, job, device));
        arena_free(&scratch);
    }
    return end;
}

static bool in_matrix(const struct network *network, long from, long to, struct link *link)
{
    if (from == NETWORK_NO_NAME || to == NETWORK_NO_NAME)
        return false;
    *link = network->link[(size_t)from * network->n + (size_t)to];
    return link->source != LINK_UNKNOWN || link->failed;
}

static bool share_host(const struct end *a, const struct end *b)
{
    return a->host && b->host && strcmp(a->host, b->host) == 0;
}

/* The links within the hosts of a type, or NULL. */
static const struct host_links *links_within(const struct network *network, const char *type)
{
    for (size_t i = 0; i < network->n_within; i++) {
        if (strcmp(network->within[i].type, type) == 0)
            return &network->within[i];
    }
    return NULL;
}

static bool in_topology(const struct network *network, const struct job *job,
                        const struct end *from, const struct end *to, struct link *link)
{
    if (!network || !network->n_within || !share_host(from, to))
        return false;
    const struct host_links *within = links_within(network, job->type[from->type].name);
    if (!within)
        within = links_within(network, job->type[to->type].name);
    size_t i = (size_t)from->slot, j = (size_t)to->slot;
    if (!within || i == j || i >= within->n || j >= within->n)
        return false;
    *link = within->link[i * within->n + j];
    return true;
}

static bool class_joins(const struct job_link *class, const struct end *from, const struct end *to)
{
    enum link_where where = share_host(from, to) ? LINK_WITHIN_HOST : LINK_ACROSS_HOSTS;
    bool forth = class->from_type == from->type && class->to_type == to->type;
    bool back = class->from_type == to->type && class->to_type == from->type;
    return (class->where == LINK_ANYWHERE || class->where == where) &&
           (forth || (back && !class->directed));
}

static int how_specific(const struct job_link *class)
{
    return 2 * (class->where != LINK_ANYWHERE) + class->directed;
}

static const struct job_link *find_class(const struct job *job, const struct end *from,
                                         const struct end *to)
{
    const struct job_link *best = NULL;
    for (size_t i = 0; i < job->n_links; i++) {
        const struct job_link *class = &job->link[i];
        if (class_joins(class, from, to) && (!best || how_specific(class) > how_specific(best)))
            best = class;
    }
    return best;
}

static bool in_classes(const struct network *network, const struct job *job, const struct end *from,
                       const struct end *to, struct link *link)
{
    const struct job_link *class = find_class(job, from, to);
    if (!class)
        return false;
    if (class->nccl_tests)
        return network && network_table(network, class->nccl_tests, link);
    *link = (struct link){.bandwidth_Bps = class->bandwidth_Bps,
                          .latency_s = class->latency_s,
                          .both_ways_Bps = class->both_ways_Bps,
                          .spread = class->spread,
                          .source = LINK_GIVEN};
    return true;
}

/* A link that could not be measured has no value, whatever its class says; then it is `failed`. */
static bool find_link(const struct network *network, const struct job *job, const struct end *from,
                      const struct end *to, struct link *link)
{
    struct link found = {0};
    if (in_matrix(network, from->device_name, to->device_name, &found) ||
        in_matrix(network, from->device_name, to->host_name, &found) ||
        in_matrix(network, from->host_name, to->device_name, &found) ||
        in_matrix(network, from->host_name, to->host_name, &found)) {
        *link = found;
        return !found.failed;
    }
    return in_topology(network, job, from, to, link) || in_classes(network, job, from, to, link);
}

/* In a ring all links are busy at the same time. */
static void leave_to_ring(struct link *link)
{
    link->shared = link_is_shared(link);
    if (link->shared)
        link->bandwidth_Bps = link->together_Bps;
}

/* Links of one class that have no value. */
struct gap {
    int from_type, to_type;
    bool with_hosts, within_host;
    bool failed; /* to be measured */
    size_t n;
    size_t from, to; /* devices, the first of them */
};

enum { MOST_GAPS = 16 };
struct gaps {
    struct gap item[MOST_GAPS];
    size_t n;
    size_t n_others; /* links of further classes */
};

static bool same_gap(const struct gap *a, const struct gap *b)
{
    return a->from_type == b->from_type && a->to_type == b->to_type &&
           a->with_hosts == b->with_hosts && a->within_host == b->within_host &&
           a->failed == b->failed;
}

static void note_gap(struct gaps *gaps, const struct end *from, const struct end *to,
                     size_t from_device, size_t to_device, bool failed)
{
    struct gap gap = {.from_type = from->type,
                      .to_type = to->type,
                      .with_hosts = from->host && to->host,
                      .within_host = share_host(from, to),
                      .failed = failed,
                      .n = 1,
                      .from = from_device,
                      .to = to_device};
    for (size_t i = 0; i < gaps->n; i++) {
        if (same_gap(&gaps->item[i], &gap)) {
            gaps->item[i].n++;
            return;
        }
    }
    if (gaps->n < MOST_GAPS)
        gaps->item[gaps->n++] = gap;
    else
        gaps->n_others++;
}

static struct place network_place(const struct job *job)
{
    struct place place = job->network_place;
    if (!place.file)
        place = (struct place){.file = job->file ? job->file : "job"};
    return place;
}

static void describe_gap(const struct job *job, const struct gap *gap, struct error *e)
{
    struct arena scratch = {0};
    struct place place = network_place(job);
    const char *where = !gap->with_hosts   ? ""
                        : gap->within_host ? " within a host"
                                           : " across hosts";
    const char *from = job_device_name(&scratch, job, gap->from);
    const char *to = job_device_name(&scratch, job, gap->to);
    const char *from_type = job->type[gap->from_type].name, *to_type = job->type[gap->to_type].name;
    const char *why = gap->failed   ? "could not be measured"
                      : gap->n == 1 ? "has no value"
                                    : "have no value";
    if (gap->n == 1)
        error_at(e, &place, "the link from %s to %s (%s to %s%s) %s", from, to, from_type, to_type,
                 where, why);
    else
        error_at(e, &place, "%zu links from %s to %s%s %s, first %s -> %s", gap->n, from_type,
                 to_type, where, why, from, to);
    arena_free(&scratch);
}

static void describe_gaps(const struct job *job, const struct gaps *gaps, struct error *e)
{
    struct error_list list = {0};
    struct error one = {0};
    for (size_t i = 0; i < gaps->n; i++) {
        describe_gap(job, &gaps->item[i], &one);
        error_list_add(&list, &one);
    }
    if (gaps->n_others) {
        error_set(&one, ERROR_INPUT, "and %zu more links between other types", gaps->n_others);
        error_list_add(&list, &one);
    }
    error_list_join(&list, e);
    error_hint(e, "give a class in network.links or measure them with `foretrain bandwidth`");
}

bool network_link(const struct network *network, const struct job *job, size_t from, size_t to,
                  struct link *link, struct error *e)
{
    struct end ends[] = {end_of_device(network, job, from), end_of_device(network, job, to)};
    struct link found = {0};
    if (find_link(network, job, &ends[0], &ends[1], &found)) {
        *link = found;
        return true;
    }
    struct gaps gaps = {0};
    note_gap(&gaps, &ends[0], &ends[1], from, to, found.failed);
    describe_gaps(job, &gaps, e);
    return false;
}

static bool find_links(const struct network *network, const struct job *job,
                       const struct device_pair *pair, size_t n, const struct end *end,
                       struct link *link, struct error *e)
{
    struct gaps gaps = {0};
    for (size_t k = 0; k < n; k++) {
        const struct end *from = &end[pair[k].from], *to = &end[pair[k].to];
        struct link found = {0};
        if (find_link(network, job, from, to, &found))
            link[k] = found;
        else
            note_gap(&gaps, from, to, pair[k].from, pair[k].to, found.failed);
    }
    if (gaps.n)
        describe_gaps(job, &gaps, e);
    return gaps.n == 0;
}

bool network_pairs(const struct network *network, const struct job *job,
                   const struct device_pair *pair, size_t n, struct link *link, struct error *e)
{
    struct end *end = memory_resize(NULL, job->n_devices, sizeof *end);
    struct link *found = memory_resize(NULL, n, sizeof *found);
    for (size_t i = 0; i < job->n_devices; i++)
        end[i] = end_of_device(network, job, i);
    bool ok = find_links(network, job, pair, n, end, found, e);
    if (ok)
        memcpy(link, found, n * sizeof *link);
    free(end);
    free(found);
    return ok;
}

static bool depend_on_ring(const struct link *link, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (link[i].both_ways_Bps > 0 || link[i].spread > 0)
            return true;
    }
    return false;
}

void network_settle(const long *host, size_t n, struct link *link)
{
    uplinks_share(host, n, link);
    if (!depend_on_ring(link, n))
        return;
    both_ways_share(host, n, link);
    slowest_link_expect(link, n);
}

/* A host that is known, and the position in a ring of a device on it. */
struct place_of_host {
    const char *host;
    size_t position;
};

static int by_host(const void *a, const void *b)
{
    const struct place_of_host *x = a, *y = b;
    return strcmp(x->host, y->host);
}

/* Settles a ring by the names of its hosts, `host[n]`, NULL where one is not known. */
static void settle_by_name(const char *const *host, size_t n, struct link *link)
{
    struct place_of_host *at = memory_resize(NULL, n, sizeof *at);
    long *number = memory_resize(NULL, n, sizeof *number), last = NETWORK_ALONE;
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++) {
        number[i] = NETWORK_ALONE;
        if (host[i])
            at[n_known++] = (struct place_of_host){host[i], i};
    }
    qsort(at, n_known, sizeof *at, by_host);
    for (size_t k = 0; k < n_known; k++) {
        last += k == 0 || by_host(&at[k - 1], &at[k]) != 0;
        number[at[k].position] = last;
    }
    network_settle(number, n, link);
    free(number);
    free(at);
}

static void settle_whole(const struct job *job, struct link *link)
{
    size_t n = job->n_devices;
    const char **host = memory_resize(NULL, n, sizeof *host);
    for (size_t i = 0; i < n; i++)
        host[i] = job_device_host(job, job_ring_device(job, i), NULL);
    settle_by_name(host, n, link);
    free(host);
}

bool network_ring(const struct network *network, const struct job *job, struct link *link,
                  struct error *e)
{
    size_t n = job->n_devices;
    if (n < 2) {
        link[0] = (struct link){0};
        return true;
    }
    struct device_pair *pair = memory_resize(NULL, n, sizeof *pair);
    for (size_t i = 0; i < n; i++)
        pair[i] = (struct device_pair){job_ring_device(job, i),
                                       job_ring_device(job, i + 1 < n ? i + 1 : 0)};
    bool ok = network_pairs(network, job, pair, n, link, e);
    for (size_t i = 0; ok && i < n; i++)
        leave_to_ring(&link[i]);
    if (ok)
        settle_whole(job, link);
    free(pair);
    return ok;
}

static struct end *ends_of_devices(const struct network *network, const struct job *job,
                                   const size_t *device, size_t n)
{
    struct end *end = memory_resize(NULL, n, sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[i] = end_of_device(network, job, device[i]);
    return end;
}

void network_links(const struct network *network, const struct job *job, const size_t *from,
                   const size_t *to, size_t n, struct link *link)
{
    struct end *sender = ends_of_devices(network, job, from, n);
    struct end *receiver = ends_of_devices(network, job, to, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            struct link *found = &link[i * n + j];
            if (from[i] != to[j] && find_link(network, job, &sender[i], &receiver[j], found))
                leave_to_ring(found);
            else
                *found = (struct link){0};
        }
    }
    free(sender);
    free(receiver);
}

static size_t first_device(const struct job *job, int type)
{
    size_t device = 0;
    for (int t = 0; t < type; t++)
        device += (size_t)job->type[t].count;
    return device;
}

/* The device of a type that is number `nth` on a host, or n_devices. */
static size_t device_on_host(const struct job *job, int type, const char *host, int nth)
{
    size_t first = first_device(job, type);
    for (size_t d = first; d < first + (size_t)job->type[type].count; d++) {
        const char *there = job_device_host(job, d, NULL);
        if (there && strcmp(there, host) == 0 && nth-- == 0)
            return d;
    }
    return job->n_devices;
}

/* A rank of a sub-system: the device of the full system that it is, where it is one. */
static struct end subsystem_end(const struct network *network, const struct job *job, int type,
                                const char *const *host, int rank)
{
    if (!host)
        return end_of_device(network, job, first_device(job, type) + (size_t)rank);
    int nth = 0;
    for (int r = 0; r < rank; r++)
        nth += strcmp(host[r], host[rank]) == 0;
    bool matters = network && (network->n || network->n_within);
    size_t device = matters ? device_on_host(job, type, host[rank], nth) : job->n_devices;
    return device < job->n_devices ? end_of_device(network, job, device)
                                   : end_of_host(network, type, host[rank], nth);
}

static bool all_known(const char *const *host, int n)
{
    for (int r = 0; host && r < n; r++) {
        if (!host[r])
            return false;
    }
    return true;
}

/* The ends of a type's sub-system, `end[subsystem_devices]`; false where it has no devices to be.
 */
static bool subsystem_ends(struct arena *scratch, const struct network *network,
                           const struct job *job, int type, struct end *end)
{
    const struct job_device_type *t = &job->type[type];
    bool has_hosts = t->n_hosts || t->n_subsystem_hosts;
    int n = t->subsystem_devices;
    if (!has_hosts && n > t->count)
        return false;
    const char **host = has_hosts ? ARENA_ARRAY(scratch, (size_t)n, const char *) : NULL;
    if (has_hosts)
        job_subsystem_hosts(t, host);
    if (!all_known(host, n))
        return false;
    for (int r = 0; r < n; r++)
        end[r] = subsystem_end(network, job, type, host, r);
    return true;
}

/* Links of the ring of `end[n]`, n >= 2. */
static bool ring_of_ends(const struct network *network, const struct job *job,
                         const struct end *end, size_t n, struct link *link)
{
    for (size_t i = 0; i < n; i++) {
        if (!find_link(network, job, &end[i], &end[(i + 1) % n], &link[i]))
            return false;
    }
    const char **host = memory_resize(NULL, n, sizeof *host);
    for (size_t i = 0; i < n; i++)
        host[i] = end[i].host;
    settle_by_name(host, n, link);
    free(host);
    return true;
}

static size_t count_subsystem_devices(const struct job *job, int first, int last)
{
    size_t n = 0;
    for (int t = first; t <= last; t++)
        n += (size_t)job->type[t].subsystem_devices;
    return n;
}

/* One ring over the sub-systems of types `first` to `last`. */
static bool ring_of_subsystems(const struct network *network, const struct job *job, int first,
                               int last, struct link *link)
{
    struct arena scratch = {0};
    size_t n = count_subsystem_devices(job, first, last), filled = 0;
    struct end *end = ARENA_ARRAY(&scratch, n, struct end);
    struct link *found = ARENA_ARRAY(&scratch, n, struct link);
    bool known = n >= 2;
    for (int t = first; t <= last && known; t++) {
        known = subsystem_ends(&scratch, network, job, t, end + filled);
        filled += (size_t)job->type[t].subsystem_devices;
    }
    known = known && ring_of_ends(network, job, end, n, found);
    if (known)
        memcpy(link, found, n * sizeof *link);
    arena_free(&scratch);
    return known;
}

bool network_subsystem_ring(const struct network *network, const struct job *job, int type,
                            struct link *link)
{
    return ring_of_subsystems(network, job, type, type, link);
}

bool network_mixed_ring(const struct network *network, const struct job *job, struct link *link)
{
    return ring_of_subsystems(network, job, 0, job->n_types - 1, link);
}
