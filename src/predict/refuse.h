/* How the library's functions refuse a value: a sentence in the caller's buffer, and false. */
#ifndef FORETRAIN_PREDICT_REFUSE_H
#define FORETRAIN_PREDICT_REFUSE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "foretrain.h"

/* `message` has FT_MESSAGE_SIZE bytes or is NULL. Always false. */
__attribute__((format(printf, 2, 3), unused)) static inline bool refuse(char *message,
                                                                        const char *format, ...)
{
    if (!message)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(message, FT_MESSAGE_SIZE, format, args);
    va_end(args);
    return false;
}

#endif
