/* What two jobs, their profiles and networks do not have in common. */
#ifndef FORETRAIN_PLAN_DIFFERENCES_H
#define FORETRAIN_PLAN_DIFFERENCES_H

#include "plan/compare.h"

/* All differences of `side[2]` that a forecast can depend on, group by group; [n], in the arena. */
struct difference *differences_find(struct arena *arena, const struct compare_side *side,
                                    size_t *n);

#endif
