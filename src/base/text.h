/* Small helpers on text: the nearest word, text that grows, and making foreign text safe to show.
 */
#ifndef FORETRAIN_BASE_TEXT_H
#define FORETRAIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/*
 * The word of `word[n]` nearest to `text` by edit distance (letters' case counts half), or NULL
 * where none is near enough to be meant. Ties go to the first. O(n * length^2).
 */
const char *text_nearest(const char *text, const char *const *word, size_t n);

/* `text` behind a UTF-8 byte-order mark, where it begins with one. */
const char *text_after_mark(const char *text);

bool text_ends_with(const char *text, const char *ending);

/* Length of the UTF-8 character that `text` begins with (1 to 4), 0 where it is none. Reads up to
 * the first byte that cannot belong to it. */
size_t text_utf8_length(const char *text);

/* Text that grows; a zeroed struct is empty. `data` is NULL or ends with a zero. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
};

void text_add(struct text *text, const char *addition);
void text_add_n(struct text *text, const char *addition, size_t length);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);
void text_free(struct text *text);

/*
 * `text` with control characters, escape sequences, marks of writing direction and broken UTF-8
 * written as \xHH, so that what a host or a user's file says cannot drive the terminal. Newlines
 * and tabs stay when `keep_lines`.
 */
char *text_printable(struct arena *arena, const char *text, int keep_lines);

#endif
