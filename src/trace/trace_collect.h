/*
 * What is kept of a trace's events while it is read: marks, collectives, outermost operators, and
 * who launched which work of the device. All else is dropped at once.
 *
 * Memory: 24 bytes for each outermost operator, some 9 for each kernel and 5 for each launch: about
 * 1.3 % of the text of a GPU's trace, less of a CPU's. None of it can be dropped before the end, as
 * events come in any order: steps may be marked behind all work, and the work of one launch may
 * come anywhere.
 */
#ifndef FORETRAIN_TRACE_TRACE_COLLECT_H
#define FORETRAIN_TRACE_TRACE_COLLECT_H

#include "base/arena.h"
#include "base/error.h"
#include "trace/trace_event.h"
#include "trace/trace_names.h"
#include "trace/trace_outer.h"
#include "trace/trace_packed.h"
#include "trace/trace_profile.h"
#include "trace/trace_read.h"
#include "trace/trace_words.h"

/* Work of the device and its launch have the same key, of 48 bits. There are many of both. */
#define TRACE_NO_KEY ((INT64_C(1) << 48) - 1)

struct trace_launch {
    int64_t key, start_ns;
    uint32_t track;
};

struct trace_work {
    int64_t key, start_ns, duration_ns;
    uint32_t name, device;
};

static inline int64_t trace_work_end_ns(const struct trace_work *work)
{
    return work->start_ns + work->duration_ns;
}

struct trace_mark {
    int64_t start_ns, end_ns;
    uint32_t track;
    enum trace_kind kind; /* STEP to FORWARD */
    int64_t number;       /* of a step, else 0 */
};

/* What an event says of a collective. Negative numbers: it does not say. */
struct trace_comm {
    int64_t start_ns, end_ns;
    uint32_t track;
    uint32_t library; /* number of the word before the colon ("gloo"), empty for others */
    uint32_t group;   /* number of the process group's name; empty where it has none */
    const char *op;   /* "all_reduce" */
    double bytes;     /* that each device hands over */
    double elements;  /* of them */
    int trust;        /* in `bytes`: 2 written out, 1 from shapes, 0 not known */
    int group_size;
    int64_t external_id;
    int64_t key;                /* of work on the device: its launch's */
    bool launched;              /* the trace holds its launch: */
    struct trace_launch launch; /* the first one with that key */
};

struct trace_collected {
    struct arena *arena;
    const char *file;
    const struct trace_options *options;
    struct trace_words words;
    uint32_t no_word; /* number of the empty word */
    struct trace_mark *mark;
    size_t n_marks, mark_capacity;
    struct trace_comm *comm; /* on the CPU */
    size_t n_comms, comm_capacity;
    struct trace_comm *comm_work; /* on the device */
    size_t n_comm_works, comm_work_capacity;
    struct trace_packed launches, works; /* by key */
    size_t n_works;                      /* without those that are there twice */
    struct trace_outer outer;
    int loader_workers; /* 0: none, 1: one or more, -1: no loader was seen */
    bool tensorflow;    /* TensorFlow's profiler wrote it, not PyTorch's */
    struct trace_ending ending;
};

/* When an event is over. */
int64_t trace_end_ns(const struct trace_event *event);

/*
 * Reads a trace and keeps what counts, all lists sorted by time (work and launches by key), without
 * duplicates. Fails as trace_read.
 */
bool trace_collect(struct arena *arena, const char *path, const struct trace_options *options,
                   struct trace_collected *collected, struct error *e);

/* The next one of a reader of `launches` and of `works`, by key; false at the end. */
bool trace_launch_next(struct packed_reader *reader, struct trace_launch *launch);
bool trace_work_next(struct packed_reader *reader, struct trace_work *work);

/* The first launch with a key, which must not be less than the last that was asked for; false where
 * there is none. */
bool trace_launch_seek(struct packed_reader *reader, int64_t key, struct trace_launch *launch);

/* Frees launches and works, which nothing needs once all work is placed. */
void trace_collected_forget_works(struct trace_collected *collected);

void trace_collected_free(struct trace_collected *collected);

#endif
