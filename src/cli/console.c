#include "cli/console.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

static struct {
    bool quiet;
    bool terminal;
    bool status_shown;
} console;

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

void console_start(bool quiet)
{
    console.quiet = quiet;
    console.terminal = isatty(STDERR_FILENO);
}

void console_take_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
}

int console_interrupted(void)
{
    return interrupted;
}

const volatile sig_atomic_t *console_interrupt_flag(void)
{
    return &interrupted;
}

void console_finish(void)
{
    if (console.status_shown)
        fputs("\r\033[K", stderr);
    console.status_shown = false;
}

static void print_line(const char *lead, const char *text)
{
    struct arena arena = {0};
    console_finish();
    fprintf(stderr, "%s%s\n", lead, text_printable(&arena, text, 1));
    arena_free(&arena);
}

void console_say(const char *text)
{
    if (!console.quiet)
        print_line("", text);
}

void console_warn(const char *text)
{
    print_line("warning: ", text);
}

void console_status(const char *text)
{
    if (!console.terminal || console.quiet)
        return;
    struct winsize size = {0};
    int width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
    struct arena arena = {0};
    fprintf(stderr, "\r\033[K%.*s", width, text_printable(&arena, text, 0));
    fflush(stderr);
    arena_free(&arena);
    console.status_shown = true;
}

void console_error(const struct error *e)
{
    print_line("", e->text);
}
