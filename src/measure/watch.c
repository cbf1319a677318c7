/*
 * Only the start of a line is kept: an iteration's number stands there, and buckets and collectives
 * make lines long.
 */
#include "measure/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/text.h"

/* Opens a rank's record, complete or not yet. */
static int open_record(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    const char *path = subsystem_record(arena, subsystem, rank);
    int fd = open(arena_format(arena, "%s.part", path), O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

static void see_iteration(struct watch *watch, int iteration)
{
    watch->latest_s = clock_now_s();
    watch->alive_s = watch->latest_s;
    if (watch->first_s <= 0 || iteration <= watch->first_iteration) {
        watch->first_s = watch->latest_s; /* also while sub-systems wait for each other */
        watch->first_iteration = iteration;
    }
    watch->iteration = iteration;
}

/* {"kind":"iteration","i":17,... with or without blanks. */
static void see_line(struct watch *watch)
{
    watch->line[watch->line_length] = '\0';
    const char *kind = strstr(watch->line, "\"iteration\"");
    const char *number = kind ? strstr(kind, "\"i\"") : NULL;
    if (!number)
        return;
    number += strlen("\"i\"");
    long iteration = strtol(number + strspn(number, ": "), NULL, 10);
    if (iteration > 0 && iteration < INT_MAX)
        see_iteration(watch, (int)iteration);
}

static void see_bytes(struct watch *watch, const char *byte, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (byte[i] == '\n') {
            see_line(watch);
            watch->line_length = 0;
        } else if (watch->line_length < WATCH_LINE_SIZE - 1) {
            watch->line[watch->line_length++] = byte[i];
        }
    }
}

static void see_record(struct watch *watch, int fd)
{
    char buffer[16384];
    ssize_t n;
    while ((n = pread(fd, buffer, sizeof buffer, watch->offset)) > 0) {
        see_bytes(watch, buffer, (size_t)n);
        watch->offset += n;
    }
}

static off_t output_bytes(struct arena *arena, const struct subsystem *subsystem)
{
    off_t bytes = 0;
    for (int rank = 0; rank < subsystem->n_ranks; rank++) {
        struct stat st;
        if (stat(subsystem_output(arena, subsystem, rank), &st) == 0)
            bytes += st.st_size;
    }
    return bytes;
}

void watch_look(struct watch *watch, const struct subsystem *subsystem)
{
    struct arena arena = {0};
    int fd = open_record(&arena, subsystem, 0);
    if (fd >= 0) {
        see_record(watch, fd);
        close(fd);
    }
    if (watch->iteration == 0) {
        off_t bytes = output_bytes(&arena, subsystem);
        if (bytes != watch->output_bytes)
            watch->alive_s = clock_now_s();
        watch->output_bytes = bytes;
    }
    arena_free(&arena);
}

double watch_left_s(const struct watch *watch, int last)
{
    int n_seen = watch->iteration - watch->first_iteration;
    if (watch->iteration == 0 || n_seen < 2)
        return -1;
    double pace_s = (watch->latest_s - watch->first_s) / n_seen;
    double left_s = pace_s * (last - watch->iteration) - (clock_now_s() - watch->latest_s);
    return left_s > 0 ? left_s : 0;
}

/* The text of one line where it is an `error` line. */
static char *error_text(struct arena *arena, const char *line)
{
    json_t *json = json_loads(line, 0, NULL);
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const char *text = json_string_value(json_object_get(json, "text"));
    char *found =
        kind && text && strcmp(kind, "error") == 0 ? text_printable(arena, text, 1) : NULL;
    json_decref(json);
    return found;
}

char *watch_refusal(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    enum { LIMIT = 65536 };
    int fd = open_record(arena, subsystem, rank);
    struct stat st;
    if (fd < 0)
        return NULL;
    char *end = ARENA_ARRAY(arena, LIMIT + 1, char);
    off_t from = fstat(fd, &st) == 0 && st.st_size > LIMIT ? st.st_size - LIMIT : 0;
    ssize_t n = pread(fd, end, LIMIT, from);
    close(fd);
    end[n > 0 ? n : 0] = '\0';
    char *found = NULL;
    for (char *rest = end, *line; !found && (line = strsep(&rest, "\n")) != NULL;)
        found = error_text(arena, line);
    return found;
}
