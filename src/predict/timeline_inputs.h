/* The check of a timeline's inputs. */
#ifndef FORETRAIN_PREDICT_TIMELINE_INPUTS_H
#define FORETRAIN_PREDICT_TIMELINE_INPUTS_H

#include "foretrain.h"

/* Whether all values can be, and `most_steps` of them be counted; else says in `message` why not.
 */
bool timeline_inputs_check(const struct ft_timeline *in, int most_steps, char *message);

/* The same where samples, [in->n_types], take the place of its types' times. */
bool timeline_samples_check(const struct ft_timeline *in, const struct ft_timeline_samples *samples,
                            int most_steps, char *message);

#endif
