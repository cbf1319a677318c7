/* A system's number says its values: digits in a number system whose bases are the axes' lengths.
 */
#include "plan/sweep.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

static bool is_varied(const struct sweep *sweep, const struct quantity *q)
{
    for (size_t a = 0; a < sweep->n_axes; a++) {
        const struct quantity *other = &sweep->axis[a].quantity;
        if (other->kind == q->kind && other->type[0] == q->type[0] && other->type[1] == q->type[1])
            return true;
    }
    return false;
}

bool sweep_add_axis(struct arena *arena, const struct job *job, const char *text,
                    struct sweep *sweep, struct error *e)
{
    struct sweep_axis axis;
    const char *equals = strchr(text, '=');
    if (!equals) {
        error_set(e, ERROR_USAGE, "--vary is PATH=VALUES, such as %s.count=0:100:10 (got '%s')",
                  job->type[0].name, text_printable(arena, text, 0));
        return false;
    }
    const char *path = arena_copy_n(arena, text, (size_t)(equals - text));
    if (sweep->n_axes == SWEEP_MOST_AXES) {
        error_set(e, ERROR_USAGE, "at most %d quantities can vary", SWEEP_MOST_AXES);
        return false;
    }
    if (!quantity_find(arena, job, path, &axis.quantity, e) ||
        !quantity_values(arena, &axis.quantity, equals + 1, &axis.value, &axis.n, e))
        return false;
    if (is_varied(sweep, &axis.quantity)) {
        error_set(e, ERROR_USAGE, "'%s' is varied twice", axis.quantity.path);
        return false;
    }
    sweep->axis[sweep->n_axes++] = axis;
    return true;
}

bool sweep_varies_counts(const struct sweep *sweep)
{
    for (size_t a = 0; a < sweep->n_axes; a++) {
        if (quantity_is_count(&sweep->axis[a].quantity))
            return true;
    }
    return false;
}

static size_t first_of(const struct sweep *sweep, size_t part)
{
    return (size_t)((double)sweep->n_systems * (double)part / (double)sweep->part.n);
}

bool sweep_take_part(struct sweep *sweep, struct sweep_part part, struct error *e)
{
    sweep->n_systems = 1;
    for (size_t a = 0; a < sweep->n_axes; a++) {
        sweep->n_systems *= sweep->axis[a].n;
        if (sweep->n_systems > SWEEP_MOST_SYSTEMS) {
            error_set(e, ERROR_USAGE, "these are more than %d systems", SWEEP_MOST_SYSTEMS);
            return false;
        }
    }
    sweep->part = part;
    sweep->first = first_of(sweep, part.number - 1);
    sweep->n = first_of(sweep, part.number) - sweep->first;
    return true;
}

double sweep_value(const struct sweep *sweep, size_t system, size_t axis)
{
    for (size_t a = sweep->n_axes; a-- > axis + 1;)
        system /= sweep->axis[a].n;
    return sweep->axis[axis].value[system % sweep->axis[axis].n];
}

const char *sweep_name(struct arena *arena, const struct sweep *sweep, size_t system)
{
    const char *name = "";
    for (size_t a = 0; a < sweep->n_axes; a++) {
        const struct quantity *q = &sweep->axis[a].quantity;
        char value[UNITS_TEXT_SIZE];
        quantity_format(q, sweep_value(sweep, system, a), value);
        name = arena_format(arena, "%s%s%s = %s", name, a ? ", " : "", q->path, value);
    }
    return name;
}

/* A variant to change, over and over. */
static struct variant make_variant(struct arena *arena, const struct what_if *what_if)
{
    struct variant v = {.job = what_if->job,
                        .change = ARENA_ARRAY(arena, SWEEP_MOST_AXES, struct link_change)};
    v.job.type = ARENA_ARRAY(arena, (size_t)v.job.n_types, struct job_device_type);
    memcpy(v.job.type, what_if->job.type, (size_t)v.job.n_types * sizeof *v.job.type);
    return v;
}

/* The data section is what one change of another can leave behind. */
static void set_system(const struct sweep *sweep, size_t system, struct variant *v)
{
    v->job.data = sweep->what_if->job.data;
    for (size_t a = 0; a < sweep->n_axes; a++)
        quantity_set(&sweep->axis[a].quantity, sweep_value(sweep, system, a), v);
}

static bool forecast_system(const struct sweep *sweep, size_t system, struct variant *v,
                            struct error *e)
{
    set_system(sweep, system, v);
    return what_if_forecast(sweep->what_if, v, &sweep->outcome[system - sweep->first], e);
}

struct run {
    const struct sweep *sweep;
    atomic_size_t first_failed;
};

static void note_failed(struct run *run, size_t system)
{
    size_t first = atomic_load(&run->first_failed);
    while (system < first && !atomic_compare_exchange_weak(&run->first_failed, &first, system))
        ;
}

static bool is_cancelled(const struct sweep *sweep)
{
    return sweep->cancel && *sweep->cancel;
}

enum { AT_ONCE = 64 };

static void forecast_share(struct run *run, size_t first)
{
    size_t left = run->sweep->n - first, end = first + (left < AT_ONCE ? left : AT_ONCE);
    struct arena arena = {0};
    struct error e = {0};
    struct variant v = make_variant(&arena, run->sweep->what_if);
    bool needed = first < atomic_load(&run->first_failed) && !is_cancelled(run->sweep);
    for (size_t i = first; i < end && needed; i++) {
        if (!forecast_system(run->sweep, run->sweep->first + i, &v, &e))
            note_failed(run, i);
    }
    error_clear(&e);
    arena_free(&arena);
}

static bool refuse_system(struct arena *arena, const struct sweep *sweep, size_t system,
                          struct error *e)
{
    struct variant v = make_variant(arena, sweep->what_if);
    bool ok = forecast_system(sweep, system, &v, e);
    assert(!ok);
    error_in(e, "the system with %s", sweep_name(arena, sweep, system));
    return ok;
}

static bool allow_batches(struct what_if *what_if, const struct sweep *sweep, struct error *e)
{
    for (size_t a = 0; a < sweep->n_axes; a++) {
        const struct sweep_axis *axis = &sweep->axis[a];
        for (size_t i = 0; quantity_is_batch(&axis->quantity) && i < axis->n; i++) {
            int64_t batch = (int64_t)axis->value[i];
            if (!what_if_allow_batch(what_if, axis->quantity.type[0], batch, e))
                return false;
        }
    }
    return true;
}

bool sweep_run(struct arena *arena, struct what_if *what_if, struct sweep *sweep, struct error *e)
{
    struct run run = {.sweep = sweep, .first_failed = SIZE_MAX};
    sweep->what_if = what_if;
    sweep->outcome = ARENA_ARRAY(arena, sweep->n, struct outcome);
    if (!allow_batches(what_if, sweep, e))
        return false;
    size_t n_shares = (sweep->n + AT_ONCE - 1) / AT_ONCE;
#pragma omp parallel for schedule(dynamic)
    for (size_t share = 0; share < n_shares; share++)
        forecast_share(&run, share * AT_ONCE);
    size_t failed = atomic_load(&run.first_failed);
    if (is_cancelled(sweep)) {
        error_set(e, ERROR_HOST, "interrupted");
        return false;
    }
    return failed == SIZE_MAX || refuse_system(arena, sweep, sweep->first + failed, e);
}

static double time_of(const struct outcome *o)
{
    return o->epoch_known ? o->total_s : o->step_s;
}

/* By time, then cost, then number. */
static int faster_first(const void *a, const void *b, void *outcomes)
{
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const struct outcome *x = (struct outcome *)outcomes + i, *y = (struct outcome *)outcomes + j;
    if (time_of(x) != time_of(y))
        return time_of(x) < time_of(y) ? -1 : 1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return (i > j) - (i < j);
}

static void find_front(const struct sweep *sweep, struct sweep_best *best)
{
    size_t n = 0, *order = memory_resize(NULL, sweep->n, sizeof *order);
    double least = INFINITY;
    for (size_t i = 0; i < sweep->n; i++) {
        if (sweep->outcome[i].cost_known)
            order[n++] = i;
    }
    qsort_r(order, n, sizeof *order, faster_first, sweep->outcome);
    for (size_t k = 0; k < n; k++) {
        if (sweep->outcome[order[k]].cost >= least)
            continue;
        least = sweep->outcome[order[k]].cost;
        order[best->n_front++] = order[k];
    }
    best->front = order;
    best->cheapest = best->n_front ? order[best->n_front - 1] : SWEEP_NONE;
}

struct sweep_best sweep_best(const struct sweep *sweep)
{
    struct sweep_best best = {.fastest = SWEEP_NONE};
    for (size_t i = 0; i < sweep->n; i++) {
        const struct outcome *o = &sweep->outcome[i];
        bool first = best.fastest == SWEEP_NONE;
        if (o->any && (first || time_of(o) < time_of(&sweep->outcome[best.fastest])))
            best.fastest = i;
    }
    find_front(sweep, &best);
    return best;
}
