#include "measure/subsystem.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "job/device_numbers.h"
#include "measure/ring_ranks.h"

static const char ring_name[] = "one-ring", full_name[] = "full-system";

/* The next position in the ring. */
static void add_device(struct subsystem *subsystem, int type_number, int number, const char *host)
{
    const struct job_device_type *type = &subsystem->job->type[type_number];
    struct subsystem_rank *rank = &subsystem->rank[subsystem->n_ranks++];
    rank->type = type_number;
    rank->number = number;
    rank->host = host;
    if (type->n_cpus > 0)
        rank->cpus = type->cpus[(size_t)number % type->n_cpus];
}

static void add_type(struct arena *arena, struct subsystem *subsystem, int type_number)
{
    const struct job_device_type *type = &subsystem->job->type[type_number];
    const char **host = ARENA_ARRAY(arena, (size_t)type->subsystem_devices, const char *);
    job_subsystem_hosts(type, host);
    for (int i = 0; i < type->subsystem_devices; i++)
        add_device(subsystem, type_number, i, host[i]);
}

static bool same_host(const struct subsystem_rank *a, const struct subsystem_rank *b)
{
    return a->host && b->host && strcmp(a->host, b->host) == 0;
}

/* Numbers the ranks on their hosts, and the hosts, both in order of rank. */
static void number_ranks(struct subsystem *subsystem)
{
    int n_hosts = 0;
    for (int i = 0; i < subsystem->n_ranks; i++) {
        struct subsystem_rank *rank = &subsystem->rank[i];
        rank->group_rank = -1;
        for (int j = 0; j < subsystem->n_ranks; j++) {
            const struct subsystem_rank *other = &subsystem->rank[j];
            if (!same_host(rank, other))
                continue;
            rank->local_world_size++;
            rank->local_rank += j < i;
            if (j < i)
                rank->group_rank = other->group_rank;
        }
        if (rank->group_rank < 0)
            rank->group_rank = n_hosts++;
    }
}

/* From the order of the ring to that of the ranks. */
static void order_ranks(struct arena *arena, struct subsystem *subsystem, int n_first)
{
    int n = subsystem->n_ranks;
    struct subsystem_rank *ordered = ARENA_ARRAY(arena, (size_t)n, struct subsystem_rank);
    for (int position = 0; position < n; position++) {
        const char *backend = subsystem->job->type[subsystem->rank[0].type].backend;
        ordered[ring_rank(backend, n, n_first, position)] = subsystem->rank[position];
    }
    subsystem->rank = ordered;
    number_ranks(subsystem);
}

void subsystem_plan(struct arena *arena, const struct job *job, int type,
                    struct subsystem *subsystem)
{
    size_t n = (size_t)job->type[type].subsystem_devices;
    *subsystem = (struct subsystem){.job = job,
                                    .name = job->type[type].name,
                                    .rank = ARENA_ARRAY(arena, n, struct subsystem_rank)};
    add_type(arena, subsystem, type);
    order_ranks(arena, subsystem, 1);
}

void subsystem_plan_ring(struct arena *arena, const struct job *job, const bool *measured,
                         struct subsystem *subsystem)
{
    size_t n = 0;
    for (int i = 0; i < job->n_types; i++)
        n += measured[i] ? (size_t)job->type[i].subsystem_devices : 0;
    *subsystem = (struct subsystem){.job = job,
                                    .name = ring_name,
                                    .one_ring = true,
                                    .rank = ARENA_ARRAY(arena, n, struct subsystem_rank)};
    for (int i = 0; i < job->n_types; i++) {
        if (measured[i])
            add_type(arena, subsystem, i);
    }
    order_ranks(arena, subsystem, 1);
}

/* Positions from the first on that are on the first one's host; 1 where all are. */
static int count_on_first_host(const struct subsystem *subsystem)
{
    int n = 1;
    while (n < subsystem->n_ranks && same_host(&subsystem->rank[0], &subsystem->rank[n]))
        n++;
    return n < subsystem->n_ranks ? n : 1;
}

void subsystem_plan_full(struct arena *arena, const struct job *job, struct subsystem *subsystem)
{
    size_t n = job->n_devices;
    *subsystem = (struct subsystem){.job = job,
                                    .name = full_name,
                                    .one_ring = true,
                                    .full = true,
                                    .rank = ARENA_ARRAY(arena, n, struct subsystem_rank)};
    for (size_t position = 0; position < n; position++) {
        size_t device = job_ring_device(job, position);
        int type = job_device_type(job, device);
        int number = (int)(device - device_numbers_first(job, type));
        add_device(subsystem, type, number, job_device_host(job, device, NULL));
    }
    order_ranks(arena, subsystem, count_on_first_host(subsystem));
}

char *subsystem_title(struct arena *arena, const struct subsystem *subsystem)
{
    if (subsystem->full)
        return arena_format(arena, "full system x%d", subsystem->n_ranks);
    return arena_format(arena, "sub-system %s x%d", subsystem->name, subsystem->n_ranks);
}

char *subsystem_record(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    return arena_format(arena, "%s/rank%d.jsonl", subsystem->records, rank);
}

char *subsystem_output(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    return arena_format(arena, "%s/rank%d.out", subsystem->records, rank);
}

static bool is_remote(const struct subsystem *subsystem)
{
    return subsystem->launcher && !launcher_is_local(subsystem->launcher);
}

char *subsystem_spec(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    if (is_remote(subsystem))
        return arena_format(arena, "%s/spec-rank%d.json", subsystem->records, rank);
    if (!subsystem->one_ring)
        return arena_format(arena, "%s/spec.json", subsystem->records);
    return arena_format(arena, "%s/spec-%s.json", subsystem->records,
                        subsystem->job->type[subsystem->rank[rank].type].name);
}

char *subsystem_folder(struct arena *arena, const struct subsystem *subsystem)
{
    struct error ignored = {0};
    char *folder = NULL;
    if (!path_absolute(arena, subsystem->job->folder, &folder, &ignored))
        folder = arena_copy(arena, subsystem->job->folder);
    error_clear(&ignored);
    return folder;
}

char *subsystem_own_program(struct arena *arena, const struct subsystem *subsystem)
{
    const char *file = job_model_own_program(&subsystem->job->model);
    return file ? path_join(arena, subsystem_folder(arena, subsystem), file) : NULL;
}

char *subsystem_there(struct arena *arena, const struct subsystem *subsystem, int rank,
                      const char *path)
{
    if (!path)
        return NULL;
    return is_remote(subsystem)
               ? launcher_path(subsystem->launcher, arena, subsystem->rank[rank].host, path)
               : arena_copy(arena, path);
}

bool subsystem_shares_host(const struct subsystem *subsystem)
{
    for (int i = 0; i < subsystem->n_ranks; i++) {
        if (subsystem->rank[i].local_world_size > 1)
            return true;
    }
    return false;
}

bool subsystem_meets_on_host(const struct subsystem *a, int type_a, const struct subsystem *b,
                             int type_b)
{
    for (int i = 0; i < a->n_ranks; i++) {
        for (int k = 0; k < b->n_ranks; k++) {
            if (a->rank[i].type == type_a && b->rank[k].type == type_b &&
                same_host(&a->rank[i], &b->rank[k]))
                return true;
        }
    }
    return false;
}

/* Of the whole set as the job gives it, else of what was drawn; 0: not known. */
static double sample_bytes(const struct job *job, const struct subsystem_type *type)
{
    const struct job_data *data = &job->data;
    if (data->sample_bytes > 0)
        return data->sample_bytes;
    if (data->size.unit == AMOUNT_BYTES && data->n_samples > 0)
        return data->size.value / data->n_samples;
    return type->sample_bytes;
}

/* Samples and bytes of a device, each from the other where the size of a sample is known. */
static void set_amounts(const struct subsystem *subsystem, int type_number, struct spec *spec)
{
    const struct amount *data = &subsystem->job->type[type_number].data;
    const struct subsystem_type *type = &subsystem->type[type_number];
    spec->sample_bytes = sample_bytes(subsystem->job, type);
    if (data->unit == AMOUNT_SAMPLES) {
        spec->samples_per_device = data->value;
        spec->bytes_per_device = data->value * spec->sample_bytes;
    }
    if (data->unit == AMOUNT_BYTES) {
        spec->bytes_per_device = data->value;
        spec->samples_per_device = spec->sample_bytes > 0 ? data->value / spec->sample_bytes : 0;
    }
    if (type->n_samples > 0)
        spec->samples_per_device = type->n_samples;
}

/* Where the draw of a type begins in the one order from which all types are drawn; the folder of a
 * sub-system's drawn files has those of its own type only. */
static void set_place_in_draw(const struct subsystem *subsystem, int type_number, struct spec *spec)
{
    const struct job *job = subsystem->job;
    if (!subsystem->full && subsystem->type[type_number].n_samples > 0) {
        spec->devices_in_all = job->type[type_number].subsystem_devices;
        return;
    }
    for (int i = 0; i < job->n_types; i++) {
        struct spec other = {0};
        int n = job->type[i].profile ? 0 : job->type[i].subsystem_devices;
        spec->devices_in_all += n;
        if (i >= type_number)
            continue;
        set_amounts(subsystem, i, &other);
        spec->devices_before += n;
        spec->samples_before += n * floor(other.samples_per_device);
    }
}

static struct spec make_spec(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    int type_number = subsystem->rank[rank].type;
    const struct job *job = subsystem->job;
    const struct job_device_type *type = &job->type[type_number];
    size_t n = (size_t)subsystem->n_ranks;
    const char **types = ARENA_ARRAY(arena, n, const char *);
    int64_t *batches = ARENA_ARRAY(arena, n, int64_t);
    for (size_t i = 0; i < n; i++) {
        types[i] = job->type[subsystem->rank[i].type].name;
        batches[i] = job->type[subsystem->rank[i].type].batch;
    }
    struct spec spec = {
        .record_dir = subsystem_there(arena, subsystem, rank, subsystem->records),
        .device_type = type->name,
        .n_devices = subsystem->n_ranks,
        .types_by_rank = types,
        .batch_by_rank = batches,
        .batch = type->batch,
        .first = job->training.first,
        .last = job->training.last,
        .n_profiled = job->training.n_profiled,
        .device = type->device,
        .backend = type->backend,
        .seed = job->data.seed,
        .end_timeout_s = job->launcher.stall_timeout_s,
        .data_dir = subsystem_there(arena, subsystem, rank, subsystem->type[type_number].data_dir),
        .workers = job->data.workers,
        .model = &job->model,
        .meeting = subsystem->meeting,
    };
    set_amounts(subsystem, type_number, &spec);
    set_place_in_draw(subsystem, type_number, &spec);
    return spec;
}

bool subsystem_write_spec_of_rank(struct arena *arena, const struct subsystem *subsystem, int rank,
                                  struct error *e)
{
    const struct job *job = subsystem->job;
    struct spec spec = make_spec(arena, subsystem, rank);
    char *entry = NULL;
    if (job->model.kind == MODEL_ENTRY &&
        !path_absolute(arena, job_path(arena, job, job->model.entry_file), &entry, e))
        return false;
    spec.entry_file = subsystem_there(arena, subsystem, rank, entry);
    return spec_write(subsystem_spec(arena, subsystem, rank), &spec, e);
}

static bool is_first_of_type(const struct subsystem *subsystem, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (subsystem->rank[i].type == subsystem->rank[rank].type)
            return false;
    }
    return true;
}

bool subsystem_write_specs(struct arena *arena, const struct subsystem *subsystem, struct error *e)
{
    for (int i = 0; i < subsystem->n_ranks; i++) {
        if (is_first_of_type(subsystem, i) && !subsystem_write_spec_of_rank(arena, subsystem, i, e))
            return false;
    }
    return true;
}
