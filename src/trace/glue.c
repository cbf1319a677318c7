#include "trace/glue.h"

#include <string.h>

static size_t hash(const char *text, size_t length, enum glue_level level)
{
    uint64_t h = 0xcbf29ce484222325u ^ level; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32) % GLUE_SLOTS;
}

/* Where a glue stands in the table, or would. */
static struct glue **find(struct glue_book *book, const char *text, size_t length,
                          enum glue_level level)
{
    size_t i = hash(text, length, level);
    for (;; i = (i + 1) % GLUE_SLOTS) {
        struct glue *glue = book->slot[i];
        if (!glue || (glue->level == level && glue->length == length &&
                      memcmp(glue->text, text, length) == 0))
            return &book->slot[i];
    }
}

static struct glue *make(struct glue_book *book, const char *text, size_t length, int key,
                         enum glue_level level)
{
    struct glue *glue = &book->glue[book->n++];
    memcpy(glue->text, text, length);
    glue->length = (uint32_t)length;
    glue->beyond = length < GLUE_LONGEST ? UINT64_MAX << length : 0;
    glue->key = key;
    glue->level = level;
    return glue;
}

/* The newest comes first: a trace's parts have patterns of their own. */
static void add_follower(struct glue *from, struct glue *glue)
{
    memmove(from->follower + 1, from->follower, sizeof from->follower - sizeof *from->follower);
    from->follower[0] = glue;
}

static struct glue *unlearned(struct glue_book *book, int key, enum glue_level level)
{
    struct glue *glue = &book->unlearned[level];
    glue->key = key;
    glue->level = level;
    return glue;
}

struct glue *glue_learn(struct glue_book *book, struct glue *from, const char *text, size_t length,
                        int key)
{
    enum glue_level level = from->level;
    if (length > GLUE_LONGEST)
        return unlearned(book, key, level);
    struct glue **place = find(book, text, length, level);
    if (!*place) {
        if (book->n == GLUE_MOST)
            return unlearned(book, key, level);
        *place = make(book, text, length, key, level);
    }
    if (from != &book->unlearned[level])
        add_follower(from, *place);
    return *place;
}
