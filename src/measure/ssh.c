#include "measure/ssh.h"

#include <stdlib.h>
#include <string.h>

#include "base/quote.h"

/* What ssh refuses too, in newer versions: a user's configuration may give the words to a shell
 * (ProxyCommand ... %r). */
static bool is_for_a_shell(const char *word)
{
    static const char shell[] = "'`\"$;&<>|(){}";
    for (; *word; word++) {
        if (strchr(shell, *word) || (unsigned char)*word <= ' ' || *word == 0x7f)
            return true;
    }
    return false;
}

static bool check_word(const char *what, const char *word, struct error *e)
{
    const char *problem = *word == '\0'          ? "is empty"
                          : *word == '-'         ? "would be taken for an option"
                          : is_for_a_shell(word) ? "has characters that a shell reads"
                                                 : NULL;
    if (problem)
        error_set(e, ERROR_INPUT, "%s '%s' cannot be given to ssh: it %s", what, word, problem);
    return !problem;
}

static const char *program(void)
{
    const char *named = getenv("FORETRAIN_SSH");
    return named && *named ? named : "ssh";
}

bool ssh_command(struct arena *arena, const struct job *job, const char *host,
                 const char *const *command, const char *const **argv, struct error *e)
{
    static const char *const option[] = {
        "-T",
        "-a",
        "-x",
        "-oBatchMode=yes",
        "-oConnectTimeout=10",
        "-oServerAliveInterval=10",
        "-oServerAliveCountMax=3",
        "-oControlMaster=no",
        "-oClearAllForwardings=yes",
        "-oPermitLocalCommand=no",
        "-oRemoteCommand=none",
        "-oRequestTTY=no",
    };
    enum { N_OPTIONS = sizeof option / sizeof *option, N_OTHERS = 9 };
    const char *user = job->launcher.user, *config = job->launcher.config;
    if (!check_word("host", host, e) || (user && !check_word("user", user, e)))
        return false;
    const char **word = ARENA_ARRAY(arena, N_OPTIONS + N_OTHERS, const char *);
    size_t n = 0;
    word[n++] = program();
    memcpy(word + n, option, sizeof option);
    n += N_OPTIONS;
    if (config) {
        word[n++] = "-F";
        word[n++] = job_path(arena, job, config);
    }
    if (user) {
        word[n++] = "-l";
        word[n++] = user;
    }
    word[n++] = "--";
    word[n++] = host;
    word[n++] = arena_format(arena, "exec %s", quote_words(arena, command));
    *argv = word;
    return true;
}

const char *ssh_hint(const char *said)
{
    static const struct {
        const char *words, *hint;
    } table[] = {
        {"Host key verification failed",
         "its host key is not known here, or has changed: see that it is the right host, then log "
         "in once by hand"},
        {"Permission denied",
         "nobody is asked for a password: the host needs a key of yours (ssh-copy-id), loaded in "
         "the agent where it has a passphrase"},
        {"Could not resolve hostname", "name it as ssh knows it, or give it a HostName in "
                                       "~/.ssh/config"},
        {"Connection refused", "no sshd listens there; does it have another port (Port in "
                               "~/.ssh/config)?"},
        {"timed out", "is the host up, and reached from here?"},
        {"No route to host", "is the host up, and reached from here?"},
        {"there is no python3", "the host needs Python 3.8 or newer, as python3 on its PATH"},
        {"administratively prohibited", "the jump host does not let connections through to it"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strstr(said, table[i].words))
            return table[i].hint;
    }
    return NULL;
}
