/*
 * How the time of a timeline's step grows with its devices: `bench_timeline_scaling`. Two types,
 * four buckets, all links different, and devices that send slower while they compute.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/random.h"
#include "foretrain.h"
#include "processor.h"
#include "two_types.h"

enum { LEAST = 1000, MOST = 1000000, N_BUCKETS = 4 };

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * (double)usage.ru_maxrss;
}

static void fill(struct ft_link *link, int *type_of, size_t n)
{
    struct random r = random_seed(1, n);
    for (size_t i = 0; i < n; i++) {
        bool between = i == n / 2 - 1 || i == n - 1;
        type_of[i] = i >= n / 2;
        link[i] =
            (struct ft_link){.bandwidth_Bps = between ? 5e9 : 12.5e9 * (1 + 0.1 * random_unit(&r)),
                             .latency_s = 5e-6};
    }
}

static bool bench(struct ft_timeline *timeline)
{
    size_t n = timeline->n_devices;
    struct ft_timeline_step step;
    char message[FT_MESSAGE_SIZE];
    double before = peak_bytes(), started_s = processor_s();
    if (!ft_timeline_step(timeline, &step, message)) {
        fprintf(stderr, "%s\n", message);
        return false;
    }
    double step_s = (processor_s() - started_s) / (double)step.n_steps;
    printf("timeline, %d buckets, interference %8zu devices %8.2f ms a step, %5.1f ns a device and "
           "bucket, %4.0f bytes a device more at the peak\n",
           N_BUCKETS, n, step_s * 1e3, step_s * 1e9 / (double)n / N_BUCKETS,
           (peak_bytes() - before) / (double)n);
    return true;
}

int main(void)
{
    static const double bucket_bytes[N_BUCKETS] = {25e6, 25e6, 25e6, 27e6};
    struct ft_link *link = calloc(MOST, sizeof *link);
    int *type_of = calloc(MOST, sizeof *type_of);
    if (!link || !type_of)
        return 1;
    fill(link, type_of, MOST);
    bool ok = true;
    for (size_t n = LEAST; ok && n <= MOST; n *= 10) {
        fill(link, type_of, n);
        struct ft_timeline timeline = {two_types,    2,         type_of, link, n,
                                       bucket_bytes, N_BUCKETS, NULL};
        ok = bench(&timeline);
    }
    free(link);
    free(type_of);
    return ok ? 0 : 1;
}
