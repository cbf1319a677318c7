#include "network/bandwidth_map.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"

/* Rows of the map; a device stands for its row, a second one for what is within it. */
struct groups {
    const struct job *job;
    enum bandwidth_map_by by;
    size_t n;
    size_t first[BANDWIDTH_MAP_MOST], second[BANDWIDTH_MAP_MOST]; /* devices; second = first: one */
};

static bool same_row(const struct groups *g, size_t a, size_t b)
{
    if (g->by == MAP_DEVICES)
        return a == b;
    if (job_device_type(g->job, a) != job_device_type(g->job, b))
        return false;
    const char *host = job_device_host(g->job, a, NULL);
    return g->by == MAP_TYPES || strcmp(host, job_device_host(g->job, b, NULL)) == 0;
}

/* Row of a device, or g->n. */
static size_t row_of(const struct groups *g, size_t device)
{
    size_t row = 0;
    while (row < g->n && !same_row(g, g->first[row], device))
        row++;
    return row;
}

/* False where there are more rows than fit. */
static bool find_rows(struct groups *g)
{
    size_t last = 0;
    g->n = 0;
    for (size_t i = 0; i < g->job->n_devices; i++) {
        size_t device = job_ring_device(g->job, i);
        size_t row = g->n && same_row(g, g->first[last], device) ? last : row_of(g, device);
        if (row == BANDWIDTH_MAP_MOST)
            return false;
        if (row == g->n) {
            g->first[row] = g->second[row] = device;
            g->n++;
        }
        if (g->second[row] == g->first[row])
            g->second[row] = device;
        last = row;
    }
    return true;
}

static bool all_have_hosts(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].n_hosts == 0)
            return false;
    }
    return true;
}

static bool choose_rows(struct groups *g)
{
    g->by = MAP_DEVICES;
    if (g->job->n_devices <= BANDWIDTH_MAP_MOST && find_rows(g))
        return true;
    g->by = MAP_HOSTS;
    if (all_have_hosts(g->job) && find_rows(g))
        return true;
    g->by = MAP_TYPES;
    return find_rows(g);
}

static void take_slower(struct bandwidth_cell *cell, const struct link *link)
{
    if (link->source != LINK_UNKNOWN &&
        (cell->link.source == LINK_UNKNOWN || link->bandwidth_Bps < cell->link.bandwidth_Bps))
        cell->link = *link;
}

static void fill_cells(const struct groups *g, const struct network *network,
                       struct bandwidth_map *map)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t j = 0; j < g->n; j++) {
            size_t to = i == j ? g->second[j] : g->first[j];
            struct link link = {0};
            struct error none = {0};
            if (g->first[i] != to && network_link(network, g->job, g->first[i], to, &link, &none))
                take_slower(&map->cell[i * g->n + j], &link);
            error_clear(&none);
        }
    }
}

static void add_hops(const struct groups *g, const struct bandwidth_hop *hop, size_t n_hops,
                     struct bandwidth_map *map)
{
    for (size_t h = 0; h < n_hops; h++) {
        size_t from = row_of(g, job_ring_device(g->job, hop[h].from));
        size_t to = row_of(g, job_ring_device(g->job, hop[h].to));
        struct bandwidth_cell *cell = &map->cell[from * g->n + to];
        take_slower(cell, hop[h].link);
        cell->n_used++;
    }
}

static void name_rows(struct arena *arena, const struct groups *g, struct bandwidth_map *map)
{
    map->name = ARENA_ARRAY(arena, g->n, const char *);
    map->type = ARENA_ARRAY(arena, g->n, int);
    for (size_t i = 0; i < g->n; i++) {
        map->type[i] = job_device_type(g->job, g->first[i]);
        map->name[i] = g->by == MAP_DEVICES ? job_device_name(arena, g->job, g->first[i])
                       : g->by == MAP_HOSTS ? job_device_host(g->job, g->first[i], NULL)
                                            : g->job->type[map->type[i]].name;
    }
}

static bool is_kind(const struct bandwidth_map *map, size_t i, size_t j, int a, int b, bool within)
{
    int from = map->type[i], to = map->type[j];
    return ((from == a && to == b) || (from == b && to == a)) && (i == j) == within &&
           map->cell[i * map->n + j].link.source != LINK_UNKNOWN;
}

/* Links between devices of two types, or within rows of one, ought to be alike. Of two halves the
 * faster one says how. */
static void mark_outliers(struct bandwidth_map *map, double *value, int a, int b, bool within)
{
    enum { FEWEST = 4 };
    const double off = 0.25;
    size_t n = 0;
    for (size_t k = 0; k < map->n * map->n; k++) {
        if (is_kind(map, k / map->n, k % map->n, a, b, within))
            value[n++] = map->cell[k].link.bandwidth_Bps;
    }
    if (n < FEWEST)
        return;
    const size_t upper = n / 2;
    double median = stats_quantile(value, n, (double)upper / (double)(n - 1));
    for (size_t k = 0; k < map->n * map->n; k++) {
        if (!is_kind(map, k / map->n, k % map->n, a, b, within))
            continue;
        map->cell[k].outlier = fabs(map->cell[k].link.bandwidth_Bps / median - 1) > off;
        map->n_outliers += map->cell[k].outlier;
    }
}

static void find_outliers(struct arena *arena, int n_types, struct bandwidth_map *map)
{
    double *value = ARENA_ARRAY(arena, map->n * map->n, double);
    for (int a = 0; a < n_types; a++) {
        for (int b = 0; b <= a; b++) {
            mark_outliers(map, value, a, b, false);
            mark_outliers(map, value, a, b, true);
        }
    }
}

static void find_range(struct bandwidth_map *map)
{
    for (size_t k = 0; k < map->n * map->n; k++) {
        double rate_Bps = map->cell[k].link.bandwidth_Bps;
        if (map->cell[k].link.source == LINK_UNKNOWN)
            continue;
        map->least_Bps = map->most_Bps > 0 ? fmin(map->least_Bps, rate_Bps) : rate_Bps;
        map->most_Bps = fmax(map->most_Bps, rate_Bps);
    }
}

void bandwidth_map_make(struct arena *arena, const struct job *job, const struct network *network,
                        const struct bandwidth_hop *hop, size_t n_hops, struct bandwidth_map *map)
{
    struct groups g = {.job = job};
    *map = (struct bandwidth_map){0};
    if (!choose_rows(&g))
        return;
    map->by = g.by;
    map->n = g.n;
    map->cell = ARENA_ARRAY(arena, g.n * g.n, struct bandwidth_cell);
    name_rows(arena, &g, map);
    fill_cells(&g, network, map);
    add_hops(&g, hop, n_hops, map);
    find_outliers(arena, job->n_types, map);
    find_range(map);
}
