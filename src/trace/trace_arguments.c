#include "trace/trace_arguments.h"

#include <jansson.h>
#include <string.h>

/* Elements of a tensor, or of several in a list: [4, 5] is 20, [[4], [5]] is 9; -1: no numbers. */
static double elements_of(const json_t *dims)
{
    double product = 1, sum = 0;
    bool of_tensors = false;
    size_t i;
    json_t *item;
    if (json_array_size(dims) == 0)
        return -1;
    json_array_foreach(dims, i, item)
    {
        if (!json_is_array(item)) {
            product *= json_number_value(item);
            continue;
        }
        double inside = json_is_number(json_array_get(item, 0)) ? elements_of(item) : -1;
        if (inside < 0)
            return -1;
        of_tensors = true;
        sum += inside;
    }
    return of_tensors ? sum : product;
}

static json_t *first_of(const struct trace_value *value, json_t **array)
{
    *array = value ? json_loadb(value->json, value->length, 0, NULL) : NULL;
    return json_array_get(*array, 0);
}

/* With shapes recorded: the first argument's. -1 where they are not there or of unknown type. */
static double bytes_of_shapes(const struct trace_event *event)
{
    json_t *dims = NULL, *types = NULL;
    double elements = elements_of(first_of(trace_event_arg(event, TRACE_INPUT_DIMS), &dims));
    const char *type =
        json_string_value(first_of(trace_event_arg(event, TRACE_INPUT_TYPE), &types));
    int each = type ? trace_dtype_bytes(type) : 0;
    json_decref(dims);
    json_decref(types);
    return elements >= 0 && each > 0 ? elements * each : -1;
}

/* torch 2.2 and later write it out. */
static double bytes_of_message(struct arena *arena, const struct trace_event *event)
{
    double elements = 0;
    const struct trace_value *dtype = trace_event_arg(event, TRACE_DTYPE);
    if (!dtype || !trace_value_number(trace_event_arg(event, TRACE_IN_ELEMENTS), &elements))
        return -1;
    int each = trace_dtype_bytes(trace_value_text(arena, dtype));
    return each > 0 && elements >= 0 ? elements * each : -1;
}

/* The argument's word before the event's own name; "wait" rows are none. */
static const char *op_of(struct arena *arena, const struct trace_event *event)
{
    const struct trace_value *written = trace_event_arg(event, TRACE_COLLECTIVE_NAME);
    if (!written)
        return trace_collective_of(event->name);
    const char *text = trace_value_text(arena, written);
    const char *op = trace_collective_of((struct trace_text){text, strlen(text)});
    return op || strcmp(text, "wait") == 0 ? op : trace_collective_of(event->name);
}

static uint32_t group_of(struct trace_collected *c, struct arena *arena,
                         const struct trace_event *event)
{
    const struct trace_value *name = trace_event_arg(event, TRACE_GROUP_NAME);
    if (!name)
        return c->no_word;
    const char *text = trace_value_text(arena, name);
    return trace_words_add(&c->words, text, strlen(text));
}

struct trace_comm trace_comm_of(struct trace_collected *c, const struct trace_event *event)
{
    struct arena scratch = {0};
    struct trace_text library = trace_library_of(event->name);
    int64_t number = 0;
    struct trace_comm comm = {.start_ns = event->start_ns,
                              .end_ns = trace_end_ns(event),
                              .track = event->track,
                              .library = trace_words_add(&c->words, library.data, library.length),
                              .group = group_of(c, &scratch, event),
                              .op = op_of(&scratch, event),
                              .bytes = bytes_of_message(&scratch, event),
                              .group_size = -1,
                              .external_id = -1};
    comm.trust = comm.bytes >= 0 ? 2 : 0;
    if (comm.bytes < 0) {
        comm.bytes = bytes_of_shapes(event);
        comm.trust = comm.bytes >= 0;
    }
    if (trace_value_int(trace_event_arg(event, TRACE_GROUP_SIZE), &number) && number > 0 &&
        number <= INT32_MAX)
        comm.group_size = (int)number;
    if (trace_value_int(trace_event_arg(event, TRACE_EXTERNAL_ID), &number))
        comm.external_id = number;
    arena_free(&scratch);
    return comm;
}
