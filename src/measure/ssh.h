/* The user's own OpenSSH client: its command line, and what its complaints mean. */
#ifndef FORETRAIN_MEASURE_SSH_H
#define FORETRAIN_MEASURE_SSH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "job/job.h"

/*
 * The words, ended by NULL, that run `command` (words too; a program) on a host: the program
 * FORETRAIN_SSH or "ssh", never asking anything, with a deadline, noticing a dead host, one
 * connection for all that is done there. The user's config, agent and ProxyJump count; forwardings
 * and a command of the config do not. Fails (ERROR_INPUT) for a host or user that could be taken
 * for an option.
 */
bool ssh_command(struct arena *arena, const struct job *job, const char *host,
                 const char *const *command, const char *const **argv, struct error *e);

/* What to do about what ssh said, or NULL. */
const char *ssh_hint(const char *said);

#endif
