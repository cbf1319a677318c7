/*
 * HTML, element by element. What users, hosts and files say reaches a page through here, escaped:
 * it can be read, and do nothing else.
 */
#ifndef FORETRAIN_REPORT_HTML_H
#define FORETRAIN_REPORT_HTML_H

#include <stdarg.h>

#include "base/text.h"

/* Text, or the value of an attribute in double quotes; control characters become \xHH. */
void html_add(struct text *out, const char *text);
__attribute__((format(printf, 2, 3))) void html_format(struct text *out, const char *format, ...);
__attribute__((format(printf, 2, 0))) void html_format_list(struct text *out, const char *format,
                                                            va_list args);

/* The same with lines and tabs kept, for <pre>. */
void html_lines(struct text *out, const char *text);

/* <name class="class">text</name>; `class` may be NULL. */
__attribute__((format(printf, 4, 5))) void
html_element(struct text *out, const char *name, const char *class_name, const char *format, ...);

/* "a-very-l…ame-17": at most `most` characters, at least 1; names differ at their ends. */
const char *html_short(struct arena *arena, const char *text, size_t most);

/* A table that scrolls by itself where it is wider than the page. `head` ends with NULL; a column
 * whose head begins with '#' holds numbers. */
void html_table_open(struct text *out, const char *caption, const char *const *head);
void html_table_close(struct text *out);

void html_row_open(struct text *out);
void html_row_close(struct text *out);
__attribute__((format(printf, 2, 3))) void html_cell(struct text *out, const char *format, ...);
__attribute__((format(printf, 2, 3))) void html_number(struct text *out, const char *format, ...);

#endif
