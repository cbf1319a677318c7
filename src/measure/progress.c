#include "measure/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

static void tell(void (*to)(void *, const char *), void *self, const char *format, va_list args)
{
    char *text = NULL;
    if (!to)
        return;
    if (vasprintf(&text, format, args) < 0)
        memory_exhausted();
    to(self, text);
    free(text);
}

void progress_say(const struct progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(progress->say, progress->self, format, args);
    va_end(args);
}

void progress_warn(const struct progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(progress->warn, progress->self, format, args);
    va_end(args);
}

void progress_status(const struct progress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(progress->status, progress->self, format, args);
    va_end(args);
}

bool progress_cancelled(const struct progress *progress, struct error *e)
{
    if (!progress->cancel || !*progress->cancel)
        return false;
    error_set(e, ERROR_HOST, "interrupted");
    return true;
}
