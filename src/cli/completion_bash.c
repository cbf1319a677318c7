/* bash: a function that looks at the command, the word before and the word that is begun. */
#include "cli/completion.h"

static const char head[] =
    "# Completion for bash, made by `foretrain completion bash`.\n"
    "_foretrain()\n"
    "{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options= want=\n"
    "    if [[ $word == = ]]; then\n"
    "        word=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n";

static const char tail[] = "    esac\n"
                           "    [[ $word == -* ]] && want=$options\n"
                           "    COMPREPLY=()\n"
                           "    case $want in\n"
                           "    FILE) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
                           "    FOLDER) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
                           "    JOB)\n"
                           "        mapfile -t COMPREPLY < <(\n"
                           "            compgen -d -- \"$word\"\n"
                           "            compgen -f -X '!*.yaml' -- \"$word\"\n"
                           "            compgen -f -X '!*.yml' -- \"$word\"\n"
                           "        )\n"
                           "        ;;\n"
                           "    *)\n"
                           "        mapfile -t COMPREPLY < <(compgen -W \"$want\" -- \"$word\")\n"
                           "        return\n"
                           "        ;;\n"
                           "    esac\n"
                           "    compopt -o filenames 2>/dev/null\n"
                           "}\n"
                           "complete -F _foretrain foretrain\n";

static const char *want(const char *placeholder)
{
    static const char *const name[] = {[COMPLETION_NOTHING] = "",
                                       [COMPLETION_FILE] = "FILE",
                                       [COMPLETION_FOLDER] = "FOLDER",
                                       [COMPLETION_JOB] = "JOB"};
    struct completion completion = completion_of(placeholder);
    return completion.kind == COMPLETION_WORDS ? completion.words : name[completion.kind];
}

static void add_value(const struct argp_option *option, struct text *out)
{
    text_add(out, "        ");
    if (option->key < 256)
        text_format(out, "-%c | ", option->key);
    text_format(out, "--%s) want='%s' ;;\n", option->name, want(option->arg));
}

static void add_command(const struct command *command, struct text *out)
{
    struct argp_option option[COMPLETION_MAX];
    size_t n = completion_options(command, option);
    text_format(out, "    1:%s)\n        options='", command->name);
    for (size_t i = 0; i < n; i++)
        text_format(out, "%s--%s", i ? " " : "", option[i].name);
    text_format(out, "' want='%s'\n        case $before in\n", want(command->args));
    for (size_t i = 0; i < n; i++) {
        if (option[i].arg)
            add_value(&option[i], out);
    }
    text_add(out, "        esac\n        ;;\n");
}

void completion_bash(struct text *out)
{
    text_add(out, head);
    text_add(out, "    local commands='");
    for (size_t i = 0; command_table[i]; i++)
        text_format(out, "%s ", command_table[i]->name);
    text_add(out, "help'\n"
                  "    case $((COMP_CWORD > 1)):${COMP_WORDS[1]} in\n"
                  "    0:*) want=$commands options='--help --version' ;;\n"
                  "    1:help) want=$commands ;;\n");
    for (size_t i = 0; command_table[i]; i++)
        add_command(command_table[i], out);
    text_add(out, tail);
}
