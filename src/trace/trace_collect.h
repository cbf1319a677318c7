/*
 * What is kept of a trace's events while it is read: marks, collectives, outermost operators, and
 * who launched which work of the device. All else is dropped at once.
 *
 * Memory: 24 bytes for each outermost operator and each kernel, 16 for each launch: about 2 % of
 * the text of a GPU's trace, less of a CPU's.
 */
#ifndef FORETRAIN_TRACE_TRACE_COLLECT_H
#define FORETRAIN_TRACE_TRACE_COLLECT_H

#include "base/arena.h"
#include "base/error.h"
#include "trace/trace_event.h"
#include "trace/trace_names.h"
#include "trace/trace_outer.h"
#include "trace/trace_profile.h"
#include "trace/trace_read.h"
#include "trace/trace_words.h"

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
    int trust;        /* in `bytes`: 2 written out, 1 from shapes, 0 not known */
    int group_size;
    int64_t external_id;
    uint64_t key; /* of work on the device: its launch */
};

/* Work of the device and its launch have the same key, of 48 bits. There are many of both. */
#define TRACE_NO_KEY ((UINT64_C(1) << 48) - 1)

struct trace_launch {
    uint64_t key : 48, track : 16;
    int64_t start_ns;
};

struct trace_work {
    uint64_t key : 48, device : 16;
    uint64_t duration_ns : 42, name : 22;
    int64_t start_ns;
};

static inline int64_t trace_work_end_ns(const struct trace_work *work)
{
    return work->start_ns + (int64_t)work->duration_ns;
}

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
    struct trace_launch *launch;
    size_t n_launches, launch_capacity;
    struct trace_work *work;
    size_t n_works, work_capacity;
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

/* Who launched the work with that key, or NULL. O(log n). */
const struct trace_launch *trace_launch_find(const struct trace_collected *collected, uint64_t key);

void trace_collected_free(struct trace_collected *collected);

#endif
