/* Where a forecast's step goes, and what would make it shorter (docs/model.md, "The critical
 * path"). */
#ifndef FORETRAIN_PREDICT_EXPLAIN_H
#define FORETRAIN_PREDICT_EXPLAIN_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "predict/critical_path.h"
#include "predict/forecast.h"
#include "predict/remedies.h"
#include "predict/step_record.h"

/* What the critical path spends on one stage of one type's devices, or on one link's all-reduces.
 */
struct path_part {
    enum path_stage stage;
    int type;
    size_t position; /* of the first such device; all-reduce: the link from there */
    double each_s;   /* a step */
};

struct explanation {
    struct path_part *part; /* [n_parts], the longest first; they add up to step_s */
    size_t n_parts;
    size_t n_steps;           /* after which the path repeats */
    double step_s;            /* by means */
    double spread_s;          /* what waiting for the slowest, step by step, adds to it */
    struct step_parts *spent; /* [n_types], of a device in a step */
    struct remedy *remedy;    /* [n_remedies], the shortest step first */
    size_t n_remedies;
};

/*
 * Fails where the forecast is not the timeline's, saying why; or where the system is too large for
 * its steps to be recorded.
 */
bool explain(struct arena *arena, const struct job *job, const struct forecast *forecast,
             struct explanation *explanation, struct error *e);

#endif
