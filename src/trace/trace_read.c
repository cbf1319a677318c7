#include "trace/trace_read.h"

#include <string.h>

#include "trace/trace_file.h"
#include "trace/trace_stream.h"
#include "trace/trace_walk.h"

static const struct trace_track *tracks_of(struct arena *arena, const struct event_scanner *scanner)
{
    struct trace_track *track = ARENA_ARRAY(arena, scanner->tracks.n, struct trace_track);
    for (uint32_t i = 0; i < scanner->tracks.n; i++) {
        size_t length;
        const char *text = numbering_text(&scanner->tracks, i, &length);
        size_t pid_length = strnlen(text, length);
        track[i].pid = arena_copy_n(arena, text, pid_length);
        track[i].tid = arena_copy_n(arena, text + pid_length + 1, length - pid_length - 1);
        track[i].process = scanner->process_of[i];
    }
    return track;
}

static void make_ending(struct arena *arena, const struct trace_walker *w,
                        struct trace_ending *ending)
{
    *ending = (struct trace_ending){
        .track = tracks_of(arena, &w->scanner),
        .n_tracks = w->scanner.tracks.n,
        .n_processes = w->scanner.processes.n,
        .n_events = w->findings.n_events,
        .n_bytes = trace_window_offset(&w->window, w->window.end),
        .n_unknown_escapes = w->scanner.scan.unknown_escapes,
        .n_broken_characters = w->scanner.n_broken,
        .is_gzip = w->stream->compressed,
        .is_followed = w->stream->followed,
        .truncated = w->truncated,
        .truncated_at_bytes = w->truncated ? w->whole_bytes : 0,
    };
    ending->header.is_array = w->findings.is_array;
    header_understand(arena, &w->header, &ending->header);
}

bool trace_read_stream(struct arena *arena, const char *name, struct trace_stream *stream,
                       const struct trace_reader *reader, struct trace_ending *ending,
                       struct error *e)
{
    struct trace_blocks blocks;
    struct arena memory = {0};
    error_clear(e);
    if (!trace_blocks_start(&blocks, stream, e))
        return false;
    struct trace_walker *w = ARENA_NEW(&memory, struct trace_walker);
    w->reader = reader;
    w->stream = stream;
    w->path = name;
    w->window = trace_window_open(&blocks);
    bool ok = trace_walk(w, e);
    if (ok)
        make_ending(arena, w, ending);
    trace_blocks_stop(&blocks);
    trace_walker_free(w);
    arena_free(&memory);
    return ok;
}

bool trace_read(struct arena *arena, const char *path, const struct trace_reader *reader,
                struct trace_ending *ending, struct error *e)
{
    struct trace_file file;
    if (!trace_file_open(&file, path, e))
        return false;
    bool ok = trace_read_stream(arena, file.path, &file.stream, reader, ending, e);
    trace_file_close(&file);
    return ok;
}
