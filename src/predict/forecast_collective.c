/* The collective of a job over its devices, and the links that it sends over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/collective.h"
#include "predict/parts.h"

/* A position by what it may have in common with others; NULL: nothing. */
struct keyed {
    const char *key;
    size_t position;
};

static bool same_key(const struct keyed *a, const struct keyed *b)
{
    return a->key && b->key && strcmp(a->key, b->key) == 0;
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = x->key && y->key ? strcmp(x->key, y->key) : (x->key != NULL) - (y->key != NULL);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

/* Positions with the same key get the first one's number. */
static int *number_by_key(struct arena *arena, struct keyed *keyed, size_t n)
{
    int *number = ARENA_ARRAY(arena, n, int);
    qsort(keyed, n, sizeof *keyed, by_key);
    for (size_t i = 0; i < n; i++)
        number[keyed[i].position] = i > 0 && same_key(&keyed[i - 1], &keyed[i])
                                        ? number[keyed[i - 1].position]
                                        : (int)keyed[i].position;
    return number;
}

static const char *host_at(const struct job *job, size_t position)
{
    return job_device_host(job, job_ring_device(job, position), NULL);
}

static const char *backend_at(const struct job *job, size_t position)
{
    return job->type[job_device_type(job, job_ring_device(job, position))].backend;
}

static int *number_by(struct arena *arena, const struct job *job,
                      const char *(*key)(const struct job *job, size_t position))
{
    size_t n = job->n_devices;
    struct keyed *keyed = ARENA_ARRAY(arena, n, struct keyed);
    for (size_t i = 0; i < n; i++)
        keyed[i] = (struct keyed){key(job, i), i};
    return number_by_key(arena, keyed, n);
}

static void *keep(struct arena *arena, const void *array, size_t n, size_t size)
{
    char *copy = ARENA_ARRAY(arena, n * size, char);
    memcpy(copy, array, n * size);
    return copy;
}

/* Hosts and vendors were for its maker. */
static const struct ft_collective *keep_collective(struct arena *arena,
                                                   const struct ft_collective *c)
{
    struct ft_collective *kept = ARENA_NEW(arena, struct ft_collective);
    *kept = *c;
    kept->hosts = kept->vendors = (struct groups){0};
    kept->pair = keep(arena, c->pair, c->n_messages, sizeof *c->pair);
    kept->transfer = keep(arena, c->transfer, c->n_messages, sizeof *c->transfer);
    kept->phase = keep(arena, c->phase, c->n_phases, sizeof *c->phase);
    return kept;
}

static bool make_collective(struct arena *arena, const struct job *job, struct forecast *f,
                            struct error *e)
{
    char message[FT_MESSAGE_SIZE];
    struct ft_collective *c =
        ft_collective_make(job->training.collective, job->n_devices, number_by(arena, job, host_at),
                           number_by(arena, job, backend_at), message);
    if (!c) {
        error_set(e, ERROR_INPUT, "%s: training.collective: %s", job->file ? job->file : "job",
                  message);
        return false;
    }
    f->collective = keep_collective(arena, c);
    ft_collective_free(c);
    f->hop = ft_collective_pairs(f->collective, &f->n_hops);
    f->stage = ft_collective_stages(f->collective, &f->n_stages);
    return true;
}

static void make_ring(struct arena *arena, struct forecast *f)
{
    size_t n = f->n_devices;
    struct ft_pair *hop = ARENA_ARRAY(arena, n, struct ft_pair);
    struct ft_collective_stage *stage = ARENA_NEW(arena, struct ft_collective_stage);
    for (size_t i = 0; i < n; i++)
        hop[i] = (struct ft_pair){i, i + 1 < n ? i + 1 : 0};
    *stage = (struct ft_collective_stage){"all-reduce", 1, n, n, 1};
    f->hop = hop;
    f->n_hops = n;
    f->stage = stage;
    f->n_stages = 1;
}

static bool find_links(struct arena *arena, const struct job *job, const struct network *network,
                       struct forecast *f, struct error *e)
{
    f->link = ARENA_ARRAY(arena, f->n_hops, struct link);
    if (!f->collective)
        return network_ring(network, job, f->link, e);
    struct device_pair *pair = ARENA_ARRAY(arena, f->n_hops, struct device_pair);
    for (size_t h = 0; h < f->n_hops; h++)
        pair[h] = (struct device_pair){job_ring_device(job, f->hop[h].from),
                                       job_ring_device(job, f->hop[h].to)};
    return network_pairs(network, job, pair, f->n_hops, f->link, e);
}

static void find_slowest_hops(struct arena *arena, struct forecast *f)
{
    f->slowest_hop = ARENA_ARRAY(arena, f->n_devices, size_t);
    for (size_t i = 0; i < f->n_devices; i++)
        f->slowest_hop[i] = f->n_hops;
    for (size_t h = 0; h < f->n_hops; h++) {
        size_t *slowest = &f->slowest_hop[f->hop[h].from];
        if (*slowest == f->n_hops || f->link[h].bandwidth_Bps < f->link[*slowest].bandwidth_Bps)
            *slowest = h;
    }
}

bool forecast_collective(struct arena *arena, const struct job *job, const struct network *network,
                         struct forecast *f, struct error *e)
{
    f->collective_name = ft_collective_name(job->training.collective);
    if (job->training.collective == FT_RING || job->n_devices < 2)
        make_ring(arena, f);
    else if (!make_collective(arena, job, f, e))
        return false;
    if (!find_links(arena, job, network, f, e))
        return false;
    find_slowest_hops(arena, f);
    return true;
}

bool forecast_collective_times(struct arena *arena, const struct job *job, const struct forecast *f,
                               double *time_s, struct error *e)
{
    char message[FT_MESSAGE_SIZE];
    struct ft_link *link = ARENA_ARRAY(arena, f->n_hops, struct ft_link);
    double *start_s = ARENA_ARRAY(arena, f->n_devices, double);
    for (size_t h = 0; h < f->n_hops; h++)
        link[h] = forecast_as_link(&f->link[h], INFINITY);
    memset(start_s, 0, f->n_devices * sizeof *start_s);
    if (ft_collective_all_reduce(f->collective, link, start_s, f->payload_bytes, time_s, message))
        return true;
    error_set(e, ERROR_INPUT, "%s: %s", job->file ? job->file : "job", message);
    return false;
}
