/* fish: a line for each command, for what it takes, and for each of its options. */
#include "cli/completion.h"

static void add_quoted(const char *text, struct text *out)
{
    text_add(out, "\"");
    completion_escape(text, "\"$\\", out);
    text_add(out, "\"");
}

/* A word that is to be completed, of which `placeholder` says what it may be. */
static void add_value(const char *placeholder, struct text *out)
{
    static const char *const value[] = {
        [COMPLETION_NOTHING] = " -x",
        [COMPLETION_FILE] = " -r -F",
        [COMPLETION_FOLDER] = " -x -a \"(__fish_complete_directories)\"",
        [COMPLETION_JOB] = " -x -k -a \"(__fish_complete_suffix .yaml .yml)\""};
    struct completion completion = completion_of(placeholder);
    if (completion.kind == COMPLETION_WORDS)
        text_format(out, " -x -a \"%s\"", completion.words);
    else
        text_add(out, value[completion.kind]);
}

static void begin_line(const struct command *command, struct text *out)
{
    text_format(out, "complete -c foretrain -n \"__fish_seen_subcommand_from %s\"", command->name);
}

static void add_option(const struct command *command, const struct argp_option *option,
                       struct text *out)
{
    begin_line(command, out);
    if (option->key > 0 && option->key < 256)
        text_format(out, " -s %c", option->key);
    text_format(out, " -l %s", option->name);
    if (option->arg)
        add_value(option->arg, out);
    text_add(out, " -d ");
    add_quoted(option->doc, out);
    text_add(out, "\n");
}

static void add_command(const struct command *command, struct text *out)
{
    struct argp_option option[COMPLETION_MAX];
    size_t n = completion_options(command, option);
    text_format(out, "complete -c foretrain -n __fish_use_subcommand -a %s -d ", command->name);
    add_quoted(command->summary, out);
    text_add(out, "\n");
    begin_line(command, out);
    add_value(command->args, out);
    text_add(out, "\n");
    for (size_t i = 0; i < n; i++)
        add_option(command, &option[i], out);
}

void completion_fish(struct text *out)
{
    text_add(out, "# Completion for fish, made by `foretrain completion fish`.\n"
                  "complete -c foretrain -f\n"
                  "complete -c foretrain -n __fish_use_subcommand -a help "
                  "-d \"What a command does, and its options\"\n"
                  "complete -c foretrain -n \"__fish_seen_subcommand_from help\" -a \"");
    for (size_t i = 0; command_table[i]; i++)
        text_format(out, "%s ", command_table[i]->name);
    text_add(out, "\"\n");
    for (size_t i = 0; command_table[i]; i++)
        add_command(command_table[i], out);
}
