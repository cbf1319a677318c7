/* The bandwidth and latency between the hosts of a job, measured with iperf3 in rounds. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_H
#define FORETRAIN_MEASURE_BANDWIDTH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "measure/launcher.h"
#include "measure/progress.h"
#include "measure/rounds.h"
#include "network/network.h"

enum { BANDWIDTH_TEST_S = 2 }; /* of each link; shorter ones still speed up */

enum bandwidth_pairs {
    BANDWIDTH_RING,   /* neighbours in the ring */
    BANDWIDTH_ALL,    /* all ordered pairs of hosts */
    BANDWIDTH_SAMPLE, /* three random links for each ordered pair of types */
};

struct bandwidth_options {
    enum bandwidth_pairs pairs; /* with any of them also neighbours in the sub-systems' rings */
    int duration_s;             /* of each link; 0: BANDWIDTH_TEST_S */
    bool together;              /* then all links of the ring at once, too */
    bool again;                 /* also what `file` has */
    const char *file;           /* read first where it is there, written as values arrive */
    const char *folder;         /* that exists, for what iperf3 says */
    const char *worker;         /* folder of pingpong.py; NULL: no latency of remote hosts */
    double patience_s;          /* beyond the test, until iperf3 is ended; 0: 10 */
    int first_port;             /* servers try this one and those behind it; 0: a random one */
};

/* What is to be measured; hosts are numbered by their place in `network.name`. */
struct bandwidth_plan {
    struct network network; /* all hosts, with the values of `file` */
    struct host_pair *pair; /* [n_pairs], links without a value */
    size_t n_pairs;
    size_t n_known; /* links that are wanted and have a value already */
    struct rounds rounds;
    double estimate_s;
};

/*
 * Plans without asking any host. Device types without hosts are left to the job's classes of links.
 * Fails where there are no hosts, or too many for a matrix, or the file cannot be read.
 */
bool bandwidth_plan(struct arena *arena, const struct job *job,
                    const struct bandwidth_options *options, struct bandwidth_plan *plan,
                    struct error *e);

/*
 * Measures what the plan says. A host with itself is the link between two devices on it. Latency is
 * that of one byte between two sockets: half the median round trip. A link whose test fails is
 * tried twice more after the others; links that fail all three times are reported together, after
 * what was measured is written. Of an interrupted measurement too all values are written.
 *
 * With `together`, links that are much slower beside the others are named, with those that share.
 * With BANDWIDTH_SAMPLE, links of the ring without a value take the median of their sample, as
 * LINK_FILLED. `network` is what `file` then holds. Cost: some seconds a round.
 */
bool bandwidth_measure(struct arena *arena, const struct job *job,
                       const struct bandwidth_options *options, struct launcher *launcher,
                       const struct progress *progress, struct network *network, struct error *e);

#endif
