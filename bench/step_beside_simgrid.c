/*
 * The steps of a mixed system until they repeat, by the library and by SimGrid, in one process:
 * `bench_step_beside_simgrid N`. Two types of devices, four buckets, links of three kinds, no
 * interference. Fails where the steps differ by more than 1e-6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/engine.h>

#include "foretrain.h"
#include "mixed_step.h"
#include "processor.h"
#include "simulated_platform.h"
#include "simulated_step.h"

enum { MOST_DEVICES = 1024, REPEATS = 51 };
static const double AGREED = 1e-6;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some repeats. */
static double forecast_takes_s(const struct mixed_step *m, struct ft_timeline_step *step)
{
    double took_s[REPEATS];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double started_s = processor_s();
        if (!ft_timeline_step(&m->timeline, step, NULL))
            exit(1);
        took_s[repeat] = processor_s() - started_s;
    }
    qsort(took_s, REPEATS, sizeof *took_s, by_size);
    return took_s[REPEATS / 2];
}

/* As many steps as the library walked. */
static double simulation_takes_s(const struct mixed_step *m, size_t n_steps, double *begin_s)
{
    struct simulated_step simulated = {&m->timeline, n_steps, begin_s};
    if (!simulated_step_make(&simulated))
        exit(1);
    double started_s = processor_s();
    simulated_step_run();
    return processor_s() - started_s;
}

static bool compare(const struct mixed_step *m)
{
    size_t n = m->timeline.n_devices;
    struct ft_timeline_step step;
    double forecast_s = forecast_takes_s(m, &step), differ_s;
    double *begin_s = calloc((step.n_steps + 1) * n, sizeof *begin_s);
    if (!begin_s)
        return false;
    double simulation_s = simulation_takes_s(m, step.n_steps, begin_s);
    double difference =
        fabs(step.step_s / mixed_step_last_s(begin_s, step.n_steps, n, &differ_s) - 1);
    printf("%zu steps of %4zu devices, 4 buckets %9.1f us   %7.0f x as fast as SimGrid (%.2f s)   "
           "differs by %.1g\n",
           step.n_steps, n, forecast_s * 1e6, simulation_s / forecast_s, simulation_s, difference);
    free(begin_s);
    return difference <= AGREED;
}

int main(int argc, char **argv)
{
    const char *simgrid[] = {argv[0], SIMULATED_FLAGS, NULL};
    int n_flags = sizeof simgrid / sizeof *simgrid - 1;
    simgrid_init(&n_flags, (char **)simgrid);
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (n < 2 || n > MOST_DEVICES) {
        fputs("usage: bench_step_beside_simgrid N\n", stderr);
        return 2;
    }
    struct mixed_step m;
    bool ok = mixed_step_make(&m, n) && compare(&m);
    mixed_step_free(&m);
    return ok ? 0 : 1;
}
