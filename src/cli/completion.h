/*
 * Completion of the command line by a shell, made from the table of commands and their options, so
 * that it knows neither less nor more than they do.
 */
#ifndef FORETRAIN_CLI_COMPLETION_H
#define FORETRAIN_CLI_COMPLETION_H

#include <argp.h>

#include "base/text.h"
#include "cli/command.h"

enum completion_kind {
    COMPLETION_NOTHING,
    COMPLETION_FILE,
    COMPLETION_FOLDER,
    COMPLETION_JOB, /* a file .yaml or .yml, or a folder */
    COMPLETION_WORDS
};

/* What a word of the command line may be. */
struct completion {
    enum completion_kind kind;
    const char *words; /* of COMPLETION_WORDS, with blanks between */
};

/* By what the synopsis calls it: "JOB", "FILE", "MODEL". */
struct completion completion_of(const char *placeholder);

/* Options that every command has. */
enum { COMPLETION_COMMON = 3, COMPLETION_MAX = OPTIONS_MAX + COMPLETION_COMMON };

/* All options of a command, those that every one has at the end; returns how many. */
size_t completion_options(const struct command *command, struct argp_option option[COMPLETION_MAX]);

/* Adds `text` with a backslash before each character that is in `special`. */
void completion_escape(const char *text, const char *special, struct text *out);

/* The whole script of a shell. */
void completion_bash(struct text *out);
void completion_zsh(struct text *out);
void completion_fish(struct text *out);

#endif
