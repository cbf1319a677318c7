#include "report/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_escaped(struct text *out, const char *text, int keep_lines)
{
    struct arena scratch = {0};
    const char *from = text_printable(&scratch, text, keep_lines);
    while (*from) {
        size_t plain = strcspn(from, "&<>\"'");
        text_add_n(out, from, plain);
        from += plain;
        if (*from)
            text_add(out, entity_of(*from++));
    }
    arena_free(&scratch);
}

void html_add(struct text *out, const char *text)
{
    add_escaped(out, text, 0);
}

void html_lines(struct text *out, const char *text)
{
    add_escaped(out, text, 1);
}

void html_format_list(struct text *out, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    html_add(out, text);
    free(text);
}

void html_format(struct text *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    html_format_list(out, format, args);
    va_end(args);
}

void html_element(struct text *out, const char *name, const char *class_name, const char *format,
                  ...)
{
    va_list args;
    va_start(args, format);
    if (class_name)
        text_format(out, "<%s class=\"%s\">", name, class_name);
    else
        text_format(out, "<%s>", name);
    html_format_list(out, format, args);
    text_format(out, "</%s>\n", name);
    va_end(args);
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* Where the character of that number begins, or the text ends. */
static size_t offset_of(const char *text, size_t number)
{
    size_t i = 0;
    for (; text[i]; i++) {
        if (starts_character(text[i]) && number-- == 0)
            break;
    }
    return i;
}

const char *html_short(struct arena *arena, const char *text, size_t most)
{
    const char *printable = text_printable(arena, text, 0);
    size_t n = 0, tail = (most - 1) / 2;
    for (const char *c = printable; *c; c++)
        n += starts_character(*c);
    if (n <= most)
        return printable;
    return arena_format(arena, "%.*s\u2026%s", (int)offset_of(printable, most - 1 - tail),
                        printable, printable + offset_of(printable, n - tail));
}

void html_table_open(struct text *out, const char *caption, const char *const *head)
{
    text_add(out, "<div class=\"wide\" tabindex=\"0\">\n<table>\n");
    text_add(out, "<caption><span>");
    html_add(out, caption);
    text_add(out, "</span></caption>\n");
    text_add(out, "<thead><tr>");
    for (; *head; head++) {
        bool number = **head == '#';
        text_format(out, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        html_add(out, *head + number);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
}

void html_table_close(struct text *out)
{
    text_add(out, "</tbody>\n</table>\n</div>\n");
}

void html_row_open(struct text *out)
{
    text_add(out, "<tr>");
}

void html_row_close(struct text *out)
{
    text_add(out, "</tr>\n");
}

void html_cell(struct text *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add(out, "<td>");
    html_format_list(out, format, args);
    text_add(out, "</td>");
    va_end(args);
}

void html_number(struct text *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add(out, "<td class=\"n\">");
    html_format_list(out, format, args);
    text_add(out, "</td>");
    va_end(args);
}
