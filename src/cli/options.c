/* argp does the work; an unknown option is looked up here first, so that the nearest one can be
 * named. */
#include "cli/options.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"

static const struct argp_option all[] = {
    {"run", 'r', "DIR", 0, "Keep measurements and forecast in DIR (default: runs/NAME of the job)",
     0},
    {"json", 'j', NULL, 0, "Print the result as JSON (docs/formats.md)", 0},
    {"csv", 'c', NULL, 0, "Print a line for each device as CSV", 0},
    {"quiet", 'q', NULL, 0, "No progress, only warnings and errors", 0},
    {"again", 'a', NULL, 0, "Measure again what is measured already", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"force", 'f', NULL, 0, "Overwrite a file that is there", 0},
    {"print-python", 'p', NULL, 0, "Print only the path of the python that would be used", 0},
    {"pairs", 'P', "WHICH", 0, "Measure the links of the ring (the default), all, or a sample", 0},
    {"seconds", 's', "S", 0, "Seconds for each link (default: 2)", 0},
    {"together", 't', NULL, 0, "Then measure all links of the ring at once, too", 0},
    {"plan", 'n', NULL, 0, "Only print what would be measured, and how long that takes", 0},
};
enum { N_OPTIONS = sizeof all / sizeof *all };

struct parse {
    const struct command *command;
    struct options *options;
};

static error_t take(int key, char *value, struct argp_state *state)
{
    struct parse *parse = state->input;
    struct options *options = parse->options;
    switch (key) {
    case 'r':
        options->run = value;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case 'c':
        options->csv = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'a':
        options->again = true;
        return 0;
    case 'o':
        options->output = value;
        return 0;
    case 'f':
        options->force = true;
        return 0;
    case 'p':
        options->print_python = true;
        return 0;
    case 'P':
        options->pairs = value;
        return 0;
    case 's':
        options->seconds = value;
        return 0;
    case 't':
        options->together = true;
        return 0;
    case 'n':
        options->plan = true;
        return 0;
    case ARGP_KEY_ARG:
        return ARGP_ERR_UNKNOWN; /* collected at once by ARGP_KEY_ARGS */
    case ARGP_KEY_ARGS:
        options->args = state->argv + state->next;
        options->n_args = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if (options->n_args < parse->command->min_args)
            argp_error(state, "%s is missing", parse->command->args);
        if (options->n_args > parse->command->max_args)
            argp_error(state, "too many arguments: '%s'", options->args[parse->command->max_args]);
        if (options->json && options->csv)
            argp_error(state, "--json and --csv exclude each other");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static size_t accepted_options(const struct command *command, struct argp_option *accepted)
{
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (command->accepts & (1U << i))
            accepted[n++] = all[i];
    }
    accepted[n] = (struct argp_option){0};
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
    struct argp_option accepted[N_OPTIONS + 1];
    size_t n = accepted_options(command, accepted);
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
