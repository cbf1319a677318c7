/* Set-up and tear-down of tests whose `struct fixture` has an `arena` and an `e`. */
#ifndef FORETRAIN_TESTS_FIXTURE_H
#define FORETRAIN_TESTS_FIXTURE_H

#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"

#define DEFINE_FIXTURE                                                                             \
    static int set_up(void **state)                                                                \
    {                                                                                              \
        *state = calloc(1, sizeof(struct fixture));                                                \
        return *state ? 0 : -1;                                                                    \
    }                                                                                              \
                                                                                                   \
    static int tear_down(void **state)                                                             \
    {                                                                                              \
        struct fixture *f = *state;                                                                \
        error_clear(&f->e);                                                                        \
        arena_free(&f->arena);                                                                     \
        free(f);                                                                                   \
        return 0;                                                                                  \
    }

#endif
