/* Plans change the ring; what they make of other collectives nobody has worked out. */
#ifndef FORETRAIN_PLAN_RING_ONLY_H
#define FORETRAIN_PLAN_RING_ONLY_H

#include <stdbool.h>

#include "base/error.h"
#include "job/job.h"

/* Fails where the job's all-reduce is another collective than the ring. */
bool ring_only(const struct job *job, struct error *e);

#endif
