/* Fuzz target: any bytes as a job file; what parses is then asked for all that other rooms ask. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/arguments.h"
#include "job/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_ASKED = 100 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void ask_devices(struct arena *arena, const struct job *job)
{
    for (size_t i = 0; i < job->n_devices && i < MOST_ASKED; i++) {
        size_t position = job->n_devices - 1 - i;
        size_t device = job_ring_device(job, position);
        require(device < job->n_devices);
        require(job_device_type(job, device) < job->n_types);
        require(job_device_name(arena, job, device)[0] != '\0');
        int slot = 0;
        require(!job_device_host(job, device, &slot) || slot >= 0);
    }
}

static void ask_types(struct arena *arena, const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        require(type->count > 0 && type->batch > 0 && type->backend && type->device);
        if (type->subsystem_devices > MOST_ASKED)
            continue;
        const char **host = ARENA_ARRAY(arena, (size_t)type->subsystem_devices, const char *);
        job_subsystem_hosts(type, host);
    }
}

static void ask_links(const struct job *job)
{
    for (size_t i = 0; i < job->n_links; i++) {
        const struct job_link *link = &job->link[i];
        require((link->bandwidth_Bps > 0) != (link->nccl_tests != NULL) && link->latency_s >= 0);
        require(link->from_type >= 0 && link->from_type < job->n_types);
        require(link->to_type >= 0 && link->to_type < job->n_types);
    }
}

static void ask_topologies(const struct job *job)
{
    for (size_t i = 0; i < job->n_topologies; i++) {
        const struct job_topology *topology = &job->topology[i];
        require(topology->file && (!topology->type || job_find_type(job, topology->type) >= 0));
        for (size_t k = 0; k < topology->n_classes; k++) {
            const struct job_path_class *class = &topology->class[k];
            require(job_is_path_class(class->name));
            require((class->bandwidth_Bps > 0) != (class->nccl_tests != NULL));
        }
    }
}

static void ask_arguments(struct arena *arena, const struct job *job)
{
    static const struct job_placeholder value[] = {{"data", "x"}, {"batch", "1"}};
    for (size_t i = 0; i < job->model.n_args; i++) {
        char *filled = NULL;
        struct error e = {0};
        require(job_fill_argument(arena, job->model.args[i], value, 2, &filled, &e) || e.text);
        error_clear(&e);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct job job = {0};
    struct error e = {0};
    char *text = malloc(size + 1);
    require(text);
    memcpy(text, data, size);
    text[size] = '\0';
    if (job_parse(&arena, text, size, "job.yaml", "/nowhere", &job, &e)) {
        require(job.n_types > 0 && job.n_devices > 0 && job.name);
        ask_devices(&arena, &job);
        ask_types(&arena, &job);
        ask_links(&job);
        ask_topologies(&job);
        require(!job_model_own_program(&job.model) || job.model.n_args > 0);
        ask_arguments(&arena, &job);
    } else {
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    }
    error_clear(&e);
    arena_free(&arena);
    free(text);
    return 0;
}
