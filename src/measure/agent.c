#include "measure/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static const double BEAT_S = 10;
static const double SILENCE_S = 40; /* four beats of the agent's */
static const double AWAY_S = 5;     /* we were busy: its silence does not count */
static const double END_S = 10;     /* its own grace is 5 s */
static const double POLL_S = 0.01;

/*
 * The source is read without reading ahead: requests follow it. There is no single quote,
 * backslash, exclamation mark or newline, so that whatever shell the user has there passes it on.
 */
const char *const *agent_command(struct arena *arena, const char *source)
{
    const char **word = ARENA_ARRAY(arena, 4, const char *);
    word[0] = "/bin/sh";
    word[1] = "-c";
    word[2] = arena_format(
        arena,
        "for p in python3 /usr/bin/python3; do command -v $p >/dev/null && exec $p -u -c "
        "\"import os;n=%zu;b=bytearray();"
        "[b.extend(os.read(0,n-len(b))) for _ in range(n) if len(b)<n];exec(bytes(b))\"; "
        "done; echo there is no python3 >&2; exit 127",
        strlen(source));
    return word;
}

/* Bytes above 127 become the two bytes of UTF-8 that stand for the character of that number. */
json_t *agent_text(const char *text)
{
    struct text made = {0};
    for (const unsigned char *byte = (const unsigned char *)text; *byte; byte++) {
        const char two[] = {(char)(0xc0 | *byte >> 6), (char)(0x80 | (*byte & 0x3f))};
        if (*byte < 0x80)
            text_add_n(&made, (const char *)byte, 1);
        else
            text_add_n(&made, two, 2);
    }
    json_t *json = json_stringn(made.data ? made.data : "", made.length);
    text_free(&made);
    return json;
}

char *agent_bytes(struct arena *arena, const json_t *text)
{
    const unsigned char *from = (const unsigned char *)json_string_value(text);
    char *bytes = ARENA_ARRAY(arena, json_string_length(text) + 1, char);
    size_t n = 0;
    while (from && *from) {
        bool two = (*from & 0xfc) == 0xc0 && from[1];
        bytes[n++] = (char)(two ? (*from & 0x03) << 6 | (from[1] & 0x3f) : *from);
        from += two ? 2 : 1;
    }
    return bytes;
}

static void lose(struct agent *agent, const char *why)
{
    if (!agent->lost)
        agent->why = why;
    agent->lost = true;
}

static void put(struct agent *agent, const char *bytes, size_t n)
{
    text_add_n(&agent->unsent, bytes, n);
}

bool agent_start(struct agent *agent, const char *const *argv, const char *source,
                 void (*event)(void *, const json_t *, const char *, size_t), void *self,
                 struct error *e)
{
    struct agent made = {.event = event, .self = self};
    if (!child_memory_open(&made.said, argv[0], e))
        return false;
    struct child_options options = {.argv = argv, .errors = made.said.path[0], .talks = true};
    if (!child_start(&options, &made.child, e)) {
        child_memory_close(&made.said);
        return false;
    }
    made.heard_s = made.sent_s = made.pumped_s = clock_now_s();
    *agent = made;
    put(agent, source, strlen(source));
    return true;
}

/* Forgets what was sent already once it is the larger part. */
static void compact(struct agent *agent)
{
    if (agent->n_sent < agent->unsent.length / 2)
        return;
    agent->unsent.length -= agent->n_sent;
    memmove(agent->unsent.data, agent->unsent.data + agent->n_sent, agent->unsent.length);
    agent->n_sent = 0;
}

static void send_some(struct agent *agent)
{
    while (agent_unsent(agent) > 0) {
        ssize_t n = write(agent->child.to, agent->unsent.data + agent->n_sent, agent_unsent(agent));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            lose(agent, "it took no more requests");
        if (n < 0)
            return;
        agent->n_sent += (size_t)n;
        agent->sent_s = clock_now_s();
        compact(agent);
    }
}

size_t agent_unsent(const struct agent *agent)
{
    return agent->unsent.length - agent->n_sent;
}

void agent_send(struct agent *agent, json_t *request, const char *payload, size_t size)
{
    if (size > 0)
        json_object_set_new(request, "size", json_integer((json_int_t)size));
    char *line = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    put(agent, line ? line : "{}", line ? strlen(line) : 2);
    put(agent, "\n", 1);
    if (size > 0)
        put(agent, payload, size);
    free(line);
    if (!agent->lost)
        send_some(agent);
}

void agent_ask(struct agent *agent, json_t *request)
{
    json_decref(agent->answer);
    agent->answer = NULL;
    json_object_set_new(request, "seq", json_integer(++agent->seq));
    agent_send(agent, request, NULL, 0);
}

json_t *agent_take_answer(struct agent *agent)
{
    json_t *answer = agent->answer;
    agent->answer = NULL;
    return answer;
}

static bool is_answer(const struct agent *agent, const json_t *message)
{
    const char *event = json_string_value(json_object_get(message, "ev"));
    return event && strcmp(event, "answer") == 0 &&
           json_integer_value(json_object_get(message, "seq")) == agent->seq;
}

static void handle(struct agent *agent, json_t *message, const char *payload, size_t size)
{
    if (!is_answer(agent, message)) {
        agent->event(agent->self, message, payload, size);
        return;
    }
    json_decref(agent->answer);
    agent->answer = json_incref(message);
    agent->payload.length = 0;
    text_add_n(&agent->payload, payload, size);
}

/* The first message of `text`; returns its whole length, 0 where it is not all there. */
static size_t take_message(struct agent *agent, const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    if (!end)
        return 0;
    size_t head = (size_t)(end - text) + 1;
    json_t *message = json_loadb(text, head - 1, 0, NULL);
    json_int_t size = json_integer_value(json_object_get(message, "size"));
    if (!json_is_object(message) || size < 0) {
        lose(agent, "what it said is not its protocol");
        json_decref(message);
        return 0;
    }
    bool whole = (size_t)size <= length - head;
    if (whole)
        handle(agent, message, text + head, (size_t)size);
    json_decref(message);
    return whole ? head + (size_t)size : 0;
}

static void take_messages(struct agent *agent)
{
    size_t done = 0, taken;
    struct text *received = &agent->received;
    while (received->length > done &&
           (taken = take_message(agent, received->data + done, received->length - done)) > 0)
        done += taken;
    if (done == 0)
        return;
    received->length -= done;
    memmove(received->data, received->data + done, received->length);
}

/* At most so much at a time that messages do not pile up. */
static void receive_some(struct agent *agent)
{
    enum { MOST = 1 << 20 };
    static const size_t chunk = 65536;
    char buffer[65536];
    for (size_t total = 0; total < MOST && !agent->lost;) {
        ssize_t n = read(agent->child.from, buffer, chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            lose(agent, "its connection ended");
            return;
        }
        agent->heard_s = clock_now_s();
        text_add_n(&agent->received, buffer, (size_t)n);
        take_messages(agent);
        total += (size_t)n;
    }
}

void agent_pump(struct agent *agent)
{
    if (agent->lost)
        return;
    double now_s = clock_now_s();
    if (now_s - agent->pumped_s > AWAY_S)
        agent->heard_s = now_s;
    agent->pumped_s = now_s;
    receive_some(agent);
    if (now_s - agent->sent_s > BEAT_S && agent_unsent(agent) == 0)
        agent_send(agent, json_pack("{s:s}", "op", "beat"), NULL, 0);
    send_some(agent);
    if (now_s - agent->heard_s > SILENCE_S)
        lose(agent, "it said nothing for 40 s");
}

void agent_hang_up(struct agent *agent)
{
    if (agent->child.talks && agent->child.to >= 0)
        close(agent->child.to);
    agent->child.to = -1;
}

/* Reads on and drops it, or its last words would keep it from ending. */
static bool has_ended(struct agent *agent)
{
    char dropped[4096];
    ssize_t n = agent->child.talks ? read(agent->child.from, dropped, sizeof dropped) : 0;
    (void)n;
    return child_ended(&agent->child);
}

static size_t count_running(struct agent *const *agent, size_t n)
{
    size_t n_running = 0;
    for (size_t i = 0; i < n; i++)
        n_running += !has_ended(agent[i]);
    return n_running;
}

static void release(struct agent *agent)
{
    text_free(&agent->unsent);
    text_free(&agent->received);
    text_free(&agent->payload);
    json_decref(agent->answer);
    agent->answer = NULL;
    child_memory_close(&agent->said);
}

/* A child whose agent is lost may never end by itself. */
static bool is_worth_waiting(struct agent *const *agent, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!agent[i]->lost && !child_ended(&agent[i]->child))
            return true;
    }
    return false;
}

void agent_stop(struct agent *const *agent, size_t n)
{
    double end_s = clock_now_s() + END_S;
    for (size_t i = 0; i < n; i++)
        agent_hang_up(agent[i]);
    while (is_worth_waiting(agent, n) && count_running(agent, n) > 0 && clock_now_s() < end_s)
        clock_sleep(POLL_S);
    struct arena arena = {0};
    struct child *child = ARENA_ARRAY(&arena, n, struct child);
    for (size_t i = 0; i < n; i++)
        child[i] = agent[i]->child;
    child_stop(child, n);
    for (size_t i = 0; i < n; i++) {
        agent[i]->child = child[i];
        release(agent[i]);
    }
    arena_free(&arena);
}

char *agent_said(struct arena *arena, const struct agent *agent)
{
    enum { N_LINES = 3 };
    return child_tail(arena, agent->said.path[0], N_LINES);
}
