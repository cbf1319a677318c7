/* Edit distance over three rows; words longer than a key ever is are not compared. */
#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 64 };

static int substitution_cost(char a, char b)
{
    if (a == b)
        return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/*
 * Twice the edit distance, in which two letters swapped are one edit and a change of case half of
 * one (optimal string alignment).
 */
static int distance(const char *a, size_t length_a, const char *b, size_t length_b)
{
    int rows[3][LONGEST_WORD + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= length_b; j++)
        last[j] = 2 * (int)j;
    for (size_t i = 1; i <= length_a; i++) {
        row[0] = 2 * (int)i;
        for (size_t j = 1; j <= length_b; j++) {
            int replaced = last[j - 1] + substitution_cost(a[i - 1], b[j - 1]);
            row[j] = smaller(replaced, smaller(last[j], row[j - 1]) + 2);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 2);
        }
        int *freed = before;
        before = last;
        last = row;
        row = freed;
    }
    return last[length_b];
}

const char *text_nearest(const char *text, const char *const *word, size_t n)
{
    size_t length = strlen(text);
    if (length == 0 || length > LONGEST_WORD)
        return NULL;
    const char *nearest = NULL;
    int least = 0;
    for (size_t i = 0; i < n; i++) {
        size_t word_length = strlen(word[i]);
        if (word_length > LONGEST_WORD)
            continue;
        int d = distance(text, length, word[i], word_length);
        int limit = 2 * (int)((length > word_length ? length : word_length) + 1) / 3;
        if (d <= (limit > 2 ? limit : 2) && (!nearest || d < least)) {
            nearest = word[i];
            least = d;
        }
    }
    return nearest;
}

const char *text_after_mark(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, strlen(mark)) == 0 ? text + strlen(mark) : text;
}

bool text_ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), least = strlen(ending);
    return length >= least && strcmp(text + length - least, ending) == 0;
}

void text_add_n(struct text *text, const char *addition, size_t length)
{
    if (!text->data || text->capacity - text->length < length + 1) {
        size_t capacity = 2 * (text->length + length + 1);
        text->data = memory_resize(text->data, capacity, 1);
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, addition, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *addition)
{
    text_add_n(text, addition, strlen(addition));
}

void text_format(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *addition = NULL;
    int length = vasprintf(&addition, format, args);
    va_end(args);
    if (length < 0)
        memory_exhausted();
    text_add_n(text, addition, (size_t)length);
    free(addition);
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* Line and paragraph separators and marks that turn the direction of writing. */
static bool drives_layout(const unsigned char *s)
{
    if (s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

size_t text_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
               : (s[0] & 0xf0) == 0xe0        ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : n;
}

/* Length of a character that is safe to show, or 0: C1 controls (U+0080 to U+009F) and what drives
 * the layout are not. */
static size_t printable_length(const unsigned char *s)
{
    bool control = s[0] == 0xc2 && s[1] < 0xa0;
    return control || drives_layout(s) ? 0 : text_utf8_length((const char *)s);
}

char *text_printable(struct arena *arena, const char *text, int keep_lines)
{
    struct text out = {0};
    for (const char *s = text; *s;) {
        unsigned char c = (unsigned char)*s;
        bool kept_space = keep_lines && (c == '\n' || c == '\t');
        size_t n = printable_length((const unsigned char *)s);
        if ((c < ' ' && !kept_space) || c == 0x7f || n == 0) {
            text_format(&out, "\\x%02x", c);
            s++;
        } else {
            text_add_n(&out, s, n);
            s += n;
        }
    }
    char *copy = arena_copy(arena, out.data ? out.data : "");
    text_free(&out);
    return copy;
}
