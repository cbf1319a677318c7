/*
 * All-reduces of a step by the library and by SimGrid, in one process: `bench_ring_beside_simgrid N
 * BUCKETS`. Two types of devices, links of three kinds, every device ready at times of its own.
 * Fails where an end differs by more than 1e-6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/random.h"
#include "foretrain.h"
#include "processor.h"
#include "simulated_platform.h"
#include "simulated_ring.h"

enum { MOST_DEVICES = 100000, MOST_BUCKETS = 100, REPEATS = 51 };
static const double STEP_BYTES = 102400000, AGREED = 1e-6;

struct step {
    struct simulated_ring ring;
    struct ft_link *link;
    double *ready_s, *start_s, *end_s; /* ready_s[n_buckets][n_devices] */
    long chunk_bytes[MOST_BUCKETS];
};

static bool make_step(struct step *s, size_t n, size_t n_buckets)
{
    struct random r = random_seed(1, n);
    s->link = calloc(n, sizeof *s->link);
    s->ready_s = calloc(n * n_buckets, sizeof *s->ready_s);
    s->start_s = calloc(n, sizeof *s->start_s);
    s->end_s = calloc(n, sizeof *s->end_s);
    s->ring = (struct simulated_ring){n, s->link, n_buckets, s->ready_s, s->chunk_bytes, NULL};
    s->ring.end_s = calloc(n, sizeof *s->end_s);
    if (!s->link || !s->ready_s || !s->start_s || !s->end_s || !s->ring.end_s)
        return false;
    for (size_t i = 0; i < n; i++) {
        double within_Bps = i < n / 2 ? 12.5e9 : 25e9;
        bool between = i == n / 2 - 1 || i == n - 1;
        s->link[i] = (struct ft_link){.bandwidth_Bps = between ? 5e9 : within_Bps,
                                      .latency_s = between ? 10e-6 : 5e-6};
    }
    for (size_t b = 0; b < n_buckets; b++) {
        s->chunk_bytes[b] = lround(STEP_BYTES / (double)n_buckets / (double)n);
        for (size_t i = 0; i < n; i++)
            s->ready_s[b * n + i] = (i < n / 2 ? 0.05 : 0.08) * (1 + 0.1 * random_unit(&r)) *
                                    (1 + (double)b / (double)n_buckets);
    }
    return true;
}

static bool forecast(const struct step *s)
{
    size_t n = s->ring.n_devices;
    for (size_t b = 0; b < s->ring.n_buckets; b++) {
        for (size_t i = 0; i < n; i++)
            s->start_s[i] = fmax(s->ready_s[b * n + i], b > 0 ? s->end_s[i] : 0);
        double payload_bytes = (double)s->chunk_bytes[b] * (double)n;
        if (!ft_ring_all_reduce(s->link, s->start_s, n, payload_bytes, 1, s->end_s, NULL))
            return false;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some repeats. */
static double forecast_takes_s(const struct step *s)
{
    double took_s[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double started_s = processor_s();
        if (!forecast(s))
            exit(1);
        took_s[repeat] = processor_s() - started_s;
    }
    qsort(took_s, REPEATS, sizeof *took_s, by_size);
    return took_s[REPEATS / 2];
}

static double simulation_takes_s(const struct step *s)
{
    if (!simulated_ring_make(&s->ring))
        exit(1);
    double started_s = processor_s();
    simulated_ring_run();
    return processor_s() - started_s;
}

static double worst_difference(const struct step *s)
{
    double worst = 0;
    for (size_t i = 0; i < s->ring.n_devices; i++)
        worst = fmax(worst, fabs(s->end_s[i] / s->ring.end_s[i] - 1));
    return worst;
}

static void free_step(struct step *s)
{
    free(s->link);
    free(s->ready_s);
    free(s->start_s);
    free(s->end_s);
    free(s->ring.end_s);
}

int main(int argc, char **argv)
{
    const char *simgrid[] = {argv[0], SIMULATED_FLAGS, NULL};
    int n_flags = sizeof simgrid / sizeof *simgrid - 1;
    simgrid_init(&n_flags, (char **)simgrid);
    size_t n = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    size_t n_buckets = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (n < 2 || n > MOST_DEVICES || n_buckets < 1 || n_buckets > MOST_BUCKETS) {
        fputs("usage: bench_ring_beside_simgrid N BUCKETS\n", stderr);
        return 2;
    }
    struct step step;
    if (!make_step(&step, n, n_buckets))
        return 1;
    double forecast_s = forecast_takes_s(&step), simulation_s = simulation_takes_s(&step);
    double difference = worst_difference(&step);
    printf("all-reduce of %4zu devices, %zu bucket%s %8.1f us   %7.0f x as fast as SimGrid "
           "(%.2f s)   differs by %.1g\n",
           n, n_buckets, n_buckets > 1 ? "s" : " ", forecast_s * 1e6, simulation_s / forecast_s,
           simulation_s, difference);
    free_step(&step);
    return difference <= AGREED ? 0 : 1;
}
