/* Words for a shell: the one place where text becomes part of a shell's command. */
#ifndef FORETRAIN_BASE_QUOTE_H
#define FORETRAIN_BASE_QUOTE_H

#include "base/arena.h"

/*
 * One word that a POSIX shell reads back as `text`, byte for byte: in single quotes, each single
 * quote in it as '\''. A word that is plain is left plain. That a program could take it for an
 * option is not the shell's concern: put "--" before it.
 */
char *quote_word(struct arena *arena, const char *text);

/* Several of them with blanks between; `word` ends with NULL. */
char *quote_words(struct arena *arena, const char *const *word);

#endif
