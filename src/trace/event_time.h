/* Times of a trace: microseconds as decimal text, to nanoseconds without a double in between. */
#ifndef FORETRAIN_TRACE_EVENT_TIME_H
#define FORETRAIN_TRACE_EVENT_TIME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the JSON number at `text`, which scan_number accepts, as microseconds; rounds to the
 * nearest nanosecond, halves away from zero. False beyond an int64.
 */
bool event_time_ns(const char *text, int64_t *time_ns);

#endif
