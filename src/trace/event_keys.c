/* Called once for every way in which a key is written, not for every event: see glue.h. */
#include "trace/event_keys.h"

#include "trace/unescape.h"

struct word {
    const char *text;
    int number;
};

static const struct word event_words[] = {
    {"ph", EVENT_PHASE},
    {"name", EVENT_NAME},
    {"cat", EVENT_CATEGORY},
    {"pid", EVENT_PROCESS},
    {"tid", EVENT_THREAD},
    {"ts", EVENT_START},
    {"dur", EVENT_DURATION},
    {"id", EVENT_ID},
    {"bind_id", EVENT_BIND_ID},
    {"args", EVENT_ARGS},
    {"traceEvents", EVENT_TRACE_EVENTS},
};

static const struct word arg_words[] = {
    {"External id", TRACE_EXTERNAL_ID},
    {"external id", TRACE_EXTERNAL_ID},
    {"correlation", TRACE_CORRELATION},
    {"device", TRACE_DEVICE},
    {"stream", TRACE_STREAM},
    {"bytes", TRACE_BYTES},
    {"Collective name", TRACE_COLLECTIVE_NAME},
    {"In msg nelems", TRACE_IN_ELEMENTS},
    {"Out msg nelems", TRACE_OUT_ELEMENTS},
    {"dtype", TRACE_DTYPE},
    {"Group size", TRACE_GROUP_SIZE},
    {"Process Group Name", TRACE_GROUP_NAME},
    {"Process Group Description", TRACE_GROUP_DESCRIPTION},
    {"Process Group Ranks", TRACE_GROUP_RANKS},
    {"Rank", TRACE_RANK},
    {"Seq", TRACE_SEQUENCE},
    {"Comms Id", TRACE_COMMUNICATOR},
    {"Input Dims", TRACE_INPUT_DIMS},
    {"Input dims", TRACE_INPUT_DIMS},
    {"Input type", TRACE_INPUT_TYPE},
    {"Sequence number", TRACE_SEQUENCE_NUMBER},
    {"Fwd thread id", TRACE_FORWARD_THREAD},
    {"Record function id", TRACE_RECORD_FUNCTION},
    {"kernel", TRACE_KERNEL},
    {"Task Type", TRACE_TASK_TYPE},
    {"Stream Id", TRACE_STREAM_ID},
    {"connection_id", TRACE_CONNECTION},
    {"name", TRACE_NAME},
    {"labels", TRACE_LABELS},
    {"sort_index", TRACE_SORT_INDEX},
    {"group_id", TRACE_GROUP_ID},
    {"step_num", TRACE_STEP_NUMBER},
    {"tf_op", TRACE_TF_OPERATOR},
    {"long_name", TRACE_LONG_NAME},
    {"hlo_op", TRACE_HLO_OPERATOR},
    {"hlo_category", TRACE_HLO_CATEGORY},
};

static int number_of(const struct word *word, size_t n, const char *key, size_t length, int none)
{
    for (size_t i = 0; i < n; i++) {
        if (unescape_equals(key, length, word[i].text))
            return word[i].number;
    }
    return none;
}

enum event_key event_key_of(const char *key, size_t length)
{
    return (enum event_key)number_of(event_words, sizeof event_words / sizeof *event_words, key,
                                     length, EVENT_OTHER);
}

enum trace_arg event_arg_of(const char *key, size_t length)
{
    return (enum trace_arg)number_of(arg_words, sizeof arg_words / sizeof *arg_words, key, length,
                                     TRACE_N_ARGS);
}
