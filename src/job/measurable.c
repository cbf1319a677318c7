/* What must be there before anything is measured, all of it told in one go. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "job/arguments.h"
#include "job/job.h"

struct check {
    struct arena *arena;
    const struct job *job;
    struct error_list *found;
};

static void note(struct check *c, struct error *e, const char *hint)
{
    if (hint)
        error_hint(e, "%s", hint);
    error_list_add(c->found, e);
}

static void check_file(struct check *c, const struct place *place, const char *path,
                       const char *what)
{
    struct error e = {0};
    char *full = job_path(c->arena, c->job, path);
    if (file_exists(full))
        return;
    error_at(&e, place, "%s '%s' is not there", what, full);
    note(c, &e, NULL);
}

/* Any other program is the hosts' own. */
static void check_program(struct check *c)
{
    const struct job_model *model = &c->job->model;
    const char *file = job_model_own_program(model);
    struct error e = {0};
    if (!file)
        return;
    char *full = job_path(c->arena, c->job, file);
    check_file(c, &model->place, file, "the training program");
    if (!file_exists(full) || access(full, X_OK) == 0)
        return;
    error_at(&e, &model->place, "the training program '%s' may not be run", full);
    note(c, &e, "chmod +x, or name its interpreter first");
}

static void check_model(struct check *c)
{
    const struct job_model *model = &c->job->model;
    struct error e = {0};
    check_program(c);
    if (model->kind == MODEL_SCRIPT)
        check_file(c, &model->place, model->script, "the training script");
    else if (model->kind == MODEL_ENTRY)
        check_file(c, &model->place, model->entry_file, "the model's file");
    else if (model->kind == MODEL_NONE) {
        error_set(&e, ERROR_INPUT, "%s: no model to train", c->job->file);
        note(c, &e, "add model: {script: train.py, args: [...]}");
    }
}

static bool has_data(const struct job *job)
{
    return job->data.path || job->data.list;
}

static void check_data(struct check *c)
{
    const struct job_data *data = &c->job->data;
    const struct job_model *model = &c->job->model;
    struct error e = {0};
    if (data->path)
        check_file(c, &data->place, data->path, "the training data");
    if (data->list)
        check_file(c, &data->place, data->list, "the list of training data");
    for (size_t i = 0; i < model->n_args && !has_data(c->job); i++) {
        const char *arg = model->args[i];
        if (!job_argument_uses(arg, "data") && !job_argument_uses(arg, "device_data"))
            continue;
        error_at(&e, &model->args_place, "'%s' is in the arguments, but the job has no data",
                 text_printable(c->arena, arg, 0));
        note(c, &e, "add data: {path: FOLDER}");
        return;
    }
}

/* What says how links are is read when all is measured: that it is there is known before. */
static void check_network(struct check *c)
{
    const struct job *job = c->job;
    for (size_t i = 0; i < job->n_network_files; i++)
        check_file(c, &job->network_files[i].place, job->network_files[i].path, "the network file");
    for (size_t i = 0; i < job->n_links; i++) {
        if (job->link[i].nccl_tests)
            check_file(c, &job->link[i].place, job->link[i].nccl_tests, "the table of links");
    }
    for (size_t i = 0; i < job->n_topologies; i++) {
        const struct job_topology *topology = &job->topology[i];
        check_file(c, &topology->place, topology->file, "the topology");
        for (size_t k = 0; k < topology->n_classes; k++) {
            const struct job_path_class *class = &topology->class[k];
            if (class->nccl_tests)
                check_file(c, &class->place, class->nccl_tests, "the table of links");
        }
    }
}

static bool same_address(const struct sockaddr *own, int family, const void *address)
{
    if (!own || own->sa_family != family)
        return false;
    if (family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)own)->sin_addr, address,
                      sizeof(struct in_addr)) == 0;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)own)->sin6_addr, address,
                  sizeof(struct in6_addr)) == 0;
}

static bool is_own_address(int family, const void *address)
{
    struct ifaddrs *list = NULL;
    bool own = false;
    if (getifaddrs(&list) != 0)
        return false;
    for (const struct ifaddrs *i = list; i && !own; i = i->ifa_next)
        own = same_address(i->ifa_addr, family, address);
    freeifaddrs(list);
    return own;
}

static bool is_own_name(const char *host)
{
    char own[256] = "";
    if (strcmp(host, "localhost") == 0)
        return true;
    if (gethostname(own, sizeof own - 1) != 0)
        return false;
    size_t length = strcspn(own, ".");
    return strcmp(host, own) == 0 || (strlen(host) == length && strncmp(host, own, length) == 0);
}

static bool is_this_machine(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127 || is_own_address(AF_INET, &v4);
    if (inet_pton(AF_INET6, host, &v6) == 1)
        return is_own_address(AF_INET6, &v6);
    return is_own_name(host);
}

static void check_local(struct check *c, const struct job_device_type *type)
{
    const char **host = ARENA_ARRAY(c->arena, (size_t)type->subsystem_devices, const char *);
    job_subsystem_hosts(type, host);
    struct error e = {0};
    for (int i = 0; i < type->subsystem_devices; i++) {
        if (is_this_machine(host[i]))
            continue;
        bool own = type->n_subsystem_hosts > 0;
        error_at(&e, own ? &type->subsystem_place : &type->hosts_place,
                 "host '%s' is not this machine, and launcher local starts processes here only",
                 host[i]);
        error_hint(&e, "measure on that host, or give subsystem: {hosts: localhost}");
        error_in(&e, "device type '%s'", type->name);
        note(c, &e, NULL);
        return;
    }
}

static const char *hint_for_hosts(enum launcher_kind kind)
{
    static const char *const hint[] = {
        [LAUNCHER_LOCAL] = "add hosts: localhost, subsystem: {hosts: localhost}, or profile: FILE",
        [LAUNCHER_SSH] = "add hosts: NAMES, subsystem: {hosts: NAMES}, or profile: FILE",
        [LAUNCHER_SLURM] = ("add hosts: NAMES, as `sinfo -N` lists them, subsystem: {hosts: "
                            "NAMES}, or profile: FILE; Slurm is not left to choose them"),
    };
    return hint[kind];
}

static void check_type(struct check *c, const struct job_device_type *type)
{
    struct error e = {0};
    for (size_t i = 0; i < type->n_profiles; i++)
        check_file(c, &type->profile_place, type->profile[i], "the profile");
    if (type->profile)
        return;
    if (type->n_hosts + type->n_subsystem_hosts == 0) {
        error_at(&e, &type->place,
                 "device type '%s' has no hosts to be measured on, and no profile", type->name);
        note(c, &e, hint_for_hosts(c->job->launcher.kind));
    } else if (c->job->launcher.kind == LAUNCHER_LOCAL)
        check_local(c, type);
}

static bool anything_to_measure(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        if (!job->type[t].profile)
            return true;
    }
    return false;
}

bool job_check_measurable(struct arena *arena, const struct job *job, struct error *e)
{
    struct error_list found = {0};
    struct check c = {arena, job, &found};
    if (anything_to_measure(job)) {
        check_model(&c);
        check_data(&c);
    }
    check_network(&c);
    for (int t = 0; t < job->n_types; t++)
        check_type(&c, &job->type[t]);
    bool ok = found.n == 0;
    if (!ok)
        error_list_join(&found, e);
    return ok;
}
