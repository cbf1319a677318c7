#include "trace/event_time.h"

#include <stddef.h>

struct decimal {
    uint64_t mantissa;
    int64_t exponent; /* of ten */
};

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits beyond the mantissa's are dropped: they are far below a nanosecond, or the number far
 * above an int64. */
static inline const char *read_digits(const char *p, struct decimal *d, int64_t exponent_of_each)
{
    const uint64_t full = 1000000000000000000u;
    for (; is_digit(*p); p++) {
        if (d->mantissa < full) {
            d->mantissa = 10 * d->mantissa + (uint64_t)(*p - '0');
            d->exponent += exponent_of_each;
        } else {
            d->exponent += 1 + exponent_of_each;
        }
    }
    return p;
}

static int64_t read_exponent(const char *p)
{
    enum { MOST = 100000000 };
    bool negative = *p == '-';
    int64_t exponent = 0;
    for (p += *p == '-' || *p == '+'; is_digit(*p); p++) {
        if (exponent < MOST)
            exponent = 10 * exponent + (*p - '0');
    }
    return negative ? -exponent : exponent;
}

/* mantissa * 10^exponent, rounded; false beyond an int64. */
static bool scale(struct decimal d, int64_t *whole)
{
    while (d.exponent > 0 && d.mantissa > 0) {
        if (d.mantissa > UINT64_MAX / 10)
            return false;
        d.mantissa *= 10;
        d.exponent--;
    }
    unsigned last = 0;
    for (; d.exponent < 0 && (d.mantissa > 0 || last > 0); d.exponent++) {
        last = (unsigned)(d.mantissa % 10);
        d.mantissa /= 10;
    }
    d.mantissa += last >= 5;
    *whole = (int64_t)d.mantissa;
    return d.mantissa <= INT64_MAX;
}

bool event_time_ns(const char *text, int64_t *time_ns)
{
    struct decimal d = {0, 3};
    bool negative = *text == '-';
    const char *p = read_digits(text + negative, &d, 0);
    if (*p == '.')
        p = read_digits(p + 1, &d, -1);
    if (*p == 'e' || *p == 'E')
        d.exponent += read_exponent(p + 1);
    int64_t whole;
    if (!scale(d, &whole))
        return false;
    *time_ns = negative ? -whole : whole;
    return true;
}
