/* Options of all commands: one list, of which each command accepts some. */
#ifndef FORETRAIN_CLI_OPTIONS_H
#define FORETRAIN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_bit {
    OPTION_RUN = 1 << 0,
    OPTION_JSON = 1 << 1,
    OPTION_CSV = 1 << 2,
    OPTION_QUIET = 1 << 3,
    OPTION_AGAIN = 1 << 4,
    OPTION_OUTPUT = 1 << 5,
    OPTION_FORCE = 1 << 6,
    OPTION_PRINT_PYTHON = 1 << 7,
    OPTION_PAIRS = 1 << 8,
    OPTION_SECONDS = 1 << 9,
    OPTION_TOGETHER = 1 << 10,
    OPTION_PLAN = 1 << 11,
    OPTION_PARALLEL = 1 << 12,
    OPTION_RUNS = 1 << 13,
    OPTION_MODEL = 1 << 14,
    OPTION_TRACE = 1 << 15,
    OPTION_TRACE_RANKS = 1 << 16,
    OPTION_TRACE_MEASURED = 1 << 17,
    OPTION_VARY = 1 << 18,
    OPTION_HTML = 1 << 19,
    OPTION_PART = 1 << 20,
    OPTION_JOIN = 1 << 21,
    OPTION_DEADLINE = 1 << 22,
    OPTION_BUDGET = 1 << 23,
    OPTION_AVAILABLE = 1 << 24,
    OPTION_NEW_JOB = 1 << 25,
    OPTION_RANK_FILE = 1 << 26,
    OPTION_GLOBAL_BATCH = 1 << 27,
    OPTION_FASTEST = 1 << 28,
};

/* What an option that may be given several times was given. */
enum { OPTIONS_MOST_WORDS = 8 };
struct option_words {
    const char *word[OPTIONS_MOST_WORDS];
    size_t n;
};

struct options {
    const char *run; /* folder, or NULL: runs/NAME */
    bool json, csv, quiet, again, force, print_python, together, plan, parallel, trace_measured,
        fastest;
    const char *pairs, *seconds, *runs, *model; /* as written, or NULL */
    const char *output, *trace, *trace_ranks;   /* or NULL */
    struct option_words vary;
    const char *html, *part, *join, *deadline, *budget, *available; /* as written, or NULL */
    const char *rank_file, *global_batch;
    char **args; /* [n_args], the words that are no options */
    int n_args;
};

enum { OPTIONS_TRACE = OPTION_TRACE | OPTION_TRACE_RANKS | OPTION_TRACE_MEASURED };

struct command;

/*
 * Reads the options of a command from argv (argv[0] is the command's name). Prints help or a usage
 * error and exits where the command line asks for it (status 0 or 2).
 */
void options_parse(const struct command *command, int argc, char **argv, struct options *options);

#endif
