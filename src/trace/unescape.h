/* The text of a JSON string, from what is written between its quotes. */
#ifndef FORETRAIN_TRACE_UNESCAPE_H
#define FORETRAIN_TRACE_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that `length` written bytes can become at most, a zero behind them included. */
static inline size_t unescape_size(size_t length)
{
    return 3 * length + 1;
}

/*
 * Decodes `written[length]`, which scan_string has read, into `text`, ended by a zero; returns its
 * length. Unknown escapes stay as they are written. What is no UTF-8, a lone surrogate or a zero
 * becomes U+FFFD and is counted in `n_broken`, which may be NULL.
 */
size_t unescape(const char *written, size_t length, char *text, uint64_t *n_broken);

/* Whether it decodes to `word`, a short one. */
bool unescape_equals(const char *written, size_t length, const char *word);

#endif
