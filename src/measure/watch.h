/* How far a training is, told from the outside: its first rank's record as it grows, and its
 * output. */
#ifndef FORETRAIN_MEASURE_WATCH_H
#define FORETRAIN_MEASURE_WATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "measure/subsystem.h"

enum { WATCH_LINE_SIZE = 256 };

/* A zeroed struct, with `alive_s` set to now, has seen nothing. */
struct watch {
    int iteration; /* the latest that ended; 0: none yet */
    int first_iteration;
    double first_s, latest_s; /* when the first and the latest were seen */
    double alive_s;           /* the last sign of life */
    off_t offset, output_bytes;
    char line[WATCH_LINE_SIZE]; /* start of the line that is not complete */
    size_t line_length;
};

/*
 * Reads what is new. Signs of life are iterations of the record; before its first one, any output.
 */
void watch_look(struct watch *watch, const struct subsystem *subsystem);

/* Seconds until iteration `last` ends, at the mean pace so far; negative: not known yet. */
double watch_left_s(const struct watch *watch, int last);

/* The text of the `error` line at the end of a rank's record, safe to show; NULL: there is none. */
char *watch_refusal(struct arena *arena, const struct subsystem *subsystem, int rank);

#endif
