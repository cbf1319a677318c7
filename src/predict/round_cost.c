/* What one round of a ring costs on a link, for backends that send a chunk whole or in parts. */
#include "foretrain.h"

#include <math.h>

#include "predict/message.h"
#include "predict/refuse.h"

/* gloo/allreduce.h, kMaxSegmentSize; at least two, so that one is reduced while one is sent. */
static const double GLOO_SEGMENT_BYTES = 1048576;
enum { GLOO_FEWEST_SEGMENTS = 2 };

static bool check_link(double chunk_bytes, struct ft_link link, size_t n_segments, char *message)
{
    if (!is_amount(chunk_bytes))
        return refuse(message, "chunk_bytes must be finite and not negative (got %g)", chunk_bytes);
    if (!isfinite(link.bandwidth_Bps) || link.bandwidth_Bps <= 0)
        return refuse(message, "bandwidth_Bps must be finite and above 0 (got %g)",
                      link.bandwidth_Bps);
    if (!is_amount(link.latency_s))
        return refuse(message, "latency_s must be finite and not negative (got %g)",
                      link.latency_s);
    if (n_segments == 0)
        return refuse(message, "a chunk has at least one segment");
    return message_check_curve(&link, message);
}

/* Two segments in flight: a pair of them leaves the link no sooner than one's trip and a wire. */
static struct ft_round two_in_flight(const struct ft_link *link, double chunk_bytes,
                                     double segments)
{
    double segment_s = message_wire_s(link, chunk_bytes / segments);
    double latency_s = message_latency_s(link);
    return (struct ft_round){.cost_s =
                                 fmax(segments * segment_s, segments / 2 * (segment_s + latency_s)),
                             .drain_s = fmin(segment_s, latency_s)};
}

bool ft_round_cost(double chunk_bytes, struct ft_link link, size_t n_segments,
                   struct ft_round *cost, char *message)
{
    if (!check_link(chunk_bytes, link, n_segments, message))
        return false;
    struct ft_round r = {.cost_s = message_s(&link, chunk_bytes)};
    if (n_segments > 1)
        r = two_in_flight(&link, chunk_bytes, (double)n_segments);
    if (!isfinite(r.cost_s))
        return refuse(message, "a chunk of %g bytes takes too long to count", chunk_bytes);
    *cost = r;
    return true;
}

size_t ft_gloo_segments(double payload_bytes, size_t n_devices)
{
    double segments = ceil(payload_bytes / GLOO_SEGMENT_BYTES / (double)n_devices);
    bool countable = n_devices > 0 && isfinite(segments) && segments < 0x1p52;
    return countable && segments > GLOO_FEWEST_SEGMENTS ? (size_t)segments : GLOO_FEWEST_SEGMENTS;
}
