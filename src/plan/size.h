/* How many of which devices: the cheapest mix that meets a deadline, or the fastest within a
 * budget. */
#ifndef FORETRAIN_PLAN_SIZE_H
#define FORETRAIN_PLAN_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "plan/what_if.h"

enum { SIZE_MOST_TYPES = 8 };

struct size_goal {
    double deadline_s;        /* of the total; 0: none, and the fastest mix is looked for */
    double budget;            /* in the currency of the prices; 0: none */
    const int64_t *available; /* [n_types], most devices of each type; 0: none */
};

struct mix {
    bool known;
    int64_t count[SIZE_MOST_TYPES]; /* by type of the job */
    struct outcome outcome;
};

struct size_answer {
    const struct what_if *what_if;
    struct size_goal goal;
    bool priced;     /* false: there is no price, and a cost is in device-hours */
    struct mix best; /* meets the goal; not known: none does, or none was found */
    double gap;      /* no mix that meets the goal is better by more than this share; 0: none is */
    size_t n_tried;  /* systems that were forecast for it */
    bool given_up;   /* after many of them: hence the gap */
    double waiting;  /* what_if_waiting */
    struct mix single; /* the best that meets the goal with one type only */
    /* With all that is available: */
    struct mix whole;
    struct mix fastest_single; /* one type */
    struct mix fastest_part;   /* some types */
};

/*
 * Searches all mixes of up to `available` devices of each type (docs/model.md, "How many of
 * which"). `what_if` was started with counts_vary. Exact but for `gap`, as long as a step gets no
 * shorter by more devices of the types that are in it. Fails where prices are given for some types
 * only, a budget without any, the epoch is not known, or a system cannot be forecast.
 */
bool size_find(struct arena *arena, const struct what_if *what_if, const struct size_goal *goal,
               struct size_answer *answer, struct error *e);

#endif
