/* The processes on the hosts: starting, hearing of, and stopping them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/remote.h"

static const double START_LIMIT_S = 30;
static const double STOP_LIMIT_S = 12; /* the agent kills after 5 s */
static const double POLL_S = 0.01;

enum { OUTPUT, ERRORS, FILES };

static const char *part_of(struct arena *arena, const char *name)
{
    return arena_format(arena, "%s.part", name);
}

static bool open_sink(struct arena *arena, struct remote_sink *sink, const char *path,
                      struct error *e)
{
    if (!path)
        return true;
    const char *opened = sink->name ? part_of(arena, path) : path;
    sink->fd = open(opened, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (sink->fd >= 0)
        return true;
    error_set(e, ERROR_FILE, "%s: cannot write: %s", opened, strerror(errno));
    return false;
}

static void close_sinks(struct remote_process *process)
{
    for (size_t i = 0; i < process->n_sinks; i++) {
        if (process->sink[i].fd >= 0)
            close(process->sink[i].fd);
        process->sink[i].fd = -1;
    }
}

static bool open_sinks(struct arena *arena, const struct launch *launch,
                       struct remote_process *process, struct error *e)
{
    process->n_sinks = FILES + launch->n_files;
    process->sink = ARENA_ARRAY(arena, process->n_sinks, struct remote_sink);
    for (size_t i = 0; i < process->n_sinks; i++)
        process->sink[i].fd = -1;
    bool ok = open_sink(arena, &process->sink[OUTPUT], launch->output, e) &&
              open_sink(arena, &process->sink[ERRORS], launch->errors, e);
    for (size_t i = 0; ok && i < launch->n_files; i++) {
        struct remote_sink *sink = &process->sink[FILES + i];
        sink->name = arena_copy(arena, launch->file[i].here);
        ok = open_sink(arena, sink, sink->name, e);
    }
    if (!ok)
        close_sinks(process);
    return ok;
}

static json_t *words_json(const char *const *word)
{
    json_t *list = json_array();
    for (; word && *word; word++)
        json_array_append_new(list, agent_text(*word));
    return list;
}

/* "NAME=value" as ["NAME", "value"], "NAME" as ["NAME", null]. */
static json_t *environment_json(const char *const *env)
{
    struct arena arena = {0};
    json_t *list = json_array();
    for (; env && *env; env++) {
        const char *equals = strchr(*env, '=');
        size_t length = equals ? (size_t)(equals - *env) : strlen(*env);
        json_t *pair = json_array();
        json_array_append_new(pair, agent_text(arena_copy_n(&arena, *env, length)));
        json_array_append_new(pair, equals ? agent_text(equals + 1) : json_null());
        json_array_append_new(list, pair);
    }
    arena_free(&arena);
    return list;
}

static json_t *files_json(const struct launch *launch)
{
    json_t *list = json_array();
    for (size_t i = 0; i < launch->n_files; i++) {
        json_t *pair = json_array();
        json_array_append_new(pair, agent_text(launch->file[i].there));
        json_array_append_new(pair, json_boolean(launch->file[i].late));
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text ? agent_text(text) : json_null();
}

static json_t *run_request(const struct launch *launch, long number)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:b, s:o}", "op", "run", "id",
                     (json_int_t)number, "argv", words_json(launch->argv), "env",
                     environment_json(launch->env), "cwd", text_or_null(launch->folder), "cpus",
                     text_or_null(launch->cpus), "errors", launch->errors != NULL, "files",
                     files_json(launch));
}

static void forget(struct remote_host *host, struct remote_process *process)
{
    struct remote_process **link = &host->process;
    while (*link != process)
        link = &(*link)->next;
    *link = process->next;
    close_sinks(process);
}

bool remote_start(struct launcher *launcher, const struct launch *launch, struct launched *launched,
                  struct error *e)
{
    struct remote_host *host = NULL;
    if (!remote_find(launcher, launch->host, &host, e))
        return false;
    struct remote_process *process = ARENA_NEW(&launcher->arena, struct remote_process);
    if (!open_sinks(&launcher->arena, launch, process, e))
        return false;
    process->number = ++host->n_started;
    process->has_errors = launch->errors;
    process->next = host->process;
    host->process = process;
    json_t *answer = NULL;
    if (!remote_ask(host, run_request(launch, process->number), START_LIMIT_S, &answer, e)) {
        error_in(e, "starting %s", launch->argv[0]);
        forget(host, process);
        return false;
    }
    json_decref(answer);
    launched->on = host;
    launched->number = process->number;
    return true;
}

static struct remote_process *find(const struct remote_host *host, long number)
{
    struct remote_process *process = host->process;
    while (process && process->number != number)
        process = process->next;
    return process;
}

static void write_all(struct remote_sink *sink, const char *bytes, size_t size)
{
    while (sink->fd >= 0 && size > 0) {
        ssize_t n = write(sink->fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        bytes += n;
        size -= (size_t)n;
    }
}

static void hear_output(struct remote_process *process, const json_t *event, const char *payload,
                        size_t size)
{
    bool is_error = json_integer_value(json_object_get(event, "to")) == 2;
    write_all(&process->sink[is_error && process->has_errors ? ERRORS : OUTPUT], payload, size);
}

static void hear_file(struct remote_process *process, const json_t *event, const char *payload,
                      size_t size)
{
    json_int_t n = json_integer_value(json_object_get(event, "n"));
    if (n >= 0 && (size_t)n < process->n_sinks - FILES)
        write_all(&process->sink[FILES + n], payload, size);
}

/* A file that has its final name there gets it here; one that never was is not here either. */
static void finish_file(struct remote_sink *sink, bool complete)
{
    struct arena arena = {0};
    const char *part = part_of(&arena, sink->name);
    off_t size = lseek(sink->fd, 0, SEEK_END);
    if (complete)
        rename(part, sink->name);
    else if (size == 0)
        unlink(part);
    arena_free(&arena);
}

static void hear_end(struct remote_process *process, const json_t *event, const char *payload,
                     size_t size)
{
    (void)payload, (void)size;
    bool signalled = json_is_true(json_object_get(event, "signalled"));
    process->end = (struct child_end){signalled ? CHILD_SIGNALLED : CHILD_EXITED,
                                      (int)json_integer_value(json_object_get(event, "number"))};
    const json_t *complete = json_object_get(event, "complete");
    for (size_t i = FILES; i < process->n_sinks; i++)
        finish_file(&process->sink[i], json_is_true(json_array_get(complete, i - FILES)));
    process->ended = true;
}

static void hear_stopped(struct remote_process *process, const json_t *event, const char *payload,
                         size_t size)
{
    (void)event, (void)payload, (void)size;
    process->stopped = true;
}

void remote_process_event(void *self, const json_t *event, const char *payload, size_t size)
{
    static const struct {
        const char *name;
        void (*hear)(struct remote_process *, const json_t *, const char *, size_t);
    } kinds[] = {
        {"out", hear_output}, {"file", hear_file}, {"end", hear_end}, {"stopped", hear_stopped}};
    const struct remote_host *host = self;
    const char *name = json_string_value(json_object_get(event, "ev"));
    struct remote_process *process =
        find(host, (long)json_integer_value(json_object_get(event, "id")));
    for (size_t i = 0; process && name && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0)
            kinds[i].hear(process, event, payload, size);
    }
}

void remote_process_lost(struct remote_host *host)
{
    enum { LOST_STATUS = 255 };
    for (struct remote_process *process = host->process; process; process = process->next) {
        if (!process->ended)
            process->end = (struct child_end){CHILD_EXITED, LOST_STATUS};
        process->ended = true;
        process->stopped = true;
        close_sinks(process);
    }
}

bool remote_ended(struct launched *launched)
{
    remote_pump(launched->launcher);
    const struct remote_process *process = find(launched->on, launched->number);
    if (!process || !process->ended)
        return !process;
    launched->end = process->end;
    if (launched->on->state == REMOTE_LOST)
        launched->lost = launched->on->why;
    return true;
}

static size_t count_unstopped(struct launched *launched, size_t n)
{
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        const struct remote_process *process = find(launched[i].on, launched[i].number);
        n_left += process && !process->stopped;
    }
    return n_left;
}

void remote_stop(struct launched *launched, size_t n)
{
    for (size_t i = 0; i < n; i++)
        agent_send(&launched[i].on->agent,
                   json_pack("{s:s, s:[I]}", "op", "stop", "ids", (json_int_t)launched[i].number),
                   NULL, 0);
    double end_s = clock_now_s() + STOP_LIMIT_S;
    while (count_unstopped(launched, n) > 0 && clock_now_s() < end_s) {
        clock_sleep(POLL_S);
        remote_pump(launched[0].launcher);
    }
    for (size_t i = 0; i < n; i++) {
        struct remote_process *process = find(launched[i].on, launched[i].number);
        if (!process)
            continue;
        launched[i].end = process->end;
        forget(launched[i].on, process);
    }
}
