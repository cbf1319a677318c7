#include "measure/doctor_hosts.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "measure/agent.h"

enum { MOST_PEERS = 1024 };

struct listing {
    struct arena *arena;
    const struct job *job;
    struct doctor_host *host;
    size_t n, most, n_left_out;
};

/* NULL where the list is full. */
static struct doctor_host *find_or_add(struct listing *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->host[i].name, name) == 0)
            return &list->host[i];
    }
    if (list->n == list->most) {
        list->n_left_out++;
        return NULL;
    }
    struct doctor_host *host = &list->host[list->n++];
    host->name = name;
    host->role = ARENA_ARRAY(list->arena, (size_t)list->job->n_types, struct doctor_role);
    return host;
}

static struct doctor_role *find_or_add_role(struct doctor_host *host, int type)
{
    for (size_t i = 0; i < host->n_roles; i++) {
        if (host->role[i].type == type)
            return &host->role[i];
    }
    host->role[host->n_roles] = (struct doctor_role){.type = type};
    return &host->role[host->n_roles++];
}

static void add_subsystem(struct listing *list, int number)
{
    const struct job_device_type *type = &list->job->type[number];
    if (type->profile || (type->n_hosts == 0 && type->n_subsystem_hosts == 0))
        return;
    size_t n = (size_t)type->subsystem_devices;
    const char **name = ARENA_ARRAY(list->arena, n, const char *);
    job_subsystem_hosts(type, name);
    for (size_t i = 0; i < n; i++) {
        struct doctor_host *host = name[i] ? find_or_add(list, name[i]) : NULL;
        if (host)
            find_or_add_role(host, number)->n_ranks++;
    }
}

static void add_others(struct listing *list, int number)
{
    const struct job_device_type *type = &list->job->type[number];
    for (size_t i = 0; i < type->n_hosts; i++) {
        struct doctor_host *host = find_or_add(list, type->host[i].name);
        if (!host)
            continue;
        find_or_add_role(host, number)->n_devices += type->host[i].n_used;
        host->networked = !list->job->network_file && list->job->n_links == 0;
    }
}

static void add_here(struct listing *list)
{
    struct doctor_host *host = find_or_add(list, "here");
    host->is_here = true;
    host->networked = !list->job->network_file && list->job->n_links == 0;
    for (int i = 0; i < list->job->n_types; i++) {
        const struct job_device_type *type = &list->job->type[i];
        struct doctor_role *role = type->profile ? NULL : find_or_add_role(host, i);
        if (!role)
            continue;
        role->n_ranks = type->subsystem_devices;
        for (size_t k = 0; k < type->n_hosts; k++)
            role->n_devices += type->host[k].n_used;
    }
}

/* A type's are the same on all its hosts. */
static void set_pythons(struct listing *list, const struct python_search *search)
{
    const struct job *job = list->job;
    for (int t = 0; t < job->n_types; t++) {
        const char *named = job->type[t].python, *named_by = NULL;
        named = named && strchr(named, '/') ? job_path(list->arena, job, named) : named;
        static const char *const none[] = {NULL};
        const char *const *python =
            job->model.kind == MODEL_COMMAND ? none : python_candidates(search, named, &named_by);
        for (size_t i = 0; i < list->n; i++) {
            for (size_t k = 0; k < list->host[i].n_roles; k++) {
                struct doctor_role *role = &list->host[i].role[k];
                if (role->type != t)
                    continue;
                role->python = python;
                role->named_by = named_by;
            }
        }
    }
}

static size_t count_names(const struct job *job)
{
    size_t n = 1;
    for (int i = 0; i < job->n_types; i++)
        n += job->type[i].n_hosts + job->type[i].n_subsystem_hosts;
    return n;
}

void doctor_hosts_list(struct arena *arena, const struct job *job,
                       const struct python_search *search, size_t most, struct doctor_host **host,
                       size_t *n, size_t *n_left_out)
{
    size_t n_names = count_names(job);
    struct listing list = {arena, job, NULL, 0, n_names < most ? n_names : most, 0};
    list.host = ARENA_ARRAY(arena, list.most, struct doctor_host);
    static void (*const add[])(struct listing *, int) = {add_others, add_subsystem};
    bool all_fit = n_names <= most;
    if (job->launcher.kind == LAUNCHER_LOCAL)
        add_here(&list);
    for (size_t k = 0; k < 2 && job->launcher.kind != LAUNCHER_LOCAL; k++) {
        for (int i = 0; i < job->n_types; i++)
            add[all_fit ? k : 1 - k](&list, i);
    }
    set_pythons(&list, search);
    *host = list.host;
    *n = list.n;
    *n_left_out = list.n_left_out;
}

size_t *doctor_hosts_peers(struct arena *arena, const struct doctor_host *host, size_t n,
                           size_t self, size_t *n_peers)
{
    size_t *peer = ARENA_ARRAY(arena, n, size_t);
    *n_peers = 0;
    for (size_t i = 1; i < n && *n_peers < MOST_PEERS; i++) {
        size_t other = (self + i) % n;
        if (*host[other].address)
            peer[(*n_peers)++] = other;
    }
    return peer;
}

static json_t *texts_json(const char *const *text, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, agent_text(text[i]));
    return list;
}

static size_t count_words(const char *const *word)
{
    size_t n = 0;
    while (word[n])
        n++;
    return n;
}

static json_t *variables_json(const struct job_device_type *type)
{
    json_t *list = json_array();
    for (size_t i = 0; i < type->n_env; i++) {
        json_t *pair = json_array();
        json_array_append_new(pair, agent_text(type->env[i].name));
        json_array_append_new(pair, agent_text(type->env[i].value));
        json_array_append_new(list, pair);
    }
    return list;
}

/* The program that a host must have of its own; "" where it is the job's, null where Python trains.
 */
static json_t *program_json(const struct job_model *model)
{
    if (model->kind != MODEL_COMMAND)
        return json_null();
    return agent_text(job_model_own_program(model) ? "" : model->args[0]);
}

static json_t *role_json(const struct job *job, const struct doctor_role *role)
{
    const struct job_device_type *type = &job->type[role->type];
    return json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}", "pythons",
                     texts_json(role->python, count_words(role->python)), "program",
                     program_json(&job->model), "env", variables_json(type), "device", type->device,
                     "backend", type->backend, "cpus", texts_json(type->cpus, type->n_cpus));
}

const char *doctor_hosts_question(struct arena *arena, const struct job *job,
                                  const struct doctor_host *host, size_t n, size_t self)
{
    json_t *types = json_array(), *peers = json_array();
    size_t n_peers = 0;
    const size_t *peer = doctor_hosts_peers(arena, host, n, self, &n_peers);
    for (size_t i = 0; i < host[self].n_roles; i++)
        json_array_append_new(types, role_json(job, &host[self].role[i]));
    for (size_t i = 0; i < n_peers; i++)
        json_array_append_new(peers, json_string(host[peer[i]].address));
    json_t *question = json_pack("{s:o, s:o, s:b, s:s}", "types", types, "peers", peers, "iperf3",
                                 host[self].networked, "interface", host[self].interface);
    char *text = json_dumps(question, JSON_COMPACT);
    const char *copy = arena_copy(arena, text ? text : "{}");
    free(text);
    json_decref(question);
    return copy;
}
