/*
 * A schedule is a colouring of the pairs in which no host sees a colour twice. Two are tried: the
 * rounds of a round-robin tournament of all hosts, which no schedule of all pairs beats, and greedy
 * colouring, which is within twice the best for any set. The one with fewer rounds is taken.
 */
#include "measure/rounds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, NO_ROUND = -1 };

struct colouring {
    int *colour; /* [n_pairs] */
    int n;       /* colours used */
};

struct problem {
    const struct host_pair *pair;
    size_t n_pairs;
    int n_hosts;
    int most_pairs; /* of one host */
};

static struct problem make_problem(struct arena *scratch, const struct host_pair *pair,
                                   size_t n_pairs, int n_hosts)
{
    struct problem p = {pair, n_pairs, n_hosts, 0};
    int *count = ARENA_ARRAY(scratch, (size_t)n_hosts, int);
    for (size_t i = 0; i < n_pairs; i++) {
        int from = ++count[pair[i].from];
        int to = pair[i].to == pair[i].from ? from : ++count[pair[i].to];
        int larger = from > to ? from : to;
        p.most_pairs = larger > p.most_pairs ? larger : p.most_pairs;
    }
    return p;
}

/*
 * The circle method over an even number of seats: a and b meet in round a + b (mod seats - 1), and
 * who would meet himself meets the last seat. The way back has rounds of its own, and so have links
 * within hosts.
 */
static int tournament_round(struct host_pair pair, int n_hosts)
{
    int last = n_hosts % 2 ? n_hosts : n_hosts - 1;
    if (pair.from == pair.to)
        return 2 * last;
    int64_t from = pair.from == last ? pair.to : pair.from;
    int64_t to = pair.to == last ? pair.from : pair.to;
    return (int)((from + to) % last) + (pair.from < pair.to ? 0 : last);
}

/* Numbers the colours in use from 0, in their order. */
static void close_ranks(struct arena *scratch, const struct problem *p, int n_colours,
                        struct colouring *c)
{
    int *number = ARENA_ARRAY(scratch, (size_t)n_colours, int);
    for (size_t i = 0; i < p->n_pairs; i++)
        number[c->colour[i]] = 1;
    c->n = 0;
    for (int k = 0; k < n_colours; k++)
        number[k] = number[k] ? c->n++ : NO_ROUND;
    for (size_t i = 0; i < p->n_pairs; i++)
        c->colour[i] = number[c->colour[i]];
}

static struct colouring colour_as_tournament(struct arena *scratch, const struct problem *p)
{
    struct colouring c = {ARENA_ARRAY(scratch, p->n_pairs, int), 0};
    for (size_t i = 0; i < p->n_pairs; i++)
        c.colour[i] = tournament_round(p->pair[i], p->n_hosts);
    close_ranks(scratch, p, 2 * (p->n_hosts + 1) + 1, &c);
    return c;
}

static int first_free(const uint64_t *a, const uint64_t *b)
{
    size_t word = 0;
    while ((a[word] | b[word]) == UINT64_MAX)
        word++;
    return (int)(word * WORD_BITS) + __builtin_ctzll(~(a[word] | b[word]));
}

static struct colouring colour_greedily(struct arena *scratch, const struct problem *p)
{
    struct colouring c = {ARENA_ARRAY(scratch, p->n_pairs, int), 0};
    size_t words = (size_t)(2 * p->most_pairs) / WORD_BITS + 1;
    uint64_t *busy = ARENA_ARRAY(scratch, (size_t)p->n_hosts * words, uint64_t);
    for (size_t i = 0; i < p->n_pairs; i++) {
        uint64_t *from = busy + (size_t)p->pair[i].from * words;
        uint64_t *to = busy + (size_t)p->pair[i].to * words;
        int colour = first_free(from, to);
        from[colour / WORD_BITS] |= UINT64_C(1) << (colour % WORD_BITS);
        to[colour / WORD_BITS] |= UINT64_C(1) << (colour % WORD_BITS);
        c.colour[i] = colour;
        c.n = colour >= c.n ? colour + 1 : c.n;
    }
    return c;
}

/* Pairs by colour, in their own order within one. */
static void sort_by_colour(struct arena *arena, const struct colouring *c, size_t n_pairs,
                           struct rounds *rounds)
{
    struct rounds r = {ARENA_ARRAY(arena, n_pairs, size_t), n_pairs,
                       ARENA_ARRAY(arena, (size_t)c->n + 1, size_t), (size_t)c->n};
    for (size_t i = 0; i < n_pairs; i++)
        r.first[c->colour[i] + 1]++;
    for (size_t k = 0; k < r.n_rounds; k++)
        r.first[k + 1] += r.first[k];
    for (size_t i = 0; i < n_pairs; i++)
        r.pair[r.first[c->colour[i]]++] = i;
    for (size_t k = r.n_rounds; k > 0; k--)
        r.first[k] = r.first[k - 1];
    r.first[0] = 0;
    *rounds = r;
}

/* A pair that is there twice meets itself in a tournament's round. */
static bool keeps_apart(struct arena *scratch, const struct problem *p, const struct rounds *r)
{
    size_t *seen = ARENA_ARRAY(scratch, (size_t)p->n_hosts, size_t);
    for (size_t k = 0; k < r->n_rounds; k++) {
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            struct host_pair pair = p->pair[r->pair[i]];
            if (seen[pair.from] == k + 1 || seen[pair.to] == k + 1)
                return false;
            seen[pair.from] = seen[pair.to] = k + 1;
        }
    }
    return true;
}

void rounds_schedule(struct arena *arena, const struct host_pair *pair, size_t n_pairs, int n_hosts,
                     struct rounds *rounds)
{
    enum { FEW_MORE = 2, MANY = 64 }; /* an odd tournament has a free seat, two rounds more */
    struct arena scratch = {0};
    struct problem p = make_problem(&scratch, pair, n_pairs, n_hosts);
    struct colouring c = colour_as_tournament(&scratch, &p);
    sort_by_colour(arena, &c, n_pairs, rounds);
    bool apart = keeps_apart(&scratch, &p, rounds);
    bool good = c.n <= p.most_pairs || (p.most_pairs > MANY && c.n <= p.most_pairs + FEW_MORE);
    if (!apart || !good) {
        struct colouring greedy = colour_greedily(&scratch, &p);
        if (!apart || greedy.n < c.n)
            sort_by_colour(arena, &greedy, n_pairs, rounds);
    }
    arena_free(&scratch);
}
