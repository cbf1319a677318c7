#include "network/uplinks.h"

#include <stdlib.h>

#include "base/arena.h"

/* Hops of a ring that leave each host, or enter it. */
struct crossings {
    size_t *leaving, *entering; /* [hosts] */
};

static bool crosses_hosts(long from, long to)
{
    return from == NETWORK_ALONE || from != to;
}

static size_t count_hosts(const long *host, size_t n)
{
    long last = NETWORK_ALONE;
    for (size_t i = 0; i < n; i++)
        last = host[i] > last ? host[i] : last;
    return (size_t)(last + 1);
}

static void count_crossings(const long *host, size_t n, const struct crossings *c)
{
    for (size_t i = 0; i < n; i++) {
        long from = host[i], to = host[(i + 1) % n];
        if (!crosses_hosts(from, to))
            continue;
        if (from != NETWORK_ALONE)
            c->leaving[from]++;
        if (to != NETWORK_ALONE)
            c->entering[to]++;
    }
}

static size_t sharers(long from, long to, const struct crossings *c)
{
    size_t most = 1;
    if (!crosses_hosts(from, to))
        return 1;
    if (from != NETWORK_ALONE && c->leaving[from] > most)
        most = c->leaving[from];
    if (to != NETWORK_ALONE && c->entering[to] > most)
        most = c->entering[to];
    return most;
}

void uplinks_share(const long *host, size_t n, struct link *link)
{
    size_t n_hosts = count_hosts(host, n);
    if (n_hosts == 0)
        return;
    size_t *count = memory_resize(NULL, 2 * n_hosts, sizeof *count);
    struct crossings c = {count, count + n_hosts};
    for (size_t h = 0; h < 2 * n_hosts; h++)
        count[h] = 0;
    count_crossings(host, n, &c);
    for (size_t i = 0; i < n; i++) {
        size_t k = sharers(host[i], host[(i + 1) % n], &c);
        if (k == 1 || link[i].together_Bps > 0 || link[i].curve)
            continue;
        link[i].bandwidth_Bps /= (double)k;
        link[i].uplink_hops = k;
    }
    free(count);
}
