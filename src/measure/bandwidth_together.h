/* All links of the ring at once: what each leaves to the others. */
#ifndef FORETRAIN_MEASURE_BANDWIDTH_TOGETHER_H
#define FORETRAIN_MEASURE_BANDWIDTH_TOGETHER_H

#include "job/job.h"
#include "measure/bandwidth_round.h"
#include "network/network.h"

/*
 * Measures all links of the ring between different hosts at the same time, as many streams between
 * two hosts as the ring has, and keeps the least of them in `together_Bps`; then each alone, where
 * they are not more than 32. Warns of links that are
 * much slower than alone, with those that share with them. Measures nothing where all are known.
 * `address[network->n]`; a link whose hosts have none, or that has no value alone, is left out.
 * Fails when a link fails three times.
 */
bool bandwidth_together(const struct round_tools *tools, const struct job *job,
                        struct network *network, const char *const *address, struct error *e);

#endif
