/* The table of `nvidia-smi topo -m`: which way joins each pair of a host's devices. */
#ifndef FORETRAIN_NETWORK_TOPOLOGY_H
#define FORETRAIN_NETWORK_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

enum { TOPOLOGY_MOST_DEVICES = 128 };

struct topology {
    size_t n;           /* GPU0 to GPU(n-1), at least 1 */
    const char **class; /* [n][n] row-major: "NV2", "SYS", ...; NULL for a device with itself */
};

/* Whether a text holds such a table. */
bool topology_is_table(const char *text);

/*
 * Reads the rows and columns of GPUs; those of network cards, the legend and escape sequences of a
 * terminal are passed over. Fails at the line and column of a cell that is no class, and where a
 * row is missing or a pair is not joined the same way in both directions. O(length).
 */
bool topology_parse(struct arena *arena, const char *text, const char *file,
                    struct topology *topology, struct error *e);

bool topology_read(struct arena *arena, const char *path, struct topology *topology,
                   struct error *e);

#endif
