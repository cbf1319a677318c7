/* foretrain's main: finds the command, runs it, prints what failed and turns it into the exit
 * status. */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/console.h"
#include "foretrain.h"

const struct command *const command_table[] = {
    &command_init,    &command_doctor,     &command_run,
    &command_measure, &command_bandwidth,  &command_import,
    &command_predict, &command_explain,    &command_validate,
    &command_sweep,   &command_order,      &command_split,
    &command_size,    &command_compare,    &command_show,
    &command_report,  &command_completion, NULL};
enum { N_COMMANDS = sizeof command_table / sizeof *command_table - 1 };

const char *argp_program_version = "foretrain " FT_VERSION;

static void print_help(FILE *out)
{
    fputs("Usage: foretrain COMMAND [OPTION...] [ARGUMENT...]\n"
          "Tells how long a training takes on a cluster of different devices, before it runs "
          "there.\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char synopsis[64];
        snprintf(synopsis, sizeof synopsis, "%s %s", command_table[i]->name,
                 command_table[i]->args);
        fprintf(out, "  %-17s %s\n", synopsis, command_table[i]->summary);
    }
    fputs("  help [COMMAND]    what a command does, and its options\n\n"
          "Start with:  foretrain init > job.yaml\n"
          "Exit status: 0 done, 1 a check failed, 2 usage, 3 bad input, 4 files, 5 a host or a "
          "child failed.\n"
          "More: man foretrain, man foretrain-job\n",
          out);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    if (name[0] == '-') {
        fprintf(stderr, "foretrain: '%s' stands before the command; see 'foretrain help'\n", name);
        return ERROR_USAGE;
    }
    const char *word[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        word[i] = command_table[i]->name;
    const char *nearest = text_nearest(name, word, N_COMMANDS);
    fprintf(stderr, "foretrain: there is no command '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fputs("; see 'foretrain help'\n", stderr);
    return ERROR_USAGE;
}

static int show_help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    const struct command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    char name[] = "", help[] = "--help";
    char *help_argv[] = {name, help, NULL};
    struct options options = {0};
    options_parse(command, 2, help_argv, &options);
    return 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct options options = {0};
    options_parse(command, argc, argv, &options);
    console_start(options.quiet);
    if (command->looks_at_signals)
        console_take_signals();
    struct error e = {0};
    command->run(&options, &e);
    console_finish();
    int status = (int)e.kind;
    if (e.kind != ERROR_NONE)
        console_error(&e);
    error_clear(&e);
    options_free(&options);
    return console_interrupted() ? 128 + console_interrupted() : status;
}

/* argp's help ends the program too: so the last word is said when it ends. */
static void finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    fputs("foretrain: cannot write to standard output\n", stderr);
    _exit(ERROR_FILE);
}

static bool asks_for_help(const char *word)
{
    static const char *const help[] = {"help", "--help", "-h", "-?", "--usage"};
    for (size_t i = 0; i < sizeof help / sizeof *help; i++) {
        if (strcmp(help[i], word) == 0)
            return true;
    }
    return false;
}

/* Every host takes some files, and 1024 are usual: enough for 250. Not more than many programs can
 * bear that go through all that they may have open. */
static void allow_open_files(void)
{
    static const rlim_t wanted = 65536;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    argp_err_exit_status = ERROR_USAGE;
    allow_open_files();
    atexit(finish_output);
    signal(SIGPIPE, SIG_IGN);
    const char *word = argc > 1 ? argv[1] : "";
    if (argc < 2) {
        print_help(stderr);
        return ERROR_USAGE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts(argp_program_version);
        return 0;
    }
    if (asks_for_help(word))
        return show_help(argc - 1, argv + 1);
    const struct command *command = find_command(word);
    return command ? run_command(command, argc - 1, argv + 1) : unknown_command(word);
}
