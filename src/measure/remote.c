/*
 * The hosts: reaching many at once, asking one, noticing that one is lost.
 */
#include "measure/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"

static const double REACH_S = 30; /* ssh's own limit is 10 s for the connection alone */
static const double SILENCE_LIMIT_S = 60;
static const double LAST_WORDS_S = 2;
static const double POLL_S = 0.005;

enum { MOST_REACHED_AT_ONCE = 8 }; /* a jump host's sshd refuses more than 10 that log in */

bool remote_open(struct launcher *launcher, struct error *e)
{
    enum { LIMIT = 1 << 20 };
    char *source = NULL;
    if (launcher->remote->source)
        return true;
    if (!file_read(&launcher->arena, path_join(&launcher->arena, launcher->worker, "agent.py"),
                   LIMIT, &source, NULL, e))
        return false;
    launcher->remote->source = source;
    return true;
}

struct remote_host *remote_look_up(const struct launcher *launcher, const char *name)
{
    const struct remote *remote = launcher->remote;
    for (size_t i = 0; i < remote->n; i++) {
        if (strcmp(remote->host[i]->name, name) == 0)
            return remote->host[i];
    }
    return NULL;
}

static struct remote_host *add_host(struct launcher *launcher, const char *name)
{
    struct remote *remote = launcher->remote;
    struct remote_host *host = ARENA_NEW(&launcher->arena, struct remote_host);
    host->launcher = launcher;
    host->name = arena_copy(&launcher->arena, name);
    if (remote->n == remote->capacity) {
        remote->capacity = remote->capacity ? 2 * remote->capacity : 16;
        remote->host = memory_resize(remote->host, remote->capacity, sizeof(struct remote_host *));
    }
    remote->host[remote->n++] = host;
    return host;
}

bool remote_fail(const struct remote_host *host, struct error *e)
{
    error_set(e, ERROR_HOST, "%s", host->why);
    return false;
}

/* Its program ends a moment after the connection; it has said why by then. */
static void hear_last_words(struct agent *agent)
{
    double end_s = clock_now_s() + LAST_WORDS_S;
    while (!child_ended(&agent->child) && clock_now_s() < end_s)
        clock_sleep(POLL_S);
}

static const char *explain(const struct remote_host *host)
{
    struct launcher *launcher = host->launcher;
    return launcher->remote->explain ? launcher->remote->explain(launcher, host->name) : NULL;
}

static void lose(struct remote_host *host, const char *why)
{
    struct arena *arena = &host->launcher->arena;
    bool reached = host->state == REMOTE_GREETED;
    if (host->agent.lost)
        hear_last_words(&host->agent);
    const char *said = agent_said(arena, &host->agent);
    const char *hint = host->launcher->remote->hint(said);
    const char *known = explain(host);
    const char *end = host->agent.child.ended
                          ? arena_format(arena, " (%s %s)", host->launcher->kind->name,
                                         child_end_text(arena, host->agent.child.end))
                          : "";
    host->why = arena_format(arena, "host '%s' %s: %s%s%s%s%s%s", host->name,
                             reached ? "was lost" : "cannot be reached", known ? known : why, end,
                             *said ? "\n  it said: " : "", said, hint ? "\n  hint: " : "",
                             hint ? hint : "");
    host->state = REMOTE_LOST;
    remote_process_lost(host);
}

static void pump_host(struct remote_host *host)
{
    if (host->state != REMOTE_STARTED && host->state != REMOTE_GREETED)
        return;
    agent_pump(&host->agent);
    if (host->agent.lost)
        lose(host, host->agent.why);
}

void remote_pump(struct launcher *launcher)
{
    for (size_t i = 0; i < launcher->remote->n; i++)
        pump_host(launcher->remote->host[i]);
}

static bool start_agent(struct remote_host *host, struct error *e)
{
    struct launcher *launcher = host->launcher;
    struct remote *remote = launcher->remote;
    const char *const *argv = NULL;
    if (!remote->command(launcher, host->name, agent_command(&launcher->arena, remote->source),
                         &argv, e) ||
        !agent_start(&host->agent, argv, remote->source, remote_process_event, host, e))
        return false;
    host->state = REMOTE_STARTED;
    host->started_s = clock_now_s();
    const char *folder = launcher->job->launcher.folder;
    agent_ask(&host->agent, json_pack("{s:s, s:f, s:o}", "op", "hello", "limit_s", SILENCE_LIMIT_S,
                                      "folder", folder ? agent_text(folder) : json_null()));
    return true;
}

static void begin(struct remote_host *host)
{
    struct error e = {0};
    if (start_agent(host, &e))
        return;
    host->state = REMOTE_LOST;
    host->why = arena_copy(&host->launcher->arena, e.text);
    error_clear(&e);
}

/* What its agent says first, or that it is late. */
static void greet(struct remote_host *host)
{
    if (host->state != REMOTE_STARTED)
        return;
    json_t *answer = agent_take_answer(&host->agent);
    const char *problem = json_string_value(json_object_get(answer, "error"));
    if (problem) {
        struct arena *arena = &host->launcher->arena;
        lose(host, text_printable(arena, problem, 0));
    } else if (answer) {
        host->hello = json_incref(answer);
        host->state = REMOTE_GREETED;
    } else if (clock_now_s() - host->started_s > REACH_S) {
        lose(host, "no answer within 30 s");
    }
    json_decref(answer);
}

/* One look at all that are wanted; returns how many are not decided yet. */
static size_t advance(struct remote_host *const *wanted, size_t n)
{
    size_t n_waiting = 0;
    for (size_t i = 0; i < n; i++) {
        greet(wanted[i]);
        n_waiting += wanted[i]->state == REMOTE_STARTED;
    }
    size_t n_open = n_waiting;
    for (size_t i = 0; i < n; i++) {
        if (wanted[i]->state != REMOTE_NEW)
            continue;
        if (n_waiting < MOST_REACHED_AT_ONCE) {
            begin(wanted[i]);
            n_waiting++;
        }
        n_open++;
    }
    return n_open;
}

static void wait_for_hosts(struct launcher *launcher, struct remote_host *const *wanted, size_t n)
{
    struct error interrupted = {0};
    size_t n_open, n_told = 0;
    while ((n_open = advance(wanted, n)) > 0 &&
           !progress_cancelled(launcher->progress, &interrupted)) {
        if (n > 1 && n_open != n_told)
            progress_status(launcher->progress, "reaching hosts: %zu of %zu", n - n_open, n);
        n_told = n_open;
        clock_sleep(POLL_S);
        remote_pump(launcher);
    }
    error_clear(&interrupted);
}

static bool say_why(struct remote_host *host, struct error *why)
{
    if (host->state == REMOTE_GREETED)
        return true;
    if (!progress_cancelled(host->launcher->progress, why))
        remote_fail(host, why);
    return false;
}

size_t remote_reach(struct launcher *launcher, const char *const *name, size_t n, struct error *why)
{
    size_t n_failed = 0;
    struct arena arena = {0};
    struct error e = {0};
    if (!remote_open(launcher, &e)) {
        for (size_t i = 0; i < n; i++)
            error_set(&why[i], e.kind, "%s", e.text);
        error_clear(&e);
        return n;
    }
    struct remote_host **wanted = ARENA_ARRAY(&arena, n, struct remote_host *);
    for (size_t i = 0; i < n; i++) {
        wanted[i] = remote_look_up(launcher, name[i]);
        if (!wanted[i])
            wanted[i] = add_host(launcher, name[i]);
    }
    wait_for_hosts(launcher, wanted, n);
    for (size_t i = 0; i < n; i++)
        n_failed += !say_why(wanted[i], &why[i]);
    arena_free(&arena);
    return n_failed;
}

bool remote_find(struct launcher *launcher, const char *name, struct remote_host **host,
                 struct error *e)
{
    struct error why = {0};
    if (remote_reach(launcher, &name, 1, &why) > 0) {
        error_set(e, why.kind, "%s", why.text);
        error_clear(&why);
        return false;
    }
    *host = remote_look_up(launcher, name);
    return true;
}

/* Waits for the answer to the latest question. */
static bool wait_for_answer(struct remote_host *host, double limit_s, json_t **answer,
                            struct error *e)
{
    double end_s = clock_now_s() + limit_s;
    for (;;) {
        remote_pump(host->launcher);
        if ((*answer = agent_take_answer(&host->agent)) != NULL)
            return true;
        if (host->state == REMOTE_LOST)
            return remote_fail(host, e);
        if (progress_cancelled(host->launcher->progress, e))
            return false;
        if (clock_now_s() > end_s) {
            error_set(e, ERROR_HOST, "host '%s' did not answer for %.0f s", host->name, limit_s);
            return false;
        }
        clock_sleep(POLL_S);
    }
}

bool remote_ask(struct remote_host *host, json_t *request, double limit_s, json_t **answer,
                struct error *e)
{
    json_t *given = NULL;
    if (host->state != REMOTE_GREETED) {
        json_decref(request);
        return remote_fail(host, e);
    }
    agent_ask(&host->agent, request);
    if (!wait_for_answer(host, limit_s, &given, e))
        return false;
    const char *problem = json_string_value(json_object_get(given, "error"));
    if (!problem) {
        *answer = given;
        return true;
    }
    struct arena arena = {0};
    error_set(e, ERROR_HOST, "host '%s': %s", host->name, text_printable(&arena, problem, 0));
    arena_free(&arena);
    json_decref(given);
    return false;
}

void remote_close(struct launcher *launcher)
{
    struct remote *remote = launcher->remote;
    struct arena arena = {0};
    struct agent **agent = ARENA_ARRAY(&arena, remote->n, struct agent *);
    size_t n = 0;
    for (size_t i = 0; i < remote->n; i++) {
        struct remote_host *host = remote->host[i];
        if (host->agent.child.pid != 0)
            agent[n++] = &host->agent;
        json_decref(host->hello);
        remote_process_lost(host);
    }
    agent_stop(agent, n);
    arena_free(&arena);
    free(remote->host);
}
