#include "trace/trace_foreign.h"

#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "trace/header_values.h"

static const struct {
    const char *magic;
    size_t length, offset;
    const char *what, *hint;
} kinds[] = {
    {"<", 1, 0, "this is an HTML or XML page, not a trace",
     "a server's error page may have been saved in its place: look at it and fetch the trace "
     "again"},
    {"PK\3\4", 4, 0, "this is a zip archive", "unpack it and give its files"},
    {"\x28\xb5\x2f\xfd", 4, 0, "this is zstd data", "unpack it with `zstd -d`"},
    {"\xfd"
     "7zXZ",
     5, 0, "this is xz data", "unpack it with `xz -d`"},
    {"BZh", 3, 0, "this is bzip2 data", "unpack it with `bzip2 -d`"},
    {"SQLite format 3", 15, 0, "this is an SQLite file, as Nsight Systems exports",
     "give the trace of PyTorch's profiler"},
    {"ustar", 5, 257, "this is a tar archive", "unpack it and give its files"},
    {"\xff\xfe", 2, 0, "this is UTF-16 text", "write it again as UTF-8"},
    {"\xfe\xff", 2, 0, "this is UTF-16 text", "write it again as UTF-8"},
    {"\x80", 1, 0, "this is a Python pickle", "give the JSON that export_chrome_trace writes"},
    {"\x1f\x8b", 2, 0, "this is gzip data within gzip data", "unpack it once"},
};

static void fail_with_first_bytes(const struct place *place, const char *text, size_t length,
                                  struct error *e)
{
    enum { SHOWN = 24 };
    struct arena arena = {0};
    size_t shown = length < SHOWN ? length : SHOWN;
    error_at(e, place, "expected '{' or '[', as traces begin, found: %s",
             text_printable(&arena, arena_copy_n(&arena, text, shown), 0));
    arena_free(&arena);
}

void trace_foreign_text(const struct place *place, const char *text, size_t length, struct error *e)
{
    struct place unknown = {.file = place->file};
    if (length == 0) {
        error_at(e, &unknown, "there is no trace in it: it is empty, or holds only blanks");
        error_hint(e, "the profiler writes when the recording ends: did the program end before?");
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t end = kinds[i].offset + kinds[i].length;
        if (length < end || memcmp(text + kinds[i].offset, kinds[i].magic, kinds[i].length) != 0)
            continue;
        error_at(e, &unknown, "%s", kinds[i].what);
        error_hint(e, "%s", kinds[i].hint);
        return;
    }
    fail_with_first_bytes(place, text, length, e);
    error_hint(e, "give what torch.profiler's export_chrome_trace or on_trace_ready wrote");
}

void trace_foreign_timeline(const struct place *place, struct error *e)
{
    error_at(e, place,
             "this is an array of arrays, such as PyTorch's memory timeline, not a trace");
    error_hint(e, "give what export_chrome_trace wrote, not export_memory_timeline");
}

static bool has(const struct trace_findings *findings, enum header_key key)
{
    return findings->keys >> key & 1;
}

static const char *kind_without_events(const struct trace_findings *findings)
{
    if (has(findings, HEADER_NODES) && has(findings, HEADER_SCHEMA))
        return "this is a PyTorch execution trace (keys nodes and schema), not a profiler trace";
    if (has(findings, HEADER_ENTRIES))
        return "this is a dump such as NCCL's flight recorder writes (key entries), not a profiler "
               "trace";
    return "this is JSON without traceEvents, not a profiler trace";
}

bool trace_foreign_check(const char *path, const struct trace_findings *findings, struct error *e)
{
    if (!findings->has_events)
        error_set(e, ERROR_INPUT, "%s: %s", path, kind_without_events(findings));
    else if (findings->n_events > 0 && findings->n_async == findings->n_events)
        error_set(e, ERROR_INPUT,
                  "%s: this is a dump of NCCL's profiler (phases b and e only), not a profiler "
                  "trace of the training",
                  path);
    else
        return true;
    error_hint(e, "give what torch.profiler's export_chrome_trace or on_trace_ready wrote");
    return false;
}
