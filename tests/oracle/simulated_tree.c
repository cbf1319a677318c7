#include "simulated_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

enum { MOST_DEVICES = 64, MOST_CHUNKS = 4096, NO_PARENT = -1 };
static const double CHUNK_BYTES = 524288;

/* One of two trees; semaphores count chunks that wait at a device. */
static struct tree {
    long parent[MOST_DEVICES];
    size_t hops[MOST_DEVICES];
    sg_sem_t summed[MOST_DEVICES];  /* arrived from this device at its parent */
    sg_sem_t to_send[MOST_DEVICES]; /* down to this device, at its parent */
} tree[2];

static struct simulated_tree all;
static size_t n_chunks;
static long chunk_bytes;

/* Recursively: `middle` between two subtrees half as wide; beyond the last device only the lower
 * subtree is left. */
static void grow(struct tree *t, const size_t *device, size_t middle, size_t half, size_t parent)
{
    size_t quarter = half / 2, n = all.n_devices;
    if (middle < n) {
        t->parent[device[middle]] = (long)parent;
        t->hops[device[middle]] = t->hops[parent] + 1;
        parent = device[middle];
    }
    if (quarter == 0)
        return;
    grow(t, device, middle - quarter, quarter, parent);
    if (middle < n)
        grow(t, device, middle + quarter, quarter, parent);
}

static void plant(struct tree *t, const size_t *device)
{
    size_t half = 1;
    while (2 * half < all.n_devices)
        half *= 2;
    t->parent[device[0]] = NO_PARENT;
    t->hops[device[0]] = 0;
    grow(t, device, half, half, device[0]);
}

static void plant_both(void)
{
    size_t n = all.n_devices, device[2][MOST_DEVICES];
    for (size_t i = 0; i < n; i++) {
        device[0][i] = i;
        device[1][i] = n % 2 ? (i + 1) % n : n - 1 - i;
    }
    plant(&tree[0], device[0]);
    plant(&tree[1], device[1]);
}

static void cut_chunks(void)
{
    double half_bytes = (double)all.payload_bytes / 2, bytes = CHUNK_BYTES, depth = 0;
    for (size_t i = 0; i < 2 * all.n_devices; i++)
        depth = fmax(depth, (double)tree[i % 2].hops[i / 2]);
    while (half_bytes / bytes < depth * 8 && bytes > 131072)
        bytes /= 2;
    while (half_bytes / bytes < depth * 4 && bytes > 65536)
        bytes /= 2;
    while (half_bytes / bytes < depth && bytes > 32768)
        bytes /= 2;
    n_chunks = (size_t)ceil(half_bytes / bytes);
    chunk_bytes = lround(half_bytes / (double)n_chunks);
}

static double alone_s(size_t from, size_t to)
{
    return (double)chunk_bytes / all.link[from * all.n_devices + to].bandwidth_Bps;
}

/* A turn of a device's port: a chunk of each of its hops. */
static double port_s(size_t i, bool out)
{
    double sum_s = 0;
    for (size_t k = 0; k < 2 * all.n_devices; k++) {
        size_t child = k / 2;
        long parent = tree[k % 2].parent[child];
        if (parent == (long)i)
            sum_s += out ? alone_s(i, child) : alone_s(child, i);
        else if (child == i && parent != NO_PARENT)
            sum_s += out ? alone_s(i, (size_t)parent) : alone_s((size_t)parent, i);
    }
    return sum_s;
}

static double turn_s(size_t from, size_t to)
{
    return fmax(port_s(from, true), port_s(to, false));
}

void simulated_tree_plan(const struct simulated_tree *made, double *rate_Bps, size_t row)
{
    all = *made;
    plant_both();
    cut_chunks();
    for (size_t k = 0; k < 2 * all.n_devices; k++) {
        size_t child = k / 2;
        if (tree[k % 2].parent[child] == NO_PARENT)
            continue;
        size_t parent = (size_t)tree[k % 2].parent[child];
        rate_Bps[child * row + parent] = (double)chunk_bytes / alone_s(child, parent);
        rate_Bps[parent * row + child] = (double)chunk_bytes / alone_s(parent, child);
    }
}

/* What an actor is: which tree, whose hop. */
static size_t number_of(int argc, char *argv[], int which)
{
    return argc > which ? strtoul(argv[which], NULL, 10) : 0;
}

static void mailbox_name(char *name, bool up, size_t t, size_t child)
{
    snprintf(name, 64, "%s%zu-%zu", up ? "up" : "down", t, child);
}

/* A chunk at each turn of the ports; over shared ones when the one before is through. */
static void send_chunk(bool up, size_t t, size_t child, sg_comm_t *comm)
{
    static char payload;
    char name[64];
    size_t parent = (size_t)tree[t].parent[child];
    mailbox_name(name, up, t, child);
    *comm = sg_mailbox_put_async(sg_mailbox_by_name(name), &payload, chunk_bytes);
    if (all.shared_ports)
        sg_comm_wait(*comm);
    else
        sg_actor_sleep_for(up ? turn_s(child, parent) : turn_s(parent, child));
}

static void wait_for_all(sg_comm_t *comm)
{
    for (size_t g = 0; !all.shared_ports && g < n_chunks; g++)
        sg_comm_wait(comm[g]);
}

static void acquire_sums(size_t t, size_t device)
{
    for (size_t i = 0; i < all.n_devices; i++) {
        if (tree[t].parent[i] == (long)device)
            sg_sem_acquire(tree[t].summed[i]);
    }
}

static void release_down(size_t t, size_t device)
{
    for (size_t i = 0; i < all.n_devices; i++) {
        if (tree[t].parent[i] == (long)device)
            sg_sem_release(tree[t].to_send[i]);
    }
}

static void send_up(int argc, char *argv[])
{
    size_t t = number_of(argc, argv, 1), child = number_of(argc, argv, 2);
    sg_comm_t comm[MOST_CHUNKS];
    sg_actor_sleep_for(fmax(all.start_s[child], all.start_s[tree[t].parent[child]]));
    for (size_t g = 0; g < n_chunks; g++) {
        acquire_sums(t, child);
        send_chunk(true, t, child, &comm[g]);
    }
    wait_for_all(comm);
}

static void receive_up(int argc, char *argv[])
{
    size_t t = number_of(argc, argv, 1), child = number_of(argc, argv, 2);
    char name[64];
    mailbox_name(name, true, t, child);
    sg_mailbox_set_receiver(name);
    for (size_t g = 0; g < n_chunks; g++) {
        sg_mailbox_get(sg_mailbox_by_name(name));
        sg_sem_release(tree[t].summed[child]);
    }
}

static void turn_at_root(int argc, char *argv[])
{
    size_t t = number_of(argc, argv, 1), root = number_of(argc, argv, 2);
    for (size_t g = 0; g < n_chunks; g++) {
        acquire_sums(t, root);
        release_down(t, root);
    }
}

static void send_down(int argc, char *argv[])
{
    size_t t = number_of(argc, argv, 1), child = number_of(argc, argv, 2);
    sg_comm_t comm[MOST_CHUNKS];
    for (size_t g = 0; g < n_chunks; g++) {
        sg_sem_acquire(tree[t].to_send[child]);
        send_chunk(false, t, child, &comm[g]);
    }
    wait_for_all(comm);
}

static void receive_down(int argc, char *argv[])
{
    size_t t = number_of(argc, argv, 1), child = number_of(argc, argv, 2);
    size_t parent = (size_t)tree[t].parent[child];
    char name[64];
    mailbox_name(name, false, t, child);
    sg_mailbox_set_receiver(name);
    for (size_t g = 0; g < n_chunks; g++) {
        sg_mailbox_get(sg_mailbox_by_name(name));
        release_down(t, child);
    }
    all.end_s[child] = fmax(all.end_s[child], simgrid_get_clock());
    all.end_s[parent] = fmax(all.end_s[parent], simgrid_get_clock());
}

static void start(void (*run)(int argc, char *argv[]), size_t t, size_t child, size_t where)
{
    char host[32], number[2][32];
    snprintf(host, sizeof host, "h%zu", where);
    snprintf(number[0], sizeof number[0], "%zu", t);
    snprintf(number[1], sizeof number[1], "%zu", child);
    const char *argv[] = {host, number[0], number[1], NULL};
    sg_actor_create_(host, sg_host_by_name(host), run, 3, argv);
}

void simulated_tree_start(void)
{
    for (size_t k = 0; k < 2 * all.n_devices; k++) {
        size_t t = k % 2, i = k / 2;
        tree[t].summed[i] = sg_sem_init(0);
        tree[t].to_send[i] = sg_sem_init(0);
    }
    for (size_t k = 0; k < 2 * all.n_devices; k++) {
        size_t t = k % 2, i = k / 2;
        if (tree[t].parent[i] == NO_PARENT) {
            start(turn_at_root, t, i, i);
            continue;
        }
        size_t parent = (size_t)tree[t].parent[i];
        start(receive_up, t, i, parent);
        start(receive_down, t, i, i);
        start(send_up, t, i, i);
        start(send_down, t, i, parent);
    }
}
