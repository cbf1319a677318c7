/*
 * The best whole numbers, by boxes of them: a function that grows with each is at its least at a
 * box's lowest corner, which bounds the whole box from below (best first, Land and Doig 1960). One
 * that falls somewhere brings its own bound.
 */
#ifndef FORETRAIN_PLAN_BATCH_BOXES_H
#define FORETRAIN_PLAN_BATCH_BOXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_problem {
    size_t n;                    /* numbers */
    const int64_t *weight;       /* [n], samples of a step for each one of a number */
    const int64_t *least, *most; /* [n] */
    int64_t sum;                 /* that the weighted numbers must have; 0: any */
    double (*step_s)(void *self, const int64_t *number); /* may be INFINITY */
    /* No step from `low` to `high` takes less; NULL: none takes less than that of `low`. */
    double (*least_s)(void *self, const int64_t *low, const int64_t *high);
    void *self;
    size_t most_tries; /* calls of step_s */
};

struct batch_answer {
    bool found;
    bool exact;        /* nothing is better; false: cut off by most_tries */
    double s_a_sample; /* step over weighted sum, the least found */
    double bound;      /* none is below */
    int64_t *number;   /* [n], the caller's */
};

/*
 * Looks for the numbers with the least step for each sample. `answer->number` comes with numbers to
 * start from and `answer->s_a_sample` with what they take (INFINITY: none); they stay where nothing
 * is better by a billionth.
 */
void batch_boxes_search(const struct batch_problem *problem, struct batch_answer *answer);

#endif
