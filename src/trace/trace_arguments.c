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

/* Of the first argument, where shapes are recorded; -1: not there. */
static double elements_of_shapes(const struct trace_event *event)
{
    json_t *dims = NULL;
    double elements = elements_of(first_of(trace_event_arg(event, TRACE_INPUT_DIMS), &dims));
    json_decref(dims);
    return elements;
}

static int bytes_of_first_type(const struct trace_event *event)
{
    json_t *types = NULL;
    const char *type =
        json_string_value(first_of(trace_event_arg(event, TRACE_INPUT_TYPE), &types));
    int each = type ? trace_dtype_bytes(type) : 0;
    json_decref(types);
    return each;
}

static int bytes_of_dtype(struct arena *arena, const struct trace_event *event)
{
    const struct trace_value *dtype = trace_event_arg(event, TRACE_DTYPE);
    return dtype ? trace_dtype_bytes(trace_value_text(arena, dtype)) : 0;
}

/* torch 2.2 and later write elements and their type out; else shapes may tell. */
static void find_bytes(struct arena *arena, const struct trace_event *event,
                       struct trace_comm *comm)
{
    double written = 0;
    int each = bytes_of_dtype(arena, event);
    comm->elements = elements_of_shapes(event);
    if (trace_value_number(trace_event_arg(event, TRACE_IN_ELEMENTS), &written) && written >= 0 &&
        each > 0) {
        comm->elements = written;
        comm->trust = 2;
    } else {
        each = bytes_of_first_type(event);
        comm->trust = comm->elements >= 0 && each > 0;
    }
    comm->bytes = comm->trust > 0 ? comm->elements * each : -1;
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
                              .group_size = -1,
                              .external_id = -1};
    find_bytes(&scratch, event, &comm);
    if (trace_value_int(trace_event_arg(event, TRACE_GROUP_SIZE), &number) && number > 0 &&
        number <= INT32_MAX)
        comm.group_size = (int)number;
    if (trace_value_int(trace_event_arg(event, TRACE_EXTERNAL_ID), &number))
        comm.external_id = number;
    arena_free(&scratch);
    return comm;
}
