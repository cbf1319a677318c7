/*
 * One event of a profiler trace (Chrome's trace format, as PyTorch, torch_npu, torch_mlu and
 * TensorFlow write it).
 *
 * Everything that an event points to lies in the reader's buffer and is valid during the callback
 * only; what is to be kept must be copied.
 */
#ifndef FORETRAIN_TRACE_TRACE_EVENT_H
#define FORETRAIN_TRACE_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* UTF-8 without zero bytes, not ended by one. Empty where there is none; then `data` is not NULL
 * either. */
struct trace_text {
    const char *data;
    size_t length;
};

/* One JSON value as it is written, strings with their quotes and escapes, and checked. A zeroed
 * struct is none. */
struct trace_value {
    const char *json;
    size_t length;
};

/* The arguments that are kept; all others are checked and skipped. */
enum trace_arg {
    TRACE_EXTERNAL_ID,       /* "External id", "external id" */
    TRACE_CORRELATION,       /* "correlation" */
    TRACE_DEVICE,            /* "device" */
    TRACE_STREAM,            /* "stream" */
    TRACE_BYTES,             /* "bytes" */
    TRACE_COLLECTIVE_NAME,   /* "Collective name" */
    TRACE_IN_ELEMENTS,       /* "In msg nelems" */
    TRACE_OUT_ELEMENTS,      /* "Out msg nelems" */
    TRACE_DTYPE,             /* "dtype" */
    TRACE_GROUP_SIZE,        /* "Group size" */
    TRACE_GROUP_NAME,        /* "Process Group Name" */
    TRACE_GROUP_DESCRIPTION, /* "Process Group Description" */
    TRACE_GROUP_RANKS,       /* "Process Group Ranks" */
    TRACE_RANK,              /* "Rank" */
    TRACE_SEQUENCE,          /* "Seq" */
    TRACE_COMMUNICATOR,      /* "Comms Id" */
    TRACE_INPUT_DIMS,        /* "Input Dims", "Input dims" */
    TRACE_INPUT_TYPE,        /* "Input type" */
    TRACE_SEQUENCE_NUMBER,   /* "Sequence number" */
    TRACE_FORWARD_THREAD,    /* "Fwd thread id" */
    TRACE_RECORD_FUNCTION,   /* "Record function id" */
    TRACE_KERNEL,            /* "kernel": name of what ROCm launches */
    TRACE_TASK_TYPE,         /* "Task Type": Ascend's device events */
    TRACE_STREAM_ID,         /* "Stream Id": Ascend's device events */
    TRACE_CONNECTION,        /* "connection_id": Ascend */
    TRACE_NAME,              /* "name": of a process or thread, in an M event */
    TRACE_LABELS,            /* "labels": of a process, in an M event */
    TRACE_SORT_INDEX,        /* "sort_index", in an M event */
    TRACE_GROUP_ID,          /* "group_id": TensorFlow's step */
    TRACE_STEP_NUMBER,       /* "step_num": TensorFlow */
    TRACE_TF_OPERATOR,       /* "tf_op": TensorFlow */
    TRACE_LONG_NAME,         /* "long_name": TensorFlow */
    TRACE_HLO_OPERATOR,      /* "hlo_op": XLA */
    TRACE_HLO_CATEGORY,      /* "hlo_category": XLA */
    TRACE_N_ARGS,
};

struct trace_event {
    char phase;     /* "ph": X, B, E, b, e, i, M, s, f, ...; 0: none */
    bool has_start; /* whether there is a "ts" */
    bool has_duration;
    uint32_t process; /* number of its pid, from 0, by first appearance */
    uint32_t track;   /* number of its pid and tid together, from 0, by first appearance */
    int64_t start_ns; /* "ts", as it is written, to the ns; relative to the header's base_time_ns */
    int64_t duration_ns;
    struct trace_text name;
    struct trace_text category;
    struct trace_value id;      /* "id" of a flow or an asynchronous event */
    struct trace_value bind_id; /* "bind_id" */
    uint64_t offset_bytes;      /* where it begins in the text, uncompressed */
    uint64_t arg_mask; /* bit 1 << enum trace_arg: it is there; the others of `arg` are not set */
    struct trace_value arg[TRACE_N_ARGS];
};

/* An argument, or NULL where the event has none. Of two of one name the last counts. */
static inline const struct trace_value *trace_event_arg(const struct trace_event *event,
                                                        enum trace_arg arg)
{
    return event->arg_mask >> arg & 1 ? &event->arg[arg] : NULL;
}

static inline bool trace_text_is(struct trace_text text, const char *word)
{
    return __builtin_strlen(word) == text.length &&
           __builtin_memcmp(text.data, word, text.length) == 0;
}

static inline bool trace_text_begins(struct trace_text text, const char *word)
{
    return __builtin_strlen(word) <= text.length &&
           __builtin_memcmp(text.data, word, __builtin_strlen(word)) == 0;
}

/* For the four below `value` may be NULL; then they are false, or NULL. */

/* An integer, or a string that holds one ("7"); false for all else and beyond an int64. */
bool trace_value_int(const struct trace_value *value, int64_t *number);

/* A number, or a string that holds one. */
bool trace_value_number(const struct trace_value *value, double *number);

/* Whether it is the string `text`. */
bool trace_value_is(const struct trace_value *value, const char *text);

/* A string decoded, without quotes; any other value as it is written. */
char *trace_value_text(struct arena *arena, const struct trace_value *value);

#endif
