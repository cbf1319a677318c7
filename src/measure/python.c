#include "measure/python.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/text.h"

static const double TRIAL_TIMEOUT_S = 60;

/* One path that was run, and what came of it. */
struct python_trial {
    struct python_trial *next;
    const char *path, *env, *host; /* host: NULL: here */
    struct python python;          /* where it has torch */
    const char *complaint;         /* else why not */
    enum child_how how;
};

struct python_search python_search_start(struct arena *arena)
{
    return (struct python_search){
        .arena = arena, .environment_python = getenv("FORETRAIN_PYTHON"), .path = getenv("PATH")};
}

void python_search_on(struct python_search *search, struct launcher *launcher, const char *host)
{
    bool is_here = launcher_is_local(launcher);
    search->launcher = is_here ? NULL : launcher;
    search->host = is_here ? NULL : host;
}

/* The line "foretrain PYTHON TORCH" among whatever else the import prints. */
static bool read_answer(struct arena *arena, const char *output, struct python *python)
{
    static const char lead[] = "foretrain-python ";
    const char *line = strstr(output, lead);
    if (!line)
        return false;
    line += sizeof lead - 1;
    size_t version_length = strcspn(line, " \n");
    if (line[version_length] != ' ')
        return false;
    const char *torch = line + version_length + 1;
    python->version = text_printable(arena, arena_copy_n(arena, line, version_length), 0);
    python->torch = text_printable(arena, arena_copy_n(arena, torch, strcspn(torch, "\r\n")), 0);
    return true;
}

/* The last line that it printed: of a traceback, the one that says what is wrong. */
static const char *last_line(struct arena *arena, const char *output)
{
    size_t end = strlen(output);
    while (end > 0 && strchr("\r\n", output[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && output[start - 1] != '\n')
        start--;
    return text_printable(arena, arena_copy_n(arena, output + start, end - start), 0);
}

/* What a program prints on a host, or here. */
static bool capture(struct python_search *search, const char *const *argv, const char *const *env,
                    const struct child_limits *limits, struct child_end *end, char **output,
                    struct error *e)
{
    const struct child_options options = {.argv = argv, .env = env};
    const struct launch launch = {.host = search->host, .argv = argv, .env = env};
    if (!search->launcher)
        return child_capture(search->arena, &options, limits, end, output, NULL, e);
    return launcher_capture(search->launcher, search->arena, &launch, limits, end, output, NULL, e);
}

static bool run_trial(struct python_search *search, struct python_trial *trial,
                      const char *const *env, const struct progress *progress, struct error *e)
{
    struct arena *arena = search->arena;
    static const char program[] =
        "import sys, torch, torch.distributed as d, torch.utils.data\n"
        "assert d.is_available(), 'torch without torch.distributed'\n"
        "print('\\nforetrain-python', sys.version.split()[0], torch.__version__)\n";
    const char *argv[] = {trial->path, "-c", program, NULL};
    struct child_limits limits = {.timeout_s = TRIAL_TIMEOUT_S, .cancel = progress->cancel};
    struct child_end end;
    char *output = NULL;
    if (!capture(search, argv, env, &limits, &end, &output, e)) {
        trial->complaint =
            search->launcher && e->text ? text_printable(arena, e->text, 1) : "it cannot be run";
        return false;
    }
    trial->how = end.how;
    bool ended_well = end.how == CHILD_EXITED && end.number == 0;
    if (ended_well && read_answer(arena, output, &trial->python))
        return true;
    const char *line = last_line(arena, output);
    trial->complaint = end.how == CHILD_EXITED && *line ? line : child_end_text(arena, end);
    return false;
}

static const char *join_env(struct arena *arena, const char *const *env)
{
    struct text joined = {0};
    for (; env && *env; env++)
        text_format(&joined, "%s\n", *env);
    const char *copy = arena_copy(arena, joined.data ? joined.data : "");
    text_free(&joined);
    return copy;
}

static bool is_same_place(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Runs a path once in the search; later the answer is known. */
static const struct python_trial *try_python(struct python_search *search, const char *path,
                                             const char *const *env,
                                             const struct progress *progress)
{
    const char *joined = join_env(search->arena, env);
    for (const struct python_trial *trial = search->trial; trial; trial = trial->next) {
        if (strcmp(trial->path, path) == 0 && strcmp(trial->env, joined) == 0 &&
            is_same_place(trial->host, search->host))
            return trial;
    }
    struct python_trial *trial = ARENA_NEW(search->arena, struct python_trial);
    trial->path = arena_copy(search->arena, path);
    trial->env = joined;
    trial->host = search->host;
    trial->python.path = trial->path;
    struct error e = {0};
    progress_status(progress, "trying %s%s%s", path, search->host ? " on " : "",
                    search->host ? search->host : "");
    run_trial(search, trial, env, progress, &e);
    error_clear(&e);
    trial->next = search->trial;
    search->trial = trial;
    return trial;
}

static bool find_named(struct python_search *search, const char *path, const char *who,
                       const char *const *env, const struct progress *progress,
                       struct python *python, struct error *e)
{
    const struct python_trial *trial = try_python(search, path, env, progress);
    if (!trial->complaint) {
        *python = trial->python;
        return true;
    }
    if (progress_cancelled(progress, e))
        return false;
    error_set(e, ERROR_HOST, "%s%s%s, named by %s, has no torch that can be used: %s", path,
              search->host ? " on " : "", search->host ? search->host : "", who, trial->complaint);
    return false;
}

/* "FOLDER/python3" of the first folder of a PATH, where it can be run; moves on to the next. */
static const char *next_on_path(struct arena *arena, const char **path)
{
    while (*path && **path) {
        size_t length = strcspn(*path, ":");
        const char *folder = arena_copy_n(arena, *path, length);
        *path += length + ((*path)[length] == ':');
        const char *candidate = arena_format(arena, "%s/python3", length ? folder : ".");
        struct stat st;
        if (stat(candidate, &st) == 0 && S_ISREG(st.st_mode) && access(candidate, X_OK) == 0)
            return candidate;
    }
    return NULL;
}

/* Tries one that nobody named. A word is said the first time that it is passed over. */
static bool consider(struct python_search *search, const char *path, const char *const *env,
                     const struct progress *progress, struct text *tried, struct python *python)
{
    const struct python_trial *before = search->trial;
    const struct python_trial *trial = try_python(search, path, env, progress);
    if (!trial->complaint) {
        *python = trial->python;
        return true;
    }
    text_format(tried, "%s%s", tried->length ? ", " : "", path);
    if (search->trial != before && trial->how != CHILD_CANCELLED)
        progress_say(progress, "passed over %s%s%s: %s", path, search->host ? " on " : "",
                     search->host ? search->host : "", trial->complaint);
    return false;
}

static const char last_resort[] = "/usr/bin/python3";

/* Of this machine's PATH, then the last resort; on another host its PATH decides. */
static const char *const *unnamed_candidates(const struct python_search *search)
{
    enum { MOST = 256, N_LAST = 2 };
    const char **candidate = ARENA_ARRAY(search->arena, MOST + N_LAST, const char *);
    const char *rest = search->path, *next = NULL;
    size_t n = 0;
    if (search->launcher)
        candidate[n++] = "python3";
    while (!search->launcher && n < MOST && (next = next_on_path(search->arena, &rest)) != NULL)
        candidate[n++] = next;
    if (search->launcher || access(last_resort, X_OK) == 0)
        candidate[n++] = last_resort;
    return candidate;
}

const char *const *python_candidates(const struct python_search *search, const char *named,
                                     const char **named_by)
{
    const char *environment = search->environment_python;
    bool by_environment = !named && environment && *environment;
    if (!named && !by_environment) {
        *named_by = NULL;
        return unnamed_candidates(search);
    }
    const char **only = ARENA_ARRAY(search->arena, 2, const char *);
    *named_by = named ? "`python:` in the job" : "FORETRAIN_PYTHON";
    only[0] = named ? named : environment;
    return only;
}

static bool fail_unnamed(const struct python_search *search, const struct text *tried,
                         struct error *e)
{
    if (search->launcher)
        error_set(e, ERROR_HOST, "host '%s' has no Python with torch (%s): %s", search->host,
                  tried->data, search->trial->complaint);
    else
        error_set(e, ERROR_HOST, "no Python with torch was found (%s)",
                  tried->length ? tried->data : "there is no python3 on PATH");
    error_hint(e,
               "install python3-torch%s, or name yours: `python: /path/to/bin/python` under the "
               "device type%s",
               search->launcher ? " there" : "", search->launcher ? "" : ", or FORETRAIN_PYTHON");
    return false;
}

bool python_find(struct python_search *search, const char *named, const char *const *env,
                 const struct progress *progress, struct python *python, struct error *e)
{
    const char *named_by = NULL;
    const char *const *candidate = python_candidates(search, named, &named_by);
    if (named_by)
        return find_named(search, *candidate, named_by, env, progress, python, e);
    struct text tried = {0};
    bool found = false;
    for (; *candidate && !found; candidate++)
        found = consider(search, *candidate, env, progress, &tried, python);
    if (!found && !progress_cancelled(progress, e))
        fail_unnamed(search, &tried, e);
    text_free(&tried);
    return found;
}

bool python_check(struct python_search *search, const char *path, const char *const *env,
                  struct error *e)
{
    static const char program[] =
        "import sys, importlib.util as u\n"
        "torch = u.find_spec('torch')\n"
        "sys.exit(torch is None or torch.origin is None)\n"; /* an empty folder has no origin */
    const char *const argv[] = {path, "-c", program, NULL};
    const struct child_limits limits = {.timeout_s = TRIAL_TIMEOUT_S};
    struct child_end end;
    char *output = NULL;
    if (!search->launcher)
        return true;
    if (!capture(search, argv, env, &limits, &end, &output, e))
        return false;
    if (end.how == CHILD_EXITED && end.number == 0)
        return true;
    error_set(e, ERROR_HOST, "host '%s': %s has no torch%s%s", search->host, path,
              *output ? ": " : "", last_line(search->arena, output));
    return false;
}
