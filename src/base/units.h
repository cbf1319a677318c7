/*
 * Quantities as people write them, to SI and back. The only place where units are converted.
 *
 * Decimal and binary prefixes differ: 1 GB = 10^9 B, 1 GiB = 2^30 B; b and bit are bits, B is
 * bytes: 25 Gbit/s = 25 Gb/s = 3.125 GB/s.
 */
#ifndef FORETRAIN_BASE_UNITS_H
#define FORETRAIN_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum dimension {
    DIMENSION_BYTES,     /* "200 TB", "110 kB", "2 GiB" -> bytes */
    DIMENSION_BANDWIDTH, /* "25 Gbit/s", "3.1 GB/s", "100 Mbps" -> bytes per second */
    DIMENSION_TIME,      /* "10 us", "1.5 ms", "2 h", "14d" -> seconds */
    DIMENSION_SHARE,     /* "10 %" -> 0.1 */
    DIMENSION_PRICE,     /* "2.5/h", "60 / d" of any currency -> per second */
};

/*
 * Reads a number and its unit. Fails (ERROR_INPUT, text only: the caller knows the place) on
 * anything else: no number, NaN, infinity, no unit (a plain 0 needs none), an unknown unit (names
 * the nearest), or text behind it. The sign is not judged.
 */
bool units_parse(const char *text, enum dimension dimension, double *value, struct error *e);

/* What a quantity of the dimension looks like, for messages: `a size such as "1 GB"`. */
const char *units_example(enum dimension dimension);

enum { UNITS_TEXT_SIZE = 48 };

/*
 * Text of a quantity for people, three significant digits or more, with its unit ("1.30 s", "84.2
 * ms", "25 Gbit/s"). `text` has UNITS_TEXT_SIZE bytes and is returned.
 */
char *units_format(double value, enum dimension dimension, char *text);

/* Text of a long time as days, hours, minutes, seconds: "12d 4h 07m 31s"; below a minute as
 * units_format. */
char *units_format_duration(double seconds, char *text);

/* A count with thousands separated: "15,625". */
char *units_format_count(double count, char *text);

#endif
