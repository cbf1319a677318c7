/* Files of others, which this project does not hold. */
#ifndef FORETRAIN_TESTS_SAMPLES_H
#define FORETRAIN_TESTS_SAMPLES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

/* A folder of samples; skips the test, loudly, where this checkout has none. */
static inline const char *samples_folder(struct arena *arena, const char *name)
{
    const char *named = getenv("FORETRAIN_SHARED");
    const char *const place[] = {named ? named : "../shared", "../../shared"};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        const char *folder = path_join(arena, path_join(arena, place[i], "data"), name);
        if (file_exists(folder))
            return folder;
    }
    fprintf(stderr, "SKIPPED: no samples; set FORETRAIN_SHARED to the shared folder\n");
    skip();
    return NULL;
}

#endif
