/*
 * Rounds measure several links at once, so those that share an uplink may have slowed each other
 * down there already: each link is measured alone here, or one of each pair of types where they are
 * many.
 *
 * Links that are slower beside the others share something: a host's port where both leave or enter
 * the same host, an uplink where both go from hosts of one type to hosts of the other.
 */
#include "measure/bandwidth_together.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "measure/bandwidth_pairs.h"

enum { TRIES = 3, MOST_NAMED = 8, MOST_ALONE = 32 };

static const double MUCH_FASTER = 1.25;

struct together {
    struct network *network;
    const struct job *job;
    struct host_pair *pair;  /* [n], a link of the ring each */
    struct round_link *link; /* [n] */
    size_t n;
    int *type_of; /* [network->n], the first type that lists the host */
};

static struct link *link_of(const struct network *network, struct host_pair pair)
{
    return &network->link[(size_t)pair.from * network->n + (size_t)pair.to];
}

static void list_links(struct arena *arena, const char *const *address, struct together *t)
{
    t->pair = ARENA_ARRAY(arena, t->job->n_devices, struct host_pair);
    t->link = ARENA_ARRAY(arena, t->job->n_devices, struct round_link);
    for (size_t i = 0; i < t->job->n_devices; i++) {
        struct host_pair pair;
        if (!bandwidth_ring_link(t->job, t->network, i, &pair) || pair.from == pair.to ||
            !address[pair.from] || !address[pair.to] ||
            link_of(t->network, pair)->source == LINK_UNKNOWN)
            continue;
        t->pair[t->n] = pair;
        t->link[t->n++] = (struct round_link){.from = t->network->name[pair.from],
                                              .to = t->network->name[pair.to],
                                              .from_address = address[pair.from],
                                              .to_address = address[pair.to]};
    }
}

static const struct round_link *first_failure(const struct together *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->link[i].why.kind != ERROR_NONE)
            return &t->link[i];
    }
    return NULL;
}

static bool all_known(const struct together *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (!(link_of(t->network, t->pair[i])->together_Bps > 0))
            return false;
    }
    return true;
}

static bool run(const struct round_tools *tools, const struct together *t, struct error *e)
{
    const struct round_link *failed = NULL;
    for (int try = 0; try < TRIES && (try == 0 || failed); try++) {
        progress_status(tools->progress, "bandwidth: all %zu links of the ring at once", t->n);
        if (!round_bandwidth(tools, t->link, t->n, e))
            return false;
        failed = first_failure(t);
    }
    if (failed)
        error_set(e, ERROR_HOST, "all links of the ring at once, tried %d times:\n  %s -> %s: %s",
                  TRIES, failed->from, failed->to, failed->why.text);
    return !failed;
}

static void keep(const struct together *t)
{
    for (size_t i = 0; i < t->n; i++)
        link_of(t->network, t->pair[i])->together_Bps = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct link *link = link_of(t->network, t->pair[i]);
        double rate_Bps = t->link[i].result.bandwidth_Bps;
        link->together_Bps = link->together_Bps > 0 ? fmin(link->together_Bps, rate_Bps) : rate_Bps;
    }
}

static size_t slot_of(const struct together *t, size_t i)
{
    return (size_t)t->pair[i].from * t->network->n + (size_t)t->pair[i].to;
}

/* Each pair of hosts once, while they are few; else the slowest for each pair of types. */
static size_t list_candidates(struct arena *scratch, const struct together *t, size_t *candidate)
{
    size_t n_types = (size_t)t->job->n_types, n = 0, n_distinct = 0;
    bool *seen = ARENA_ARRAY(scratch, t->network->n * t->network->n, bool);
    size_t *slowest = ARENA_ARRAY(scratch, n_types * n_types, size_t); /* index + 1; 0: none */
    for (size_t i = 0; i < t->n; i++) {
        if (seen[slot_of(t, i)])
            continue;
        seen[slot_of(t, i)] = true;
        size_t *class = &slowest[(size_t)t->type_of[t->pair[i].from] * n_types +
                                 (size_t)t->type_of[t->pair[i].to]];
        if (*class == 0 || link_of(t->network, t->pair[i])->bandwidth_Bps <
                               link_of(t->network, t->pair[*class - 1])->bandwidth_Bps)
            *class = i + 1;
        candidate[n_distinct++] = i;
    }
    if (n_distinct <= MOST_ALONE)
        return n_distinct;
    for (size_t k = 0; k < n_types * n_types; k++) {
        if (slowest[k])
            candidate[n++] = slowest[k] - 1;
    }
    return n;
}

static void warn_of_rounds(const struct round_tools *tools, const struct together *t, size_t i,
                           double in_round_Bps)
{
    char alone[UNITS_TEXT_SIZE], beside[UNITS_TEXT_SIZE];
    double alone_Bps = link_of(t->network, t->pair[i])->bandwidth_Bps;
    if (alone_Bps > MUCH_FASTER * in_round_Bps)
        progress_warn(
            tools->progress,
            "links from '%s' to '%s' slow each other down: %s -> %s has %s alone, %s in a "
            "round with others; the others of these types are known from rounds only",
            t->job->type[t->type_of[t->pair[i].from]].name,
            t->job->type[t->type_of[t->pair[i].to]].name, t->link[i].from, t->link[i].to,
            units_format(alone_Bps, DIMENSION_BANDWIDTH, alone),
            units_format(in_round_Bps, DIMENSION_BANDWIDTH, beside));
}

/* A test that fails leaves the value of the round. */
static bool measure_alone(const struct round_tools *tools, const struct together *t,
                          struct error *e)
{
    struct arena scratch = {0};
    size_t *candidate = ARENA_ARRAY(&scratch, t->n, size_t);
    size_t n = list_candidates(&scratch, t, candidate);
    bool ok = true;
    for (size_t k = 0; k < n && ok; k++) {
        size_t i = candidate[k];
        struct link *link = link_of(t->network, t->pair[i]);
        double in_round_Bps = link->bandwidth_Bps;
        progress_status(tools->progress, "bandwidth: %s -> %s alone, %zu of %zu", t->link[i].from,
                        t->link[i].to, k + 1, n);
        ok = round_bandwidth(tools, &t->link[i], 1, e);
        if (ok && t->link[i].why.kind == ERROR_NONE) {
            link->bandwidth_Bps = t->link[i].result.bandwidth_Bps;
            link->at_least = link->at_least || t->link[i].result.cpu_bound;
        }
        if (ok && t->n > MOST_ALONE)
            warn_of_rounds(tools, t, i, in_round_Bps);
    }
    arena_free(&scratch);
    return ok;
}

static bool may_share(const struct together *t, size_t a, size_t b)
{
    struct host_pair x = t->pair[a], y = t->pair[b];
    bool same_types =
        t->type_of[x.from] == t->type_of[y.from] && t->type_of[x.to] == t->type_of[y.to];
    return x.from == y.from || x.to == y.to || same_types;
}

/* Takes out of `open[n]` those that share with a member of the group; the group is what is in. */
static size_t gather(const struct together *t, bool *open, size_t first, size_t *member)
{
    size_t n = 0;
    member[n++] = first;
    open[first] = false;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < t->n; i++) {
            if (!open[i] || !may_share(t, member[k], i))
                continue;
            open[i] = false;
            member[n++] = i;
        }
    }
    return n;
}

static void name_link(const struct together *t, size_t i, struct text *text)
{
    char alone[UNITS_TEXT_SIZE], beside[UNITS_TEXT_SIZE];
    const struct link *link = link_of(t->network, t->pair[i]);
    text_format(text, "%s%s -> %s (%s alone, %s together)", text->length ? ", " : "",
                t->link[i].from, t->link[i].to,
                units_format(link->bandwidth_Bps, DIMENSION_BANDWIDTH, alone),
                units_format(link->together_Bps, DIMENSION_BANDWIDTH, beside));
}

static const char *what_is_shared(struct arena *scratch, const struct together *t,
                                  const size_t *member, size_t n)
{
    const char *const *name = t->network->name;
    struct host_pair first = t->pair[member[0]];
    bool one_sender = true, one_receiver = true;
    for (size_t i = 1; i < n; i++) {
        one_sender = one_sender && t->pair[member[i]].from == first.from;
        one_receiver = one_receiver && t->pair[member[i]].to == first.to;
    }
    if (n == 1)
        return "is slowed down by other links of the ring";
    if (one_sender)
        return arena_format(scratch, "share what leaves host %s", name[first.from]);
    if (one_receiver)
        return arena_format(scratch, "share what enters host %s", name[first.to]);
    return arena_format(scratch, "share an uplink, from '%s' to '%s'",
                        t->job->type[t->type_of[first.from]].name,
                        t->job->type[t->type_of[first.to]].name);
}

static void warn_of_group(const struct round_tools *tools, const struct together *t,
                          const size_t *member, size_t n)
{
    struct arena scratch = {0};
    struct text links = {0};
    for (size_t i = 0; i < n && i < MOST_NAMED; i++)
        name_link(t, member[i], &links);
    if (n > MOST_NAMED)
        text_format(&links, " and %zu more", n - MOST_NAMED);
    progress_warn(tools->progress, "%zu link%s of the ring %s: %s; the forecast uses the latter", n,
                  n == 1 ? "" : "s", what_is_shared(&scratch, t, member, n), links.data);
    text_free(&links);
    arena_free(&scratch);
}

/* Each link once, where it is shared. */
static bool *list_shared(struct arena *scratch, const struct together *t)
{
    bool *open = ARENA_ARRAY(scratch, t->n, bool);
    bool *told = ARENA_ARRAY(scratch, t->network->n * t->network->n, bool);
    for (size_t i = 0; i < t->n; i++) {
        size_t slot = slot_of(t, i);
        open[i] = !told[slot] && link_is_shared(&t->network->link[slot]);
        told[slot] = true;
    }
    return open;
}

static void warn_of_shared(const struct round_tools *tools, const struct together *t)
{
    struct arena scratch = {0};
    bool *open = list_shared(&scratch, t);
    size_t *member = ARENA_ARRAY(&scratch, t->n, size_t);
    size_t n_shared = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (!open[i])
            continue;
        size_t n = gather(t, open, i, member);
        warn_of_group(tools, t, member, n);
        n_shared += n;
    }
    if (n_shared == 0)
        progress_say(tools->progress,
                     "bandwidth: all links of the ring at once are as fast as one at a time");
    arena_free(&scratch);
}

bool bandwidth_together(const struct round_tools *tools, const struct job *job,
                        struct network *network, const char *const *address, struct error *e)
{
    struct arena arena = {0};
    struct together t = {
        .network = network, .job = job, .type_of = ARENA_ARRAY(&arena, network->n, int)};
    for (size_t i = 0; i < network->n; i++)
        t.type_of[i] = bandwidth_type_of_host(job, network->name[i]);
    list_links(&arena, address, &t);
    bool known = all_known(&t);
    bool ok = known || run(tools, &t, e);
    if (ok && !known)
        keep(&t);
    if (ok && !known && !launcher_is_local(tools->launcher))
        ok = measure_alone(tools, &t, e);
    if (ok)
        warn_of_shared(tools, &t);
    for (size_t i = 0; i < t.n; i++)
        error_clear(&t.link[i].why);
    arena_free(&arena);
    return ok;
}
