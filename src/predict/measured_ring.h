/* The ring in which a type's sub-system was measured. */
#ifndef FORETRAIN_PREDICT_MEASURED_RING_H
#define FORETRAIN_PREDICT_MEASURED_RING_H

#include <stddef.h>

#include "base/arena.h"
#include "job/job.h"
#include "network/network.h"
#include "profile/profile.h"

/* Types `first` to `last`, each with its devices, one after the other. */
struct measured_ring {
    int first, last;
    size_t n;
    struct link *link; /* [n] */
};

/* The sub-system's own ring, or all sub-systems' where they were measured as one. NULL, or why it
 * is not known. */
const char *measured_ring_find(struct arena *arena, const struct job *job,
                               const struct profile *profile, const struct network *network,
                               int type, struct measured_ring *ring);

#endif
