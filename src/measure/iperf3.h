/* What iperf3 says. */
#ifndef FORETRAIN_MEASURE_IPERF3_H
#define FORETRAIN_MEASURE_IPERF3_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

enum { IPERF3_ADDRESS_SIZE = 64 };

struct iperf3_result {
    char from[IPERF3_ADDRESS_SIZE]; /* address of the sending end; empty: not said */
    char to[IPERF3_ADDRESS_SIZE];
    double bandwidth_Bps;      /* payload that arrived */
    double sender_cpu_percent; /* of one CPU; negative: not said */
    double receiver_cpu_percent;
    bool cpu_bound; /* a CPU was the limit: the link may be faster */
    bool reversed;  /* -R: from the server to the client */
};

/*
 * Reads the output of `iperf3 --json`, any version: text before the object and a second copy behind
 * it are passed over, an "error" in it counts whatever the exit status was. Fails (ERROR_HOST)
 * saying what iperf3 said, or what is missing.
 */
bool iperf3_read(const char *text, struct iperf3_result *result, struct error *e);

/*
 * Sets cpu_bound where the ends may use so many CPUs, 1 at the most; 0: not known, taken for 1, as
 * iperf3_read does.
 */
void iperf3_judge_cpus(struct iperf3_result *result, double sender_cpus, double receiver_cpus);

#endif
