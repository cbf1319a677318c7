/* The values beside a trace's events, collected as JSON and understood at the end. */
#ifndef FORETRAIN_TRACE_HEADER_VALUES_H
#define FORETRAIN_TRACE_HEADER_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "trace/trace_read.h"

enum header_key {
    HEADER_SCHEMA_VERSION,
    HEADER_BASE_TIME,
    HEADER_TRACE_NAME,
    HEADER_HOST_NAME,
    HEADER_DISTRIBUTED_INFO,
    HEADER_DEVICES,
    HEADER_RECORD_SHAPES,
    HEADER_ROCM,
    HEADER_N_KEPT, /* the values of those above are kept, of those below not */
    HEADER_TRACE_EVENTS,
    HEADER_NODES,   /* of a PyTorch execution trace */
    HEADER_SCHEMA,  /* the same */
    HEADER_ENTRIES, /* of a dump of NCCL's flight recorder */
    HEADER_OTHER,
};

/* A zeroed struct holds none. */
struct header_values {
    struct text json[HEADER_N_KEPT];
    unsigned depth[HEADER_N_KEPT];
};

/* The key as it is written between its quotes. */
enum header_key header_key_of(const char *key, size_t length);

/* Keeps a value; of two of one key the one nearer to the top level counts, then the last. */
void header_keep(struct header_values *values, enum header_key key, unsigned depth,
                 const char *json, size_t length);

/* What the values say; what cannot be understood stays unknown. */
void header_understand(struct arena *arena, const struct header_values *values,
                       struct trace_header *header);

void header_values_free(struct header_values *values);

#endif
