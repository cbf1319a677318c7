/* Links that are measured at the same time: a server on each receiving host, a client on each
 * sending one. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_ROUND_H
#define FORETRAIN_MEASURE_BANDWIDTH_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/iperf3.h"
#include "measure/launcher.h"
#include "measure/progress.h"

struct round_tools {
    struct launcher *launcher;
    const struct progress *progress;
    const char *folder;   /* for what servers and clients print; emptied again */
    const char *pingpong; /* text of pingpong.py; NULL: no latency of remote hosts */
    int duration_s;       /* of iperf3 */
    double patience_s;    /* beyond that, until a client is ended */
    int first_port;       /* servers try this one and those behind it; 0: a random one */
};

/* Of a link, beside its bandwidth. */
struct round_ends {
    double latency_s;          /* 0: not known */
    double from_cpus, to_cpus; /* CPUs, 1 at the most, that a process may use; 0: not known */
};

struct round_link {
    const char *from, *to; /* hosts */
    const char *from_address, *to_address;
    struct round_ends ends; /* out of round_latency, and counted with by round_bandwidth */
    struct iperf3_result result;
    struct error why; /* why it has no value; ERROR_NONE: it has */
};

/*
 * Measures the bandwidth of `link[n]` at once; what is wrong with a link is in its `why`. Ports
 * that are taken are passed over. Fails when the user interrupts. No server or client is left.
 */
bool round_bandwidth(const struct round_tools *tools, struct round_link *link, size_t n,
                     struct error *e);

/* The same for latency: between sockets of our own where both hosts are this machine, else with
 * pingpong.py. */
bool round_latency(const struct round_tools *tools, struct round_link *link, size_t n,
                   struct error *e);

#endif
