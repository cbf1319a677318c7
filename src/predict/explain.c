#include "predict/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are recorded: a path that takes more turns than these is cut there. */
enum { FEWEST_STEPS = 4, MOST_STEPS = 64 };
static const double MOST_RECORDS = 4e6; /* of a device and bucket in a step */

static bool same_part(const struct path_part *part, enum path_stage stage, int type,
                      size_t position)
{
    if (part->stage != stage)
        return false;
    return stage == PATH_ALL_REDUCE ? part->position == position : part->type == type;
}

static struct path_part *part_of(struct explanation *x, const struct path_piece *piece, int type)
{
    for (size_t k = 0; k < x->n_parts; k++) {
        if (same_part(&x->part[k], piece->stage, type, piece->position))
            return &x->part[k];
    }
    x->part[x->n_parts] =
        (struct path_part){.stage = piece->stage, .type = type, .position = piece->position};
    return &x->part[x->n_parts++];
}

static int longest_first(const void *a, const void *b)
{
    const struct path_part *x = a, *y = b;
    if (x->each_s != y->each_s)
        return x->each_s < y->each_s ? 1 : -1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

static void sum_up_path(struct arena *arena, const struct ft_timeline *ring,
                        const struct critical_path *path, struct explanation *x)
{
    x->part = ARENA_ARRAY(arena, path->n, struct path_part);
    x->n_steps = path->n_steps;
    for (size_t k = 0; k < path->n; k++) {
        const struct path_piece *piece = &path->piece[k];
        struct path_part *part = part_of(x, piece, ring->type_of[piece->position]);
        part->each_s += (piece->to_s - piece->from_s) / (double)path->n_steps;
    }
    qsort(x->part, x->n_parts, sizeof *x->part, longest_first);
}

static int shortest_first(const void *a, const void *b)
{
    const struct remedy *x = a, *y = b;
    if (x->step_s != y->step_s)
        return x->step_s > y->step_s ? 1 : -1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static bool has_links(const struct explanation *x, int type, int to_type)
{
    for (size_t k = 0; k < x->n_remedies; k++) {
        const struct remedy *r = &x->remedy[k];
        if (r->kind == REMEDY_LINKS && ((r->type == type && r->to_type == to_type) ||
                                        (r->type == to_type && r->to_type == type)))
            return true;
    }
    return false;
}

/* Those for all types, and for the kinds of links that the path spends time on. */
static void find_remedies(struct arena *arena, const struct ft_timeline *ring,
                          struct explanation *x)
{
    const struct remedy *general = remedies_find(arena, ring, &x->n_remedies);
    x->remedy = ARENA_ARRAY(arena, x->n_remedies + x->n_parts, struct remedy);
    memcpy(x->remedy, general, x->n_remedies * sizeof *general);
    for (size_t k = 0; k < x->n_parts; k++) {
        const struct path_part *part = &x->part[k];
        int to_type = ring->type_of[(part->position + 1) % ring->n_devices];
        if (part->stage == PATH_ALL_REDUCE && !ring->collective &&
            !has_links(x, part->type, to_type))
            x->remedy[x->n_remedies++] = remedy_of_links(arena, ring, part->type, to_type);
    }
    qsort(x->remedy, x->n_remedies, sizeof *x->remedy, shortest_first);
}

/* 0: not even a few. */
static size_t steps_to_record(const struct ft_timeline *ring)
{
    double n = MOST_RECORDS / (double)ring->n_devices / (double)(ring->n_buckets + 1);
    return n >= MOST_STEPS ? MOST_STEPS : n < FEWEST_STEPS ? 0 : (size_t)n;
}

static bool refuse(const struct job *job, const char *why, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s: the step cannot be explained: %s",
              job->file ? job->file : "the job", why);
    return false;
}

bool explain(struct arena *arena, const struct job *job, const struct forecast *f,
             struct explanation *explanation, struct error *e)
{
    const struct ft_timeline *ring = f->timeline.ring;
    char message[FT_MESSAGE_SIZE];
    if (!f->timeline.known)
        return refuse(job, f->timeline.why_not ? f->timeline.why_not : "it is the closed form's",
                      e);
    size_t n_steps = steps_to_record(ring);
    if (n_steps == 0)
        return refuse(job, "there are too many devices to follow each of them", e);
    struct step_record record;
    if (!step_record_make(arena, ring, n_steps, &record, message))
        return refuse(job, message, e);
    struct explanation x = {.step_s = record.step_s,
                            .spread_s = f->timeline.spread_known ? f->step_s - record.step_s : 0,
                            .spent = ARENA_ARRAY(arena, ring->n_types, struct step_parts)};
    struct critical_path path = critical_path_find(arena, ring, &record);
    sum_up_path(arena, ring, &path, &x);
    for (size_t t = 0; t < ring->n_types; t++)
        x.spent[t] = step_record_parts(&record, ring->type_of, (int)t);
    find_remedies(arena, ring, &x);
    *explanation = x;
    return true;
}
