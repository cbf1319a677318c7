/* Double binary trees in SimGrid: an actor at each end of each hop, up and down. */
#ifndef FORETRAIN_TESTS_SIMULATED_TREE_H
#define FORETRAIN_TESTS_SIMULATED_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"

struct simulated_tree {
    size_t n_devices;           /* at most 64 */
    const struct ft_link *link; /* [n_devices][n_devices], from row to column */
    long payload_bytes;         /* twice a whole number of chunks */
    const double *start_s;      /* [n_devices] */
    double *end_s;              /* [n_devices], out */
    bool shared_ports;          /* SimGrid divides them; links have no latency then */
};

/* Plans both trees; rate_Bps[from * row + to] becomes what each hop has. */
void simulated_tree_plan(const struct simulated_tree *tree, double *rate_Bps, size_t row);

/* Starts the actors of what was planned, on hosts h0, h1, ... */
void simulated_tree_start(void);

#endif
