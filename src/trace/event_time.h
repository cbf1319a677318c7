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
 * The same for a number as traces hold them, at most 16 digits and perhaps three decimals, and
 * returns its end; NULL for all else, right or wrong, and where it may go on beyond the text.
 */
static inline const char *event_time_short(const char *p, int64_t *time_ns)
{
    unsigned n = (unsigned)__builtin_ctz(~simd16_digits(p));
    if (n == 0 || (*p == '0' && n > 1))
        return NULL;
    const char *end = p + n;
    int64_t us = simd16_decimal(p, n);
    if (us >= 9000000000000000 || (*end >= '0' && *end <= '9'))
        return NULL;
    int64_t ns = 1000 * us;
    if (*end == '.') {
        if ((simd16_digits(end + 1) & 15) != 7)
            return NULL;
        ns += 100 * (end[1] - '0') + 10 * (end[2] - '0') + (end[3] - '0');
        end += 4;
    }
    *time_ns = ns;
    return *end && *end != 'e' && *end != 'E' ? end : NULL;
}

#endif
