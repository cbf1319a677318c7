#include "base/clock.h"

#include <stdio.h>
#include <time.h>

double clock_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void clock_sleep(double duration_s)
{
    if (duration_s <= 0)
        return;
    time_t whole_s = (time_t)duration_s;
    struct timespec duration = {.tv_sec = whole_s,
                                .tv_nsec = (long)(1e9 * (duration_s - (double)whole_s))};
    nanosleep(&duration, NULL);
}

char *clock_date(char *text)
{
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(text, CLOCK_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
    return text;
}
