#include "trace/trace_runs.h"

#include <string.h>

struct matcher {
    const struct trace_collected *c;
    struct trace_calls *calls;
    bool *taken;      /* [n calls] */
    uint32_t *group;  /* [n_tracks], whose thread it is, as a word; no_word: not known */
    bool unnamed_mix; /* calls that do not name their group may be of several */
    bool last;        /* groups of threads are known as far as they can be */
    bool learned;
    size_t n_untold;
};

/* Calls of one step; `muddled`: one of its runs is not told, or may be an earlier step's. */
struct waiting {
    struct trace_call *call; /* [n] */
    size_t n;
    bool muddled;
};

enum choice { OF_ITS_GROUP, OF_ITS_SIZE, OF_ANY_GROUP };

static bool is_of_its_group(const struct matcher *m, const struct trace_call *call,
                            const struct trace_comm *ran)
{
    uint32_t no_word = m->c->no_word, group = m->group[ran->track];
    return call->group == no_word || group == no_word || call->group == group;
}

/* It has not run yet, and may be the library's. */
static bool is_waiting(const struct matcher *m, const struct trace_call *call)
{
    return !m->taken[call - m->calls->call] && trace_window_is_empty(call->span) &&
           (call->library == m->c->no_word || trace_runs_on_cpu(m->c, call->library));
}

/* It may have run then. */
static bool may_be(const struct matcher *m, const struct trace_call *call,
                   const struct trace_comm *ran, enum choice choice)
{
    bool fits = choice == OF_ANY_GROUP || is_of_its_group(m, call, ran);
    if (choice == OF_ITS_SIZE)
        fits = fits && ran->elements >= 0 && call->elements == ran->elements;
    return fits && call->start_ns <= ran->start_ns && strcmp(call->op, ran->op) == 0 &&
           is_waiting(m, call);
}

static bool of_one_queue(const struct matcher *m, const struct trace_call *a,
                         const struct trace_call *b)
{
    return a->group == b->group && !(a->group == m->c->no_word && m->unnamed_mix);
}

/* The first call that may have run; `sure`: all others wait behind it in its own queue. */
static struct trace_call *choose(const struct matcher *m, const struct waiting *w,
                                 const struct trace_comm *ran, enum choice choice, bool *sure)
{
    struct trace_call *chosen = NULL;
    *sure = choice != OF_ANY_GROUP;
    for (size_t i = 0; i < w->n; i++) {
        struct trace_call *call = &w->call[i];
        if (!may_be(m, call, ran, choice))
            continue;
        *sure = *sure && (!chosen || of_one_queue(m, chosen, call));
        chosen = chosen ? chosen : call;
    }
    *sure = *sure && chosen;
    return chosen;
}

/* By its group; where that leaves several queues, by its size; at last by its order alone. */
static struct trace_call *call_of(const struct matcher *m, const struct waiting *w,
                                  const struct trace_comm *ran, bool *sure)
{
    struct trace_call *call = choose(m, w, ran, OF_ITS_GROUP, sure);
    if (*sure)
        return call;
    struct trace_call *of_size = choose(m, w, ran, OF_ITS_SIZE, sure);
    if (*sure || !m->last)
        return of_size;
    return call ? call : choose(m, w, ran, OF_ANY_GROUP, sure);
}

/* Some may still run in the next step. */
static bool are_left(const struct matcher *m, const struct waiting *w)
{
    for (size_t i = 0; i < w->n; i++) {
        if (is_waiting(m, &w->call[i]))
            return true;
    }
    return false;
}

/* Not from a muddled step. */
static void learn_thread(struct matcher *m, const struct waiting *w, const struct trace_call *call,
                         uint32_t track)
{
    if (w->muddled || call->group == m->c->no_word || m->group[track] != m->c->no_word)
        return;
    m->group[track] = call->group;
    m->learned = true;
}

static void match_run(struct matcher *m, struct waiting *w, const struct trace_comm *ran)
{
    bool sure = false;
    struct trace_call *call = call_of(m, w, ran, &sure);
    w->muddled = w->muddled || !sure;
    if (!call || !(sure || m->last))
        return;
    m->taken[call - m->calls->call] = true;
    if (sure)
        learn_thread(m, w, call, ran->track);
    if (!m->last)
        return;
    m->n_untold += !sure;
    call->span = (struct trace_window){ran->start_ns, ran->end_ns};
    trace_call_learn(call, ran, m->c->no_word);
}

static void match_all(struct matcher *m, const struct trace_steps *steps)
{
    const struct trace_collected *c = m->c;
    size_t i = 0;
    struct waiting before = {0};
    memset(m->taken, 0, m->calls->n * sizeof *m->taken);
    for (size_t s = 0; s < steps->n; s++) {
        const struct trace_step *step = &steps->step[s];
        struct waiting waiting = {.muddled = are_left(m, &before)};
        waiting.n = trace_calls_of(m->calls, step, &waiting.call);
        while (i < c->n_comms && c->comm[i].start_ns < step->start_ns)
            i++;
        for (; i < c->n_comms && c->comm[i].start_ns < step->end_ns; i++) {
            if (trace_runs_on_cpu(c, c->comm[i].library))
                match_run(m, &waiting, &c->comm[i]);
        }
        before = waiting;
    }
}

/* gloo has two threads for each process group. */
static bool has_threads_of_several_groups(struct arena *scratch, const struct trace_collected *c)
{
    enum { OF_A_GROUP = 2 };
    bool *seen = ARENA_ARRAY(scratch, c->ending.n_tracks + 1, bool);
    size_t n = 0;
    for (size_t i = 0; i < c->n_comms; i++) {
        bool is_new = trace_runs_on_cpu(c, c->comm[i].library) && !seen[c->comm[i].track];
        seen[c->comm[i].track] = seen[c->comm[i].track] || is_new;
        n += is_new;
    }
    return n > OF_A_GROUP;
}

size_t trace_runs_match(const struct trace_collected *c, const struct trace_steps *steps,
                        struct trace_calls *calls)
{
    enum { MOST_TIMES = 8 };
    struct arena scratch = {0};
    struct matcher m = {.c = c,
                        .calls = calls,
                        .taken = ARENA_ARRAY(&scratch, calls->n + 1, bool),
                        .group = ARENA_ARRAY(&scratch, c->ending.n_tracks + 1, uint32_t),
                        .unnamed_mix = has_threads_of_several_groups(&scratch, c)};
    for (size_t t = 0; t < c->ending.n_tracks; t++)
        m.group[t] = c->no_word;
    m.learned = true;
    for (int i = 0; i < MOST_TIMES && m.learned; i++) {
        m.learned = false;
        match_all(&m, steps);
    }
    m.last = true;
    match_all(&m, steps);
    arena_free(&scratch);
    return m.n_untold;
}
