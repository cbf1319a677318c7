/* A forecast on disk before the truth is known: dated and hashed. */
#ifndef FORETRAIN_CLI_FORECAST_PROOF_H
#define FORETRAIN_CLI_FORECAST_PROOF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "predict/forecast.h"

struct forecast_proof {
    char written[CLOCK_DATE_SIZE];
    char sha256[FILE_HASH_SIZE]; /* of forecast.json */
};

/*
 * Writes `folder`/forecast.json, which says when it was written, and forecast.sha256, as sha256sum
 * has it; both are on the disk when this returns. A forecast that is there already and says the
 * same stays as it is, with its date.
 */
bool forecast_proof_write(struct arena *arena, const char *folder, const struct forecast *forecast,
                          struct forecast_proof *proof, struct error *e);

#endif
