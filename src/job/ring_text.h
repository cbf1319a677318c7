/* A ring's order as people write it, and a job file with another one. */
#ifndef FORETRAIN_JOB_RING_TEXT_H
#define FORETRAIN_JOB_RING_TEXT_H

#include "base/text.h"
#include "job/job.h"

/*
 * Names of the devices of `ring[n_devices]` with ", " between them, as `ring: [...]` takes them:
 * ranges for numbers in a row ("a100-[0-99]"), a host's name for all its devices.
 */
void ring_text_format(const struct job *job, const size_t *ring, struct text *out);

/*
 * The job's text with `ring` as its order: the value of its key `ring` replaced, or the key added
 * at the end; all else byte for byte as it was. Fails where that cannot be read back as the same
 * job with that order.
 */
bool ring_text_replace(const struct job *job, const size_t *ring, struct text *out,
                       struct error *e);

#endif
