/*
 * The timeline's step against SimGrid: `step_by_simulation N` exits with 0 where the step of a
 * mixed system that has found its rhythm agrees to 1e-6, relative.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/engine.h>

#include "mixed_step.h"
#include "simulated_platform.h"
#include "simulated_step.h"

static const double AGREED = 1e-6;

static bool agrees(const struct mixed_step *m, double *begin_s, size_t n_steps,
                   const struct ft_timeline_step *step)
{
    double differ_s,
        simulated_s = mixed_step_last_s(begin_s, n_steps, m->timeline.n_devices, &differ_s);
    double error = step->step_s / simulated_s - 1;
    printf("step of %zu: timeline %.12g s, SimGrid %.12g s (devices differ by %.2g s), relative "
           "difference %.2g\n",
           m->timeline.n_devices, step->step_s, simulated_s, differ_s, error);
    return step->settled && differ_s <= AGREED * simulated_s && fabs(error) <= AGREED;
}

static bool run(const struct mixed_step *m)
{
    struct ft_timeline_step step;
    char message[FT_MESSAGE_SIZE];
    if (!ft_timeline_step(&m->timeline, &step, message)) {
        fprintf(stderr, "%s\n", message);
        return false;
    }
    double *begin_s = calloc((step.n_steps + 1) * m->timeline.n_devices, sizeof *begin_s);
    struct simulated_step simulated = {&m->timeline, step.n_steps, begin_s};
    bool ok = begin_s && simulated_step_make(&simulated);
    if (ok) {
        simulated_step_run();
        ok = agrees(m, begin_s, step.n_steps, &step);
    }
    free(begin_s);
    return ok;
}

int main(int argc, char **argv)
{
    const char *simgrid[] = {argv[0], SIMULATED_FLAGS, NULL};
    int n_flags = sizeof simgrid / sizeof *simgrid - 1;
    simgrid_init(&n_flags, (char **)simgrid);
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (n < 2 || n > 1024) {
        fputs("usage: step_by_simulation N, 2 to 1024\n", stderr);
        return 2;
    }
    struct mixed_step m;
    bool ok = mixed_step_make(&m, n) && run(&m);
    mixed_step_free(&m);
    return ok ? 0 : 1;
}
