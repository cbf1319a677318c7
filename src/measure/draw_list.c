/* A list of files: absolute paths first, then what all of them have in common is their root. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/draw_set.h"

enum { LARGEST_LIST_BYTES = 1 << 30, MOST_MISSING_SHOWN = 20 };

struct listed {
    const char *path; /* absolute */
    uint64_t hash;
    double size_bytes;
    int line;
};

struct list {
    struct arena *arena;
    const char *file, *folder; /* as named; absolute */
    struct listed *item;       /* [n] */
    size_t n, capacity;
    struct text missing;
    size_t n_missing;
};

static bool has_odd_step(const char *path)
{
    return strstr(path, "//") || strstr(path, "/./") || strstr(path, "/../") ||
           strncmp(path, "./", 2) == 0 || strncmp(path, "../", 3) == 0;
}

/* Absolute path without "." and ".." between; links at its end stay links. */
static const char *absolute_path(struct list *list, const char *path)
{
    char *joined = path_join(list->arena, list->folder, path);
    if (!has_odd_step(joined) && !has_odd_step(path))
        return joined;
    struct error e = {0};
    char *folder = path_folder(list->arena, joined);
    const char *name = strrchr(joined, '/') + 1;
    if (!path_absolute(list->arena, folder, &folder, &e))
        error_clear(&e);
    return path_join(list->arena, strcmp(folder, "/") == 0 ? "" : folder, name);
}

static void add_missing(struct list *list, const char *path, int line, const char *why)
{
    if (list->n_missing++ < MOST_MISSING_SHOWN)
        text_format(&list->missing, "%s%s:%d: %s: %s", list->missing.length > 0 ? "\n" : "",
                    list->file, line, text_printable(list->arena, path, 0), why);
}

static void add_item(struct list *list, const char *path, double size_bytes, int line)
{
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        list->item = memory_resize(list->item, list->capacity, sizeof *list->item);
    }
    list->item[list->n++] = (struct listed){path, draw_set_hash(path), size_bytes, line};
}

static void read_entry(struct list *list, const char *entry, int line)
{
    struct stat st;
    const char *path = absolute_path(list, entry);
    if (stat(path, &st) != 0)
        add_missing(list, entry, line, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        add_missing(list, entry, line, "not a file");
    else
        add_item(list, path, (double)st.st_size, line);
}

static void read_entries(struct list *list, char *text)
{
    int line = 0;
    for (char *entry = text; *entry;) {
        size_t length = strcspn(entry, "\n");
        char *next = entry + length + (entry[length] == '\n');
        entry[length] = '\0';
        if (length > 0 && entry[length - 1] == '\r')
            entry[length - 1] = '\0';
        line++;
        if (entry[strspn(entry, " \t")] != '\0' && entry[0] != '#')
            read_entry(list, entry, line);
        entry = next;
    }
}

static int by_path(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    int paths = strcmp(x->path, y->path);
    return paths != 0 ? paths : (x->line > y->line) - (x->line < y->line);
}

static int by_line(const void *a, const void *b)
{
    int x = ((const struct listed *)a)->line, y = ((const struct listed *)b)->line;
    return (x > y) - (x < y);
}

static bool check_twice(struct list *list, struct error *e)
{
    if (list->n > 0)
        qsort(list->item, list->n, sizeof *list->item, by_path);
    for (size_t i = 1; i < list->n; i++) {
        const struct listed *first = &list->item[i - 1], *again = &list->item[i];
        if (strcmp(first->path, again->path) != 0)
            continue;
        struct place place = {.file = list->file, .line = again->line, .column = 1};
        error_at(e, &place, "%s is named twice, first on line %d",
                 text_printable(list->arena, again->path, 0), first->line);
        return false;
    }
    if (list->n > 0)
        qsort(list->item, list->n, sizeof *list->item, by_line);
    return true;
}

static bool check_all_there(struct list *list, struct error *e)
{
    if (list->n_missing > MOST_MISSING_SHOWN)
        text_format(&list->missing, "\n%s: and %zu more that are missing", list->file,
                    list->n_missing - MOST_MISSING_SHOWN);
    if (list->n_missing > 0)
        error_set(e, ERROR_FILE, "%s", list->missing.data);
    else if (list->n == 0)
        error_set(e, ERROR_INPUT, "%s: names no files: expected one path a line", list->file);
    return list->n_missing == 0 && list->n > 0;
}

/* Length of the deepest folder that has both, without a slash at its end. */
static size_t common_folder(const char *path, const char *other, size_t length)
{
    size_t common = 0, i = 0;
    for (; i < length && path[i] == other[i]; i++) {
        if (path[i] == '/')
            common = i;
    }
    return i == length && other[i] == '/' ? length : common;
}

/* Files of one folder have one number: folders are told apart by sorting their names. */
struct in_folder {
    const char *path;
    size_t length; /* of the folder's part */
    size_t index;
};

static int by_folder(const void *a, const void *b)
{
    const struct in_folder *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->path, y->path, shorter);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static size_t number_folders(struct list *list, uint32_t *number)
{
    struct in_folder *file = memory_resize(NULL, list->n, sizeof *file);
    size_t n_folders = 0;
    for (size_t i = 0; i < list->n; i++) {
        const char *path = list->item[i].path;
        file[i] = (struct in_folder){path, (size_t)(strrchr(path, '/') - path), i};
    }
    qsort(file, list->n, sizeof *file, by_folder);
    for (size_t i = 0; i < list->n; i++) {
        n_folders += i == 0 || by_folder(&file[i - 1], &file[i]) != 0;
        number[file[i].index] = (uint32_t)(n_folders - 1);
    }
    free(file);
    return n_folders;
}

static void finish(struct list *list, struct data_set *set)
{
    struct growing_set growing = {0};
    size_t root = (size_t)(strrchr(list->item[0].path, '/') - list->item[0].path);
    for (size_t i = 1; i < list->n; i++)
        root = common_folder(list->item[0].path, list->item[i].path, root);
    for (size_t i = 0; i < list->n; i++)
        draw_set_add(&growing, list->item[i].path + root + 1, 0);
    growing.n_folders = number_folders(list, growing.folder);
    draw_set_finish(list->arena, &growing, arena_copy_n(list->arena, list->item[0].path, root),
                    arena_copy(list->arena, list->file), set);
    for (size_t i = 0; i < list->n; i++)
        set->size_bytes[i] = list->item[i].size_bytes;
}

bool draw_scan_list(struct arena *arena, const char *path, struct data_set *set, struct error *e)
{
    struct arena scratch = {0};
    struct list list = {.arena = arena, .file = path};
    char *text = NULL, *folder = NULL;
    bool ok = file_read(&scratch, path, LARGEST_LIST_BYTES, &text, NULL, e) &&
              path_absolute(arena, path_folder(&scratch, path), &folder, e);
    if (ok) {
        list.folder = folder;
        read_entries(&list, text);
        ok = check_all_there(&list, e) && check_twice(&list, e);
    }
    if (ok)
        finish(&list, set);
    free(list.item);
    text_free(&list.missing);
    arena_free(&scratch);
    return ok;
}
