/* Options of all commands: one list, of which each command accepts some. */
#ifndef FORETRAIN_CLI_OPTIONS_H
#define FORETRAIN_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTION_BIT(n) (UINT64_C(1) << (n))
#define OPTION_RUN OPTION_BIT(0)
#define OPTION_JSON OPTION_BIT(1)
#define OPTION_CSV OPTION_BIT(2)
#define OPTION_QUIET OPTION_BIT(3)
#define OPTION_AGAIN OPTION_BIT(4)
#define OPTION_OUTPUT OPTION_BIT(5)
#define OPTION_FORCE OPTION_BIT(6)
#define OPTION_PRINT_PYTHON OPTION_BIT(7)
#define OPTION_PAIRS OPTION_BIT(8)
#define OPTION_SECONDS OPTION_BIT(9)
#define OPTION_TOGETHER OPTION_BIT(10)
#define OPTION_PLAN OPTION_BIT(11)
#define OPTION_PARALLEL OPTION_BIT(12)
#define OPTION_RUNS OPTION_BIT(13)
#define OPTION_MODEL OPTION_BIT(14)
#define OPTION_TRACE OPTION_BIT(15)
#define OPTION_TRACE_RANKS OPTION_BIT(16)
#define OPTION_TRACE_MEASURED OPTION_BIT(17)
#define OPTION_DEVICE OPTION_BIT(18)
#define OPTION_BATCH OPTION_BIT(19)
#define OPTION_RANK OPTION_BIT(20)
#define OPTION_WORLD_SIZE OPTION_BIT(21)
#define OPTION_GRAD_BYTES OPTION_BIT(22)
#define OPTION_PARTIAL OPTION_BIT(23)
#define OPTION_NO_COMM OPTION_BIT(24)
#define OPTION_VARY OPTION_BIT(25)
#define OPTION_HTML OPTION_BIT(26)
#define OPTION_PART OPTION_BIT(27)
#define OPTION_JOIN OPTION_BIT(28)
#define OPTION_DEADLINE OPTION_BIT(29)
#define OPTION_BUDGET OPTION_BIT(30)
#define OPTION_AVAILABLE OPTION_BIT(31)
#define OPTION_NEW_JOB OPTION_BIT(32)
#define OPTION_RANK_FILE OPTION_BIT(33)
#define OPTION_GLOBAL_BATCH OPTION_BIT(34)
#define OPTION_FASTEST OPTION_BIT(35)

/* What an option that may be given several times was given. */
struct option_words {
    const char **word; /* [n], as written */
    size_t n;
};

struct options {
    const char *run; /* folder, or NULL: runs/NAME */
    bool json, csv, quiet, again, force, print_python, together, plan, parallel, trace_measured,
        partial, no_comm, fastest;
    const char *pairs, *seconds, *runs, *model;                     /* as written, or NULL */
    const char *device, *batch, *world_size, *grad_bytes;           /* as written, or NULL */
    const char *output, *trace, *trace_ranks;                       /* or NULL */
    const char *html, *part, *join, *deadline, *budget, *available; /* as written, or NULL */
    const char *rank_file, *global_batch;
    struct option_words rank, vary; /* "FILE=N"; "PATH=VALUES" */
    char **args;                    /* [n_args], the words that are no options */
    int n_args;
};

enum { OPTIONS_TRACE = OPTION_TRACE | OPTION_TRACE_RANKS | OPTION_TRACE_MEASURED };

struct command;

/* The options that a command accepts, in the order of their bits; returns how many. */
enum { OPTIONS_MAX = 64 };
size_t options_of(const struct command *command, struct argp_option option[OPTIONS_MAX]);

/*
 * Reads the options of a command from argv (argv[0] is the command's name). Prints help or a usage
 * error and exits where the command line asks for it (status 0 or 2).
 */
void options_parse(const struct command *command, int argc, char **argv, struct options *options);

void options_free(struct options *options);

#endif
