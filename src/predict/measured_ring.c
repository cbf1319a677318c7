#include "predict/measured_ring.h"

const char *measured_ring_find(struct arena *arena, const struct job *job,
                               const struct profile *profile, const struct network *network,
                               int type, struct measured_ring *ring)
{
    static const char changed[] = "sub-systems have changed";
    bool mixed = profile[type].one_ring;
    *ring = (struct measured_ring){mixed ? 0 : type, mixed ? job->n_types - 1 : type, 0, NULL};
    for (int t = ring->first; t <= ring->last; t++) {
        if (profile[t].one_ring != mixed || profile[t].n_devices != job->type[t].subsystem_devices)
            return changed;
        ring->n += (size_t)profile[t].n_devices;
    }
    if (ring->n != (size_t)(mixed ? profile[type].ring_devices : profile[type].n_devices))
        return changed;
    ring->link = ARENA_ARRAY(arena, ring->n, struct link);
    bool known = mixed ? network_mixed_ring(network, job, ring->link)
                       : network_subsystem_ring(network, job, type, ring->link);
    return known ? NULL : "no bandwidth known";
}
