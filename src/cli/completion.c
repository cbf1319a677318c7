#include "cli/completion.h"

#include <string.h>

static const struct {
    const char *placeholder;
    struct completion completion;
} known[] = {
    {"FILE", {COMPLETION_FILE, NULL}},
    {"FILE...", {COMPLETION_FILE, NULL}},
    {"FILE=N", {COMPLETION_FILE, NULL}},
    {"TRACE...", {COMPLETION_FILE, NULL}},
    {"DIR", {COMPLETION_FOLDER, NULL}},
    {"JOB", {COMPLETION_JOB, NULL}},
    {"RUN", {COMPLETION_JOB, NULL}},
    {"A B", {COMPLETION_JOB, NULL}},
    {"MODEL", {COMPLETION_WORDS, "timeline closed-form"}},
    {"WHICH", {COMPLETION_WORDS, "ring all sample"}},
    {"SHELL", {COMPLETION_WORDS, "bash zsh fish"}},
};

struct completion completion_of(const char *placeholder)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].placeholder, placeholder) == 0)
            return known[i].completion;
    }
    return (struct completion){COMPLETION_NOTHING, NULL};
}

size_t completion_options(const struct command *command, struct argp_option option[COMPLETION_MAX])
{
    static const struct argp_option common[COMPLETION_COMMON] = {
        {"help", 0, NULL, 0, "Give this help list", 0},
        {"usage", 0, NULL, 0, "Give a short usage message", 0},
        {"version", 'V', NULL, 0, "Print program version", 0},
    };
    size_t n = options_of(command, option);
    memcpy(option + n, common, sizeof common);
    return n + COMPLETION_COMMON;
}

void completion_escape(const char *text, const char *special, struct text *out)
{
    for (const char *c = text; *c; c++) {
        if (strchr(special, *c))
            text_add(out, "\\");
        text_add_n(out, c, 1);
    }
}
