#include "measure/stage_list.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/units.h"

struct growing {
    struct arena *arena;
    const char *root;
    const struct stage_options *options;
    struct stage_list list;
    size_t capacity;
};

char *stage_list_path(struct arena *arena, const char *root, const char *path)
{
    return *path ? arena_format(arena, "%s/%s", root, path) : arena_copy(arena, root);
}

static void add(struct growing *g, const char *path, double bytes)
{
    struct stage_list *list = &g->list;
    if (list->n == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 64;
        const char **grown = ARENA_ARRAY(g->arena, g->capacity, const char *);
        if (list->n > 0)
            memcpy(grown, list->path, list->n * sizeof *grown);
        list->path = grown;
    }
    list->path[list->n++] = arena_copy(g->arena, path);
    list->bytes += bytes;
}

static bool stays(const struct growing *g, const char *path)
{
    for (size_t i = 0; g->options && i < g->options->n_except; i++) {
        const char *except = g->options->except[i];
        size_t length = strlen(except);
        if (strncmp(path, except, length) == 0 && (path[length] == '\0' || path[length] == '/'))
            return true;
    }
    return false;
}

static bool is_left_out(const char *name)
{
    static const char *const names[] = {".git", ".hg", ".svn", "__pycache__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static bool fail(const char *path, int number, struct error *e)
{
    error_set(e, ERROR_FILE, "%s: cannot be read: %s", path, strerror(number));
    return false;
}

static const char *below_root(const struct growing *g, const char *path)
{
    const char *rest = path + strlen(g->root);
    return rest + strspn(rest, "/");
}

static bool take_entry(struct growing *g, FTS *tree, FTSENT *entry, struct error *e)
{
    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level > 0 && (is_left_out(entry->fts_name) || stays(g, entry->fts_path)))
            fts_set(tree, entry, FTS_SKIP);
        return true;
    case FTS_F:
        if (!stays(g, entry->fts_path))
            add(g, below_root(g, entry->fts_path), (double)entry->fts_statp->st_size);
        return true;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return stays(g, entry->fts_path) || fail(entry->fts_path, entry->fts_errno, e);
    default: /* the way out, links to nothing or in circles, devices, sockets */
        return true;
    }
}

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool walk(struct growing *g, const char *folder, struct error *e)
{
    char *const roots[] = {arena_copy(g->arena, folder), NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, compare_entries);
    if (!tree)
        return fail(folder, errno, e);
    bool ok = true;
    for (FTSENT *entry; ok && (entry = fts_read(tree)) != NULL;)
        ok = take_entry(g, tree, entry, e);
    fts_close(tree);
    return ok;
}

/* What git knows and what it does not ignore, a name a line; NULL where git does not know the
 * folder, or a name needs quotes. */
static char *ask_git(struct arena *arena, const char *folder)
{
    enum { LIMIT = 64 << 20 };
    const char *argv[] = {
        "git", "-C", folder, "-c", "core.quotePath=off", "ls-files", "-co", "--exclude-standard",
        NULL};
    const struct child_options options = {.argv = argv};
    const struct child_limits limits = {.timeout_s = 60, .output_bytes = LIMIT};
    struct child_end end;
    struct error e = {0};
    char *names = NULL, *errors = NULL;
    bool ok = child_capture(arena, &options, &limits, &end, &names, &errors, &e) &&
              end.how == CHILD_EXITED && end.number == 0 && *names != '"' && !strstr(names, "\n\"");
    error_clear(&e);
    return ok ? names : NULL;
}

/* A name may be gone, or a folder: a submodule, or a link to one. */
static bool take_name(struct growing *g, const char *name, struct error *e)
{
    const char *path = stage_list_path(g->arena, g->root, name);
    struct stat st;
    if (stays(g, path) || stat(path, &st) != 0)
        return true;
    if (S_ISDIR(st.st_mode))
        return walk(g, path, e);
    if (S_ISREG(st.st_mode))
        add(g, name, (double)st.st_size);
    return true;
}

static bool take_folder(struct growing *g, struct error *e)
{
    char *names = g->options && g->options->code ? ask_git(g->arena, g->root) : NULL;
    if (!names)
        return walk(g, g->root, e);
    for (char *name; (name = strsep(&names, "\n")) != NULL;) {
        if (*name && !take_name(g, name, e))
            return false;
    }
    return true;
}

static bool check_limit(const struct growing *g, struct error *e)
{
    char have[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    if (!g->options || g->options->limit_bytes <= 0 || g->list.bytes <= g->options->limit_bytes)
        return true;
    error_set(e, ERROR_INPUT, "%s holds %s in %zu files; at most %s are copied to a host", g->root,
              units_format(g->list.bytes, DIMENSION_BYTES, have), g->list.n,
              units_format(g->options->limit_bytes, DIMENSION_BYTES, limit));
    error_hint(e, "put the script and what it needs in a folder of its own, or name what it does "
                  "not need in .gitignore");
    return false;
}

bool stage_list_make(struct arena *arena, const char *root, const struct stage_options *options,
                     struct stage_list *list, struct error *e)
{
    struct growing g = {.arena = arena, .root = root, .options = options, .list = {.root = root}};
    struct stat st;
    if (stat(root, &st) != 0)
        return fail(root, errno, e);
    if (!S_ISDIR(st.st_mode)) {
        g.list.is_file = true;
        add(&g, "", (double)st.st_size);
    } else if (!take_folder(&g, e)) {
        return false;
    }
    if (!check_limit(&g, e))
        return false;
    *list = g.list;
    return true;
}
