/* The job by which the full system is run: all its devices as one ring. */
#ifndef FORETRAIN_MEASURE_WHOLE_H
#define FORETRAIN_MEASURE_WHOLE_H

#include "job/job.h"

/*
 * A job whose one sub-system is the whole: for measure_all with `full`. Each device draws its
 * amount of data, but no more than the window needs.
 *
 *   sample_bytes  [system->n_types], of a sample of each type; 0: not known
 *
 * Fails where the types have different backends, which cannot form one ring.
 */
bool whole_job(struct arena *arena, const struct job *system, const double *sample_bytes,
               struct job *whole, struct error *e);

#endif
