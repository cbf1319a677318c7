/* Traces in, one profile out: each becomes its rank's record, and records become a profile. */
#include "trace/trace_profile.h"

#include <string.h>

#include "profile/record.h"
#include "trace/trace_ranks.h"

static const char *file_names(struct arena *arena, const char *const *trace, size_t n)
{
    enum { SHOWN = 3 };
    const char *text = "";
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const char *slash = strrchr(trace[i], '/');
        text = arena_format(arena, "%s%s%s", text, i ? ", " : "", slash ? slash + 1 : trace[i]);
    }
    return n > SHOWN ? arena_format(arena, "%s and %zu more", text, n - SHOWN) : text;
}

static void keep_notes(struct arena *arena, struct record *record, const char *line)
{
    const char **all = ARENA_ARRAY(arena, record->n_notes + 1, const char *);
    for (size_t i = 0; i < record->n_notes; i++)
        all[i] = record->note_line[i];
    all[record->n_notes++] = line;
    record->note_line = all;
}

static bool merge(struct arena *arena, struct trace_rank *rank, size_t n, struct profile *profile,
                  struct error *e)
{
    struct record *record = ARENA_ARRAY(arena, n, struct record);
    for (size_t r = 0; r < n; r++)
        record[r] = rank[r].record;
    if (n < (size_t)rank[0].world_size) {
        profile->n_sampled = (int)n;
        keep_notes(arena, &record[0],
                   arena_format(arena,
                                "traces of %zu of %d ranks: the others count as being like these",
                                n, rank[0].world_size));
    }
    return record_merge(arena, record, n, profile, e);
}

static void say_guessed(struct arena *arena, const struct trace_options *options,
                        struct trace_rank *rank)
{
    const char *text = arena_format(
        arena,
        "world size taken as %d, the highest rank given plus one: --world-size says otherwise",
        rank->world_size);
    keep_notes(arena, &rank->record, text);
    if (options->warn)
        options->warn(text);
}

bool profile_from_traces(struct arena *arena, const char *const *trace, size_t n,
                         const struct trace_options *options, struct profile *profile,
                         struct error *e)
{
    struct profile made = {0};
    bool guessed = false;
    struct trace_rank *rank = ARENA_ARRAY(arena, n, struct trace_rank);
    for (size_t i = 0; i < n; i++) {
        if (!trace_rank_read(arena, trace[i], options, &rank[i], e))
            return false;
    }
    if (!trace_ranks_check(rank, n, &guessed, e) || !trace_ranks_align(arena, rank, n, e))
        return false;
    if (guessed)
        say_guessed(arena, options, &rank[0]);
    trace_ranks_find_transfers(rank, n);
    if (!trace_ranks_fill_bytes(arena, rank, n, options, e) || !merge(arena, rank, n, &made, e))
        return false;
    made.note = arena_format(arena, "imported from %s", file_names(arena, trace, n));
    *profile = made;
    return true;
}
