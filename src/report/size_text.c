/* How many of which devices, as a person reads it. */
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "report/grid.h"
#include "report/plan_report.h"

static const struct job *job_of(const struct size_answer *a)
{
    return &a->what_if->job;
}

static void add_head(const struct size_answer *a, struct grid *grid)
{
    grid_add(grid, "%s", "");
    for (int t = 0; t < job_of(a)->n_types; t++)
        grid_add(grid, "%s", job_of(a)->type[t].name);
    grid_add(grid, "step");
    grid_add(grid, "total");
    grid_add(grid, "%s", a->priced ? "cost" : "device-hours");
}

static void add_mix(const struct size_answer *a, const char *lead, const struct mix *mix,
                    struct grid *grid)
{
    char text[UNITS_TEXT_SIZE];
    const struct outcome *o = &mix->outcome;
    if (!mix->known)
        return;
    grid_add(grid, "%s", lead);
    for (int t = 0; t < job_of(a)->n_types; t++)
        grid_add(grid, "%s", units_format_count((double)mix->count[t], text));
    grid_add(grid, "%s", units_format(o->step_s, DIMENSION_TIME, text));
    grid_add(grid, "%s", units_format_duration(o->total_s, text));
    grid_add(grid, "%s", report_cost(o->cost, text));
}

static void print_mixes(const struct size_answer *a, struct text *out)
{
    struct grid grid = {.n_columns = (size_t)job_of(a)->n_types + 4, .to_the_left = {true}};
    add_head(a, &grid);
    add_mix(a, a->goal.deadline_s > 0 ? "cheapest" : "fastest", &a->best, &grid);
    add_mix(a, "of one type", &a->single, &grid);
    add_mix(a, "all there are", &a->whole, &grid);
    add_mix(a, "fastest of one type", &a->fastest_single, &grid);
    grid_print(&grid, out);
}

static const char *goal_text(struct arena *arena, const struct size_answer *a)
{
    char time[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];
    const char *deadline =
        arena_format(arena, "done within %s", units_format_duration(a->goal.deadline_s, time));
    const char *budget =
        arena_format(arena, "for %s at the most", report_cost(a->goal.budget, cost));
    if (!(a->goal.budget > 0))
        return arena_format(arena, "the cheapest mix that is %s", deadline);
    if (!(a->goal.deadline_s > 0))
        return arena_format(arena, "the fastest mix %s", budget);
    return arena_format(arena, "the cheapest mix that is %s, %s", deadline, budget);
}

static const char *proof_text(struct arena *arena, const struct size_answer *a)
{
    char n[UNITS_TEXT_SIZE];
    const char *better = a->goal.deadline_s > 0 ? "cheaper" : "faster";
    units_format_count((double)a->n_tried, n);
    if (!a->best.known)
        return arena_format(arena, "no mix meets it%s (%s forecast)",
                            a->given_up ? " of those that were tried" : "", n);
    return arena_format(arena, "no other mix that meets it is more than %.2g %% %s (%s forecast)%s",
                        100 * a->gap, better, n,
                        a->given_up ? "; there are too many to look closer" : "");
}

/* What mean steps leave out, at the rate of the job itself. */
static void print_waiting(struct arena *arena, const struct size_answer *a, struct text *out)
{
    char time[UNITS_TEXT_SIZE], cost[UNITS_TEXT_SIZE];
    double total_s = a->best.outcome.total_s * (1 + a->waiting);
    double costs = a->best.outcome.cost * (1 + a->waiting);
    bool beyond = (a->goal.deadline_s > 0 && total_s > a->goal.deadline_s) ||
                  (a->goal.budget > 0 && costs > a->goal.budget);
    if (!a->best.known || !(a->waiting > 0))
        return;
    text_wrap(out, "Waiting:  ",
              arena_format(
                  arena,
                  "for the slowest makes a step of the job itself %.1f %% longer than mean "
                  "times do; with as much more this mix takes %s and costs %s%s%s",
                  100 * a->waiting, units_format_duration(total_s, time), report_cost(costs, cost),
                  a->priced ? "" : " device-hours", beyond ? ", more than asked for" : ""));
}

static const char *left_out(struct arena *arena, const struct size_answer *a)
{
    const char *names = "";
    for (int t = 0; t < job_of(a)->n_types; t++) {
        if (a->goal.available[t] > 0 && a->fastest_part.count[t] == 0)
            names = arena_format(arena, "%s%s%s", names, *names ? " and " : "",
                                 job_of(a)->type[t].name);
    }
    return names;
}

static void print_speed_up(struct arena *arena, const struct size_answer *a, struct text *out)
{
    char with[UNITS_TEXT_SIZE], without[UNITS_TEXT_SIZE];
    double whole_s = a->whole.outcome.total_s;
    const char *names = left_out(arena, a);
    text_wrap(out, "Speed-up: ",
              arena_format(arena,
                           "with all there are it is %.2f times as fast as with the fastest type "
                           "alone",
                           a->fastest_single.outcome.total_s / whole_s));
    if (*names)
        text_wrap(out, "Warning:  ",
                  arena_format(arena, "leave %s out: without, it takes %s, with all of them %s",
                               names,
                               units_format_duration(a->fastest_part.outcome.total_s, without),
                               units_format_duration(whole_s, with)));
}

void report_size_text(const struct size_answer *a, struct text *out)
{
    struct arena scratch = {0};
    text_wrap(out, "", arena_format(&scratch, "%s: %s", job_of(a)->name, goal_text(&scratch, a)));
    text_wrap(out, "Model:    ", report_what_if_model(&scratch, a->what_if));
    text_wrap(out, "Ring:     ", report_what_if_links(a->what_if));
    text_add(out, "\n");
    print_mixes(a, out);
    text_add(out, "\n");
    text_wrap(out, "Proof:    ", proof_text(&scratch, a));
    print_waiting(&scratch, a, out);
    print_speed_up(&scratch, a, out);
    arena_free(&scratch);
}
