/* argp does the work; an unknown option is looked up here first, so that the nearest one can be
 * named. */
#include "cli/options.h"

#include <argp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"

/* Options that have no letter. */
enum {
    KEY_TRACE = 256,
    KEY_TRACE_RANKS,
    KEY_TRACE_MEASURED,
    KEY_HTML,
    KEY_PART,
    KEY_JOIN,
    KEY_DEADLINE,
    KEY_BUDGET,
    KEY_AVAILABLE,
    KEY_RANK_FILE,
    KEY_GLOBAL_BATCH
};

/*
 * In the order of the OPTION_ bits. An option without an argument sets a bool, one with it a
 * string, one that may be given several times adds to a struct option_words.
 */
static const struct {
    struct argp_option argp;
    size_t offset; /* of its member in struct options */
} all[] = {
    {{"run", 'r', "DIR", 0, "Keep measurements and forecast in DIR (default: runs/NAME of the job)",
      0},
     offsetof(struct options, run)},
    {{"json", 'j', NULL, 0, "Print the result as JSON (docs/formats.md)", 0},
     offsetof(struct options, json)},
    {{"csv", 'c', NULL, 0, "Print a line for each device as CSV", 0},
     offsetof(struct options, csv)},
    {{"quiet", 'q', NULL, 0, "No progress, only warnings and errors", 0},
     offsetof(struct options, quiet)},
    {{"again", 'a', NULL, 0, "Measure again what is measured already", 0},
     offsetof(struct options, again)},
    {{"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
     offsetof(struct options, output)},
    {{"force", 'f', NULL, 0, "Overwrite a file that is there", 0}, offsetof(struct options, force)},
    {{"print-python", 'p', NULL, 0, "Print only the path of the python that would be used", 0},
     offsetof(struct options, print_python)},
    {{"pairs", 'P', "WHICH", 0, "Measure the links of the ring (the default), all, or a sample", 0},
     offsetof(struct options, pairs)},
    {{"seconds", 's', "S", 0, "Seconds for each link (default: 2)", 0},
     offsetof(struct options, seconds)},
    {{"together", 't', NULL, 0, "Then measure all links of the ring at once, too", 0},
     offsetof(struct options, together)},
    {{"plan", 'n', NULL, 0, "Only print what would be measured, and how long that takes", 0},
     offsetof(struct options, plan)},
    {{"parallel", 'l', NULL, 0, "Train sub-systems that share no host at the same time", 0},
     offsetof(struct options, parallel)},
    {{"runs", 'R', "N", 0, "Run the full system N times (default: 1)", 0},
     offsetof(struct options, runs)},
    {{"model", 'm', "MODEL", 0, "Forecast by the timeline (the default) or the closed-form", 0},
     offsetof(struct options, model)},
    {{"trace", KEY_TRACE, "FILE", 0,
      "Write the forecast's steps as a trace for Perfetto or chrome://tracing", 0},
     offsetof(struct options, trace)},
    {{"trace-ranks", KEY_TRACE_RANKS, "LIST", 0, "Only of these ranks, such as 0-3,100", 0},
     offsetof(struct options, trace_ranks)},
    {{"trace-measured", KEY_TRACE_MEASURED, NULL, 0, "And the sub-systems' own steps below them",
      0},
     offsetof(struct options, trace_measured)},
    {{"device", 'd', "NAME", 0, "Device type of the profile, as the job names it", 0},
     offsetof(struct options, device)},
    {{"batch", 'b', "N", 0, "Samples of a mini-batch of one device", 0},
     offsetof(struct options, batch)},
    {{"rank", 'k', "FILE=N", 0,
      "FILE was made by rank N, where it does not say so (again for others)", 0},
     offsetof(struct options, rank)},
    {{"world-size", 'w', "N", 0, "Ranks of the training, where no trace says so", 0},
     offsetof(struct options, world_size)},
    {{"grad-bytes", 'g', "SIZE", 0,
      "Gradients all-reduced in a step, where no trace says so; one size, or one for each bucket: "
      "\"4 MB,12 MB\"",
      0},
     offsetof(struct options, grad_bytes)},
    {{"partial", 'i', NULL, 0, "Use the whole steps of a trace that is cut off", 0},
     offsetof(struct options, partial)},
    {{"no-comm", 'C', NULL, 0, "Go without the time of communication", 0},
     offsetof(struct options, no_comm)},
    {{"vary", 'v', "PATH=VALUES", 0, "Give a quantity other values: 0:200:10, or 10,25,100Gbit/s",
      0},
     offsetof(struct options, vary)},
    {{"html", KEY_HTML, "FILE", 0, "Write a page with curves to FILE, too", 0},
     offsetof(struct options, html)},
    {{"part", KEY_PART, "K/N", 0, "Forecast only part K of N, for other machines to do the rest",
      0},
     offsetof(struct options, part)},
    {{"join", KEY_JOIN, "N", 0, "Join the N parts that machines made", 0},
     offsetof(struct options, join)},
    {{"deadline", KEY_DEADLINE, "TIME", 0, "The training is to take TIME at the most, such as 14d",
      0},
     offsetof(struct options, deadline)},
    {{"budget", KEY_BUDGET, "COST", 0, "It is to cost COST at the most, by the prices of the job",
      0},
     offsetof(struct options, budget)},
    {{"available", KEY_AVAILABLE, "TYPE=N,...", 0,
      "Devices that there are (default: the job's counts)", 0},
     offsetof(struct options, available)},
    {{"new-job", 'o', "FILE", 0, "Write the job with what was found to FILE, all else as it was",
      0},
     offsetof(struct options, output)},
    {{"rank-file", KEY_RANK_FILE, "FILE", 0, "Write the hosts by rank to FILE, one a line", 0},
     offsetof(struct options, rank_file)},
    {{"global-batch", KEY_GLOBAL_BATCH, "N", 0,
      "Samples of a step, all devices (default: the job's)", 0},
     offsetof(struct options, global_batch)},
    {{"fastest", 'F', NULL, 0, "The most samples a second instead of the smallest step", 0},
     offsetof(struct options, fastest)},
};
enum { N_OPTIONS = sizeof all / sizeof *all };
_Static_assert(sizeof all / sizeof *all <= OPTIONS_MAX, "each option has a bit");

struct parse {
    const struct command *command;
    struct options *options;
};

static bool accepts(const struct command *command, size_t option)
{
    return command->accepts & OPTION_BIT(option);
}

static bool may_be_repeated(size_t option)
{
    size_t offset = all[option].offset;
    return offset == offsetof(struct options, rank) || offset == offsetof(struct options, vary);
}

static void add_word(struct option_words *words, const char *value)
{
    words->word = memory_resize(words->word, words->n + 1, sizeof *words->word);
    words->word[words->n++] = value;
}

/* A letter may mean different things to different commands. */
static bool set_option(const struct parse *parse, int key, char *value)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        void *member = (char *)parse->options + all[i].offset;
        if (all[i].argp.key != key || !accepts(parse->command, i))
            continue;
        if (may_be_repeated(i))
            add_word(member, value);
        else if (all[i].argp.arg)
            *(const char **)member = value;
        else
            *(bool *)member = true;
        return true;
    }
    return false;
}

static void check_words(struct argp_state *state, const struct parse *parse)
{
    const struct options *options = parse->options;
    if (options->n_args < parse->command->min_args)
        argp_error(state, "%s is missing", parse->command->args);
    if (options->n_args > parse->command->max_args)
        argp_error(state, "too many arguments: '%s'", options->args[parse->command->max_args]);
    if (options->json && options->csv)
        argp_error(state, "--json and --csv exclude each other");
    if (!options->trace && (options->trace_ranks || options->trace_measured))
        argp_error(state, "--trace-ranks and --trace-measured go with --trace FILE");
}

static bool is_stdout(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

/* Of what comes beside a result, none goes to standard output with it. */
static void check_files(struct argp_state *state, const struct parse *parse)
{
    const struct options *options = parse->options;
    bool elsewhere = options->output && !is_stdout(options->output);
    bool new_job = parse->command->accepts & OPTION_NEW_JOB;
    if (is_stdout(options->trace) && !elsewhere)
        argp_error(state, "--trace is to a file: standard output has the forecast%s",
                   parse->command->accepts & OPTION_OUTPUT ? ", unless -o FILE takes it" : "");
    if (is_stdout(options->html) || is_stdout(options->rank_file) ||
        (new_job && is_stdout(options->output)))
        argp_error(state, "%s is to a file: standard output has the result",
                   is_stdout(options->html)        ? "--html"
                   : is_stdout(options->rank_file) ? "--rank-file"
                                                   : "--new-job");
}

static error_t take(int key, char *value, struct argp_state *state)
{
    struct parse *parse = state->input;
    switch (key) {
    case ARGP_KEY_ARGS: /* all words at once */
        parse->options->args = state->argv + state->next;
        parse->options->n_args = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        check_words(state, parse);
        check_files(state, parse);
        return 0;
    default:
        return set_option(parse, key, value) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

size_t options_of(const struct command *command, struct argp_option option[OPTIONS_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (accepts(command, i))
            option[n++] = all[i].argp;
    }
    return n;
}

/* getopt would only say "unrecognized option". */
static void refuse_unknown(const struct command *command, const struct argp_option *accepted,
                           size_t n, int argc, char **argv)
{
    const char *name[N_OPTIONS + 3] = {"help", "usage", "version"};
    for (size_t i = 0; i < n; i++)
        name[i + 3] = accepted[i].name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        size_t length = strcspn(argv[i] + 2, "=");
        bool known = false;
        for (size_t k = 0; k < n + 3; k++)
            known = known || strncmp(name[k], argv[i] + 2, length) == 0;
        if (known)
            continue;
        argv[i][2 + length] = '\0';
        const char *nearest = text_nearest(argv[i] + 2, name, n + 3);
        fprintf(stderr, "foretrain %s: unknown option '%s'%s%s%s; see 'foretrain help %s'\n",
                command->name, argv[i], nearest ? "; did you mean '--" : "", nearest ? nearest : "",
                nearest ? "'?" : "", command->name);
        exit(ERROR_USAGE);
    }
}

void options_parse(const struct command *command, int argc, char **argv, struct options *options)
{
    struct argp_option accepted[OPTIONS_MAX + 1];
    size_t n = options_of(command, accepted);
    accepted[n] = (struct argp_option){0};
    refuse_unknown(command, accepted, n, argc, argv);

    char *name = NULL, *doc = NULL;
    if (asprintf(&name, "foretrain %s", command->name) < 0 ||
        asprintf(&doc, "%s\v%s", command->summary, command->help) < 0)
        memory_exhausted();
    const struct argp argp = {accepted, take, command->args, doc, NULL, NULL, NULL};
    struct parse parse = {command, options};
    argv[0] = name;
    argp_parse(&argp, argc, argv, 0, NULL, &parse);
    free(name);
    free(doc);
}

void options_free(struct options *options)
{
    free(options->rank.word);
    free(options->vary.word);
}
