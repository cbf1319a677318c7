/*
 * Bandwidth and latency between devices: a matrix over hosts (measured or given), and the job's
 * classes of links.
 *
 * Every value says where it came from. docs/formats.md, "The network", has the file formats.
 */
#ifndef FORETRAIN_NETWORK_NETWORK_H
#define FORETRAIN_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"
#include "network/curve.h"

enum link_source {
    LINK_UNKNOWN = 0,
    LINK_MEASURED, /* by iperf3, or a table of nccl-tests */
    LINK_GIVEN,    /* in the job or in a file of the user's */
    LINK_FILLED,   /* filled in: the other direction's value */
};
const char *link_source_name(enum link_source source);

/* A link that could not be measured is LINK_UNKNOWN and `failed`: nothing stands in for it. */
struct link {
    double bandwidth_Bps; /* alone on the network; in a ring, what its ring leaves of it */
    double latency_s;
    double both_ways_Bps; /* that its two directions share; 0: they do not */
    double spread;        /* relative deviation of its rate from time to time */
    const struct link_curve
        *curve;          /* by size of the message; NULL: latency_s + size/bandwidth_Bps */
    double together_Bps; /* while all links of the full ring were busy; 0: not measured */
    enum link_source source;
    bool at_least;      /* measured with a CPU that was the limit: the link may be faster */
    bool shared;        /* in a ring: bandwidth_Bps is together_Bps, another link takes the rest */
    size_t uplink_hops; /* in a ring: of how many hops of a host bandwidth_Bps is a share; 0: one */
    bool failed;
};

/* The source as files have it: as link_source_name, "measured>=" for a lower bound, or "failed". */
const char *link_source_word(const struct link *link);

/* Whether a link was much slower (below 80 %) beside all links of the ring than alone. */
bool link_is_shared(const struct link *link);

/* Bytes a second that messages of `bytes` make over a link: by its curve, with all that they take;
 * without one bandwidth_Bps, whatever their size. */
double link_message_Bps(const struct link *link, double bytes);

/* So many names a network may hold; beyond it, classes of links say more in less. */
enum { NETWORK_MOST_NAMES = 8192 };

/* What a file that a class of links names says, by its name in the job. */
struct link_table {
    const char *file;
    struct link link;
};

/* Links between the devices of a host, by their slots. */
struct host_links {
    const char *type; /* whose hosts: the device type's name */
    size_t n;
    const struct link *link; /* [n][n] row-major, from row to column */
};

/* A matrix over names (hosts, or device names); a name with itself is the link between two devices
 * on one host. And what the job's classes of links say by files. */
struct network {
    const char **name; /* [n], sorted */
    size_t n;
    struct link *link;               /* [n][n] row-major, from row to column */
    const struct link_table *table;  /* [n_tables] */
    const struct host_links *within; /* [n_within] */
    size_t n_tables, n_within;
};

/*
 * Reads an adjacency list (from,to,bandwidth[,latency][,source][,together]) or a square matrix. A
 * direction without a value takes the other direction's and is LINK_FILLED, unless it failed. All
 * errors of the file are reported together. O(length + n^2).
 */
bool network_read(struct arena *arena, const char *path, struct network *network, struct error *e);

/* The same from text in memory. */
bool network_parse(struct arena *arena, const char *text, const char *file, struct network *network,
                   struct error *e);

/*
 * Reads the files that the job's classes of links and topologies name, into `table` and `within`.
 * Fails naming a file that is no such table, or a class of the topology
 * to which the job gives no bandwidth.
 */
bool network_read_classes(struct arena *arena, const struct job *job, struct network *network,
                          struct error *e);

/* What the table of a file that the job names says; false where it was not read. */
bool network_table(const struct network *network, const char *file, struct link *link);

/* Index of a name, or NETWORK_NO_NAME. O(log n). */
enum { NETWORK_NO_NAME = -1 };
long network_find(const struct network *network, const char *name);

/* Fills in directions without a value from the other direction, but those that failed. O(n^2). */
void network_fill(struct network *network);

/* Adjacency list as text: from,to,bandwidth_Bps,latency_s,source, and together_Bps where a link has
 * it; malloc'ed by struct text. */
struct text;
void network_format(const struct network *network, struct text *out);

/*
 * The link from one device to another: the matrix by device name, then by host; then the topology
 * of their host; then the most specific class of the job (within a host or across hosts before
 * anywhere, directed before undirected). A device without a host counts as alone on its host.
 * `network` may be NULL. Fails naming both devices and what to give where none has a value, or
 * where the link could not be measured.
 */
bool network_link(const struct network *network, const struct job *job, size_t from, size_t to,
                  struct link *link, struct error *e);

/* Whom a message goes to. */
struct device_pair {
    size_t from, to;
};

/*
 * The links that join `pair[n]`: `link[n]`. All that are missing are reported together, by class.
 * O(n_devices + n).
 */
bool network_pairs(const struct network *network, const struct job *job,
                   const struct device_pair *pair, size_t n, struct link *link, struct error *e);

/*
 * Links around the ring: `link[i]` joins position i to i+1 (mod n_devices); a ring of one has no
 * link, link[0] is LINK_UNKNOWN. Where a link is shared, its bandwidth is what the ring leaves. All
 * missing neighbours are reported together, by class. O(n_devices), O(n log n) where hosts are
 * known or links vary.
 */
bool network_ring(const struct network *network, const struct job *job, struct link *link,
                  struct error *e);

/*
 * What links around a ring leave each other: those whose two directions share, those that vary, and
 * those of one host. `host[n]`: of the device at each position, numbered from 0, NETWORK_ALONE
 * where it is alone on its host.
 */
enum { NETWORK_ALONE = -1 };
void network_settle(const long *host, size_t n, struct link *link);

/*
 * Links of all pairs, as a ring that has them leaves them: `link[n][n]` row-major, from `from[i]`
 * to `to[j]`. LINK_UNKNOWN where there is no value, and from a device to itself. O(n^2).
 */
void network_links(const struct network *network, const struct job *job, const size_t *from,
                   const size_t *to, size_t n, struct link *link);

/*
 * Links around a type's sub-system, `link[subsystem_devices]`, and around the one mixed ring of all
 * sub-systems, type by type in file order, `link[sum of subsystem_devices]`. False (no error), with
 * `link` untouched, where a value is not known or there are fewer than two devices.
 */
bool network_subsystem_ring(const struct network *network, const struct job *job, int type,
                            struct link *link);
bool network_mixed_ring(const struct network *network, const struct job *job, struct link *link);

#endif
