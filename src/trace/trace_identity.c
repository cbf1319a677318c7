#include "trace/trace_identity.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "3" of "3_step", "-34" of "-34.Jul"; -1: no number follows. */
static int number_behind(const char *text)
{
    text += *text == '-' || *text == '_';
    int number = 0;
    const char *digit = text;
    for (; isdigit((unsigned char)*digit) && number < 100000000; digit++)
        number = 10 * number + (*digit - '0');
    return digit > text && !isdigit((unsigned char)*digit) ? number : -1;
}

int trace_rank_of_name(const char *file)
{
    static const char *const word[] = {"rank", "worker"};
    const char *name = base_name(file);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        for (const char *at = name; (at = strcasestr(at, word[i])); at++) {
            int number = number_behind(at + strlen(word[i]));
            if (number >= 0)
                return number;
        }
    }
    return -1;
}

static int given_rank(const struct trace_options *options, const char *file)
{
    for (size_t i = 0; i < options->n_given; i++) {
        if (strcmp(options->given[i].file, file) == 0)
            return options->given[i].rank;
    }
    return -1;
}

static int find_rank(const struct trace *t, const struct trace_options *options)
{
    int rank = given_rank(options, t->file);
    if (rank < 0)
        rank = t->collected.ending.header.rank;
    return rank >= 0 ? rank : trace_rank_of_name(t->file);
}

static int find_world(const struct trace *t, const struct trace_options *options)
{
    int said = t->collected.ending.header.world_size;
    if (options->world_size > 0)
        return options->world_size;
    return said > 0 ? said : t->calls.largest_group > 0 ? t->calls.largest_group : 0;
}

static bool contradicts(const struct trace *t, const char *option, int given, const char *what,
                        int found, struct error *e)
{
    error_set(e, ERROR_INPUT, "%s: --%s says %d, but its %s is %d", t->file, option, given, what,
              found);
    return false;
}

static bool check_given(const struct trace *t, const struct trace_options *options, struct error *e)
{
    const struct trace_header *header = &t->collected.ending.header;
    int rank = given_rank(options, t->file), world = options->world_size;
    if (rank >= 0 && header->rank >= 0 && rank != header->rank)
        return contradicts(t, "rank", rank, "distributedInfo.rank", header->rank, e);
    if (world > 0 && header->world_size > 0 && world != header->world_size)
        return contradicts(t, "world-size", world, "distributedInfo.world_size", header->world_size,
                           e);
    if (world > 0 && t->calls.largest_group > world)
        return contradicts(t, "world-size", world, "largest process group", t->calls.largest_group,
                           e);
    return true;
}

static bool takes_part(const struct trace *t)
{
    for (size_t i = 0; i < t->calls.n; i++) {
        if (trace_call_is_shared(&t->calls.call[i]))
            return true;
    }
    return false;
}

bool trace_identify(const struct trace *t, const struct trace_options *options,
                    struct trace_rank *rank, struct error *e)
{
    if (!check_given(t, options, e))
        return false;
    rank->file = t->file;
    rank->rank = find_rank(t, options);
    rank->has_collectives = takes_part(t);
    int world = find_world(t, options);
    rank->world_size = world > 0 || rank->has_collectives ? world : 1;
    if (rank->rank >= 0 || !rank->has_collectives)
        return true;
    error_set(e, ERROR_INPUT,
              "%s: nothing tells which rank made it: it has no distributedInfo.rank, and its name "
              "holds no \"rank3\" or \"worker3\"",
              t->file);
    error_hint(e, "say so: --rank %s=N", t->file);
    return false;
}

/* False where times count from some start, and not from 1970; in torch 1.7 and 1.13 of Debian they
 * do. */
static bool since_1970(const struct trace *t, int64_t at_ns, int64_t *since_ns)
{
    const int64_t year_2015_s = 1420070400;
    return !__builtin_add_overflow(at_ns, t->collected.ending.header.base_time_ns, since_ns) &&
           *since_ns / 1000000000 >= year_2015_s;
}

const struct trace_window *trace_when(struct arena *arena, const struct trace *t)
{
    struct trace_window *when = ARENA_ARRAY(arena, t->steps.n, struct trace_window);
    for (size_t s = 0; s < t->steps.n; s++) {
        if (!since_1970(t, t->steps.step[s].start_ns, &when[s].start_ns) ||
            !since_1970(t, t->steps.step[s].end_ns, &when[s].end_ns))
            return NULL;
    }
    return when;
}

static const char *date_of(struct arena *arena, const struct trace *t)
{
    int64_t at_ns = 0;
    if (!since_1970(t, t->steps.step[t->steps.n - 1].end_ns, &at_ns))
        return NULL;
    time_t at = (time_t)(at_ns / 1000000000);
    struct tm parts;
    char text[32];
    if (!gmtime_r(&at, &parts) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return NULL;
    return arena_copy(arena, text);
}

void trace_describe(struct arena *arena, const struct trace *t, struct record *record)
{
    const struct trace_header *header = &t->collected.ending.header;
    size_t device = t->device.device < header->n_devices ? t->device.device : 0;
    record->device_name = header->n_devices > 0 ? header->device[device] : NULL;
    record->host = header->host_name;
    record->backend = t->calls.library ? t->calls.library : header->backend;
    record->framework = "PyTorch";
    record->date = date_of(arena, t);
}
