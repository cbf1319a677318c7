/* A sweep as CSV: what varied, then what came of it. */
#include <stdlib.h>
#include <string.h>

#include "report/csv_values.h"
#include "report/plan_report.h"

static void add_head(const struct sweep *sweep, struct text *out)
{
    for (size_t a = 0; a < sweep->n_axes; a++) {
        struct arena scratch = {0};
        const struct quantity *q = &sweep->axis[a].quantity;
        const char *unit = quantity_unit(q);
        csv_add_text(out, arena_format(&scratch, "%s%s%s", q->path, *unit ? "_" : "", unit));
        arena_free(&scratch);
    }
    text_add(out, "devices,step_s,samples_per_s,iterations,epoch_s,total_s,cost,on_front\r\n");
}

static void add_outcome(const struct outcome *o, bool on_front, struct text *out)
{
    text_format(out, "%zu,", o->n_devices);
    if (o->any)
        text_format(out, "%.15g,%.15g,", o->step_s, o->samples_per_s);
    else
        text_add(out, ",,");
    if (o->epoch_known)
        text_format(out, "%.15g,%.15g,%.15g,", o->iterations, o->epoch_s, o->total_s);
    else
        text_add(out, ",,,");
    if (o->cost_known)
        text_format(out, "%.15g", o->cost);
    text_format(out, ",%d\r\n", on_front);
}

void report_sweep_csv(const struct sweep *sweep, const struct sweep_best *best, struct text *out)
{
    bool *on_front = memory_resize(NULL, sweep->n_systems, sizeof *on_front);
    memset(on_front, 0, sweep->n_systems * sizeof *on_front);
    for (size_t k = 0; k < best->n_front; k++)
        on_front[best->front[k]] = true;
    add_head(sweep, out);
    for (size_t i = 0; i < sweep->n_systems; i++) {
        for (size_t a = 0; a < sweep->n_axes; a++)
            text_format(out, "%.15g,", sweep_value(sweep, i, a));
        add_outcome(&sweep->outcome[i], on_front[i], out);
    }
    free(on_front);
}
