#include "simulated_collective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

#include "simulated_platform.h"
#include "simulated_tree.h"

enum { MOST_DEVICES = 64, MOST_PHASES = 16, MOST_MESSAGES = MOST_DEVICES * MOST_DEVICES };

struct sent {
    size_t from, to;
    long bytes;
};

/* All messages at once, or, with rounds, as many times around rings. */
struct stage {
    struct sent sent[MOST_MESSAGES];
    size_t n, rounds[MOST_DEVICES];
    bool ring;
    sg_sem_t entered[MOST_DEVICES];
};

/* Actors have no argument but text; they find all here. */
static struct simulated_collective c;
static struct stage stage[MOST_PHASES];
static size_t n_stages;
static double rate_Bps[MOST_DEVICES][MOST_DEVICES]; /* of each pair's own link */

static struct stage *new_stage(bool ring)
{
    stage[n_stages].ring = ring;
    return &stage[n_stages++];
}

static void say(struct stage *s, size_t from, size_t to, double share)
{
    s->sent[s->n++] = (struct sent){from, to, lround((double)c.payload_bytes * share)};
}

static size_t count_group(int group)
{
    size_t n = 0;
    for (size_t i = 0; i < c.n_devices; i++)
        n += c.group_of[i] == group;
    return n;
}

/* The place of a device in its group. */
static size_t place_of(size_t device)
{
    size_t place = 0;
    for (size_t i = 0; i < device; i++)
        place += c.group_of[i] == c.group_of[device];
    return place;
}

static size_t member(int group, size_t place)
{
    for (size_t i = 0; i < c.n_devices; i++) {
        if (c.group_of[i] == group && place-- == 0)
            return i;
    }
    abort();
}

static void rings_in_groups(size_t halves)
{
    struct stage *s = new_stage(true);
    for (size_t i = 0; i < c.n_devices; i++) {
        size_t n = count_group(c.group_of[i]);
        if (n < 2)
            continue;
        say(s, i, member(c.group_of[i], (place_of(i) + 1) % n), 1 / (double)n);
        s->rounds[i] = halves * (n - 1);
    }
}

static void rings_across_groups(void)
{
    struct stage *s = new_stage(true);
    int n_groups = c.group_of[c.n_devices - 1] + 1;
    for (size_t i = 0; i < c.n_devices; i++) {
        say(s, i, member((c.group_of[i] + 1) % n_groups, place_of(i)), 1 / (double)c.n_devices);
        s->rounds[i] = 2 * ((size_t)n_groups - 1);
    }
}

/* Where what two devices of two vendors hold overlaps. */
static double overlap(size_t i, size_t j)
{
    double n = (double)count_group(c.group_of[i]), m = (double)count_group(c.group_of[j]);
    double x = (double)place_of(i), y = (double)place_of(j);
    return fmin((x + 1) / n, (y + 1) / m) - fmax(x / n, y / m);
}

static void exchange_between_groups(void)
{
    struct stage *s = new_stage(false);
    for (size_t i = 0; i < c.n_devices; i++) {
        for (size_t j = 0; j < c.n_devices; j++) {
            if (c.group_of[i] != c.group_of[j] && overlap(i, j) > 1e-9)
                say(s, i, j, overlap(i, j));
        }
    }
}

static void push_or_pull(void)
{
    struct stage *s = new_stage(false);
    for (size_t i = 0; i < c.n_devices; i++) {
        for (size_t j = 0; j < c.n_devices; j++) {
            if (i != j)
                say(s, i, j, 1 / (double)c.n_devices);
        }
    }
}

/* As MPICH: of the first 2 rem ranks the even ones stand aside. */
static void halve(size_t mask, size_t n_ranks)
{
    struct stage *s = new_stage(false);
    size_t rem = c.n_devices - n_ranks;
    for (size_t i = 0; i < c.n_devices; i++) {
        if (i < 2 * rem && i % 2 == 0)
            continue;
        size_t own = i < 2 * rem ? i / 2 : i - rem, other = own ^ mask;
        say(s, i, other < rem ? other * 2 + 1 : other + rem, 0.5 / (double)mask);
    }
}

static void fold(size_t n_ranks, bool in)
{
    struct stage *s = new_stage(false);
    for (size_t i = 0; i < 2 * (c.n_devices - n_ranks); i += 2)
        say(s, in ? i : i + 1, in ? i + 1 : i, 1);
}

static void halving_doubling(void)
{
    size_t n_ranks = 1;
    while (2 * n_ranks <= c.n_devices)
        n_ranks *= 2;
    fold(n_ranks, true);
    for (size_t mask = 1; mask < n_ranks; mask *= 2)
        halve(mask, n_ranks);
    for (size_t mask = n_ranks / 2; mask > 0; mask /= 2)
        halve(mask, n_ranks);
    fold(n_ranks, false);
}

static void schedule(void)
{
    switch (c.kind) {
    case FT_HIERARCHICAL:
        rings_in_groups(1);
        rings_across_groups();
        rings_in_groups(1);
        break;
    case FT_BRIDGE:
        rings_in_groups(1);
        exchange_between_groups();
        rings_in_groups(2);
        break;
    case FT_PARAMETER_SERVER:
        push_or_pull();
        push_or_pull();
        break;
    case FT_HALVING_DOUBLING:
        halving_doubling();
        break;
    default:
        break;
    }
}

static const struct ft_link *link_between(size_t from, size_t to)
{
    return &c.link[from * c.n_devices + to];
}

static bool share_host(size_t i, size_t j)
{
    return c.kind == FT_HIERARCHICAL && c.group_of[i] == c.group_of[j];
}

/* How long the busier of a message's two ports has to pass messages, its own host's others too. */
static double port_s(const struct stage *s, const struct sent *m)
{
    double out_s = 0, in_s = 0;
    bool within = share_host(m->from, m->to);
    for (const struct sent *o = s->sent; o < s->sent + s->n; o++) {
        double wire_s = (double)o->bytes / link_between(o->from, o->to)->bandwidth_Bps;
        if (share_host(o->from, o->to) != within)
            continue;
        if (o->from == m->from || (!within && share_host(o->from, m->from)))
            out_s += wire_s;
        if (o->to == m->to || (!within && share_host(o->to, m->to)))
            in_s += wire_s;
    }
    return fmax(out_s, in_s);
}

static void rate_pairs(void)
{
    for (size_t p = 0; p < n_stages; p++) {
        for (const struct sent *m = stage[p].sent; m < stage[p].sent + stage[p].n; m++)
            rate_Bps[m->from][m->to] = (double)m->bytes / port_s(&stage[p], m);
    }
}

static void name_of(char *name, char kind, size_t phase, size_t from, size_t to)
{
    snprintf(name, 64, "%c%zu-%zu-%zu", kind, phase, from, to);
}

static void go_around(size_t phase, size_t i)
{
    static char payload;
    struct stage *s = &stage[phase];
    const struct sent *own = s->sent, *before = s->sent;
    char name[2][64];
    if (s->rounds[i] == 0)
        return;
    while (own->from != i)
        own++;
    while (before->to != i)
        before++;
    name_of(name[0], 'r', phase, i, own->to);
    name_of(name[1], 'r', phase, before->from, i);
    sg_mailbox_set_receiver(name[1]);
    sg_sem_release(s->entered[i]);
    sg_sem_acquire(s->entered[own->to]);
    for (size_t round = 0; round < s->rounds[i]; round++) {
        sg_comm_t sent = sg_mailbox_put_async(sg_mailbox_by_name(name[0]), &payload, own->bytes);
        sg_mailbox_get(sg_mailbox_by_name(name[1]));
        sg_comm_wait(sent);
    }
}

static void exchange(size_t phase, size_t i)
{
    static char payload;
    const struct stage *s = &stage[phase];
    sg_comm_t comm[2 * MOST_DEVICES];
    void *got[MOST_DEVICES];
    size_t n = 0, n_got = 0;
    for (const struct sent *m = s->sent; m < s->sent + s->n; m++) {
        char name[64];
        name_of(name, 'x', phase, m->from, m->to);
        if (m->from == i)
            comm[n++] = sg_mailbox_put_async(sg_mailbox_by_name(name), &payload, m->bytes);
        else if (m->to == i)
            comm[n++] = sg_mailbox_get_async(sg_mailbox_by_name(name), &got[n_got++]);
    }
    for (size_t k = 0; k < n; k++)
        sg_comm_wait(comm[k]);
}

static void run_device(int argc, char *argv[])
{
    size_t i = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    sg_actor_sleep_for(c.start_s[i]);
    for (size_t phase = 0; phase < n_stages; phase++) {
        if (stage[phase].ring)
            go_around(phase, i);
        else
            exchange(phase, i);
    }
    c.end_s[i] = simgrid_get_clock();
}

/* A link of its own for each pair. */
static void write_pairs(FILE *file)
{
    size_t n = c.n_devices;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (rate_Bps[i][j] > 0)
                fprintf(file,
                        "<link id=\"l%zu-%zu\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
                        "sharing_policy=\"FATPIPE\"/>\n",
                        i, j, rate_Bps[i][j], link_between(i, j)->latency_s);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (rate_Bps[i][j] > 0)
                fprintf(file,
                        "<route src=\"h%zu\" dst=\"h%zu\" symmetrical=\"NO\"><link_ctn "
                        "id=\"l%zu-%zu\"/></route>\n",
                        i, j, i, j);
        }
    }
}

static size_t port_of(size_t i)
{
    return c.kind == FT_HIERARCHICAL ? (size_t)c.group_of[i] : i;
}

/* One link out of and one into each host, and one for each device on its own host. */
static void write_ports(FILE *file)
{
    size_t n = c.n_devices;
    const struct ft_link *all = link_between(0, 1);
    const char *const kind[] = {"out", "in", "own"};
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++)
            fprintf(file, "<link id=\"%s%zu\" bandwidth=\"%.17gBps\" latency=\"%.17gs\"/>\n",
                    kind[k], i, all->bandwidth_Bps, k == 1 ? 0 : all->latency_s);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            fprintf(file, "<route src=\"h%zu\" dst=\"h%zu\" symmetrical=\"NO\">", i, j);
            if (share_host(i, j))
                fprintf(file, "<link_ctn id=\"own%zu\"/>", i);
            else
                fprintf(file, "<link_ctn id=\"out%zu\"/><link_ctn id=\"in%zu\"/>", port_of(i),
                        port_of(j));
            fputs("</route>\n", file);
        }
    }
}

static void make_semaphores(void)
{
    for (size_t k = 0; k < n_stages * c.n_devices; k++)
        stage[k % n_stages].entered[k / n_stages] = sg_sem_init(0);
}

bool simulated_collective_run(const struct simulated_collective *collective)
{
    c = *collective;
    struct simulated_tree trees = {c.n_devices, c.link,  c.payload_bytes,
                                   c.start_s,   c.end_s, c.shared_ports};
    schedule();
    rate_pairs();
    if (c.kind == FT_TREE)
        simulated_tree_plan(&trees, &rate_Bps[0][0], MOST_DEVICES);
    if (!simulated_platform_load(c.n_devices, c.shared_ports ? write_ports : write_pairs))
        return false;
    make_semaphores();
    if (c.kind == FT_TREE)
        simulated_tree_start();
    else
        simulated_start(c.n_devices, run_device);
    simgrid_run();
    return true;
}
