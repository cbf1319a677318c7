/* How the library's functions refuse a value: a sentence in the caller's buffer, and false. */
#ifndef FORETRAIN_PREDICT_REFUSE_H
#define FORETRAIN_PREDICT_REFUSE_H

#include <math.h>
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

__attribute__((unused)) static inline bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

#endif
