/*
 * Talking to worker/agent.py on a host, through a child of ours (ssh, srun) that started it there.
 *
 * Requests and events are lines of JSON, followed by as many raw bytes as their "size" says. Each
 * byte of a string is one character (Latin-1), so that paths may be anything.
 */
#ifndef FORETRAIN_MEASURE_AGENT_H
#define FORETRAIN_MEASURE_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/child_watch.h"
#include "base/error.h"
#include "base/text.h"

/* The words that start an agent on a host, ended by NULL; its source comes first on its standard
 * input. */
const char *const *agent_command(struct arena *arena, const char *source);

struct agent {
    struct child child;
    struct child_memory said; /* the child's standard error */
    struct text unsent, received;
    size_t n_sent; /* of `unsent` */
    double heard_s, sent_s, pumped_s;
    bool lost;
    const char *why; /* where lost, in a few words that follow its host's name */
    long seq;        /* of the latest question */
    json_t *answer;  /* to it, or NULL */
    struct text payload;
    void *self;
    void (*event)(void *self, const json_t *event, const char *payload, size_t size);
};

/*
 * Starts `argv` (ends with NULL), which starts an agent, and sends it its source. `event` gets all
 * that is not an answer. Every started agent must be given to agent_stop.
 */
bool agent_start(struct agent *agent, const char *const *argv, const char *source,
                 void (*event)(void *, const json_t *, const char *, size_t), void *self,
                 struct error *e);

/* Sends a request, with raw bytes where `size` is not 0. Takes over `request`. */
void agent_send(struct agent *agent, json_t *request, const char *payload, size_t size);

/* The same, as a question: agent_take_answer gives what comes back. */
void agent_ask(struct agent *agent, json_t *request);

/* The answer to the latest question, or NULL as long as there is none. The caller frees it. */
json_t *agent_take_answer(struct agent *agent);

/* Sends and receives what can be without waiting; sees that the agent is lost. */
void agent_pump(struct agent *agent);

/* What still waits to be sent. */
size_t agent_unsent(const struct agent *agent);

/* Sends no more, so that it ends all it started. Its end is waited for by agent_stop. */
void agent_hang_up(struct agent *agent);

/* Ends `agent[n]`: at most ten seconds for all together. */
void agent_stop(struct agent *const *agent, size_t n);

/* The last lines that its child wrote to standard error, safe to show; empty where none. */
char *agent_said(struct arena *arena, const struct agent *agent);

/* Text of any bytes as JSON, and back. */
json_t *agent_text(const char *text);
char *agent_bytes(struct arena *arena, const json_t *text);

#endif
