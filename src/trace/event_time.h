/* Times of a trace: microseconds as decimal text, to nanoseconds without a double in between. */
#ifndef FORETRAIN_TRACE_EVENT_TIME_H
#define FORETRAIN_TRACE_EVENT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/scan.h"

/*
 * Reads the JSON number at `text`, which scan_number accepts, as microseconds; rounds to the
 * nearest nanosecond, halves away from zero. False beyond an int64.
 */
bool event_time_ns(const char *text, int64_t *time_ns);

/*
 * The same for a number as traces hold them, at most 15 digits and perhaps three decimals, and
 * returns its end; NULL for all else, right or wrong, and where it may go on beyond the text.
 */
static inline const char *event_time_short(const char *p, int64_t *time_ns)
{
    int64_t ns = 0;
    const char *point = p + __builtin_ctz(~simd16_digits(p));
    const char *end = *point == '.' ? point + 4 : point;
    if (point == p || point == p + 16 || (*p == '0' && point > p + 1))
        return NULL;
    for (; p < point; p++)
        ns = 10 * ns + (*p - '0');
    if (end > point && (simd16_digits(point + 1) & 15) != 7)
        return NULL;
    ns = end > point ? 1000 * ns + 100 * (point[1] - '0') + 10 * (point[2] - '0') + (point[3] - '0')
                     : 1000 * ns;
    *time_ns = ns;
    return *end && *end != 'e' && *end != 'E' ? end : NULL;
}

#endif
