/*
 * Collectives as phases of messages: what each kind sends is in a file of its own, how long that
 * takes in collective_time.c (docs/model.md, "Collectives").
 */
#ifndef FORETRAIN_PREDICT_COLLECTIVE_H
#define FORETRAIN_PREDICT_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"

/*
 * What goes over a pair at once. A port passes one message at a time, so that all that have to pass
 * it in a phase take as long as their sum: a device has one to and one from others on its host, a
 * host one to and one from other hosts.
 */
struct transfer {
    double share;      /* of the payload */
    double sent_share; /* all that its sender sends in that phase */
    size_t out, in;    /* ports, 0 to n_ports - 1 */
};

enum phase_kind {
    PHASE_EXCHANGE, /* all messages at once */
    PHASE_RINGS,    /* message after message around each ring, ring after ring */
    PHASE_TREES     /* up a tree to its root and down again, in chunks; two of them at once */
};

struct phase {
    enum phase_kind kind;
    size_t first, n; /* of its messages */
    bool repeats;    /* the messages of an earlier phase */
    double n_turns;  /* PHASE_RINGS: a ring of m has n_turns (m - 1) rounds */
};

/* Devices by what they have in common, in the order in which it first appears. */
struct groups {
    size_t n;
    size_t *first;  /* [n + 1], where a group begins in `member` */
    size_t *member; /* [n_devices], positions, group by group */
    size_t *of;     /* [n_devices], the group of each position */
};

enum { COLLECTIVE_MOST_STAGES = 4 };

struct ft_collective {
    enum ft_collective_kind kind;
    size_t n_devices;
    struct groups hosts, vendors;
    struct ft_pair *pair;      /* [n_messages] */
    struct transfer *transfer; /* [n_messages] */
    size_t n_messages, capacity, n_ports;
    struct phase *phase; /* [n_phases] */
    size_t n_phases;
    size_t tree_depth; /* PHASE_TREES: hops from a root to the farthest device */
    struct ft_collective_stage stage[COLLECTIVE_MOST_STAGES];
    size_t n_stages;
    bool failed; /* for want of memory */
};

/* Fills in phases and stages of a collective over at least two devices; false with a reason. */
typedef bool collective_maker(struct ft_collective *c, char *message);

collective_maker collective_ring, collective_tree, collective_hierarchical,
    collective_halving_doubling, collective_parameter_server, collective_bridge;

/* For makers. */

/* A message of the phase that collective_end_phase ends. */
void collective_add(struct ft_collective *c, size_t from, size_t to, double share);

/* A ring over `position[n]`; none where n is 1. */
void collective_add_ring(struct ft_collective *c, const size_t *position, size_t n,
                         double chunk_share);

/* Messages added since the phase before become one; none, no phase. */
void collective_end_phase(struct ft_collective *c, enum phase_kind kind, double n_turns);

/* A phase with the messages of an earlier one. */
void collective_repeat(struct ft_collective *c, size_t phase, double n_turns);

void collective_describe(struct ft_collective *c, struct ft_collective_stage stage);

/* The size of the smallest or the largest group. */
size_t groups_fewest(const struct groups *groups);
size_t groups_most(const struct groups *groups);
size_t groups_size(const struct groups *groups, size_t group);

/* What an all-reduce works with: memory for one collective. */
struct collective_work {
    /* [n_messages], what a message costs: its latency, its wire with all that shares its ports, and
     * without. */
    double *latency_s, *wire_s, *own_wire_s;
    double *port_s;                   /* [n_ports], of a phase: for how long each is busy */
    double *start_s, *cost_s, *end_s; /* [n_devices] each, of a ring or an exchange */
    double *up_s, *up_wire_s, *down_s, *down_wire_s; /* [n_devices] each, along a tree's paths */
};

bool collective_work_make(const struct ft_collective *c, struct collective_work *work);
void collective_work_free(struct collective_work *work);

/* Whether all links can be; else says in `message` which is not. */
bool collective_check_links(const struct ft_collective *c, const struct ft_link *link,
                            char *message);

struct sender; /* predict/message.h */

/* What all messages cost, into work->latency_s, wire_s and own_wire_s; sender[n_devices], or NULL:
 * as their links. */
void collective_cost(const struct ft_collective *c, const struct ft_link *link,
                     double payload_bytes, const struct sender *sender,
                     struct collective_work *work);

/* For how long each device sends in all phases, at those costs: [n_devices]. */
void collective_sending(const struct ft_collective *c, double payload_bytes,
                        struct collective_work *work, double *sending_s);

/* Their sum: no path of messages is longer. */
double collective_longest_s(const struct ft_collective *c, double payload_bytes,
                            struct collective_work *work, double *sending_s);

/* time_s[n_devices], when each device begins, becomes when it is done, at those costs. */
bool collective_run(const struct ft_collective *c, double payload_bytes,
                    struct collective_work *work, double *time_s);

#endif
