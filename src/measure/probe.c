#include "measure/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/child_watch.h"
#include "base/clock.h"
#include "base/text.h"

static const double LIMIT_S = 60;
static const double LOOK_S = 0.05; /* a look at all costs as many reads as there are hosts, each */

enum { MOST_AT_ONCE = 256, MOST_PRINTED = 1 << 20 };

/* A host that is being asked. */
struct asking {
    struct probe *probe; /* NULL: free */
    struct launched process;
    struct child_memory memory;
    double started_s, started_at_s; /* by the clock that only goes on, and by the wall's */
};

struct questioning {
    struct arena *arena;
    struct launcher *launcher;
    const char *source;
    const struct progress *progress;
    struct asking asking[MOST_AT_ONCE];
    size_t n_asking;
    double looked_s;
};

static double wall_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char *after_mark(const char *line, const char *mark)
{
    size_t length = strlen(mark);
    return strncmp(line, mark, length) == 0 ? line + length : NULL;
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : NULL;
}

char *probe_find_answer(struct arena *arena, const char *printed)
{
    const char *found = NULL;
    for (const char *line = printed; line; line = next_line(line)) {
        const char *answer = after_mark(line, "foretrain-probe ");
        found = answer ? answer : found;
    }
    return found ? arena_copy_n(arena, found, strcspn(found, "\n")) : NULL;
}

bool probe_find_clock(const char *printed, double *clock_s)
{
    for (const char *line = printed; line; line = next_line(line)) {
        const char *number = after_mark(line, "foretrain-clock ");
        char *end = NULL;
        double value = number ? strtod(number, &end) : NAN;
        if (!number || *end != '\n' || !isfinite(value))
            continue;
        *clock_s = value;
        return true;
    }
    return false;
}

/* The host's clock was read between the start and now, by ours. */
static void take_clock(const struct asking *asking, const char *printed)
{
    struct probe *probe = asking->probe;
    double clock_s, now_s = wall_clock_s();
    if (probe->has_clock || !probe_find_clock(printed, &clock_s))
        return;
    probe->clock_ahead_s = clock_s - (asking->started_at_s + now_s) / 2;
    probe->clock_error_s = (now_s - asking->started_at_s) / 2;
    probe->has_clock = true;
}

static bool start(struct questioning *q, struct asking *asking, const char *interpreter,
                  struct error *e)
{
    struct probe *probe = asking->probe;
    const char *const argv[] = {interpreter, "-I", "-c", q->source, NULL};
    const char *const env[] = {arena_format(q->arena, "FORETRAIN_PROBE=%s", probe->question), NULL};
    const struct launch launch = {.host = probe->host,
                                  .argv = argv,
                                  .env = env,
                                  .output = asking->memory.path[0],
                                  .errors = asking->memory.path[1]};
    asking->started_s = clock_now_s();
    asking->started_at_s = wall_clock_s();
    return launcher_start(q->launcher, &launch, &asking->process, e);
}

/* With the first of its Pythons that can be started. */
static bool start_with_any(struct questioning *q, struct asking *asking, struct error *e)
{
    bool ok = false;
    for (const char *const *word = asking->probe->interpreter; *word && !ok; word++) {
        error_clear(e);
        ok = start(q, asking, *word, e);
    }
    return ok;
}

static void begin(struct questioning *q, struct probe *probe)
{
    struct error e = {0};
    struct asking *asking = &q->asking[q->n_asking];
    *asking = (struct asking){.probe = probe};
    bool has_memory = child_memory_open(&asking->memory, "python3", &e);
    if (has_memory && start_with_any(q, asking, &e)) {
        q->n_asking++;
        return;
    }
    probe->failure = text_printable(q->arena, e.text ? e.text : "no Python to ask it with", 1);
    if (has_memory)
        child_memory_close(&asking->memory);
    error_clear(&e);
}

/* Why it printed no answer: the last line of what it said, or how it ended. */
static const char *explain(struct arena *arena, const struct asking *asking)
{
    enum { N_LINES = 3 };
    if (!asking->process.ended)
        return arena_format(arena, "no answer within %.0f s", LIMIT_S);
    if (asking->process.lost)
        return text_printable(arena, asking->process.lost, 1);
    const char *said = child_tail(arena, asking->memory.path[1], N_LINES);
    const char *how = child_end_text(arena, asking->process.end);
    return arena_format(arena, "its python %s%s%s", how, *said ? "\n  it said: " : "", said);
}

static void conclude(struct questioning *q, struct asking *asking)
{
    struct arena scratch = {0};
    const char *printed = child_memory_read(&scratch, &asking->memory, 0, MOST_PRINTED);
    take_clock(asking, printed);
    asking->probe->answer = probe_find_answer(q->arena, printed);
    if (!asking->probe->answer)
        asking->probe->failure = explain(q->arena, asking);
    child_memory_close(&asking->memory);
    arena_free(&scratch);
}

static void look_at_clock(struct asking *asking)
{
    enum { ENOUGH = 4096 };
    struct arena scratch = {0};
    if (!asking->probe->has_clock)
        take_clock(asking, child_memory_read(&scratch, &asking->memory, 0, ENOUGH));
    arena_free(&scratch);
}

/* Stops and forgets those that have ended or are late, or all. */
static void settle(struct questioning *q, bool all)
{
    struct asking over[MOST_AT_ONCE];
    struct launched process[MOST_AT_ONCE];
    size_t n_over = 0, n_kept = 0;
    for (size_t i = 0; i < q->n_asking; i++) {
        struct asking *asking = &q->asking[i];
        bool ended = launcher_ended(&asking->process);
        look_at_clock(asking);
        bool late = clock_now_s() - asking->started_s > LIMIT_S;
        if (ended || late || all)
            over[n_over++] = *asking;
        else
            q->asking[n_kept++] = *asking;
    }
    q->n_asking = n_kept;
    for (size_t i = 0; i < n_over; i++)
        process[i] = over[i].process;
    launcher_stop(process, n_over);
    for (size_t i = 0; i < n_over; i++)
        conclude(q, &over[i]);
}

/* "asking the hosts: 3 of 4 have answered, waiting for ka1" */
static void tell_status(const struct questioning *q, size_t n_begun, size_t n)
{
    if (q->n_asking > 0)
        progress_status(q->progress, "asking the hosts: %zu of %zu have answered, waiting for %s",
                        n_begun - q->n_asking, n, q->asking[0].probe->host);
}

static bool is_unwanted(const struct progress *progress)
{
    struct error e = {0};
    bool unwanted = progress_cancelled(progress, &e);
    error_clear(&e);
    return unwanted;
}

/* Begins with the next host, where there is one and room, else waits for the next look. */
static void go_on(struct questioning *q, struct probe *probe, size_t n, size_t *next)
{
    double wait_s = q->looked_s + LOOK_S - clock_now_s();
    if (*next == n || q->n_asking == MOST_AT_ONCE) {
        clock_sleep(wait_s > 0 ? wait_s : 0);
        return;
    }
    if (probe[*next].question)
        begin(q, &probe[*next]);
    ++*next;
}

void probe_hosts(struct arena *arena, struct launcher *launcher, const char *source,
                 struct probe *probe, size_t n, const struct progress *progress)
{
    struct questioning q = {.arena = arena,
                            .launcher = launcher,
                            .source = source,
                            .progress = progress,
                            .looked_s = clock_now_s()};
    size_t next = 0;
    while ((next < n || q.n_asking > 0) && !is_unwanted(progress)) {
        go_on(&q, probe, n, &next);
        if (clock_now_s() - q.looked_s < LOOK_S)
            continue;
        settle(&q, false);
        tell_status(&q, next, n);
        q.looked_s = clock_now_s();
    }
    settle(&q, true);
}
