/*
 * The latest paths around a ring, without walking them. A path takes one step a round: it stays on
 * its link or passes on to the next device. Steps that it has left over it stays on the slowest
 * link it sees, so its length is known from its two ends and that link (docs/model.md, "The ring,
 * exactly").
 *
 * Positions are counted from the slowest link of all, at position 0, and times as what they are
 * below the slowest link's, their gap; lead(i) is the sum of the gaps of passing on from 0 to i.
 */
#include "predict/ring_paths.h"

#include <math.h>
#include <stdlib.h>

/* Where a path may begin: a corner of the upper hull of all (position, start + lead). */
struct origin {
    double position, head_s;
};

/* A link that paths stay on: its paths end at position i with `end_s` + i * `gap_s`. */
struct stay {
    double end_s, gap_s;
    double from; /* the first position at which it is later than the stay before it */
};

/* Both grow at the end only. `stay` loses at its front as well, `origin` does not. */
struct paths {
    struct origin *origin;
    struct stay *stay;
    size_t n_origins, n_stays, first_stay;
};

static size_t place(const struct ring_paths *r, size_t position)
{
    size_t to_the_end = r->n_devices - r->slowest;
    return position < to_the_end ? r->slowest + position : position - to_the_end;
}

static double gap_of_staying(const struct ring_paths *r, size_t position)
{
    return r->stay_s[r->slowest] - r->stay_s[place(r, position)];
}

static double gap_of_passing(const struct ring_paths *r, size_t position)
{
    return r->stay_s[r->slowest] - r->pass_s[place(r, position)];
}

/* What a full turn loses against as many stays on the slowest link; below 0: gains. */
static double gap_of_a_turn(const struct ring_paths *r)
{
    double turn_s = 0;
    for (size_t i = 0; i < r->n_devices; i++)
        turn_s += gap_of_passing(r, i);
    return turn_s;
}

/*
 * Paths that see the slowest link stay there; they begin at position 0 or before it, as far back as
 * their steps reach. Where a turn gains nothing, none is made; where it gains, all but the last two
 * that fit are always made.
 */
static void follow_slowest(const struct ring_paths *r, double *latest_s)
{
    size_t n = r->n_devices, most_steps = (size_t)r->n_rounds, origin = 0;
    double turn_s = gap_of_a_turn(r);
    size_t farthest = turn_s < 0 ? most_steps : n - 1;
    size_t turns = turn_s < 0 && most_steps > 2 * n ? most_steps / n - 2 : 0;
    size_t back = turns * n;
    double lead_s = -(double)turns * turn_s, best_s = r->start_s[r->slowest] + lead_s;
    for (size_t i = n; i-- > 0;) {
        for (; back < farthest && back + i < most_steps; back++) {
            origin = (origin > 0 ? origin : n) - 1;
            lead_s -= gap_of_passing(r, origin);
            best_s = later_of(best_s, r->start_s[place(r, origin)] + lead_s);
        }
        latest_s[place(r, i)] = i <= most_steps ? best_s : -INFINITY;
    }
}

/* Whether the middle one of three lies above the line through the others. */
static bool is_corner(const struct origin *a, const struct origin *b, const struct origin *c)
{
    return (b->head_s - a->head_s) * (c->position - b->position) >
           (c->head_s - b->head_s) * (b->position - a->position);
}

static void add_origin(struct paths *p, struct origin added)
{
    while (p->n_origins > 1 &&
           !is_corner(&p->origin[p->n_origins - 2], &p->origin[p->n_origins - 1], &added))
        p->n_origins--;
    p->origin[p->n_origins++] = added;
}

/* The highest of origin.head_s - origin.position * gap_s: where the hull's slope falls below it. */
static double best_origin(const struct paths *p, double gap_s)
{
    size_t low = 0, high = p->n_origins - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct origin *o = &p->origin[middle];
        if (o[1].head_s - o[0].head_s > gap_s * (o[1].position - o[0].position))
            low = middle + 1;
        else
            high = middle;
    }
    return p->origin[low].head_s - p->origin[low].position * gap_s;
}

/*
 * A stay is given up for a later one on a link that is not cheaper, and where another is later
 * before it ever is.
 */
static void add_stay(struct paths *p, struct stay added)
{
    while (p->n_stays > p->first_stay) {
        const struct stay *last = &p->stay[p->n_stays - 1];
        if (last->gap_s < added.gap_s) {
            added.from = (last->end_s - added.end_s) / (added.gap_s - last->gap_s);
            if (added.from > last->from)
                break;
        }
        p->n_stays--;
    }
    p->stay[p->n_stays++] = added;
}

static double latest_stay(struct paths *p, double position)
{
    while (p->first_stay + 1 < p->n_stays && p->stay[p->first_stay + 1].from <= position)
        p->first_stay++;
    return p->stay[p->first_stay].end_s + position * p->stay[p->first_stay].gap_s;
}

/* Paths between two visits of the slowest link; `latest_s` becomes the end of them all. */
static void follow_others(const struct ring_paths *r, struct paths *p, double *latest_s)
{
    double slowest_s = r->n_rounds * r->stay_s[r->slowest], lead_s = gap_of_passing(r, 0);
    latest_s[r->slowest] += slowest_s;
    for (size_t i = 1; i < r->n_devices; i++) {
        double gap = gap_of_staying(r, i), position = (double)i, *latest = &latest_s[place(r, i)];
        add_origin(p, (struct origin){position, r->start_s[place(r, i)] + lead_s});
        add_stay(p, (struct stay){best_origin(p, gap) - r->n_rounds * gap, gap, 0});
        *latest = later_of(*latest, latest_stay(p, position)) - lead_s + slowest_s;
        lead_s += gap_of_passing(r, i);
    }
}

bool ring_paths_end(struct ring_paths r, double *end_s)
{
    struct paths paths = {.origin = malloc(r.n_devices * sizeof *paths.origin),
                          .stay = malloc(r.n_devices * sizeof *paths.stay)};
    bool ok = paths.origin && paths.stay;
    r.slowest = 0;
    for (size_t i = 1; i < r.n_devices; i++)
        r.slowest = r.stay_s[i] > r.stay_s[r.slowest] ? i : r.slowest;
    if (ok) {
        follow_slowest(&r, end_s);
        follow_others(&r, &paths, end_s);
    }
    free(paths.origin);
    free(paths.stay);
    return ok;
}
