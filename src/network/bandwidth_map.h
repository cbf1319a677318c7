/*
 * The bandwidth between all devices as a picture can show it: device by device, or, where those are
 * too many, host by host or type by type.
 */
#ifndef FORETRAIN_NETWORK_BANDWIDTH_MAP_H
#define FORETRAIN_NETWORK_BANDWIDTH_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "job/job.h"
#include "network/network.h"

enum bandwidth_map_by { MAP_DEVICES, MAP_HOSTS, MAP_TYPES };

/* From the devices of a row to those of a column. */
struct bandwidth_cell {
    struct link link; /* the slowest that is known; LINK_UNKNOWN: none */
    size_t n_used;    /* links of the job's collective that lead this way */
    bool outlier;     /* by a quarter off the median of such links */
};

struct bandwidth_map {
    enum bandwidth_map_by by;
    size_t n;
    const char **name;           /* [n], in the ring's order */
    int *type;                   /* [n], of the device type */
    struct bandwidth_cell *cell; /* [n][n], row-major */
    double least_Bps, most_Bps;  /* of those known; 0: none */
    size_t n_outliers;
};

/* At most that many rows, but for job files with more device types. */
enum { BANDWIDTH_MAP_MOST = 40 };

/* A link that the job's collective sends over, by positions in the ring. */
struct bandwidth_hop {
    size_t from, to;
    const struct link *link;
};

/* O(n_devices + n_hops + n^2 log n). */
void bandwidth_map_make(struct arena *arena, const struct job *job, const struct network *network,
                        const struct bandwidth_hop *hop, size_t n_hops, struct bandwidth_map *map);

#endif
