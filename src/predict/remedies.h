/*
 * What would make a step shorter: its mean time were something in it infinitely fast
 * (docs/model.md, "What decides").
 */
#ifndef FORETRAIN_PREDICT_REMEDIES_H
#define FORETRAIN_PREDICT_REMEDIES_H

#include <stddef.h>

#include "base/arena.h"
#include "foretrain.h"

enum remedy_kind { REMEDY_ALL_REDUCE, REMEDY_COMPUTING, REMEDY_LOADING, REMEDY_LINKS };

struct remedy {
    enum remedy_kind kind;
    int type;    /* computing and loading: of all devices of this type; loading: -1, of all types */
    int to_type; /* links: all that join this type and `type`, in either direction */
    double step_s; /* by means; INFINITY where memory was short */
};

/*
 * Without the all-reduce, where there is a ring; without each type's computing; without each type's
 * loading; without all loading beside steps, where several types do it, since then none of them
 * may be the only one that is waited for: [n] in that order. Each costs an ft_timeline_step.
 */
struct remedy *remedies_find(struct arena *arena, const struct ft_timeline *timeline, size_t *n);

/* All links that join two types take no time but what their devices need to send. */
struct remedy remedy_of_links(struct arena *arena, const struct ft_timeline *timeline, int type,
                              int to_type);

/* The one with the shortest step, the first of several. */
const struct remedy *remedies_best(const struct remedy *remedy, size_t n);

#endif
