/*
 * Errors as data: what is wrong in the user's words, where, and what to do about it.
 *
 * Who first decides that it is an error describes it, once; callers add only where they were
 * (`error_in`). Nobody but src/cli prints. A fallible function returns bool, takes `struct error *`
 * last and leaves its outputs untouched when it fails.
 */
#ifndef FORETRAIN_BASE_ERROR_H
#define FORETRAIN_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* What went wrong, as the exit status that it leads to. */
enum error_kind {
    ERROR_NONE = 0,
    ERROR_CHECK = 1, /* a check the user asked for failed */
    ERROR_USAGE = 2, /* the command line */
    ERROR_INPUT = 3, /* content of a file */
    ERROR_FILE = 4,  /* a file or folder cannot be read or written */
    ERROR_HOST = 5,  /* a host or a child process failed */
};

/* One place in a user's file; line and column count from 1, a column in characters, 0: unknown.
 * `line_text` may be NULL. */
struct place {
    const char *file;
    int line;
    int column;
    const char *line_text;
};

struct error {
    enum error_kind kind;
    char *text; /* the whole message, several lines, without a newline at its end; owned */
};

/* Describes a failure; drops what `e` held before. */
__attribute__((format(printf, 3, 4))) void error_set(struct error *e, enum error_kind kind,
                                                     const char *format, ...);

/*
 * Describes a failure at a place in a user's file (kind ERROR_INPUT):
 *
 *     lab.yaml:12:16: bandwidth must be above 0 (got -40 Gbit/s)
 *         bandwidth: -40 Gbit/s
 *                    ^
 */
__attribute__((format(printf, 3, 4))) void error_at(struct error *e, const struct place *place,
                                                    const char *format, ...);

/* Adds a line `  hint: ...`. */
__attribute__((format(printf, 2, 3))) void error_hint(struct error *e, const char *format, ...);

/* Adds a line `  in ...`, innermost first. */
__attribute__((format(printf, 2, 3))) void error_in(struct error *e, const char *format, ...);

/* Frees the message and makes it ERROR_NONE. A zeroed struct is ERROR_NONE too. */
void error_clear(struct error *e);

/* Several errors of one file, in the order in which they were found. */
struct error_list {
    struct error *item;
    size_t n;
    size_t capacity;
};

/* Takes over what `e` holds and makes it ERROR_NONE. */
void error_list_add(struct error_list *list, struct error *e);
void error_list_free(struct error_list *list);

/* Joins all into one error of the first's kind, separated by newlines; empties the list. */
void error_list_join(struct error_list *list, struct error *e);

#endif
