/* Steps of all devices until they repeat (docs/model.md, "The timeline"). */
#include "foretrain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/refuse.h"
#include "predict/timeline_inputs.h"
#include "predict/timeline_walk.h"

/* By how much devices begin later than when they were marked, each counted from the first. */
static void since_mark(const struct timeline_walk *w, const double *marked_s, double *least_s,
                       double *most_s)
{
    *least_s = INFINITY;
    *most_s = -INFINITY;
    for (size_t i = 0; i < w->in->n_devices; i++) {
        double later_s = w->begin_s[i] - marked_s[i];
        *least_s = later_s < *least_s ? later_s : *least_s;
        *most_s = later_of(*most_s, later_s);
    }
}

static const double SETTLED = 1e-9;

/*
 * Steps repeat once all devices are as far on from an earlier step: one step later, or several that
 * take turns. The earlier one is marked at every power of two (Brent, 1980). Until then the most
 * that any device took is a bound from above on what steps will take.
 */
bool timeline_walk_settle(struct timeline_walk *w, double *marked_s, struct ft_timeline_step *step)
{
    size_t marked = 0, size = w->in->n_devices * sizeof *marked_s;
    double elapsed_s = 0, least_s, most_s;
    memcpy(marked_s, w->begin_s, size);
    for (size_t k = 1;; k++) {
        if (!timeline_walk_step(w, &elapsed_s))
            return false;
        since_mark(w, marked_s, &least_s, &most_s);
        double mean_s = (elapsed_s + most_s) / (double)(k - marked);
        bool settled = most_s - least_s <= SETTLED * mean_s;
        *step = (struct ft_timeline_step){mean_s, k, settled};
        if (settled || k == TIMELINE_MOST_STEPS)
            return true;
        if (k >= 2 * marked) {
            memcpy(marked_s, w->begin_s, size);
            marked = k;
            elapsed_s = 0;
        }
    }
}

/*
 * No device takes mini-batches faster than its loader makes them beside the steps. All wait for the
 * slowest such loader, or it keeps up with all of them (docs/model.md, "The timeline").
 */
static double slowest_loader_s(const struct ft_timeline *in)
{
    double slowest_s = 0;
    for (size_t i = 0; i < in->n_devices; i++) {
        const struct ft_timeline_type *type = &in->type[in->type_of[i]];
        slowest_s = later_of(slowest_s, type->load_inside ? 0 : type->load_s);
    }
    return slowest_s;
}

bool ft_timeline_step(const struct ft_timeline *timeline, struct ft_timeline_step *step,
                      char *message)
{
    if (!timeline_inputs_check(timeline, TIMELINE_MOST_STEPS, message))
        return false;
    struct timeline_walk w;
    struct ft_timeline_step found;
    double *marked_s = calloc(timeline->n_devices, sizeof *marked_s);
    bool ok =
        timeline_walk_make(&w, timeline) && marked_s && timeline_walk_settle(&w, marked_s, &found);
    timeline_walk_free(&w);
    free(marked_s);
    if (!ok)
        return refuse(message, "there is no memory for %zu devices", timeline->n_devices);
    found.step_s = later_of(found.step_s, slowest_loader_s(timeline));
    *step = found;
    return true;
}
