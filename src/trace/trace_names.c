#include "trace/trace_names.h"

#include <ctype.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool contains(struct trace_text text, const char *word)
{
    return memmem(text.data, text.length, word, strlen(word)) != NULL;
}

static bool is_one_of(struct trace_text text, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (trace_text_is(text, word[i]))
            return true;
    }
    return false;
}

static bool begins_with_one_of(struct trace_text text, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (trace_text_begins(text, word[i]))
            return true;
    }
    return false;
}

/* Ascend's events on the device have no category, but a task. */
static bool is_work(const struct trace_event *event)
{
    static const char *const category[] = {
        "kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset", "mtia_ccp_events",
    };
    return is_one_of(event->category, category, COUNT(category)) ||
           trace_event_arg(event, TRACE_TASK_TYPE);
}

/* CUDA's and HIP's runtime is called for much that gives the device no work. */
static bool is_launch(const struct trace_event *event)
{
    static const char *const cuda[] = {"cuda_runtime", "cuda_driver", "Runtime"};
    if (event->phase == 's')
        return trace_text_is(event->category, "async_npu");
    if (!trace_event_arg(event, TRACE_CORRELATION) || !event->category.length)
        return false;
    if (is_one_of(event->category, cuda, COUNT(cuda)))
        return contains(event->name, "aunch") || contains(event->name, "emcpy") ||
               contains(event->name, "emset");
    return contains(event->category, "runtime") || contains(event->category, "driver");
}

static const struct {
    const char *begin;
    enum trace_kind kind;
} mark[] = {
    {"ProfilerStep#", KIND_STEP},
    {"enumerate(DataLoader)#", KIND_LOADER},
    {"Optimizer.zero_grad#", KIND_ZERO_GRAD},
    {"Optimizer.step#", KIND_OPTIMIZER},
    {"DistributedDataParallel.forward", KIND_FORWARD},
    {"c10d::", KIND_COLLECTIVE},
    {"record_param_comms", KIND_COLLECTIVE},
};

static const char *const library[] = {
    "nccl:", "gloo:", "hccl:", "cncl:", "xccl:", "mccl:", "ucc:", "mpi:"};

static enum trace_kind kind_of_mark(struct trace_text name)
{
    for (size_t i = 0; i < COUNT(mark); i++) {
        if (trace_text_begins(name, mark[i].begin))
            return mark[i].kind;
    }
    struct trace_text before = trace_library_of(name);
    return before.length &&
                   !(name.length > before.length + 1 && name.data[before.length + 1] == ':')
               ? KIND_COLLECTIVE
               : KIND_OTHER;
}

/* Before kineto, and in its first versions, users' own marks have the category of operators.
 * Ascend's runtime calls have none, but a connection. */
static bool is_operator(const struct trace_event *event)
{
    bool by_name = contains(event->name, "::") || contains(event->name, "Backward");
    if (trace_text_is(event->category, "cpu_op"))
        return true;
    bool uncategorized = !event->category.length && !trace_event_arg(event, TRACE_CONNECTION);
    return by_name && (uncategorized || trace_text_is(event->category, "Operator"));
}

enum trace_kind trace_kind_of(const struct trace_event *event)
{
    static const char *const of_the_cpu[] = {"", "cpu_op", "Operator", "user_annotation"};
    if (event->phase != 'X' && event->phase != 's')
        return KIND_OTHER;
    if (event->phase == 'X' && is_work(event))
        return KIND_WORK;
    if (is_launch(event))
        return KIND_LAUNCH;
    if (event->phase != 'X' || !is_one_of(event->category, of_the_cpu, COUNT(of_the_cpu)))
        return KIND_OTHER;
    enum trace_kind kind = kind_of_mark(event->name);
    if (kind != KIND_OTHER)
        return kind;
    return is_operator(event) ? KIND_OPERATOR : KIND_OTHER;
}

static const char evaluate[] = "autograd::engine::evaluate_function: ";

static bool is_named_backward(const char *name)
{
    const char *end = strrchr(name, 'B');
    if (!end || strncmp(end, "Backward", strlen("Backward")) != 0)
        return false;
    end += strlen("Backward");
    return end[strspn(end, "0123456789")] == '\0';
}

bool trace_name_is_accumulation(const char *name)
{
    return strstr(name, "torch::autograd::AccumulateGrad") != NULL;
}

bool trace_name_is_gradient(const char *name)
{
    bool evaluated = strncmp(name, evaluate, strlen(evaluate)) == 0;
    return (evaluated || is_named_backward(name)) && !trace_name_is_accumulation(name);
}

bool trace_name_is_backward(const char *name)
{
    return trace_name_is_gradient(name) || trace_name_is_accumulation(name) ||
           strstr(name, "distributed.ddp.reducer::") || strstr(name, "distributed::reducer::");
}

bool trace_name_is_collective_work(struct trace_text name)
{
    static const char *const begin[] = {"nccl", "rccl", "hcom_", "hccl", "cncl", "mccl", "xccl"};
    return begins_with_one_of(name, begin, COUNT(begin)) || contains(name, "ncclDevKernel") ||
           contains(name, "msccl") || contains(name, "MSCCL");
}

bool trace_name_is_upload(const char *name)
{
    return strstr(name, "HtoD") || strstr(name, "HostToDevice") || strstr(name, "H2D");
}

/* Lower case without marks: "c10d::_allgather_base_" and "ncclKernel_AllGather_..." are one. */
static void letters_of(struct trace_text name, char *letters, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < name.length && n + 1 < size; i++) {
        if (isalpha((unsigned char)name.data[i]))
            letters[n++] = (char)tolower((unsigned char)name.data[i]);
    }
    letters[n] = '\0';
}

const char *trace_collective_of(struct trace_text name)
{
    static const struct {
        const char *letters, *collective;
    } known[] = {
        {"allreduce", "all_reduce"}, {"reducescatter", "reduce_scatter"},
        {"allgather", "all_gather"}, {"alltoall", "all_to_all"},
        {"broadcast", "broadcast"},  {"sendrecv", "send_recv"},
        {"barrier", "barrier"},      {"reduce", "reduce"},
        {"scatter", "scatter"},      {"gather", "gather"},
        {"send", "send_recv"},       {"recv", "send_recv"},
    };
    char letters[64];
    letters_of(name, letters, sizeof letters);
    for (size_t i = 0; i < COUNT(known); i++) {
        if (strstr(letters, known[i].letters))
            return known[i].collective;
    }
    return NULL;
}

struct trace_text trace_library_of(struct trace_text name)
{
    for (size_t i = 0; i < COUNT(library); i++) {
        if (trace_text_begins(name, library[i]))
            return (struct trace_text){name.data, strlen(library[i]) - 1};
    }
    return (struct trace_text){name.data, 0};
}

int trace_dtype_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        int bytes;
    } known[] = {
        {"float", 4},         {"double", 8},      {"half", 2},          {"bfloat16", 2},
        {"long", 8},          {"long int", 8},    {"int", 4},           {"short", 2},
        {"short int", 2},     {"byte", 1},        {"unsigned char", 1}, {"char", 1},
        {"signed char", 1},   {"bool", 1},        {"float32", 4},       {"float16", 2},
        {"float64", 8},       {"int64", 8},       {"int32", 4},         {"complexfloat", 8},
        {"float8_e4m3fn", 1}, {"float8_e5m2", 1},
    };
    const char *name = strncmp(dtype, "c10::", 5) == 0 ? dtype + 5 : dtype;
    for (size_t i = 0; i < COUNT(known); i++) {
        if (strcasecmp(known[i].name, name) == 0)
            return known[i].bytes;
    }
    return 0;
}
