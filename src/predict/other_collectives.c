#include "predict/other_collectives.h"

#include <math.h>
#include <string.h>

#include "predict/message.h"

/* Of n devices: messages one after the other, each of all that a device hands over or an n-th. */
enum schedule { TREE, RING, HALF_RING, PASSED_ON, N_SCHEDULES };

static enum schedule schedule_of(const char *op)
{
    static const struct {
        const char *op;
        enum schedule schedule;
    } known[] = {{"broadcast", TREE},
                 {"broadcast_coalesced", TREE},
                 {"barrier", TREE},
                 {"all_reduce", RING},
                 {"all_reduce_coalesced", RING},
                 {"reduce_scatter", HALF_RING},
                 {"reduce_scatter_tensor", HALF_RING},
                 {"all_gather", PASSED_ON},
                 {"all_gather_into_tensor", PASSED_ON}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(op, known[k].op) == 0)
            return known[k].schedule;
    }
    return N_SCHEDULES;
}

bool other_collective_known(const struct profile_collective *collective)
{
    return schedule_of(collective->op) != N_SCHEDULES && collective->bytes >= 0;
}

/* The message that takes longest, of all that devices send when nobody computes. */
static double message_of_whole_s(const struct ft_timeline *whole, size_t n_links, double bytes)
{
    double longest_s = 0;
    struct sender slowest = {.most_Bps = INFINITY};
    for (size_t t = 0; t < whole->n_types; t++) {
        slowest.most_Bps = fmin(slowest.most_Bps, whole->type[t].idle_Bps);
        slowest.round_s = fmax(slowest.round_s, whole->type[t].idle_round_s);
    }
    for (size_t i = 0; i < n_links; i++)
        longest_s = fmax(longest_s, message_from_s(&whole->link[i], bytes, slowest));
    return longest_s;
}

static double among_s(const struct profile_collective *c, double n, const struct ft_timeline *whole,
                      size_t n_links)
{
    switch (schedule_of(c->op)) {
    case TREE:
        return ceil(log2(n)) * message_of_whole_s(whole, n_links, c->bytes);
    case RING:
        return 2 * (n - 1) * message_of_whole_s(whole, n_links, c->bytes / n);
    case HALF_RING:
        return (n - 1) * message_of_whole_s(whole, n_links, c->bytes / n);
    case PASSED_ON:
        return (n - 1) * message_of_whole_s(whole, n_links, c->bytes);
    default:
        return 0;
    }
}

double other_collectives_longer_s(const struct profile *p, const struct ft_timeline *whole,
                                  size_t n_links, bool in_forward)
{
    double longer_s = 0;
    for (size_t k = 0; whole->link && k < p->n_collectives; k++) {
        const struct profile_collective *c = &p->collective[k];
        bool is_in_forward = strcmp(c->place, "forward") == 0;
        if (is_in_forward == in_forward && other_collective_known(c))
            longer_s += c->count_per_step * (among_s(c, (double)whole->n_devices, whole, n_links) -
                                             among_s(c, p->ring_devices, whole, n_links));
    }
    return fmax(0, longer_s);
}
