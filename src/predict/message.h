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

/* What it takes from a device that feeds the link with at most `ceiling_Bps`. */
__attribute__((unused)) static inline double message_fed_s(const struct ft_link *link, double bytes,
                                                           double ceiling_Bps)
{
    if (!link->n_curve)
        return link->latency_s +
               bytes / (link->bandwidth_Bps < ceiling_Bps ? link->bandwidth_Bps : ceiling_Bps);
    double fed_s = message_latency_s(link) + bytes / ceiling_Bps, free_s = message_s(link, bytes);
    return fed_s > free_s ? fed_s : free_s;
}

/* Refuses a curve whose sizes do not rise or whose times fall, saying so in `message`. */
bool message_check_curve(const struct ft_link *link, char *message);

#endif
