/*
 * What an event of a trace is, by its category, its name and its arguments: the words of all
 * versions and devices are here and nowhere else (docs/import.md, "Names").
 */
#ifndef FORETRAIN_TRACE_TRACE_NAMES_H
#define FORETRAIN_TRACE_TRACE_NAMES_H

#include "trace/trace_event.h"

enum trace_kind {
    KIND_OTHER,
    KIND_STEP,       /* ProfilerStep#N, on the CPU */
    KIND_LOADER,     /* the step asks its data loader for the next mini-batch */
    KIND_ZERO_GRAD,  /* Optimizer.zero_grad */
    KIND_OPTIMIZER,  /* Optimizer.step */
    KIND_FORWARD,    /* DistributedDataParallel.forward */
    KIND_COLLECTIVE, /* a collective's call on the CPU; gloo's is the collective itself */
    KIND_OPERATOR,   /* any other operator */
    KIND_LAUNCH,     /* the runtime hands work to the device */
    KIND_WORK,       /* on the device: a kernel, a copy */
};

enum trace_kind trace_kind_of(const struct trace_event *event);

/* Of an operator's name: it belongs to the backward pass; it computes a gradient; it adds one up,
 * which is where DistributedDataParallel sends it. */
bool trace_name_is_backward(const char *name);
bool trace_name_is_gradient(const char *name);
bool trace_name_is_accumulation(const char *name);

/* Of work on the device: it is a collective of NCCL, RCCL, HCCL, CNCL and the like; it copies from
 * the host. */
bool trace_name_is_collective_work(struct trace_text name);
bool trace_name_is_upload(const char *name);

/* The collective of which a name speaks ("all_reduce", "broadcast", "all_to_all", ...), NULL where
 * of none. */
const char *trace_collective_of(struct trace_text name);

/* The library before the colon of "nccl:all_reduce" ("nccl"); empty where there is none. */
struct trace_text trace_library_of(struct trace_text name);

/* Bytes of one element; 0: not known. */
int trace_dtype_bytes(const char *dtype);

#endif
