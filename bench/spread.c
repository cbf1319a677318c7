/*
 * What a thousand drawn steps of 1,024 devices take, with one thread and with all: `bench_spread`.
 * Two types, four buckets, links all different, devices that send slower while they compute; each
 * type with 81 iterations of two devices.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "foretrain.h"
#include "two_types.h"

enum { N_DEVICES = 1024, N_BUCKETS = 4, N_STEPS = 1000, N_ITERATIONS = 81, N_TOGETHER = 2 };
enum { N_SAMPLES = N_ITERATIONS * N_TOGETHER, REPEATS = 5 };

static const double bucket_bytes[N_BUCKETS] = {25e6, 25e6, 25e6, 27e6};

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct type_samples {
    struct ft_timeline_type step[N_SAMPLES];
    double ready_s[N_SAMPLES][N_BUCKETS];
};

static void vary(struct type_samples *out, const struct ft_timeline_type *mean, uint64_t seed)
{
    struct random r = random_seed(seed, 0);
    for (size_t k = 0; k < N_SAMPLES; k++) {
        double factor = 0.95 + 0.1 * random_unit(&r);
        out->step[k] = *mean;
        out->step[k].forward_s *= factor;
        out->step[k].backward_s *= factor;
        out->step[k].ready_s = out->ready_s[k];
        for (size_t b = 0; b < N_BUCKETS; b++)
            out->ready_s[k][b] = factor * mean->ready_s[b];
    }
}

static double least_s(const struct ft_timeline *timeline, const struct ft_timeline_samples *samples,
                      int n_threads, double *step_s)
{
    double least = 1e9;
    char message[FT_MESSAGE_SIZE];
    omp_set_num_threads(n_threads);
    for (int k = 0; k < REPEATS; k++) {
        double started_s = wall_s();
        if (!ft_timeline_spread(timeline, samples, 4, N_STEPS, 1, step_s, message)) {
            fprintf(stderr, "%s\n", message);
            exit(1);
        }
        double taken_s = wall_s() - started_s;
        least = taken_s < least ? taken_s : least;
    }
    return least;
}

int main(void)
{
    static struct type_samples drawn[2];
    static struct ft_link link[N_DEVICES];
    static int type_of[N_DEVICES];
    static double one_s[N_STEPS], all_s[N_STEPS];
    struct ft_timeline_samples samples[2];
    struct random r = random_seed(1, 0);
    for (size_t t = 0; t < 2; t++) {
        vary(&drawn[t], &two_types[t], t);
        samples[t] = (struct ft_timeline_samples){drawn[t].step, N_ITERATIONS, N_TOGETHER, NULL, 0};
    }
    for (size_t i = 0; i < N_DEVICES; i++) {
        type_of[i] = i >= N_DEVICES / 2;
        link[i] = (struct ft_link){.bandwidth_Bps = 12.5e9 * (1 + 0.1 * random_unit(&r)),
                                   .latency_s = 5e-6};
    }
    struct ft_timeline timeline = {two_types,    2,         type_of, link, N_DEVICES,
                                   bucket_bytes, N_BUCKETS, NULL};
    int n_threads = omp_get_max_threads();
    double with_one_s = least_s(&timeline, samples, 1, one_s);
    double with_all_s = least_s(&timeline, samples, n_threads, all_s);
    printf("%d drawn steps of %d devices, %d buckets: %.2f s with 1 thread, %.2f s with %d (%.2f "
           "times as fast), the same steps: %s\n",
           N_STEPS, N_DEVICES, N_BUCKETS, with_one_s, with_all_s, n_threads,
           with_one_s / with_all_s, memcmp(one_s, all_s, sizeof one_s) == 0 ? "yes" : "NO");
    return memcmp(one_s, all_s, sizeof one_s) != 0;
}
