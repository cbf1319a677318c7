/*
 * Sixteen bytes at a time, with SSE2 where the machine has it. Every function reads 16 bytes at
 * `p`, whatever the text's end, and gives masks in which bit i stands for byte i.
 */
#ifndef FORETRAIN_TRACE_SIMD16_H
#define FORETRAIN_TRACE_SIMD16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <string.h>

#include <emmintrin.h>

/* Bytes that end plain text in a JSON string: the quote, the backslash and control characters.
 * `high`: bytes beyond ASCII. */
static inline unsigned simd16_string_stops(const char *p, unsigned *high)
{
    __m128i v = _mm_loadu_si128((const __m128i *)p);
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    *high = (unsigned)_mm_movemask_epi8(v);
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
}

static inline unsigned simd16_digits(const char *p)
{
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v));
}

static inline unsigned simd16_equal(const char *p, const char *q)
{
    return (unsigned)_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), _mm_loadu_si128((const __m128i *)q)));
}

/* Value of the eight digits in a word, the first in its lowest byte: pairs, fours, then all. */
static inline uint64_t simd16_eight_digits(uint64_t word)
{
    word = word * 10 + (word >> 8);
    return ((word & 0x000000ff000000ff) * 0x000f424000000064 +
            (word >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
           32;
}

/* Value of the `n` digits at `p`, 1 to 16. */
static inline int64_t simd16_decimal(const char *p, unsigned n)
{
    uint64_t word, last;
    unsigned first = n < 8 ? n : 8;
    memcpy(&word, p, sizeof word);
    word = (word - 0x3030303030303030) << 8 * (8 - first);
    if (n <= 8)
        return (int64_t)simd16_eight_digits(word);
    memcpy(&last, p + n - 8, sizeof last);
    word = word << 8 * (16 - n);
    return (int64_t)(simd16_eight_digits(word) * 100000000 +
                     simd16_eight_digits(last - 0x3030303030303030));
}

#else

static inline unsigned simd16_string_stops(const char *p, unsigned *high)
{
    unsigned stops = 0;
    *high = 0;
    for (int i = 0; i < 16; i++) {
        unsigned char c = (unsigned char)p[i];
        stops |= (unsigned)(c < 0x20 || c == '"' || c == '\\') << i;
        *high |= (unsigned)(c >= 0x80) << i;
    }
    return stops;
}

static inline unsigned simd16_digits(const char *p)
{
    unsigned digits = 0;
    for (int i = 0; i < 16; i++)
        digits |= (unsigned)((unsigned char)(p[i] - '0') < 10) << i;
    return digits;
}

static inline unsigned simd16_equal(const char *p, const char *q)
{
    unsigned equal = 0;
    for (int i = 0; i < 16; i++)
        equal |= (unsigned)(p[i] == q[i]) << i;
    return equal;
}

static inline int64_t simd16_decimal(const char *p, unsigned n)
{
    int64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value = 10 * value + (p[i] - '0');
    return value;
}

#endif

#endif
