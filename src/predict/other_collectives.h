/* The collectives of a step that are not its gradients': what more devices make of them. */
#ifndef FORETRAIN_PREDICT_OTHER_COLLECTIVES_H
#define FORETRAIN_PREDICT_OTHER_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "foretrain.h"
#include "profile/profile.h"

/* Whether it is known how many rounds it takes, and with which bytes. */
bool other_collective_known(const struct profile_collective *collective);

/*
 * How much longer those that are known take a device in each step of `whole`, which has so many
 * links, than in the ring that the profile is of (docs/model.md, "The step's other collectives"):
 * those inside forward, or all others.
 */
double other_collectives_longer_s(const struct profile *profile, const struct ft_timeline *whole,
                                  size_t n_links, bool in_forward);

#endif
