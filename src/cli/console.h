/* The terminal: progress and errors on standard error, and the user's Ctrl-C. */
#ifndef FORETRAIN_CLI_CONSOLE_H
#define FORETRAIN_CLI_CONSOLE_H

#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

void console_start(bool quiet);

/* Takes over SIGINT, SIGTERM and SIGHUP: the first sets the flag, a second ends the program at
 * once. For those that look at the flag. */
void console_take_signals(void);

/* The signal that came, or 0; long work looks at `console_interrupt_flag`. */
int console_interrupted(void);
const volatile sig_atomic_t *console_interrupt_flag(void);

/* A line that stays: what is done, kept, passed over. Nothing when quiet. */
void console_say(const char *text);

/* A line that stays, also when quiet. */
void console_warn(const char *text);

/* The present state, overwritten by the next one; only on a terminal and when not quiet. */
void console_status(const char *text);

/* Takes the status line away. */
void console_finish(void);

/* An error's whole message. */
void console_error(const struct error *e);

#endif
