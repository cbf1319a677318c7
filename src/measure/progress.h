/* What a measurement tells its caller while it runs, and the caller's wish to end it. */
#ifndef FORETRAIN_MEASURE_PROGRESS_H
#define FORETRAIN_MEASURE_PROGRESS_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

/* Functions may be NULL; `self` is passed to them. */
struct progress {
    void *self;
    void (*say)(void *self, const char *text);    /* what is done, kept, passed over */
    void (*warn)(void *self, const char *text);   /* what must be known */
    void (*status)(void *self, const char *text); /* the present state, until the next one */
    const volatile sig_atomic_t *cancel;          /* not zero: end it; may be NULL */
};

__attribute__((format(printf, 2, 3))) void progress_say(const struct progress *progress,
                                                        const char *format, ...);
__attribute__((format(printf, 2, 3))) void progress_warn(const struct progress *progress,
                                                         const char *format, ...);
__attribute__((format(printf, 2, 3))) void progress_status(const struct progress *progress,
                                                           const char *format, ...);

/* True where the user wants it ended; then `e` is ERROR_HOST "interrupted". */
bool progress_cancelled(const struct progress *progress, struct error *e);

#endif
