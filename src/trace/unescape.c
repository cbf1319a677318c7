#include "trace/unescape.h"

#include <string.h>

#include "base/text.h"

enum { REPLACEMENT = 0xfffd };

struct output {
    char *end;
    uint64_t n_broken;
};

static void put(struct output *out, uint32_t c)
{
    char *to = out->end;
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    out->end = to;
}

static void put_broken(struct output *out)
{
    put(out, REPLACEMENT);
    out->n_broken++;
}

/* Value of the \uXXXX at `s`, or -1 where there is none. */
static int32_t unit_at(const char *s, const char *end)
{
    if (end - s < 6 || s[0] != '\\' || s[1] != 'u')
        return -1;
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        int lower = s[i] | 0x20;
        if (s[i] >= '0' && s[i] <= '9')
            unit = 16 * unit + (s[i] - '0');
        else if (lower >= 'a' && lower <= 'f')
            unit = 16 * unit + (lower - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

/* A \uXXXX, or two of them that make one character. Returns what it is long. */
static size_t put_unit(struct output *out, const char *s, const char *end, int32_t unit)
{
    bool high = unit >= 0xd800 && unit < 0xdc00;
    int32_t low = high ? unit_at(s + 6, end) : -1;
    if (low >= 0xdc00 && low < 0xe000) {
        put(out, (uint32_t)(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
        return 12;
    }
    if (unit == 0 || (unit >= 0xd800 && unit < 0xe000))
        put_broken(out);
    else
        put(out, (uint32_t)unit);
    return 6;
}

/* The escape at `s`; returns what it is long. */
static size_t put_escape(struct output *out, const char *s, const char *end)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int32_t unit = unit_at(s, end);
    if (unit >= 0)
        return put_unit(out, s, end, unit);
    const char *letter = end - s > 1 && s[1] ? strchr(letters, s[1]) : NULL;
    put(out, letter ? (uint32_t)meant[letter - letters] : '\\');
    return letter ? 2 : 1;
}

/* A character beyond ASCII; returns what it is long. */
static size_t put_character(struct output *out, const char *s)
{
    size_t n = text_utf8_length(s);
    if (n == 0) {
        put_broken(out);
        return 1;
    }
    memcpy(out->end, s, n);
    out->end += n;
    return n;
}

size_t unescape(const char *written, size_t length, char *text, uint64_t *n_broken)
{
    struct output out = {.end = text};
    const char *end = written + length;
    for (const char *s = written; s < end;) {
        if (*s == '\\')
            s += put_escape(&out, s, end);
        else if ((unsigned char)*s >= 0x80)
            s += put_character(&out, s);
        else
            *out.end++ = *s++;
    }
    *out.end = '\0';
    if (n_broken)
        *n_broken += out.n_broken;
    return (size_t)(out.end - text);
}

bool unescape_equals(const char *written, size_t length, const char *word)
{
    enum { LONGEST = 64, LONGEST_WRITTEN = 6 * LONGEST };
    size_t word_length = strlen(word);
    if (!memchr(written, '\\', length))
        return length == word_length && memcmp(written, word, length) == 0;
    char text[3 * LONGEST_WRITTEN + 1];
    if (word_length > LONGEST || length > LONGEST_WRITTEN)
        return false;
    return unescape(written, length, text, NULL) == word_length &&
           memcmp(text, word, word_length) == 0;
}
