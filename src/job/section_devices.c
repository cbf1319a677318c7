/* The device types: how many, with what share of the data, on which hosts, measured how. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job/host_list.h"
#include "job/sections.h"

/* A type while it is read: lists are taken apart afterwards. */
struct draft {
    struct job_device_type type;
    struct host_list hosts, subsystem_hosts;
    struct text_list cpus, profiles;
    bool subsystem_refused;
};

struct device_kind {
    const char *word;
    const char *torch; /* what PyTorch calls it */
    const char *backend;
};

static const struct device_kind kind[] = {
    {"cpu", "cpu", "gloo"}, {"cuda", "cuda", "nccl"}, {"hip", "cuda", "nccl"},
    {"mlu", "mlu", "cncl"}, {"npu", "npu", "hccl"},   {"xpu", "xpu", "xccl"},
};
enum { N_KINDS = sizeof kind / sizeof *kind };

static void read_device(struct reading *r, const struct node *node, void *out)
{
    struct choice choice[N_KINDS];
    for (size_t i = 0; i < N_KINDS; i++)
        choice[i] = (struct choice){kind[i].word, (int)i, false};
    int i = 0;
    if (field_choose(r, node, choice, N_KINDS, &i))
        *(const char **)out = kind[i].torch;
}

static void read_backend(struct reading *r, const struct node *node, void *out)
{
    static const struct choice backend[] = {{"gloo", 0, false}, {"nccl", 1, false},
                                            {"cncl", 2, false}, {"hccl", 3, false},
                                            {"xccl", 4, false}, {"mpi", 5, false}};
    int i = 0;
    if (field_choose(r, node, backend, sizeof backend / sizeof *backend, &i))
        *(const char **)out = backend[i].word;
}

static bool is_variable_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t first = strspn(text, letters);
    size_t rest = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return first > 0 && text[rest] == '\0';
}

static bool is_set_by_foretrain(const char *name)
{
    static const char *const own[] = {"RANK",        "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
                                      "MASTER_ADDR", "MASTER_PORT"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(own[i], name) == 0)
            return true;
    }
    return strncmp(name, "FORETRAIN_", strlen("FORETRAIN_")) == 0;
}

static bool check_variable(struct reading *r, const struct node *value)
{
    if (!is_variable_name(value->key->text))
        reading_refuse(r, value->key, NULL, "'%s' is not the name of an environment variable",
                       value->name);
    else if (is_set_by_foretrain(value->key->text))
        reading_refuse(r, value->key, NULL, "'%s' is set by foretrain itself", value->name);
    else if (value->kind != NODE_SCALAR || node_is_null(value))
        reading_refuse(r, value, "\"\" is the empty text", "%s must be text (got %s)", value->name,
                       node_found(r, value));
    else
        return true;
    return false;
}

static void read_env(struct reading *r, const struct node *node, void *out)
{
    struct draft *draft = out;
    if (node->kind != NODE_MAPPING) {
        reading_refuse(r, node, NULL, "%s must be a mapping of names to texts (got %s)", node->name,
                       node_found(r, node));
        return;
    }
    struct job_device_type *type = &draft->type;
    type->env = ARENA_ARRAY(r->arena, node->n, struct job_variable);
    for (const struct node *value = node->first; value; value = value->next) {
        if (check_variable(r, value))
            type->env[type->n_env++] = (struct job_variable){value->key->text, value->text};
    }
}

static const struct field subsystem_field[] = {
    {"devices", field_small_count, offsetof(struct draft, type.subsystem_devices), false},
    {"hosts", host_list_read, offsetof(struct draft, subsystem_hosts), false},
};

static void read_subsystem(struct reading *r, const struct node *node, void *out)
{
    struct draft *draft = out;
    size_t n_before = r->n_findings;
    if (node->kind == NODE_MAPPING)
        fields_read(r, node, subsystem_field, sizeof subsystem_field / sizeof *subsystem_field,
                    draft);
    else
        field_small_count(r, node, &draft->type.subsystem_devices);
    draft->subsystem_refused = r->n_findings > n_before;
}

static const struct field slurm_field[] = {
    {"partition", field_option, offsetof(struct job_slurm, partition), false},
    {"account", field_option, offsetof(struct job_slurm, account), false},
    {"qos", field_option, offsetof(struct job_slurm, qos), false},
    {"constraint", field_option, offsetof(struct job_slurm, constraint), false},
    {"reservation", field_option, offsetof(struct job_slurm, reservation), false},
    {"gres", field_option, offsetof(struct job_slurm, gres), false},
};

static void read_slurm(struct reading *r, const struct node *node, void *out)
{
    struct draft *draft = out;
    fields_read(r, node, slurm_field, sizeof slurm_field / sizeof *slurm_field, &draft->type.slurm);
}

static void read_python(struct reading *r, const struct node *node, void *out)
{
    const char *text = field_word(r, node);
    if (text && text[0] == '-')
        reading_refuse(r, node, NULL, "%s must be a program (got %s)", node->name, text);
    else if (text)
        *(const char **)out = text;
}

enum { MOST_BATCHES = 100 };

static bool holds(const int64_t *value, size_t n, int64_t wanted)
{
    size_t i = 0;
    while (i < n && value[i] != wanted)
        i++;
    return i < n;
}

static void read_batches(struct reading *r, const struct node *node, void *out)
{
    struct draft *draft = out;
    struct job_device_type *type = &draft->type;
    if (node->kind != NODE_LIST || node->n == 0 || node->n > MOST_BATCHES) {
        reading_refuse(r, node, NULL, "%s must be a list of mini-batches, 1 to %d (got %s)",
                       node->name, MOST_BATCHES,
                       node->kind != NODE_LIST ? node_found(r, node)
                       : node->n               ? "more"
                                               : "none");
        return;
    }
    type->batches = ARENA_ARRAY(r->arena, node->n, int64_t);
    for (const struct node *item = node->first; item; item = item->next) {
        int64_t batch = 0;
        field_count(r, item, &batch);
        if (batch > 0 && holds(type->batches, type->n_batches, batch))
            reading_refuse(r, item, NULL, "batch %lld is listed twice", (long long)batch);
        else if (batch > 0)
            type->batches[type->n_batches++] = batch;
    }
}

static void read_profiles(struct reading *r, const struct node *node, void *out)
{
    if (node->kind == NODE_LIST && node->n == 0)
        reading_refuse(r, node, NULL, "%s must be a file, or files of different batches (got none)",
                       node->name);
    else
        field_texts(r, node, out);
}

static const struct field type_field[] = {
    {"count", field_count, offsetof(struct draft, type.count), true},
    {"data", field_amount, offsetof(struct draft, type.data), false},
    {"batch", field_count, offsetof(struct draft, type.batch), true},
    {"batches", read_batches, 0, false},
    {"micro_batches", field_count, offsetof(struct draft, type.micro_batches), false},
    {"max_batch", field_count, offsetof(struct draft, type.max_batch), false},
    {"price", field_price, offsetof(struct draft, type.price), false},
    {"hosts", host_list_read, offsetof(struct draft, hosts), false},
    {"subsystem", read_subsystem, 0, false},
    {"allow_full", field_bool, offsetof(struct draft, type.allow_full), false},
    {"device", read_device, offsetof(struct draft, type.device), false},
    {"backend", read_backend, offsetof(struct draft, type.backend), false},
    {"env", read_env, 0, false},
    {"python", read_python, offsetof(struct draft, type.python), false},
    {"cpus", field_cpu_lists, offsetof(struct draft, cpus), false},
    {"slurm", read_slurm, 0, false},
    {"profile", read_profiles, offsetof(struct draft, profiles), false},
};

/* A backend that drives one kind of device only; NULL: it takes any. */
static const char *device_of_backend(const char *backend)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kind[i].backend, backend) == 0)
            return strcmp(kind[i].torch, "cpu") == 0 ? NULL : kind[i].torch;
    }
    return NULL;
}

static const char *backend_of_device(const char *device)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        if (strcmp(kind[i].torch, device) == 0)
            return kind[i].backend;
    }
    return "gloo";
}

static void settle_device(struct reading *r, const struct node *node, struct job_device_type *type)
{
    const char *needed = type->backend ? device_of_backend(type->backend) : NULL;
    if (!type->device)
        type->device = needed ? needed : "cpu";
    if (!type->backend)
        type->backend = backend_of_device(type->device);
    if (needed && strcmp(needed, type->device) != 0)
        reading_refuse(r, node_find(node, "backend"), NULL,
                       "backend %s works with device %s only (got device %s)", type->backend,
                       needed, type->device);
}

static int64_t count_slots(const struct job_host *host, size_t n)
{
    int64_t slots = 0;
    for (size_t i = 0; i < n; i++)
        slots += host[i].n_devices;
    return slots;
}

static void check_slots(struct reading *r, const struct job_device_type *type)
{
    int64_t slots = count_slots(type->host, type->n_hosts);
    if (type->n_hosts == 0 || type->count == 0 || slots >= type->count)
        return;
    reading_refuse_at(r, &type->hosts_place,
                      "write 'host:8' for a host with 8 devices; where only the sub-system's hosts "
                      "exist, leave hosts out and write subsystem: {hosts: ...}",
                      "hosts have slots for %lld, %lld less than the count of %lld",
                      (long long)slots, (long long)(type->count - slots), (long long)type->count);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether all hosts of the sub-system are hosts of the system: then its devices are the system's.
 */
static bool is_within_system(const struct job_device_type *type)
{
    const char **name = memory_resize(NULL, type->n_hosts, sizeof *name);
    for (size_t i = 0; i < type->n_hosts; i++)
        name[i] = type->host[i].name;
    qsort(name, type->n_hosts, sizeof *name, by_name);
    bool within = true;
    for (size_t i = 0; within && i < type->n_subsystem_hosts; i++)
        within = bsearch(&type->subsystem_host[i].name, name, type->n_hosts, sizeof *name, by_name);
    free(name);
    return within;
}

static void refuse_full(struct reading *r, const struct place *place,
                        const struct job_device_type *type)
{
    const char *hint = type->count == 1 ? "subsystem: 1 measures computing only; allow_full: true "
                                          "takes what there is"
                                        : "allow_full: true measures the whole type";
    if (type->subsystem_devices > type->count)
        reading_refuse_at(r, place,
                          type->count == 1 ? "subsystem: 1 measures computing only" : NULL,
                          "a sub-system of %d devices is larger than the type's count of %lld",
                          type->subsystem_devices, (long long)type->count);
    else
        reading_refuse_at(r, place, hint,
                          "a sub-system of %d devices is not smaller than the type's count of %lld",
                          type->subsystem_devices, (long long)type->count);
}

static void check_subsystem_size(struct reading *r, const struct place *place,
                                 const struct job_device_type *type)
{
    bool outside = type->n_subsystem_hosts > 0 && !is_within_system(type);
    int64_t n = type->subsystem_devices;
    if (n == 1 && type->count == 1)
        return;
    if (n < 2)
        reading_refuse_at(r, place, NULL,
                          "a sub-system has at least 2 devices (got %lld); 1 is for a type with a "
                          "count of 1",
                          (long long)n);
    else if (!outside && (n > type->count || (n == type->count && !type->allow_full)))
        refuse_full(r, place, type);
}

static void check_subsystem(struct reading *r, const struct job_device_type *type)
{
    bool given = type->subsystem_place.line > 0;
    const struct place *place = given ? &type->subsystem_place : &type->place;
    if (type->count == 0 || (!given && type->profile_place.line > 0))
        return;
    check_subsystem_size(r, place, type);
    int64_t slots = count_slots(type->subsystem_host, type->n_subsystem_hosts);
    if (type->n_subsystem_hosts > 0 && slots < type->subsystem_devices)
        reading_refuse_at(
            r, place, "write 'host:2' for two devices on one host",
            "the sub-system's hosts have slots for %lld, %lld less than its %d devices",
            (long long)slots, (long long)(type->subsystem_devices - slots),
            type->subsystem_devices);
}

static void check_batch(struct reading *r, const struct node *node,
                        const struct job_device_type *type)
{
    if (type->max_batch == 0 || type->batch <= type->max_batch)
        return;
    reading_refuse(r, node_find(node, "max_batch"), NULL,
                   "max_batch must not be below the batch of %lld (got %lld)",
                   (long long)type->batch, (long long)type->max_batch);
}

static struct place value_place(const struct reading *r, const struct node *node, const char *key)
{
    const struct node *value = node_find(node, key);
    return value ? reading_place(r, value->line, value->column) : (struct place){.file = r->file};
}

static void finish_type(struct reading *r, const struct node *node, struct draft *draft)
{
    struct job_device_type *type = &draft->type;
    type->host = draft->hosts.item;
    type->n_hosts = draft->hosts.n;
    type->subsystem_host = draft->subsystem_hosts.item;
    type->n_subsystem_hosts = draft->subsystem_hosts.n;
    type->cpus = draft->cpus.item;
    type->n_cpus = draft->cpus.n;
    type->profile = draft->profiles.n ? draft->profiles.item : NULL;
    type->n_profiles = draft->profiles.n;
    type->hosts_place = value_place(r, node, "hosts");
    type->subsystem_place = value_place(r, node, "subsystem");
    type->data_place = value_place(r, node, "data");
    type->profile_place = value_place(r, node, "profile");
    type->slurm_place = value_place(r, node, "slurm");
    if (type->n_batches && type->profile)
        reading_refuse(r, node_find(node, "batches"), NULL,
                       "batches are what is measured, and a profile is given instead");
    settle_device(r, node, type);
    check_slots(r, type);
    check_batch(r, node, type);
    if (!draft->subsystem_refused)
        check_subsystem(r, type);
}

static void read_type(struct reading *r, const struct node *node, struct job_device_type *type)
{
    struct draft draft = {.type = {.name = node->key->text, .subsystem_devices = 2}};
    draft.type.place = reading_place(r, node->key->line, node->key->column);
    r->context = arena_format(r->arena, "device type '%s'", node->name);
    section_check_name(r, node->key, node->key->text, "the name of a device type");
    if (fields_read(r, node, type_field, sizeof type_field / sizeof *type_field, &draft))
        finish_type(r, node, &draft);
    r->context = NULL;
    *type = draft.type;
}

enum { MOST_TYPES = 1000 };

void section_devices(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    if (node->kind != NODE_MAPPING || node->n < 1 || node->n > MOST_TYPES) {
        reading_refuse(r, node, NULL,
                       "devices must be a mapping of device types, 1 to 1000 of them (got %s)",
                       node->n > MOST_TYPES         ? "more"
                       : node->kind == NODE_MAPPING ? "none"
                                                    : node_found(r, node));
        return;
    }
    job->type = ARENA_ARRAY(r->arena, node->n, struct job_device_type);
    for (const struct node *value = node->first; value; value = value->next)
        read_type(r, value, &job->type[job->n_types++]);
}
