/* How long a collective's phases take, each device beginning one when it is done with the one
 * before. */
#include "predict/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/message.h"
#include "predict/ring_paths.h"

/*
 * Chunks of the half of the payload that a tree carries, as NCCL cuts it: 512 KiB, halved while
 * there are too few of them to fill the tree.
 */
static double tree_chunks(const struct ft_collective *c, double payload_bytes)
{
    static const struct {
        double least_bytes, hops;
    } limit[] = {{131072, 8}, {65536, 4}, {32768, 1}};
    double half_bytes = payload_bytes / 2, chunk_bytes = 524288;
    for (size_t k = 0; k < sizeof limit / sizeof *limit; k++) {
        while (half_bytes / chunk_bytes < limit[k].hops * (double)c->tree_depth &&
               chunk_bytes > limit[k].least_bytes)
            chunk_bytes /= 2;
    }
    return fmax(1, ceil(half_bytes / chunk_bytes));
}

/* In how many chunks the messages of a phase are sent. */
static double chunks_of(const struct ft_collective *c, const struct phase *phase,
                        double payload_bytes)
{
    return phase->kind == PHASE_TREES ? tree_chunks(c, payload_bytes) : 1;
}

/* Each message's wire alone, and what that makes of the ports it passes. */
static void load_ports(const struct ft_collective *c, const struct phase *phase,
                       const struct ft_link *link, double payload_bytes,
                       struct collective_work *work)
{
    memset(work->port_s, 0, c->n_ports * sizeof *work->port_s);
    for (size_t k = phase->first; k < phase->first + phase->n; k++) {
        const struct transfer *t = &c->transfer[k];
        work->own_wire_s[k] = message_wire_s(&link[k], payload_bytes * t->share);
        work->port_s[t->out] += work->own_wire_s[k];
        work->port_s[t->in] += work->own_wire_s[k];
    }
}

/* A message is through when all are that share its ports, and its sender has fed all it sends. */
static void cost_phase(const struct ft_collective *c, const struct phase *phase,
                       const struct ft_link *link, double payload_bytes,
                       const struct sender *sender, struct collective_work *work)
{
    const struct sender free = {.most_Bps = INFINITY};
    load_ports(c, phase, link, payload_bytes, work);
    for (size_t k = phase->first; k < phase->first + phase->n; k++) {
        const struct transfer *t = &c->transfer[k];
        struct sender from = sender ? sender[c->pair[k].from] : free;
        double fed_s = payload_bytes / from.most_Bps;
        double ports_s = later_of(work->port_s[t->out], work->port_s[t->in]);
        work->wire_s[k] = later_of(ports_s, from.round_s + t->sent_share * fed_s);
        work->own_wire_s[k] = later_of(work->own_wire_s[k], from.round_s + t->share * fed_s);
        work->latency_s[k] = message_latency_s(&link[k]);
    }
}

void collective_cost(const struct ft_collective *c, const struct ft_link *link,
                     double payload_bytes, const struct sender *sender,
                     struct collective_work *work)
{
    for (size_t p = 0; p < c->n_phases; p++) {
        double bytes = payload_bytes / chunks_of(c, &c->phase[p], payload_bytes);
        if (!c->phase[p].repeats)
            cost_phase(c, &c->phase[p], link, bytes, sender, work);
    }
}

static double cost_s(const struct collective_work *work, size_t k)
{
    return work->latency_s[k] + work->wire_s[k];
}

/* Messages from `first` on that form one ring: to where it began. */
static size_t ring_size(const struct ft_collective *c, size_t first)
{
    size_t k = first;
    while (c->pair[k].to != c->pair[first].from)
        k++;
    return k + 1 - first;
}

/* What one of a phase's messages is sent for: in `times` rounds, each begun when the one before has
 * arrived, or in `times` chunks, one behind the other. */
static double sent_for_s(const struct phase *phase, const struct collective_work *work, size_t k,
                         double times)
{
    return phase->kind == PHASE_RINGS ? times * cost_s(work, k)
                                      : work->latency_s[k] + times * work->wire_s[k];
}

/* All messages of a device in a phase are sent at once: it sends for as long as the longest. */
static void add_sending(const struct ft_collective *c, const struct phase *phase,
                        double payload_bytes, struct collective_work *work, double *sending_s)
{
    double *phase_s = work->end_s, chunks = chunks_of(c, phase, payload_bytes);
    memset(phase_s, 0, c->n_devices * sizeof *phase_s);
    size_t end = phase->first + phase->n;
    for (size_t n, first = phase->first; first < end; first += n) {
        bool rings = phase->kind == PHASE_RINGS;
        n = rings ? ring_size(c, first) : phase->n;
        double times = rings ? phase->n_turns * ((double)n - 1) : chunks;
        for (size_t k = first; k < first + n; k++)
            phase_s[c->pair[k].from] =
                later_of(phase_s[c->pair[k].from], sent_for_s(phase, work, k, times));
    }
    for (size_t i = 0; i < c->n_devices; i++)
        sending_s[i] += phase_s[i];
}

void collective_sending(const struct ft_collective *c, double payload_bytes,
                        struct collective_work *work, double *sending_s)
{
    memset(sending_s, 0, c->n_devices * sizeof *sending_s);
    for (size_t p = 0; p < c->n_phases; p++)
        add_sending(c, &c->phase[p], payload_bytes, work, sending_s);
}

double collective_longest_s(const struct ft_collective *c, double payload_bytes,
                            struct collective_work *work, double *sending_s)
{
    double sum_s = 0;
    collective_sending(c, payload_bytes, work, sending_s);
    for (size_t i = 0; i < c->n_devices; i++)
        sum_s += sending_s[i];
    return sum_s;
}

/* All messages at once; a device is done when all that it sends and receives have arrived. */
static void run_exchange(const struct ft_collective *c, const struct phase *phase,
                         struct collective_work *work, double *time_s)
{
    double *end_s = work->end_s;
    memcpy(end_s, time_s, c->n_devices * sizeof *end_s);
    for (size_t k = phase->first; k < phase->first + phase->n; k++) {
        const struct ft_pair *p = &c->pair[k];
        double arrives_s = later_of(time_s[p->from], time_s[p->to]) + cost_s(work, k);
        end_s[p->from] = later_of(end_s[p->from], arrives_s);
        end_s[p->to] = later_of(end_s[p->to], arrives_s);
    }
    memcpy(time_s, end_s, c->n_devices * sizeof *end_s);
}

/* A device that enters has room for all that comes. */
static bool run_ring(const struct ft_collective *c, size_t first, size_t n, double n_turns,
                     struct collective_work *work, double *time_s)
{
    for (size_t k = 0; k < n; k++) {
        const struct ft_pair *p = &c->pair[first + k];
        work->start_s[k] = later_of(time_s[p->from], time_s[p->to]);
        work->cost_s[k] = cost_s(work, first + k);
    }
    struct ring_paths ring = {.stay_s = work->cost_s,
                              .pass_s = work->cost_s,
                              .start_s = work->start_s,
                              .n_devices = n,
                              .n_rounds = n_turns * ((double)n - 1)};
    if (!ring_paths_end(ring, work->end_s))
        return false;
    for (size_t k = 0; k < n; k++)
        time_s[c->pair[first + k].from] = work->end_s[k];
    return true;
}

static bool run_rings(const struct ft_collective *c, const struct phase *phase,
                      struct collective_work *work, double *time_s)
{
    size_t end = phase->first + phase->n;
    for (size_t first = phase->first; first < end;) {
        size_t n = ring_size(c, first);
        if (!run_ring(c, first, n, phase->n_turns, work, time_s))
            return false;
        first += n;
    }
    return true;
}

/*
 * A tree's messages are pairs, up from a device and down to it, its parent's before its own. A port
 * passes a chunk of each of its messages in turn. So along a path of hops the first chunk takes its
 * own wires and latencies, and each further one the longest of the hops' turns more.
 */
static void follow_tree(const struct ft_collective *c, size_t first, size_t end,
                        struct collective_work *work)
{
    size_t root = c->pair[first].to;
    work->up_s[root] = work->up_wire_s[root] = work->down_s[root] = work->down_wire_s[root] = 0;
    for (size_t up = first; up < end; up += 2) {
        size_t down = up + 1, child = c->pair[up].from, parent = c->pair[up].to;
        work->up_s[child] = work->up_s[parent] + work->latency_s[up] + work->own_wire_s[up];
        work->up_wire_s[child] = later_of(work->up_wire_s[parent], work->wire_s[up]);
        work->down_s[child] = work->down_s[parent] + work->latency_s[down] + work->own_wire_s[down];
        work->down_wire_s[child] = later_of(work->down_wire_s[parent], work->wire_s[down]);
    }
}

/* The latest that the root's sum is there: by first chunks, and with what later ones add. */
struct summed {
    double first_s, last_s;
};

static void sum_up(struct summed *summed, double start_s, double path_s, double slowest_wire_s,
                   double n_more)
{
    summed->first_s = later_of(summed->first_s, start_s + path_s);
    summed->last_s = later_of(summed->last_s, start_s + path_s + n_more * slowest_wire_s);
}

static void run_tree(const struct ft_collective *c, size_t first, size_t end, double n_chunks,
                     struct collective_work *work, const double *time_s)
{
    struct summed summed = {-INFINITY, -INFINITY};
    double n_more = n_chunks - 1;
    follow_tree(c, first, end, work);
    for (size_t up = first; up < end; up += 2) {
        size_t child = c->pair[up].from, parent = c->pair[up].to;
        sum_up(&summed, later_of(time_s[child], time_s[parent]), work->up_s[child],
               work->up_wire_s[child], n_more);
    }
    for (size_t up = first; up < end; up += 2) {
        size_t child = c->pair[up].from, parent = c->pair[up].to;
        double arrives_s =
            work->down_s[child] +
            later_of(summed.first_s + n_more * work->down_wire_s[child], summed.last_s);
        work->end_s[child] = later_of(work->end_s[child], arrives_s);
        work->end_s[parent] = later_of(work->end_s[parent], arrives_s);
    }
}

/* Two trees, each with all devices, at once. */
static void run_trees(const struct ft_collective *c, const struct phase *phase, double n_chunks,
                      struct collective_work *work, double *time_s)
{
    size_t half = phase->n / 2;
    memcpy(work->end_s, time_s, c->n_devices * sizeof *time_s);
    run_tree(c, phase->first, phase->first + half, n_chunks, work, time_s);
    run_tree(c, phase->first + half, phase->first + phase->n, n_chunks, work, time_s);
    memcpy(time_s, work->end_s, c->n_devices * sizeof *time_s);
}

bool collective_run(const struct ft_collective *c, double payload_bytes,
                    struct collective_work *work, double *time_s)
{
    for (size_t p = 0; p < c->n_phases; p++) {
        const struct phase *phase = &c->phase[p];
        if (phase->kind == PHASE_EXCHANGE)
            run_exchange(c, phase, work, time_s);
        else if (phase->kind == PHASE_TREES)
            run_trees(c, phase, tree_chunks(c, payload_bytes), work, time_s);
        else if (!run_rings(c, phase, work, time_s))
            return false;
    }
    return true;
}

bool collective_work_make(const struct ft_collective *c, struct collective_work *work)
{
    size_t n = c->n_devices, at = 0;
    const struct {
        double **array;
        size_t n;
    } part[] = {{&work->latency_s, c->n_messages},
                {&work->wire_s, c->n_messages},
                {&work->own_wire_s, c->n_messages},
                {&work->port_s, c->n_ports},
                {&work->start_s, n},
                {&work->cost_s, n},
                {&work->end_s, n},
                {&work->up_s, n},
                {&work->up_wire_s, n},
                {&work->down_s, n},
                {&work->down_wire_s, n}};
    double *block = malloc((3 * c->n_messages + c->n_ports + 7 * n) * sizeof *block);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        *part[k].array = block ? block + at : NULL;
        at += part[k].n;
    }
    return block != NULL;
}

void collective_work_free(struct collective_work *work)
{
    free(work->latency_s);
}
