/*
 * Which Python trains: the one that the job names for a device type, else FORETRAIN_PYTHON, else
 * the first python3 on PATH that has torch, else /usr/bin/python3.
 */
#ifndef FORETRAIN_MEASURE_PYTHON_H
#define FORETRAIN_MEASURE_PYTHON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "measure/launcher.h"
#include "measure/progress.h"

struct python {
    const char *path;    /* as it is run: links of virtual environments are not followed */
    const char *version; /* "3.11.2" */
    const char *torch;   /* "1.13.0" */
};

/* Where to look, and what was tried already; the same for a whole run. */
struct python_search {
    struct arena *arena;
    const char *environment_python; /* value of FORETRAIN_PYTHON, or NULL */
    const char *path;               /* value of PATH, or NULL */
    struct python_trial *trial;     /* latest first */
    struct launcher *launcher;      /* to the host where it is to run, or NULL: this machine */
    const char *host;
};

/* A search on this machine with what our environment says. */
struct python_search python_search_start(struct arena *arena);

/* Goes on on a host of a launcher. */
void python_search_on(struct python_search *search, struct launcher *launcher, const char *host);

/*
 * Finds the Python of a device type.
 *
 *   named  what the job says (a path, or a name on PATH), or NULL
 *   env    ends with NULL, may be NULL: the type's variables, under which it is tried
 *
 * A Python without torch that nobody named is passed over with a word. Fails (ERROR_HOST) where a
 * named one has no torch, or none has.
 */
bool python_find(struct python_search *search, const char *named, const char *const *env,
                 const struct progress *progress, struct python *python, struct error *e);

/*
 * The Pythons that python_find tries, in its order, ended by NULL; `named_by` is who named the only
 * one, NULL where nobody did.
 */
const char *const *python_candidates(const struct python_search *search, const char *named,
                                     const char **named_by);

/* Whether a Python that was found on another host can be run on the search's and has torch there,
 * without importing it. */
bool python_check(struct python_search *search, const char *path, const char *const *env,
                  struct error *e);

#endif
