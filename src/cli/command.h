/* The commands: each `cmd_NAME.c` holds one, and main.c their table. */
#ifndef FORETRAIN_CLI_COMMAND_H
#define FORETRAIN_CLI_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/options.h"

/*
 * One command. `run` prints its result to standard output and returns true, or describes what
 * failed; `options->args` has between `min_args` and `max_args` words.
 */
struct command {
    const char *name;
    const char *args;    /* as in the synopsis: "JOB" */
    const char *summary; /* one line */
    const char *help;    /* paragraphs behind the options */
    uint64_t accepts;    /* OPTION_ bits */
    int min_args, max_args;
    bool looks_at_signals; /* it ends what it has started; else a signal ends it at once */
    bool (*run)(const struct options *options, struct error *e);
};

extern const struct command command_init;
extern const struct command command_doctor;
extern const struct command command_run;
extern const struct command command_measure;
extern const struct command command_bandwidth;
extern const struct command command_import;
extern const struct command command_predict;
extern const struct command command_validate;
extern const struct command command_explain;
extern const struct command command_show;
extern const struct command command_report;
extern const struct command command_sweep;
extern const struct command command_size;
extern const struct command command_compare;
extern const struct command command_order;
extern const struct command command_split;
extern const struct command command_completion;

/* All of them, in the order of help; the last one is NULL. */
extern const struct command *const command_table[];

#endif
