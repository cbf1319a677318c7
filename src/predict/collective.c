/* Collectives, each made by its own file, and what their makers share. */
#include "predict/collective.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "predict/refuse.h"

static const struct {
    const char *name;
    collective_maker *make;
} table[] = {
    [FT_RING] = {"ring", collective_ring},
    [FT_TREE] = {"tree", collective_tree},
    [FT_HIERARCHICAL] = {"hierarchical", collective_hierarchical},
    [FT_HALVING_DOUBLING] = {"halving-doubling", collective_halving_doubling},
    [FT_PARAMETER_SERVER] = {"parameter-server", collective_parameter_server},
    [FT_BRIDGE] = {"bridge", collective_bridge},
};
enum { N_KINDS = sizeof table / sizeof *table };

const char *ft_collective_name(enum ft_collective_kind kind)
{
    return (size_t)kind < N_KINDS ? table[kind].name : "unknown";
}

/* Room for one more message; false where there is no memory. */
static bool make_room(struct ft_collective *c)
{
    if (c->n_messages < c->capacity)
        return true;
    size_t more = c->capacity > 0 ? 2 * c->capacity : 64;
    if (more > SIZE_MAX / sizeof *c->transfer)
        return false;
    struct ft_pair *pair = realloc(c->pair, more * sizeof *pair);
    c->pair = pair ? pair : c->pair;
    struct transfer *transfer = realloc(c->transfer, more * sizeof *transfer);
    c->transfer = transfer ? transfer : c->transfer;
    c->capacity = pair && transfer ? more : c->capacity;
    return pair && transfer;
}

void collective_add(struct ft_collective *c, size_t from, size_t to, double share)
{
    c->failed = c->failed || !make_room(c);
    if (c->failed)
        return;
    c->pair[c->n_messages] = (struct ft_pair){from, to};
    c->transfer[c->n_messages++] = (struct transfer){.share = share};
}

void collective_add_ring(struct ft_collective *c, const size_t *position, size_t n,
                         double chunk_share)
{
    for (size_t k = 0; n > 1 && k < n; k++)
        collective_add(c, position[k], position[k + 1 < n ? k + 1 : 0], chunk_share);
}

static bool same_host(const struct ft_collective *c, const struct ft_pair *p)
{
    return c->hosts.of[p->from] == c->hosts.of[p->to];
}

/* Devices' ports out, devices' ports in, hosts' ports out, hosts' ports in. */
static void find_ports(struct ft_collective *c, const struct phase *phase)
{
    size_t n = c->n_devices;
    for (size_t k = phase->first; k < phase->first + phase->n; k++) {
        const struct ft_pair *p = &c->pair[k];
        bool within = same_host(c, p);
        c->transfer[k].out = within ? p->from : 2 * n + c->hosts.of[p->from];
        c->transfer[k].in = within ? n + p->to : 2 * n + c->hosts.n + c->hosts.of[p->to];
    }
}

static void sum_up_senders(struct ft_collective *c, const struct phase *phase)
{
    double *sent = calloc(c->n_devices, sizeof *sent);
    c->failed = c->failed || !sent;
    for (size_t k = phase->first; sent && k < phase->first + phase->n; k++)
        sent[c->pair[k].from] += c->transfer[k].share;
    for (size_t k = phase->first; sent && k < phase->first + phase->n; k++)
        c->transfer[k].sent_share = sent[c->pair[k].from];
    free(sent);
}

static void add_phase(struct ft_collective *c, struct phase phase)
{
    void *phases = realloc(c->phase, (c->n_phases + 1) * sizeof *c->phase);
    c->failed = c->failed || !phases;
    if (phases)
        c->phase = phases;
    if (!c->failed)
        c->phase[c->n_phases++] = phase;
}

void collective_end_phase(struct ft_collective *c, enum phase_kind kind, double n_turns)
{
    size_t first = 0;
    for (size_t p = 0; p < c->n_phases; p++) {
        size_t end = c->phase[p].first + c->phase[p].n;
        first = end > first ? end : first;
    }
    struct phase phase = {kind, first, c->n_messages - first, false, n_turns};
    if (c->failed || phase.n == 0)
        return;
    find_ports(c, &phase);
    sum_up_senders(c, &phase);
    add_phase(c, phase);
}

void collective_repeat(struct ft_collective *c, size_t phase, double n_turns)
{
    if (c->failed)
        return;
    struct phase again = c->phase[phase];
    again.repeats = true;
    again.n_turns = n_turns;
    add_phase(c, again);
}

void collective_describe(struct ft_collective *c, struct ft_collective_stage stage)
{
    c->stage[c->n_stages++] = stage;
}

size_t groups_size(const struct groups *groups, size_t group)
{
    return groups->first[group + 1] - groups->first[group];
}

size_t groups_fewest(const struct groups *groups)
{
    size_t fewest = SIZE_MAX;
    for (size_t g = 0; g < groups->n; g++)
        fewest = groups_size(groups, g) < fewest ? groups_size(groups, g) : fewest;
    return fewest;
}

size_t groups_most(const struct groups *groups)
{
    size_t most = 0;
    for (size_t g = 0; g < groups->n; g++)
        most = groups_size(groups, g) > most ? groups_size(groups, g) : most;
    return most;
}

/* Numbers groups as they appear; `seen` [n_devices] is the number of each value, or n_devices. */
static void number_groups(struct groups *groups, const int *value, size_t n_devices, size_t *seen)
{
    for (size_t i = 0; i < n_devices; i++)
        seen[i] = n_devices;
    for (size_t i = 0; i < n_devices; i++) {
        size_t *number = &seen[value ? (size_t)value[i] : i];
        if (*number == n_devices)
            *number = groups->n++;
        groups->of[i] = *number;
        groups->first[*number + 1]++;
    }
}

/* Members in their order; `next` [n_devices] is where each group's next one goes. */
static void fill_groups(struct groups *groups, size_t n_devices, size_t *next)
{
    for (size_t g = 0; g < groups->n; g++) {
        groups->first[g + 1] += groups->first[g];
        next[g] = groups->first[g];
    }
    for (size_t i = 0; i < n_devices; i++)
        groups->member[next[groups->of[i]]++] = i;
}

static bool make_groups(struct groups *groups, const int *value, size_t n_devices)
{
    size_t *scratch = calloc(n_devices, sizeof *scratch);
    *groups = (struct groups){.first = calloc(n_devices + 1, sizeof *groups->first),
                              .member = calloc(n_devices, sizeof *groups->member),
                              .of = calloc(n_devices, sizeof *groups->of)};
    bool ok = scratch && groups->first && groups->member && groups->of;
    if (ok) {
        number_groups(groups, value, n_devices, scratch);
        fill_groups(groups, n_devices, scratch);
    }
    free(scratch);
    return ok;
}

static void free_groups(struct groups *groups)
{
    free(groups->first);
    free(groups->member);
    free(groups->of);
}

static bool check_numbers(const char *what, const int *value, size_t n_devices, char *message)
{
    for (size_t i = 0; value && i < n_devices; i++) {
        if (value[i] < 0 || (size_t)value[i] >= n_devices)
            return refuse(message, "%s of position %zu must be 0 to %zu (got %d)", what, i,
                          n_devices - 1, value[i]);
    }
    return true;
}

static bool check(enum ft_collective_kind kind, size_t n_devices, const int *host_of,
                  const int *vendor_of, char *message)
{
    if ((size_t)kind >= N_KINDS)
        return refuse(message, "there is no collective %d", (int)kind);
    if (n_devices == 0)
        return refuse(message, "a collective needs at least one device");
    return check_numbers("host_of", host_of, n_devices, message) &&
           check_numbers("vendor_of", vendor_of, n_devices, message);
}

/* One vendor of all. */
static bool make_vendors(struct ft_collective *c, const int *vendor_of)
{
    int *same = vendor_of ? NULL : calloc(c->n_devices, sizeof *same);
    bool ok =
        (vendor_of || same) && make_groups(&c->vendors, vendor_of ? vendor_of : same, c->n_devices);
    free(same);
    return ok;
}

void ft_collective_free(struct ft_collective *c)
{
    if (!c)
        return;
    free_groups(&c->hosts);
    free_groups(&c->vendors);
    free(c->pair);
    free(c->transfer);
    free(c->phase);
    free(c);
}

struct ft_collective *ft_collective_make(enum ft_collective_kind kind, size_t n_devices,
                                         const int *host_of, const int *vendor_of, char *message)
{
    if (!check(kind, n_devices, host_of, vendor_of, message))
        return NULL;
    struct ft_collective *c = calloc(1, sizeof *c);
    if (!c)
        return refuse(message, "there is no memory"), NULL;
    c->kind = kind;
    c->n_devices = n_devices;
    c->failed = !make_groups(&c->hosts, host_of, n_devices) || !make_vendors(c, vendor_of);
    c->n_ports = 2 * (n_devices + c->hosts.n);
    bool made = c->failed || n_devices == 1 || table[kind].make(c, message);
    if (c->failed)
        refuse(message, "there is no memory for %zu devices", n_devices);
    if (made && !c->failed)
        return c;
    ft_collective_free(c);
    return NULL;
}

const struct ft_pair *ft_collective_pairs(const struct ft_collective *c, size_t *n_pairs)
{
    *n_pairs = c->n_messages;
    return c->pair;
}

const struct ft_collective_stage *ft_collective_stages(const struct ft_collective *c,
                                                       size_t *n_stages)
{
    *n_stages = c->n_stages;
    return c->stage;
}
