#include "trace/trace_inflate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

#include "base/arena.h"
#include "trace/trace_file.h"

enum { INPUT_BYTES = 1 << 18 };

struct trace_inflate {
    struct inflate_state state;
    bool between_members;
    bool at_end; /* of the file */
    char input[INPUT_BYTES];
};

struct trace_inflate *trace_inflate_new(void)
{
    struct trace_inflate *inflate = memory_resize(NULL, 1, sizeof *inflate);
    isal_inflate_init(&inflate->state);
    inflate->state.crc_flag = ISAL_GZIP;
    inflate->between_members = inflate->at_end = false;
    return inflate;
}

void trace_inflate_free(struct trace_inflate *inflate)
{
    free(inflate);
}

static bool refill(struct trace_inflate *inflate, struct trace_file *file, struct error *e)
{
    size_t n = 0;
    if (!inflate->at_end && !trace_file_read(file, inflate->input, INPUT_BYTES, &n, e))
        return false;
    inflate->at_end = n == 0;
    inflate->state.next_in = (uint8_t *)inflate->input;
    inflate->state.avail_in = (uint32_t)n;
    return true;
}

static bool fail(const struct trace_inflate *inflate, const struct trace_file *file,
                 const char *what, struct error *e)
{
    uint64_t offset = file->stream.done_bytes - inflate->state.avail_in;
    error_set(e, ERROR_INPUT, "%s: %s near byte %" PRIu64 " of the file", file->path, what, offset);
    error_hint(e, "copy it again, or ask for it again: `gzip -t` checks a copy");
    return false;
}

static const char *words_of(int code)
{
    switch (code) {
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return "no gzip header";
    case ISAL_INCORRECT_CHECKSUM:
        return "the gzip checksum does not match: the file was changed or damaged";
    default:
        return "broken gzip data";
    }
}

/* What is no member behind one is not looked at, as gzip does it. */
static bool is_no_member(const struct inflate_state *state)
{
    return state->next_in[0] != 0x1f || (state->avail_in > 1 && state->next_in[1] != 0x8b);
}

/* Between two members: passes over zeros; whether another one begins. */
static bool begin_member(struct trace_inflate *inflate, struct trace_file *file)
{
    struct inflate_state *state = &inflate->state;
    while (state->avail_in > 0 && *state->next_in == 0) {
        state->next_in++;
        state->avail_in--;
    }
    if (state->avail_in == 0)
        return false;
    if (is_no_member(state)) {
        file->stream.followed = inflate->at_end = true;
        state->avail_in = 0;
        return false;
    }
    isal_inflate_reset(state);
    state->crc_flag = ISAL_GZIP;
    inflate->between_members = false;
    return true;
}

/* One call of ISA-L; `ended` at the end of all data, whole or not. */
static bool inflate_some(struct trace_inflate *inflate, struct trace_file *file, bool *ended,
                         struct error *e)
{
    struct inflate_state *state = &inflate->state;
    if (inflate->between_members && !begin_member(inflate, file)) {
        *ended = inflate->at_end;
        return true;
    }
    uint32_t room = state->avail_out;
    int code = isal_inflate(state);
    if (code < 0 || code == ISAL_NEED_DICT)
        return fail(inflate, file, words_of(code), e);
    inflate->between_members = state->block_state == ISAL_BLOCK_FINISH;
    bool stuck = inflate->at_end && state->avail_in == 0 && state->avail_out == room;
    file->stream.cut_off = stuck && !inflate->between_members;
    *ended = file->stream.cut_off;
    return true;
}

bool trace_inflate_fill(struct trace_inflate *inflate, struct trace_file *file, char *to,
                        size_t capacity, size_t *length, struct error *e)
{
    struct inflate_state *state = &inflate->state;
    bool ended = false;
    state->next_out = (uint8_t *)to;
    state->avail_out = (uint32_t)capacity;
    while (!ended && state->avail_out > 0) {
        if (state->avail_in == 0 && !inflate->at_end && !refill(inflate, file, e))
            return false;
        if (!inflate_some(inflate, file, &ended, e))
            return false;
    }
    *length = capacity - state->avail_out;
    return true;
}
