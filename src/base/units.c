/* One table of units; the longest name wins by comparing whole words. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct unit {
    const char *name;
    enum dimension dimension;
    long double factor; /* so that "10 us" is the double nearest to 1e-5 */
};

static const struct unit table[] = {
    {"B", DIMENSION_BYTES, 1},
    {"byte", DIMENSION_BYTES, 1},
    {"bytes", DIMENSION_BYTES, 1},
    {"kB", DIMENSION_BYTES, 1e3},
    {"KB", DIMENSION_BYTES, 1e3},
    {"MB", DIMENSION_BYTES, 1e6},
    {"GB", DIMENSION_BYTES, 1e9},
    {"TB", DIMENSION_BYTES, 1e12},
    {"PB", DIMENSION_BYTES, 1e15},
    {"KiB", DIMENSION_BYTES, 1024.0},
    {"MiB", DIMENSION_BYTES, 1024.0 * 1024},
    {"GiB", DIMENSION_BYTES, 1024.0 * 1024 * 1024},
    {"TiB", DIMENSION_BYTES, 1024.0 * 1024 * 1024 * 1024},
    {"PiB", DIMENSION_BYTES, 1024.0 * 1024 * 1024 * 1024 * 1024},
    {"bit/s", DIMENSION_BANDWIDTH, 1.0 / 8},
    {"kbit/s", DIMENSION_BANDWIDTH, 1e3 / 8},
    {"Mbit/s", DIMENSION_BANDWIDTH, 1e6 / 8},
    {"Gbit/s", DIMENSION_BANDWIDTH, 1e9 / 8},
    {"Tbit/s", DIMENSION_BANDWIDTH, 1e12 / 8},
    {"b/s", DIMENSION_BANDWIDTH, 1.0 / 8},
    {"kb/s", DIMENSION_BANDWIDTH, 1e3 / 8},
    {"Mb/s", DIMENSION_BANDWIDTH, 1e6 / 8},
    {"Gb/s", DIMENSION_BANDWIDTH, 1e9 / 8},
    {"Tb/s", DIMENSION_BANDWIDTH, 1e12 / 8},
    {"bps", DIMENSION_BANDWIDTH, 1.0 / 8},
    {"kbps", DIMENSION_BANDWIDTH, 1e3 / 8},
    {"Mbps", DIMENSION_BANDWIDTH, 1e6 / 8},
    {"Gbps", DIMENSION_BANDWIDTH, 1e9 / 8},
    {"Tbps", DIMENSION_BANDWIDTH, 1e12 / 8},
    {"B/s", DIMENSION_BANDWIDTH, 1},
    {"kB/s", DIMENSION_BANDWIDTH, 1e3},
    {"MB/s", DIMENSION_BANDWIDTH, 1e6},
    {"GB/s", DIMENSION_BANDWIDTH, 1e9},
    {"TB/s", DIMENSION_BANDWIDTH, 1e12},
    {"KiB/s", DIMENSION_BANDWIDTH, 1024.0},
    {"MiB/s", DIMENSION_BANDWIDTH, 1024.0 * 1024},
    {"GiB/s", DIMENSION_BANDWIDTH, 1024.0 * 1024 * 1024},
    {"ns", DIMENSION_TIME, 1e-9L},
    {"us", DIMENSION_TIME, 1e-6L},
    {"\xc2\xb5s", DIMENSION_TIME, 1e-6L}, /* micro sign */
    {"\xce\xbcs", DIMENSION_TIME, 1e-6L}, /* Greek mu */
    {"ms", DIMENSION_TIME, 1e-3L},
    {"s", DIMENSION_TIME, 1},
    {"sec", DIMENSION_TIME, 1},
    {"min", DIMENSION_TIME, 60},
    {"h", DIMENSION_TIME, 3600},
    {"d", DIMENSION_TIME, 86400},
    {"%", DIMENSION_SHARE, 1e-2L},
    {"/s", DIMENSION_PRICE, 1},
    {"/h", DIMENSION_PRICE, 1 / 3600.0L},
    {"/ h", DIMENSION_PRICE, 1 / 3600.0L},
    {"/d", DIMENSION_PRICE, 1 / 86400.0L},
    {"/ d", DIMENSION_PRICE, 1 / 86400.0L},
};
enum { N_UNITS = sizeof table / sizeof *table };

const char *units_example(enum dimension dimension)
{
    static const char *const example[] = {
        [DIMENSION_BYTES] = "a size such as \"1 GB\"",
        [DIMENSION_BANDWIDTH] = "a rate such as \"25 Gbit/s\"",
        [DIMENSION_TIME] = "a time such as \"10 us\"",
        [DIMENSION_SHARE] = "a share such as \"10 %\"",
        [DIMENSION_PRICE] = "a price such as \"2.5/h\"",
    };
    return example[dimension];
}

/* The unit that is meant: one written nearly so, or one that begins so ("25G", "100 Mb"). */
static const char *nearest_unit(const char *unit, enum dimension dimension)
{
    const char *name[N_UNITS], *longer = NULL;
    size_t n = 0;
    for (size_t i = 0; i < N_UNITS && *unit; i++) {
        if (table[i].dimension != dimension)
            continue;
        name[n++] = table[i].name;
        if (!longer && strncmp(table[i].name, unit, strlen(unit)) == 0)
            longer = table[i].name;
    }
    const char *nearest = text_nearest(unit, name, n);
    return nearest ? nearest : longer;
}

static bool unknown_unit(const char *unit, enum dimension dimension, struct error *e)
{
    if (!*unit)
        error_set(e, ERROR_INPUT, "the unit is missing; expected %s", units_example(dimension));
    else
        error_set(e, ERROR_INPUT, "unknown unit '%s'; expected %s", unit, units_example(dimension));
    const char *nearest = nearest_unit(unit, dimension);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    return false;
}

/* strtod also takes "nan", "inf" and hexadecimal; people's files hold decimal numbers only. */
static bool parse_number(const char *text, const char **end, double *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    if (!isdigit((unsigned char)*digits) && !(*digits == '.' && isdigit((unsigned char)digits[1])))
        return false;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return false;
    char *stop = NULL;
    errno = 0;
    *value = strtod(text, &stop);
    *end = stop;
    return errno == 0 && isfinite(*value);
}

bool units_parse(const char *text, enum dimension dimension, double *value, struct error *e)
{
    const char *unit = NULL;
    double number = 0;
    while (isspace((unsigned char)*text))
        text++;
    if (!parse_number(text, &unit, &number)) {
        error_set(e, ERROR_INPUT, "'%s' is not %s", text, units_example(dimension));
        return false;
    }
    while (isspace((unsigned char)*unit))
        unit++;
    if (!*unit && number == 0) {
        *value = 0;
        return true;
    }
    for (size_t i = 0; i < N_UNITS; i++) {
        if (table[i].dimension == dimension && strcmp(table[i].name, unit) == 0) {
            double si = (double)(number * table[i].factor);
            if (!isfinite(si)) {
                error_set(e, ERROR_INPUT, "'%s' is too large", text);
                return false;
            }
            *value = si;
            return true;
        }
    }
    return unknown_unit(unit, dimension, e);
}

struct scale {
    double from;
    double factor;
    const char *name;
};

static char *format_scaled(double value, const struct scale *scale, char *text)
{
    while (scale->from > 0 && fabs(value) < scale->from * 0.9995)
        scale++;
    double scaled = value / scale->factor;
    double size = fabs(scaled);
    bool whole = fabs(scaled - rint(scaled)) < 1e-9 * size;
    int decimals = size >= 99.95 || whole ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(text, UNITS_TEXT_SIZE, "%.*f %s", decimals, scaled, scale->name);
    return text;
}

char *units_format(double value, enum dimension dimension, char *text)
{
    static const struct scale bytes[] = {{1e15, 1e15, "PB"}, {1e12, 1e12, "TB"}, {1e9, 1e9, "GB"},
                                         {1e6, 1e6, "MB"},   {1e3, 1e3, "kB"},   {0, 1, "B"}};
    static const struct scale rate[] = {{1e12, 1e12, "Tbit/s"},
                                        {1e9, 1e9, "Gbit/s"},
                                        {1e6, 1e6, "Mbit/s"},
                                        {1e3, 1e3, "kbit/s"},
                                        {0, 1, "bit/s"}};
    static const struct scale time[] = {
        {1, 1, "s"}, {1e-3, 1e-3, "ms"}, {1e-6, 1e-6, "us"}, {0, 1e-9, "ns"}};
    static const struct scale share[] = {{0, 1e-2, "%"}};
    if (value == 0 && dimension == DIMENSION_TIME) {
        snprintf(text, UNITS_TEXT_SIZE, "0 s");
        return text;
    }
    switch (dimension) {
    case DIMENSION_BYTES:
        return format_scaled(value, bytes, text);
    case DIMENSION_BANDWIDTH:
        return format_scaled(value * 8, rate, text);
    case DIMENSION_TIME:
        return format_scaled(value, time, text);
    case DIMENSION_SHARE:
        return format_scaled(value, share, text);
    case DIMENSION_PRICE:
        snprintf(text, UNITS_TEXT_SIZE, "%.6g/h", value * 3600);
        return text;
    }
    return text;
}

char *units_format_duration(double seconds, char *text)
{
    if (!(seconds >= 59.5))
        return units_format(seconds, DIMENSION_TIME, text);
    if (seconds >= 1e15) {
        snprintf(text, UNITS_TEXT_SIZE, "%.3g d", seconds / 86400);
        return text;
    }
    unsigned long long s = (unsigned long long)(seconds + 0.5);
    unsigned long long days = s / 86400, hours = s / 3600 % 24, minutes = s / 60 % 60;
    if (days)
        snprintf(text, UNITS_TEXT_SIZE, "%llud %lluh %02llum %02llus", days, hours, minutes,
                 s % 60);
    else if (hours)
        snprintf(text, UNITS_TEXT_SIZE, "%lluh %02llum %02llus", hours, minutes, s % 60);
    else
        snprintf(text, UNITS_TEXT_SIZE, "%llum %02llus", minutes, s % 60);
    return text;
}

char *units_format_count(double count, char *text)
{
    char digits[UNITS_TEXT_SIZE];
    if (!(fabs(count) < 1e15)) {
        snprintf(text, UNITS_TEXT_SIZE, "%.4g", count);
        return text;
    }
    int n = snprintf(digits, sizeof digits, "%.0f", count);
    char *out = text;
    for (int i = 0; i < n; i++) {
        *out++ = digits[i];
        int left = n - 1 - i;
        if (left > 0 && left % 3 == 0 && isdigit((unsigned char)digits[i]))
            *out++ = ',';
    }
    *out = '\0';
    return text;
}
