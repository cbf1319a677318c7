/*
 * Any bytes as the traces of a training's ranks, separated by zero bytes: refused with a message,
 * or made into a profile that can be read. The first byte chooses the options.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/trace_profile.h"

enum { MOST_RANKS = 4 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* A file in memory, by a name under which it can be opened. */
static int put(struct arena *arena, const uint8_t *data, size_t size, const char **path)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    *path = arena_format(arena, "/proc/self/fd/%d", fd);
    return fd;
}

static size_t put_all(struct arena *arena, const uint8_t *data, size_t size, const char **path,
                      int *fd)
{
    size_t n = 0;
    for (const uint8_t *end = data + size; n < MOST_RANKS && data < end; n++) {
        const uint8_t *zero = memchr(data, 0, (size_t)(end - data));
        size_t length = (size_t)((zero ? zero : end) - data);
        fd[n] = put(arena, data, length, &path[n]);
        data += length + 1;
    }
    return n;
}

static void read_back(const struct profile *profile)
{
    struct arena arena = {0};
    struct error e = {0};
    struct profile read;
    struct text text = {0};
    profile_format(profile, NULL, &text);
    require(profile_parse(&arena, text.data, text.length, "made.json", &read, &e));
    text_free(&text);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double bytes[] = {4e6, 12e6};
    struct arena arena = {0};
    struct error e = {0};
    struct profile profile;
    struct trace_given_rank given[MOST_RANKS];
    const char *path[MOST_RANKS];
    int fd[MOST_RANKS];
    unsigned choice = size > 0 ? data[0] : 0;
    size_t n = size > 1 ? put_all(&arena, data + 1, size - 1, path, fd) : 0;
    for (size_t i = 0; i < n; i++)
        given[i] = (struct trace_given_rank){path[i], (int)i};
    struct trace_options options = {.device_type = "fuzzed",
                                    .batch = choice & 1 ? 8 : 0,
                                    .gradient_bytes = bytes,
                                    .n_gradient_bytes = choice >> 1 & 1 ? 1 + (choice >> 2 & 1) : 0,
                                    .given = given,
                                    .n_given = choice >> 3 & 1 ? n : 0,
                                    .no_comm = choice >> 4 & 1,
                                    .partial = choice >> 5 & 1};
    if (n > 0 && profile_from_traces(&arena, path, n, &options, &profile, &e))
        read_back(&profile);
    else
        require(n == 0 || (e.kind != ERROR_NONE && e.text && e.text[0]));
    for (size_t i = 0; i < n; i++)
        close(fd[i]);
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
