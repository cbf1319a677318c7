/* The quantities of a job that can be changed, each by its path: "a100.count",
 * "network.a100-mlu370.bandwidth", "training.epochs". */
#ifndef FORETRAIN_PLAN_QUANTITY_H
#define FORETRAIN_PLAN_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "plan/what_if.h"

struct quantity_kind;

struct quantity {
    const char *path; /* without "devices." in front */
    const struct quantity_kind *kind;
    int type[2]; /* of the path; JOB_NO_TYPE: none */
};

/* Finds what a path of the job names. Fails (ERROR_USAGE) naming the nearest path. */
bool quantity_find(struct arena *arena, const struct job *job, const char *path,
                   struct quantity *quantity, struct error *e);

/*
 * Values as a user lists them, in SI units: "0:200:10" (first, last, step), "10,25,100 Gbit/s" (the
 * last one's unit for those without), or a mixture of both. Fails (ERROR_USAGE) where one is none
 * for the quantity.
 */
bool quantity_values(struct arena *arena, const struct quantity *quantity, const char *text,
                     double **value, size_t *n, struct error *e);

/* Whether it is a count of devices, or a batch. */
bool quantity_is_count(const struct quantity *quantity);
bool quantity_is_batch(const struct quantity *quantity);

/* Gives a variant another value. It needs room for one change of a link more. */
void quantity_set(const struct quantity *quantity, double value, struct variant *variant);

/* Of what its values are counted, to follow a name: "", "Bps", "bytes", "s", "per_s". */
const char *quantity_unit(const struct quantity *quantity);

/* Text of a value for people; `text` has UNITS_TEXT_SIZE bytes and is returned. */
char *quantity_format(const struct quantity *quantity, double value, char *text);

#endif
