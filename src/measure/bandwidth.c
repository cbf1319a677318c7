#include "measure/bandwidth.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "measure/address.h"
#include "measure/iperf3.h"

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

static bool make_network(struct arena *arena, const struct job *job, struct network *network,
                         struct error *e)
{
    struct names names = {0};
    for (int i = 0; i < job->n_types; i++)
        add_hosts(&names, &job->type[i]);
    sort_names(&names);
    bool ok = names.n > 0 && names.n <= NETWORK_MOST_NAMES;
    if (ok) {
        network->n = names.n;
        network->name = ARENA_ARRAY(arena, names.n, const char *);
        memcpy(network->name, names.name, names.n * sizeof *names.name);
        network->link = ARENA_ARRAY(arena, names.n * names.n, struct link);
    } else if (names.n == 0) {
        error_set(e, ERROR_INPUT, "%s: no device type has hosts, so there is no link to measure",
                  job->file);
    } else {
        error_set(e, ERROR_INPUT, "%s: %zu hosts are too many to measure (at most %d)", job->file,
                  names.n, NETWORK_MOST_NAMES);
    }
    free(names.name);
    return ok;
}

/* A link that is needed is marked as measured already; its value comes later. */
static void need(struct network *network, const char *from, const char *to)
{
    if (!from || !to)
        return;
    long row = network_find(network, from), column = network_find(network, to);
    if (row >= 0 && column >= 0)
        network->link[(size_t)row * network->n + (size_t)column].source = LINK_MEASURED;
}

static void need_ring(struct network *network, const struct job *job)
{
    for (size_t i = 0; job->n_devices > 1 && i < job->n_devices; i++) {
        size_t next = i + 1 < job->n_devices ? i + 1 : 0;
        need(network, job_device_host(job, job_ring_device(job, i), NULL),
             job_device_host(job, job_ring_device(job, next), NULL));
    }
}

static void need_subsystem(struct arena *arena, struct network *network,
                           const struct job_device_type *type)
{
    size_t n = (size_t)type->subsystem_devices;
    const char **host = ARENA_ARRAY(arena, n, const char *);
    if (type->profile || n < 2)
        return;
    job_subsystem_hosts(type, host);
    for (size_t i = 0; i < n; i++)
        need(network, host[i], host[(i + 1) % n]);
}

static size_t count_needed(const struct network *network)
{
    size_t n_needed = 0;
    for (size_t i = 0; i < network->n * network->n; i++)
        n_needed += network->link[i].source == LINK_MEASURED;
    return n_needed;
}

static void tell(const struct progress *progress, const char *from, const char *to,
                 const struct iperf3_result *result, double latency_s)
{
    char bandwidth[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE];
    units_format(result->bandwidth_Bps, DIMENSION_BANDWIDTH, bandwidth);
    units_format(latency_s, DIMENSION_TIME, latency);
    progress_say(progress, "%s -> %s: %s, %s", from, to, bandwidth, latency);
    if (result->cpu_bound)
        progress_warn(progress,
                      "%s -> %s: a CPU was busy to %.0f %% while iperf3 ran: %s is a lower bound, "
                      "the link may be faster",
                      from, to,
                      result->sender_cpu_percent > result->receiver_cpu_percent
                          ? result->sender_cpu_percent
                          : result->receiver_cpu_percent,
                      bandwidth);
}

static bool measure_pair(const char *from, const char *to, const struct progress *progress,
                         struct link *link, struct error *e)
{
    char source[ADDRESS_SIZE], target[ADDRESS_SIZE];
    struct iperf3_result result;
    double latency_s = 0;
    if (!address_of_local_host(from, source, e) || !address_of_local_host(to, target, e) ||
        !address_latency(source, target, &latency_s, e) ||
        !iperf3_measure(source, target, BANDWIDTH_TEST_S, progress, &result, e))
        return false;
    *link = (struct link){.bandwidth_Bps = result.bandwidth_Bps,
                          .latency_s = latency_s,
                          .source = LINK_MEASURED,
                          .at_least = result.cpu_bound};
    tell(progress, from, to, &result, latency_s);
    return true;
}

static bool measure_needed(const struct network *network, const struct progress *progress,
                           struct error *e)
{
    size_t n_needed = count_needed(network), n_done = 0;
    for (size_t i = 0; i < network->n * network->n; i++) {
        const char *from = network->name[i / network->n], *to = network->name[i % network->n];
        if (network->link[i].source != LINK_MEASURED)
            continue;
        progress_status(progress, "bandwidth %s -> %s (%zu of %zu)", from, to, ++n_done, n_needed);
        if (!measure_pair(from, to, progress, &network->link[i], e)) {
            if (!progress_cancelled(progress, e))
                error_in(e, "the link from '%s' to '%s'", from, to);
            return false;
        }
    }
    return true;
}

bool bandwidth_measure(struct arena *arena, const struct job *job, const struct progress *progress,
                       struct network *network, struct error *e)
{
    struct network made = {0};
    if (job->launcher.kind != LAUNCHER_LOCAL) {
        error_set(e, ERROR_USAGE, "only `launcher: local` can measure bandwidth in this version");
        return false;
    }
    if (!make_network(arena, job, &made, e))
        return false;
    need_ring(&made, job);
    for (int i = 0; i < job->n_types; i++)
        need_subsystem(arena, &made, &job->type[i]);
    if (!measure_needed(&made, progress, e))
        return false;
    *network = made;
    return true;
}
