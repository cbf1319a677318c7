#include "trace/trace_spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_in(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/foretrain-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path)
        return -1;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

int trace_spill_open(void)
{
    const char *wanted = getenv("TMPDIR");
    if (wanted && *wanted)
        return open_in(wanted);
    int fd = open_in("/var/tmp");
    return fd >= 0 ? fd : open_in("/tmp");
}

bool trace_spill_write(int fd, uint64_t offset, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t more = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(offset + done));
        if (more < 0 && errno != EINTR)
            return false;
        done += more > 0 ? (size_t)more : 0;
    }
    return true;
}

void trace_spill_read(int fd, uint64_t offset, void *bytes, size_t n)
{
    enum { INPUT_OUTPUT = 74 };
    for (size_t done = 0; done < n;) {
        ssize_t more = pread(fd, (char *)bytes + done, n - done, (off_t)(offset + done));
        if (more == 0 || (more < 0 && errno != EINTR)) {
            fprintf(stderr, "foretrain: cannot read a temporary file back: %s\n",
                    more == 0 ? "it was cut" : strerror(errno));
            exit(INPUT_OUTPUT);
        }
        done += more > 0 ? (size_t)more : 0;
    }
}
