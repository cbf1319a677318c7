/* What a message takes on a link of the library's: by its curve, else latency and wire. */
#ifndef FORETRAIN_PREDICT_MESSAGE_H
#define FORETRAIN_PREDICT_MESSAGE_H

#include "foretrain.h"
#include "network/curve.h"

__attribute__((unused)) static inline double message_latency_s(const struct ft_link *link)
{
    return link->n_curve ? curve_message_s(link->curve, link->n_curve, 0) : link->latency_s;
}

__attribute__((unused)) static inline double message_s(const struct ft_link *link, double bytes)
{
    return link->n_curve ? curve_message_s(link->curve, link->n_curve, bytes)
                         : link->latency_s + bytes / link->bandwidth_Bps;
}

/* How long it keeps the link busy. */
__attribute__((unused)) static inline double message_wire_s(const struct ft_link *link,
                                                            double bytes)
{
    return link->n_curve ? message_s(link, bytes) - message_latency_s(link)
                         : bytes / link->bandwidth_Bps;
}

/* What a device sends at the most, and what each message takes it beside that. */
struct sender {
    double most_Bps, round_s;
};

/* Of a type, while it computes or not. */
__attribute__((unused)) static inline struct sender sender_of(const struct ft_timeline_type *type,
                                                              bool busy)
{
    return busy ? (struct sender){type->busy_Bps, type->busy_round_s}
                : (struct sender){type->idle_Bps, type->idle_round_s};
}

/* What it takes from there: the wire is busy with a part while the device is with the next. */
__attribute__((unused)) static inline double message_from_s(const struct ft_link *link,
                                                            double bytes, struct sender from)
{
    double wire_s = message_wire_s(link, bytes), fed_s = from.round_s + bytes / from.most_Bps;
    return message_latency_s(link) + (fed_s > wire_s ? fed_s : wire_s);
}

/* Until the device can send the next: what a round costs it is waiting, not work. */
__attribute__((unused)) static inline double message_stay_s(const struct ft_link *link,
                                                            double bytes, struct sender from)
{
    from.round_s = 0;
    return message_from_s(link, bytes, from);
}

/* Of the time that a bucket's messages take a ring of n devices, the share that they cost a device
 * which computes: not all of it, since it goes on. */
__attribute__((unused)) static inline double
messages_lost_share(const struct ft_timeline_type *type, double bucket_bytes, double n,
                    double span_s)
{
    const double most = 0.9;
    double lost_s = 2 * (n - 1) * (type->message_lost_s + bucket_bytes / n * type->byte_lost_s);
    return lost_s < most * span_s ? lost_s / span_s : most;
}

/* Refuses a curve whose sizes do not rise or whose times fall, saying so in `message`. */
bool message_check_curve(const struct ft_link *link, char *message);

#endif
