/*
 * Files on the hosts. Whether a host sees our very files at their paths is told by their inode,
 * time of change and mode: a shared file system gives the same, a copy does not. A wrong "no" costs
 * a copy, no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "measure/remote.h"
#include "measure/stage_list.h"

static const double ASK_LIMIT_S = 30;
static const double CHECK_LIMIT_S = 300; /* a disk may be slow in taking what was sent */
static const double POLL_S = 0.002;

enum { CHUNK_BYTES = 1 << 18, MOST_UNSENT_BYTES = 4 << 20 };

/* The entry whose path here is `path` or the deepest folder above it. */
static const struct remote_staged *find_staged(const struct remote_host *host, const char *path)
{
    const struct remote_staged *best = NULL;
    for (const struct remote_staged *staged = host->staged; staged; staged = staged->next) {
        size_t length = strlen(staged->here);
        if (strncmp(path, staged->here, length) == 0 &&
            (path[length] == '\0' || path[length] == '/') && (!best || length > strlen(best->here)))
            best = staged;
    }
    return best;
}

char *remote_path(const struct launcher *launcher, struct arena *arena, const char *name,
                  const char *path)
{
    const struct remote_host *host = remote_look_up(launcher, name);
    const struct remote_staged *staged = host ? find_staged(host, path) : NULL;
    if (!staged)
        return arena_copy(arena, path);
    return arena_format(arena, "%s%s", staged->there, path + strlen(staged->here));
}

static void remember(struct remote_host *host, const char *here, const char *there)
{
    struct arena *arena = &host->launcher->arena;
    struct remote_staged *staged = ARENA_NEW(arena, struct remote_staged);
    staged->here = arena_copy(arena, here);
    staged->there = arena_copy(arena, there);
    staged->next = host->staged;
    host->staged = staged;
}

static bool is_staged(const struct remote_host *host, const char *path)
{
    const struct remote_staged *staged = find_staged(host, path);
    return staged && strcmp(staged->here, path) == 0;
}

/* Whether the host has the very same folder or file at that path. */
static bool ask_same(struct remote_host *host, const char *path, bool *same, struct error *e)
{
    struct stat st;
    json_t *answer = NULL;
    if (stat(path, &st) != 0) {
        error_set(e, ERROR_FILE, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    long long changed_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
    json_t *request = json_pack("{s:s, s:o, s:I, s:I, s:I}", "op", "same", "path", agent_text(path),
                                "st_ino", (json_int_t)st.st_ino, "st_mtime_ns",
                                (json_int_t)changed_ns, "st_mode", (json_int_t)st.st_mode);
    if (!remote_ask(host, request, ASK_LIMIT_S, &answer, e))
        return false;
    *same = json_is_true(json_object_get(answer, "same"));
    json_decref(answer);
    return true;
}

static bool find_shared(struct remote_host *host, const char *path, bool *shared, struct error *e)
{
    switch (host->launcher->job->launcher.files) {
    case FILES_SHARED:
        *shared = true;
        return true;
    case FILES_COPIED:
        *shared = false;
        return true;
    case FILES_AS_FOUND:
        break;
    }
    return ask_same(host, path, shared, e);
}

static bool ask_folder(struct remote_host *host, char **there, struct error *e)
{
    json_t *answer = NULL;
    if (!remote_ask(host, json_pack("{s:s}", "op", "make"), ASK_LIMIT_S, &answer, e))
        return false;
    *there = agent_bytes(&host->launcher->arena, json_object_get(answer, "path"));
    json_decref(answer);
    return true;
}

/* Waits until what is sent does not pile up here. */
static bool wait_for_room(struct remote_host *host, struct error *e)
{
    for (;;) {
        remote_pump(host->launcher);
        if (host->state == REMOTE_LOST)
            return remote_fail(host, e);
        if (agent_unsent(&host->agent) < MOST_UNSENT_BYTES)
            return true;
        if (progress_cancelled(host->launcher->progress, e))
            return false;
        clock_sleep(POLL_S);
    }
}

static bool send_part(struct remote_host *host, const char *there, const struct stat *st,
                      const char *bytes, size_t size, bool first, struct error *e)
{
    json_t *request = json_pack("{s:s, s:o, s:b, s:I}", "op", "put", "path", agent_text(there),
                                "first", first, "mode", (json_int_t)(st->st_mode & 0700));
    agent_send(&host->agent, request, bytes, size);
    return wait_for_room(host, e);
}

static bool send_open_file(struct remote_host *host, int fd, const char *here, const char *there,
                           struct error *e)
{
    struct stat st;
    ssize_t n = fstat(fd, &st) == 0 ? 1 : -1;
    char *buffer = memory_resize(NULL, CHUNK_BYTES, 1);
    bool ok = n > 0;
    for (bool first = true; ok && n > 0; first = false) {
        n = read(fd, buffer, CHUNK_BYTES);
        if (n > 0 || (n == 0 && first))
            ok = send_part(host, there, &st, buffer, (size_t)n, first, e);
    }
    free(buffer);
    if (n >= 0)
        return ok;
    error_set(e, ERROR_FILE, "%s: cannot be read: %s", here, strerror(errno));
    return false;
}

static bool send_file(struct remote_host *host, const char *here, const char *there,
                      struct error *e)
{
    int fd = open(here, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        error_set(e, ERROR_FILE, "%s: cannot be read: %s", here, strerror(errno));
        return false;
    }
    bool ok = send_open_file(host, fd, here, there, e);
    close(fd);
    return ok;
}

static bool check_space(const struct remote_host *host, const struct stage_list *list,
                        struct error *e)
{
    static const double share = 0.95;
    double free_bytes = json_number_value(json_object_get(host->hello, "free_bytes"));
    if (list->bytes <= share * free_bytes)
        return true;
    char need[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE];
    error_set(e, ERROR_HOST, "host '%s' has no room for %s: %s are needed, %s are free", host->name,
              list->root, units_format(list->bytes, DIMENSION_BYTES, need),
              units_format(free_bytes, DIMENSION_BYTES, have));
    error_hint(e, "name another folder there: launcher: {folder: PATH}");
    return false;
}

static bool send_list(struct remote_host *host, const struct stage_list *list, const char *there,
                      struct error *e)
{
    struct arena arena = {0};
    char size[UNITS_TEXT_SIZE];
    units_format(list->bytes, DIMENSION_BYTES, size);
    json_t *answer = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < list->n; i++) {
        progress_status(host->launcher->progress, "copying %s to %s (%s): file %zu of %zu",
                        list->root, host->name, size, i + 1, list->n);
        ok = send_file(host, stage_list_path(&arena, list->root, list->path[i]),
                       stage_list_path(&arena, there, list->path[i]), e);
        arena_free(&arena);
    }
    ok = ok && remote_ask(host, json_pack("{s:s}", "op", "check"), CHECK_LIMIT_S, &answer, e);
    json_decref(answer);
    return ok;
}

static bool copy(struct remote_host *host, const char *path, const struct stage_options *options,
                 struct error *e)
{
    struct arena arena = {0};
    struct stage_list list;
    char *there = NULL;
    bool ok = stage_list_make(&arena, path, options, &list, e) && check_space(host, &list, e) &&
              ask_folder(host, &there, e);
    if (ok && list.is_file)
        there = arena_format(&host->launcher->arena, "%s/%s", there, strrchr(path, '/') + 1);
    ok = ok && send_list(host, &list, there, e);
    if (ok)
        remember(host, path, there);
    arena_free(&arena);
    return ok;
}

bool remote_stage(struct launcher *launcher, const char *name, const char *path,
                  const struct stage_options *options, struct error *e)
{
    struct remote_host *host = NULL;
    bool shared = false;
    if (!remote_find(launcher, name, &host, e))
        return false;
    if (is_staged(host, path))
        return true;
    if (!find_shared(host, path, &shared, e))
        return false;
    if (shared)
        remember(host, path, path);
    else if (!copy(host, path, options, e)) {
        if (!progress_cancelled(launcher->progress, e))
            error_in(e, "copying %s to '%s'", path, name);
        return false;
    }
    return true;
}

/* A folder made anew: what stood for it, or for files in it, is not meant any more. */
static void forget_below(struct remote_host *host, const char *path)
{
    size_t length = strlen(path);
    for (struct remote_staged **link = &host->staged; *link;) {
        const char *here = (*link)->here;
        if (strncmp(here, path, length) == 0 && (here[length] == '\0' || here[length] == '/'))
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
}

bool remote_make_folder(struct launcher *launcher, const char *name, const char *path,
                        struct error *e)
{
    struct remote_host *host = NULL;
    bool shared = false;
    char *there = NULL;
    if (!remote_find(launcher, name, &host, e) || !find_shared(host, path, &shared, e) ||
        (!shared && !ask_folder(host, &there, e)))
        return false;
    forget_below(host, path);
    remember(host, path, shared ? path : there);
    return true;
}

bool remote_fetch(struct launcher *launcher, const char *name, const char *there, const char *here,
                  struct error *e)
{
    struct remote_host *host = NULL;
    json_t *answer = NULL;
    if (!remote_find(launcher, name, &host, e) ||
        !remote_ask(host, json_pack("{s:s, s:o}", "op", "get", "path", agent_text(there)),
                    CHECK_LIMIT_S, &answer, e))
        return false;
    json_decref(answer);
    const struct text *payload = &host->agent.payload;
    return file_write(here, payload->data ? payload->data : "", payload->length, e);
}

/* Asks for something that nothing depends on. */
static void ask_politely(struct remote_host *host, const char *what, const char *there)
{
    struct error e = {0};
    json_t *answer = NULL;
    if (remote_ask(host, json_pack("{s:s, s:o}", "op", what, "path", agent_text(there)),
                   CHECK_LIMIT_S, &answer, &e))
        json_decref(answer);
    error_clear(&e);
}

void remote_cool(struct launcher *launcher, const char *name, const char *path)
{
    struct remote_host *host = remote_look_up(launcher, name);
    const struct remote_staged *staged = host ? find_staged(host, path) : NULL;
    struct arena arena = {0};
    if (staged && host->state == REMOTE_GREETED)
        ask_politely(host, "cool", remote_path(launcher, &arena, name, path));
    arena_free(&arena);
}

void remote_unstage(struct launcher *launcher, const char *name)
{
    struct remote_host *host = remote_look_up(launcher, name);
    for (; host && host->staged; host->staged = host->staged->next) {
        if (host->state == REMOTE_GREETED && strcmp(host->staged->here, host->staged->there) != 0)
            ask_politely(host, "remove", host->staged->there);
    }
}
