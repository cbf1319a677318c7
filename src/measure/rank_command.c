#include "measure/rank_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "job/arguments.h"

/* A list of strings ended by NULL. */
struct list {
    struct arena *arena;
    const char **item;
    size_t n, capacity;
};

static struct list list_start(struct arena *arena, size_t capacity)
{
    return (struct list){arena, ARENA_ARRAY(arena, capacity + 1, const char *), 0, capacity};
}

static void list_add(struct list *list, const char *item)
{
    if (list->n == list->capacity) {
        size_t capacity = 2 * list->capacity + 8;
        const char **grown = ARENA_ARRAY(list->arena, capacity + 1, const char *);
        memcpy(grown, list->item, list->n * sizeof *grown);
        list->item = grown;
        list->capacity = capacity;
    }
    list->item[list->n++] = item;
}

static void list_set(struct list *list, const char *name, const char *value)
{
    list_add(list, arena_format(list->arena, "%s=%s", name, value));
}

static void list_set_number(struct list *list, const char *name, int value)
{
    list_add(list, arena_format(list->arena, "%s=%d", name, value));
}

static const char *number_text(struct arena *arena, int64_t value)
{
    return arena_format(arena, "%lld", (long long)value);
}

/* A script's own ranks know their numbers themselves: {rank} has no value there. */
static size_t fill_values(struct arena *arena, const struct subsystem *subsystem, int rank_number,
                          struct job_placeholder *value)
{
    const struct subsystem_rank *rank = &subsystem->rank[rank_number];
    const struct job *job = subsystem->job;
    const struct subsystem_type *type = &subsystem->type[rank->type];
    bool spawns = job->model.spawns_ranks;
    const struct job_placeholder all[] = {
        {"data", subsystem_there(arena, subsystem, rank_number, type->data_dir)},
        {"device_data",
         type->device_data && !spawns
             ? subsystem_there(arena, subsystem, rank_number, type->device_data[rank->number])
             : NULL},
        {"batch", number_text(arena, job->type[rank->type].batch)},
        {"rank", spawns ? NULL : number_text(arena, rank_number)},
        {"local_rank", spawns ? NULL : number_text(arena, rank->local_rank)},
        {"world_size", number_text(arena, subsystem->n_ranks)},
        {"n_devices", number_text(arena, rank->local_world_size)},
        {"master_addr", subsystem->address},
        {"master_port", number_text(arena, subsystem->port)},
        {"seed", arena_format(arena, "%llu", (unsigned long long)job->data.seed)},
        {"device_type", job->type[rank->type].name},
        {"record", subsystem_there(arena, subsystem, rank_number,
                                   subsystem_record(arena, subsystem, rank_number))},
        {"first", number_text(arena, job->training.first)},
        {"last", number_text(arena, job->training.last)},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value)
            value[n++] = all[i];
    }
    return n;
}

static bool add_args(struct list *argv, const struct subsystem *subsystem, int rank, size_t first,
                     struct error *e)
{
    enum { N_VALUES = 16 };
    const struct job_model *model = &subsystem->job->model;
    struct job_placeholder value[N_VALUES];
    size_t n = fill_values(argv->arena, subsystem, rank, value);
    for (size_t i = first; i < model->n_args; i++) {
        char *filled = NULL;
        if (!job_fill_argument(argv->arena, model->args[i], value, n, &filled, e))
            return false;
        list_add(argv, filled);
    }
    return true;
}

static bool add_script(struct list *argv, const struct subsystem *subsystem, int rank,
                       struct error *e)
{
    const char *file = subsystem->job->model.script;
    char *script = NULL;
    if (!path_absolute(argv->arena, job_path(argv->arena, subsystem->job, file), &script, e))
        return false;
    list_add(argv, subsystem_there(argv->arena, subsystem, rank, script));
    return add_args(argv, subsystem, rank, 0, e);
}

static bool add_command(struct list *argv, const struct subsystem *subsystem, int rank,
                        struct error *e)
{
    const char *program = subsystem_own_program(argv->arena, subsystem);
    if (program)
        list_add(argv, subsystem_there(argv->arena, subsystem, rank, program));
    return add_args(argv, subsystem, rank, program != NULL, e);
}

/* A script, or the worker's own loop. */
static bool add_python(struct list *argv, const struct subsystem *subsystem, int rank,
                       const char *worker, struct error *e)
{
    list_add(argv, subsystem->type[subsystem->rank[rank].type].python.path);
    list_add(argv, "-u");
    if (subsystem->job->model.kind == MODEL_SCRIPT)
        return add_script(argv, subsystem, rank, e);
    list_add(argv, subsystem_there(argv->arena, subsystem, rank,
                                   path_join(argv->arena, worker, "loop.py")));
    return true;
}

bool rank_arguments(struct arena *arena, const struct subsystem *subsystem, int rank,
                    const char *worker, const char *const **argv, struct error *e)
{
    const struct job_model *model = &subsystem->job->model;
    struct list list = list_start(arena, 8 + model->n_args);
    bool ok = model->kind == MODEL_COMMAND ? add_command(&list, subsystem, rank, e)
                                           : add_python(&list, subsystem, rank, worker, e);
    if (ok)
        *argv = list.item;
    return ok;
}

/* What a variable is for the rank so far: the type's own value, else ours where it runs here; NULL:
 * not set, or not known. */
static const char *value_of(const struct subsystem *subsystem, const struct job_device_type *type,
                            const char *name)
{
    for (size_t i = type->n_env; i-- > 0;) {
        if (strcmp(type->env[i].name, name) == 0)
            return type->env[i].value;
    }
    bool is_here = !subsystem->launcher || launcher_is_local(subsystem->launcher);
    return is_here ? getenv(name) : NULL;
}

static void set_unless_set(struct list *env, const struct subsystem *subsystem, int type,
                           const char *name, const char *value)
{
    if (!value_of(subsystem, &subsystem->job->type[type], name))
        list_set(env, name, value);
}

static void add_type_variables(struct list *env, const struct job_device_type *type)
{
    for (size_t i = 0; i < type->n_env; i++)
        list_set(env, type->env[i].name, type->env[i].value);
}

const char *const *type_environment(struct arena *arena, const struct job_device_type *type)
{
    struct list env = list_start(arena, type->n_env);
    add_type_variables(&env, type);
    return env.item;
}

/* Left over from a torchrun, or a foretrain, that we run under. */
static void remove_foreign_variables(struct list *env)
{
    static const char *const foreign[] = {"RANK",
                                          "LOCAL_RANK",
                                          "WORLD_SIZE",
                                          "LOCAL_WORLD_SIZE",
                                          "GROUP_RANK",
                                          "ROLE_RANK",
                                          "ROLE_WORLD_SIZE",
                                          "ROLE_NAME",
                                          "MASTER_ADDR",
                                          "MASTER_PORT",
                                          "GROUP_WORLD_SIZE",
                                          "TORCHELASTIC_RUN_ID",
                                          "FORETRAIN_ROOT_PID",
                                          "TORCHELASTIC_RESTART_COUNT",
                                          "TORCHELASTIC_MAX_RESTARTS",
                                          "TORCHELASTIC_USE_AGENT_STORE"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        list_add(env, foreign[i]);
}

static void add_torchrun_variables(struct list *env, const struct subsystem *subsystem,
                                   int rank_number)
{
    const struct subsystem_rank *rank = &subsystem->rank[rank_number];
    list_set_number(env, "RANK", rank_number);
    list_set_number(env, "LOCAL_RANK", rank->local_rank);
    list_set_number(env, "WORLD_SIZE", subsystem->n_ranks);
    list_set_number(env, "LOCAL_WORLD_SIZE", rank->local_world_size);
    list_set_number(env, "GROUP_RANK", rank->group_rank);
    list_set(env, "MASTER_ADDR", subsystem->address);
    list_set_number(env, "MASTER_PORT", subsystem->port);
}

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* Training uses the interface that was measured, unless the type says otherwise. */
static void add_interface(struct list *env, const struct subsystem *subsystem, int rank_number)
{
    const struct subsystem_rank *rank = &subsystem->rank[rank_number];
    const char *interface = *rank->interface                ? rank->interface
                            : is_loopback(subsystem->address) ? "lo"
                                                              : NULL;
    if (!interface)
        return;
    set_unless_set(env, subsystem, rank->type, "GLOO_SOCKET_IFNAME", interface);
    if (*rank->interface)
        set_unless_set(env, subsystem, rank->type, "NCCL_SOCKET_IFNAME", interface);
}

/* By which Python starts the worker in each training. */
static void add_hook(struct list *env, const struct subsystem *subsystem, int rank_number,
                     const char *worker)
{
    int type_number = subsystem->rank[rank_number].type;
    const struct job_device_type *type = &subsystem->job->type[type_number];
    const char *python_path = value_of(subsystem, type, "PYTHONPATH");
    const char *there = subsystem_there(env->arena, subsystem, rank_number, worker);
    bool has_path = python_path && *python_path;
    list_add(env, arena_format(env->arena, "PYTHONPATH=%s/hook%s%s", there, has_path ? ":" : "",
                               has_path ? python_path : ""));
}

/* A command writes its record itself. */
static void add_worker_variables(struct list *env, const struct subsystem *subsystem,
                                 int rank_number, const char *worker)
{
    int type_number = subsystem->rank[rank_number].type;
    if (subsystem->job->model.kind != MODEL_COMMAND)
        add_hook(env, subsystem, rank_number, worker);
    list_set(env, "FORETRAIN_SPEC",
             subsystem_there(env->arena, subsystem, rank_number,
                             subsystem_spec(env->arena, subsystem, rank_number)));
    list_set(env, "PYTHONUNBUFFERED", "1");
    set_unless_set(env, subsystem, type_number, "OMP_NUM_THREADS", "1");
    add_interface(env, subsystem, rank_number);
}

const char *const *rank_environment(struct arena *arena, const struct subsystem *subsystem,
                                    int rank, const char *worker)
{
    struct list env = list_start(arena, 48);
    const struct job_device_type *type = &subsystem->job->type[subsystem->rank[rank].type];
    remove_foreign_variables(&env);
    add_type_variables(&env, type);
    add_worker_variables(&env, subsystem, rank, worker);
    if (!subsystem->job->model.spawns_ranks)
        add_torchrun_variables(&env, subsystem, rank);
    return env.item;
}
