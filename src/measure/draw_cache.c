/* The kernel takes the advice or leaves it without a word, so that mincore(2) is asked afterwards.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/draw.h"

/* Pages of one stretch of an open file that are in memory, in bytes. */
static double resident_stretch(int fd, off_t offset, size_t length)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n_pages = (length + page - 1) / page, n = 0;
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, offset);
    if (map == MAP_FAILED)
        return 0;
    unsigned char *resident = memory_resize(NULL, n_pages, 1);
    if (mincore(map, length, resident) == 0) {
        for (size_t i = 0; i < n_pages; i++)
            n += resident[i] & 1;
    }
    free(resident);
    munmap(map, length);
    return (double)(n * page);
}

static double resident_bytes(int fd, off_t size)
{
    const off_t stretch = (off_t)1 << 30;
    double bytes = 0;
    for (off_t at = 0; at < size; at += stretch)
        bytes += resident_stretch(fd, at, (size_t)(size - at < stretch ? size - at : stretch));
    return bytes < (double)size ? bytes : (double)size;
}

/* Bytes of an open file that stay in the cache. Pages not written back yet would stay: they are
 * written first. */
static double forget_open(int fd, const char *path, off_t size)
{
    fdatasync(fd);
    if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        return (double)size;
    return access(path, W_OK) == 0 ? resident_bytes(fd, size) : 0;
}

static void forget_file(const char *path, struct draw_cache *left)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool opened = fd >= 0 && fstat(fd, &st) == 0;
    double bytes = opened ? forget_open(fd, path, st.st_size) : 0;
    left->n_files += !opened || bytes > 0;
    left->bytes += bytes;
    if (fd >= 0)
        close(fd);
}

void draw_forget_cache(const struct data_set *set, const struct draw_share *share, size_t n,
                       struct draw_cache *left)
{
    *left = (struct draw_cache){0};
    for (size_t s = 0; s < n; s++) {
        for (size_t i = 0; i < share[s].n; i++) {
            struct arena arena = {0};
            const char *path = set->path[share[s].file[i]];
            forget_file(arena_format(&arena, "%s/%s", set->root, path), left);
            arena_free(&arena);
        }
    }
}
