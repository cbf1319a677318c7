/*
 * When the devices of a ring are done with a collective: rounds of given costs, and an all-reduce
 * over links, its chunks sent whole or in segments.
 */
#include "foretrain.h"

#include <math.h>
#include <stdlib.h>

#include "predict/message.h"
#include "predict/refuse.h"
#include "predict/ring_paths.h"

enum { MOST_SEGMENTS = 1 << 20 };
static const size_t MOST_ROUNDS = (size_t)1 << 52;

static bool check_values(const char *name, const double *value, size_t n, char *message)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_amount(value[i]))
            return refuse(message, "%s of position %zu must be finite and not negative (got %g)",
                          name, i, value[i]);
    }
    return true;
}

static double largest(const double *value, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = value[i] > most ? value[i] : most;
    return most;
}

/* Sums on the way are a few times as long as what they lead to. */
static bool check_length(const struct ring_paths *r, char *message)
{
    double step_s = fmax(largest(r->stay_s, r->n_devices), largest(r->pass_s, r->n_devices));
    double longest_s = (r->n_rounds + (double)r->n_devices) * step_s;
    if (!isfinite(8 * (longest_s + largest(r->start_s, r->n_devices))))
        return refuse(message, "%g rounds of %g s are too long to count", r->n_rounds, step_s);
    return true;
}

static bool no_memory(size_t n_devices, char *message)
{
    return refuse(message, "there is no memory for %zu devices", n_devices);
}

bool ft_ring_rounds(const double *chunk_cost_s, const double *start_s, size_t n_devices,
                    size_t n_rounds, double *end_s, char *message)
{
    struct ring_paths ring = {.stay_s = chunk_cost_s,
                              .pass_s = chunk_cost_s,
                              .start_s = start_s,
                              .n_devices = n_devices,
                              .n_rounds = (double)n_rounds};
    if (n_devices == 0 || !chunk_cost_s || !start_s)
        return refuse(message, "a ring needs at least one device");
    if (n_rounds < n_devices - 1)
        return refuse(message, "a collective of %zu devices needs at least %zu rounds (got %zu)",
                      n_devices, n_devices - 1, n_rounds);
    if (n_rounds > MOST_ROUNDS)
        return refuse(message, "%zu rounds are too many to count", n_rounds);
    return check_values("chunk_cost_s", chunk_cost_s, n_devices, message) &&
           check_values("start_s", start_s, n_devices, message) && check_length(&ring, message) &&
           (ring_paths_end(ring, end_s) || no_memory(n_devices, message));
}

/* Working memory of an all-reduce, all in one block. */
struct hops {
    double *stay_s, *pass_s, *half_s, *ready_s; /* [n_devices] */
};

static struct hops split(double *block, size_t n)
{
    return (struct hops){block, block + n, block + 2 * n, block + 3 * n};
}

/*
 * One phase in segments, two in flight: a segment waits for the wire and for the arrival of the one
 * two before it. Two segments make a round of ring_paths. The last one is for each device to send
 * and to receive.
 */
static bool segments_phase(const struct ring_paths *ring, double *ready_s, double *end_s)
{
    size_t n = ring->n_devices;
    if (!ring_paths_end(*ring, ready_s))
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t before = (i > 0 ? i : n) - 1;
        end_s[i] = fmax(ready_s[i] + ring->stay_s[i] / 2, ready_s[before] + ring->pass_s[before]);
    }
    return true;
}

/* A phase scatters what is reduced, a phase gathers it. */
static bool in_segments(struct ring_paths ring, const struct hops *h, double *end_s)
{
    if (!segments_phase(&ring, h->ready_s, h->half_s))
        return false;
    ring.start_s = h->half_s;
    return segments_phase(&ring, h->ready_s, end_s);
}

static bool check_links(const struct ft_link *link, size_t n_devices, char *message)
{
    for (size_t i = 0; i < n_devices; i++) {
        if (!isfinite(link[i].bandwidth_Bps) || link[i].bandwidth_Bps <= 0)
            return refuse(message,
                          "bandwidth_Bps of position %zu must be finite and above 0 (got %g)", i,
                          link[i].bandwidth_Bps);
        if (!is_amount(link[i].latency_s))
            return refuse(message,
                          "latency_s of position %zu must be finite and not negative (got %g)", i,
                          link[i].latency_s);
        if (!message_check_curve(&link[i], message))
            return false;
    }
    return true;
}

static bool check_all_reduce(const struct ft_link *link, const double *start_s, size_t n_devices,
                             double payload_bytes, size_t n_segments, char *message)
{
    if (!is_amount(payload_bytes))
        return refuse(message, "payload_bytes must be finite and not negative (got %g)",
                      payload_bytes);
    if (n_segments == 0 || n_segments > MOST_SEGMENTS)
        return refuse(message, "a chunk has 1 to %d segments (got %zu)", MOST_SEGMENTS, n_segments);
    return check_links(link, n_devices, message) &&
           check_values("start_s", start_s, n_devices, message);
}

/* Whole: a link is free when its chunk has arrived, which can then be sent on. */
static void cost_hops(const struct ft_link *link, size_t n_devices, double segment_bytes,
                      bool whole, const struct hops *h)
{
    for (size_t i = 0; i < n_devices; i++) {
        h->pass_s[i] = message_s(&link[i], segment_bytes);
        h->stay_s[i] = whole ? h->pass_s[i] : 2 * message_wire_s(&link[i], segment_bytes);
    }
}

static bool run(const struct ring_paths *ring, bool whole, const struct hops *h, double *end_s,
                char *message)
{
    if (!check_length(ring, message))
        return false;
    return (whole ? ring_paths_end(*ring, end_s) : in_segments(*ring, h, end_s)) ||
           no_memory(ring->n_devices, message);
}

bool ft_ring_all_reduce(const struct ft_link *link, const double *start_s, size_t n_devices,
                        double payload_bytes, size_t n_segments, double *end_s, char *message)
{
    if (n_devices == 0 || !link || !start_s)
        return refuse(message, "a ring needs at least one device");
    if (!check_all_reduce(link, start_s, n_devices, payload_bytes, n_segments, message))
        return false;
    if (n_devices == 1) {
        *end_s = *start_s;
        return true;
    }
    double n = (double)n_devices, segments = (double)n_segments;
    bool whole = n_segments == 1;
    double *block = malloc(4 * n_devices * sizeof *block);
    if (!block)
        return no_memory(n_devices, message);
    struct hops h = split(block, n_devices);
    cost_hops(link, n_devices, payload_bytes / n / segments, whole, &h);
    struct ring_paths ring = {.stay_s = h.stay_s,
                              .pass_s = h.pass_s,
                              .start_s = start_s,
                              .n_devices = n_devices,
                              .n_rounds = whole ? 2 * (n - 1) : ((n - 1) * segments - 1) / 2};
    bool ok = run(&ring, whole, &h, end_s, message);
    free(block);
    return ok;
}
