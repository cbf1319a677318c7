/* The keys of an event, and of its arguments, that mean something. */
#ifndef FORETRAIN_TRACE_EVENT_KEYS_H
#define FORETRAIN_TRACE_EVENT_KEYS_H

#include <stddef.h>

#include "trace/trace_event.h"

enum event_key {
    EVENT_PHASE,
    EVENT_NAME,
    EVENT_CATEGORY,
    EVENT_PROCESS,
    EVENT_THREAD,
    EVENT_START,
    EVENT_DURATION,
    EVENT_ID,
    EVENT_BIND_ID,
    EVENT_ARGS,
    EVENT_TRACE_EVENTS, /* "traceEvents": it is no event but holds them */
    EVENT_OTHER,
};

/* In all functions the key is as it is written between its quotes, escapes and all. */
enum event_key event_key_of(const char *key, size_t length);

/* TRACE_N_ARGS: none that is kept. */
enum trace_arg event_arg_of(const char *key, size_t length);

#endif
