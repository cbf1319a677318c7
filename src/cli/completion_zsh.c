/* zsh: its own _arguments does the work, from a line for each option. */
#include "cli/completion.h"

static const char head[] = "#compdef foretrain\n"
                           "# Completion for zsh, made by `foretrain completion zsh`.\n"
                           "_foretrain()\n"
                           "{\n"
                           "    local -a commands=(\n";

static const char middle[] = "        \"help:What a command does, and its options\"\n"
                             "    )\n"
                             "    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
                             "        _describe command commands\n"
                             "        return\n"
                             "    fi\n"
                             "    shift words\n"
                             "    ((CURRENT--))\n"
                             "    case $words[1] in\n";

static const char tail[] = "    esac\n"
                           "}\n"
                           "if [[ $funcstack[1] == _foretrain ]]; then\n"
                           "    _foretrain \"$@\"\n"
                           "else\n"
                           "    compdef _foretrain foretrain\n"
                           "fi\n";

/* Between double quotes, where _arguments and _describe read what is escaped once more. */
static void add_quoted(const char *text, struct text *out)
{
    struct text once = {0};
    completion_escape(text, "[]:\\", &once);
    completion_escape(once.data ? once.data : "", "\"$`\\", out);
    text_free(&once);
}

static void add_value(const char *placeholder, struct text *out)
{
    static const char *const action[] = {[COMPLETION_NOTHING] = " ",
                                         [COMPLETION_FILE] = "_files",
                                         [COMPLETION_FOLDER] = "_files -/",
                                         [COMPLETION_JOB] = "_files -g '*.(yaml|yml)'"};
    struct completion completion = completion_of(placeholder);
    text_add(out, ":");
    add_quoted(placeholder, out);
    if (completion.kind == COMPLETION_WORDS)
        text_format(out, ":(%s)", completion.words);
    else
        text_format(out, ":%s", action[completion.kind]);
}

static void add_option(const struct argp_option *option, struct text *out)
{
    const char *plus = option->arg ? "+" : "", *equals = option->arg ? "=" : "";
    text_add(out, "            ");
    if (option->key > 0 && option->key < 256)
        text_format(out, "{-%c%s,--%s%s}", option->key, plus, option->name, equals);
    else
        text_format(out, "--%s%s", option->name, equals);
    text_add(out, "\"[");
    add_quoted(option->doc, out);
    text_add(out, "]");
    if (option->arg)
        add_value(option->arg, out);
    text_add(out, "\" \\\n");
}

static void add_command(const struct command *command, struct text *out)
{
    struct argp_option option[COMPLETION_MAX];
    size_t n = completion_options(command, option);
    text_format(out, "    %s)\n        _arguments -s -S \\\n", command->name);
    for (size_t i = 0; i < n; i++)
        add_option(&option[i], out);
    if (command->max_args > 0) {
        text_add(out, "            \"*");
        add_value(command->args, out);
        text_add(out, "\"\n");
    }
    text_add(out, "        ;;\n");
}

void completion_zsh(struct text *out)
{
    text_add(out, head);
    for (size_t i = 0; command_table[i]; i++) {
        text_format(out, "        \"%s:", command_table[i]->name);
        add_quoted(command_table[i]->summary, out);
        text_add(out, "\"\n");
    }
    text_add(out, middle);
    for (size_t i = 0; command_table[i]; i++)
        add_command(command_table[i], out);
    text_add(out, tail);
}
