/* Time that passes: a clock that never jumps, naps, and the date for people. */
#ifndef FORETRAIN_BASE_CLOCK_H
#define FORETRAIN_BASE_CLOCK_H

enum { CLOCK_DATE_SIZE = 32 };

/* Seconds since an arbitrary origin, monotonic. */
double clock_now_s(void);

/* Sleeps; a signal ends it early, so that a cancel flag is seen at once. */
void clock_sleep(double duration_s);

/* The present date in UTC, "2026-11-29T12:00:00Z"; `text` has CLOCK_DATE_SIZE bytes and is
 * returned. */
char *clock_date(char *text);

#endif
