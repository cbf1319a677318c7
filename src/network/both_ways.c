#include "network/both_ways.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

/* A host, or the device at a position. */
struct end {
    long host; /* or NETWORK_ALONE */
    size_t position;
};

struct hop {
    struct end low, high;
    bool forth; /* from low to high */
    struct link *link;
};

static int compare_ends(const struct end *a, const struct end *b)
{
    if (a->host != b->host)
        return a->host > b->host ? 1 : -1;
    if (a->host != NETWORK_ALONE)
        return 0;
    return (a->position > b->position) - (a->position < b->position);
}

static int compare_hops(const void *a, const void *b)
{
    const struct hop *x = a, *y = b;
    int order = compare_ends(&x->low, &y->low);
    return order ? order : compare_ends(&x->high, &y->high);
}

static struct hop hop_of(const long *host, size_t n, size_t i, struct link *link)
{
    struct end from = {host[i], i}, to = {host[(i + 1) % n], (i + 1) % n};
    if (from.host == to.host)
        from.host = to.host = NETWORK_ALONE;
    bool forth = compare_ends(&from, &to) < 0;
    return (struct hop){forth ? from : to, forth ? to : from, forth, link};
}

static void share(const struct hop *hop, size_t n)
{
    size_t n_forth = 0;
    for (size_t i = 0; i < n; i++)
        n_forth += hop[i].forth;
    for (size_t i = 0; n_forth > 0 && n_forth < n && i < n; i++) {
        struct link *link = hop[i].link;
        link->bandwidth_Bps = fmin(link->bandwidth_Bps, link->both_ways_Bps / (double)n);
    }
}

void both_ways_share(const long *host, size_t n, struct link *link)
{
    struct hop *hop = memory_resize(NULL, n, sizeof *hop);
    size_t n_hops = 0;
    for (size_t i = 0; i < n; i++) {
        if (link[i].both_ways_Bps > 0)
            hop[n_hops++] = hop_of(host, n, i, &link[i]);
    }
    qsort(hop, n_hops, sizeof *hop, compare_hops);
    for (size_t first = 0, next; first < n_hops; first = next) {
        next = first + 1;
        while (next < n_hops && compare_hops(&hop[first], &hop[next]) == 0)
            next++;
        share(hop + first, next - first);
    }
    free(hop);
}
