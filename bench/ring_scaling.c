/*
 * How the time of a ring grows with its devices: `bench_ring_scaling`. A line for each kind of ring
 * and each decade: nanoseconds a device, what the decade before makes of them, and the limit, the
 * bytes that must be read and written over this machine's memory bandwidth.
 */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/random.h"
#include "foretrain.h"
#include "processor.h"

enum { LEAST = 1000, MOST = 1000000, REPEATS = 5 };

struct rings {
    struct ft_link *link, *copy;
    double *cost_s, *start_s, *end_s;
};

struct kind {
    const char *name;
    double (*cost_s)(struct random *r, size_t i, size_t n);
    double (*start_s)(struct random *r, size_t i, size_t n);
    size_t n_segments; /* 0: ft_ring_rounds */
};

/* Two types, one after the other, and slow links between them. */
static double by_type(struct random *r, size_t i, size_t n)
{
    (void)r;
    double type_s = i < n / 2 ? 1e-6 : 2e-6;
    return i == n / 2 || i == n - 1 ? 5e-6 : type_s;
}

static double ready_by_type(struct random *r, size_t i, size_t n)
{
    return (i < n / 2 ? 0.05 : 0.08) * (1 + 0.1 * random_unit(r));
}

static double any_cost(struct random *r, size_t i, size_t n)
{
    (void)i, (void)n;
    return 1e-6 * (1 + random_unit(r));
}

static double any_start(struct random *r, size_t i, size_t n)
{
    (void)i;
    return 1e-6 * (double)n * random_unit(r);
}

/* Every start is a corner of the hull, and every link is kept: the most work and memory. */
static double falling_cost(struct random *r, size_t i, size_t n)
{
    (void)r;
    return 1e-6 * (1 - (double)i / (double)n);
}

static double bent_start(struct random *r, size_t i, size_t n)
{
    (void)r;
    double x = (double)i / (double)n;
    return 1e-6 * (double)n * (2 - x * x);
}

static const struct kind kind[] = {
    {"two types, whole chunks", by_type, ready_by_type, 0},
    {"all different, whole chunks", any_cost, any_start, 0},
    {"all different, two segments", any_cost, any_start, 2},
    {"worst case, whole chunks", falling_cost, bent_start, 0},
};

/* As many rings of n as there are devices for, so that small ones are not learnt by heart. */
static void fill(const struct rings *rings, const struct kind *k, size_t n)
{
    struct random r = random_seed(1, n);
    for (size_t i = 0; i < MOST; i++) {
        rings->cost_s[i] = k->cost_s(&r, i % n, n);
        rings->start_s[i] = k->start_s(&r, i % n, n);
        rings->link[i] = (struct ft_link){.bandwidth_Bps = 1 / rings->cost_s[i], .latency_s = 1e-7};
    }
}

static bool run(const struct rings *rings, const struct kind *k, size_t first, size_t n)
{
    const double *start_s = rings->start_s + first;
    double *end_s = rings->end_s + first;
    if (k->n_segments == 0)
        return ft_ring_rounds(rings->cost_s + first, start_s, n, 2 * (n - 1), end_s, NULL);
    return ft_ring_all_reduce(rings->link + first, start_s, n, (double)n, k->n_segments, end_s,
                              NULL);
}

/* The least of some repeats, seconds for all rings of n. */
static double seconds_of(const struct rings *rings, const struct kind *k, size_t n)
{
    double least_s = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double started_s = processor_s();
        for (size_t first = 0; first + n <= MOST; first += n) {
            if (!run(rings, k, first, n))
                exit(1);
        }
        least_s = fmin(least_s, processor_s() - started_s);
    }
    return least_s;
}

/* Seconds to read or write a byte of memory. */
static double copy_s_per_byte(const struct rings *rings)
{
    size_t bytes = MOST * sizeof *rings->link;
    double least_s = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double started_s = processor_s();
        memcpy(rings->copy, rings->link, bytes);
        __asm__ volatile("" : : "r"(rings->copy) : "memory");
        least_s = fmin(least_s, processor_s() - started_s);
    }
    return least_s / (2 * (double)bytes);
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024 * (double)usage.ru_maxrss;
}

static void bench_kind(const struct rings *rings, const struct kind *k, double byte_s)
{
    double before_s = 0, limit_s = (k->n_segments == 0 ? 24 : 32) * byte_s;
    for (size_t n = LEAST; n <= MOST; n *= 10) {
        fill(rings, k, n);
        double device_s = seconds_of(rings, k, n) / MOST;
        printf("%-28s %8zu devices %7.1f ns a device, %4.0f x the limit", k->name, n,
               device_s * 1e9, device_s / limit_s);
        if (before_s > 0)
            printf(", %4.2f x the decade before", device_s / before_s);
        puts("");
        before_s = device_s;
    }
}

/* Memory once had is kept: how long the system takes for a new page is not the question. */
static void keep_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int main(void)
{
    keep_memory();
    struct rings rings = {.link = malloc(MOST * sizeof *rings.link),
                          .copy = malloc(MOST * sizeof *rings.copy),
                          .cost_s = malloc(MOST * sizeof *rings.cost_s),
                          .start_s = malloc(MOST * sizeof *rings.start_s),
                          .end_s = malloc(MOST * sizeof *rings.end_s)};
    if (!rings.link || !rings.copy || !rings.cost_s || !rings.start_s || !rings.end_s)
        return 1;
    memset(rings.end_s, 0, MOST * sizeof *rings.end_s);
    memset(rings.copy, 0, MOST * sizeof *rings.copy);
    fill(&rings, &kind[0], MOST);
    double byte_s = copy_s_per_byte(&rings), before = peak_bytes();
    printf("the limit: bytes that must be read and written, at %.1f GB/s\n", 1e-9 / byte_s);
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        bench_kind(&rings, &kind[k], byte_s);
    printf("at the peak %.1f bytes a device beside inputs and ends\n",
           (peak_bytes() - before) / MOST);
    free(rings.link);
    free(rings.copy);
    free(rings.cost_s);
    free(rings.start_s);
    free(rings.end_s);
    return 0;
}
