#include "measure/hosts.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "job/arguments.h"

static const double CODE_LIMIT_BYTES = 100e6;

/* What stays here of the job's folder: the results, and the whole training set. */
static size_t list_exceptions(struct arena *arena, const struct subsystem *subsystem,
                              const char **except)
{
    const struct job *job = subsystem->job;
    const char *run = subsystem->run ? subsystem->run
                                     : path_folder(arena, path_folder(arena, subsystem->records));
    const char *parent = path_folder(arena, run);
    const char *slash = strrchr(parent, '/');
    size_t n = 0;
    except[n++] = slash && strcmp(slash, "/runs") == 0 ? parent : run;
    if (job->data.path)
        except[n++] = path_join(arena, subsystem_folder(arena, subsystem), job->data.path);
    return n;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static const char *model_file(const struct job_model *model)
{
    return model->kind == MODEL_SCRIPT ? model->script : model->entry_file;
}

/* The job's folder, that of the script or entry where it is elsewhere, and the program, though git
 * ignores what was built. */
static bool stage_code(struct arena *arena, struct launcher *launcher,
                       const struct subsystem *subsystem, const char *host, struct error *e)
{
    enum { MOST = 2 };
    const char *except[MOST];
    size_t n = list_exceptions(arena, subsystem, except);
    const struct stage_options options = {
        .except = except, .n_except = n, .code = true, .limit_bytes = CODE_LIMIT_BYTES};
    const char *folder = subsystem_folder(arena, subsystem);
    const char *file = model_file(&subsystem->job->model);
    const char *program = subsystem_own_program(arena, subsystem);
    char *path = NULL;
    if (!launcher_stage(launcher, host, folder, &options, e) ||
        (program && !launcher_stage(launcher, host, program, NULL, e)))
        return false;
    if (!file)
        return true;
    if (!path_absolute(arena, job_path(arena, subsystem->job, file), &path, e))
        return false;
    return is_below(path, folder) ||
           launcher_stage(launcher, host, path_folder(arena, path), &options, e);
}

static bool is_used(const struct job_model *model, const char *placeholder)
{
    for (size_t i = 0; i < model->n_args; i++) {
        if (job_argument_uses(model->args[i], placeholder))
            return true;
    }
    return !job_model_is_program(model) && strcmp(placeholder, "data") == 0;
}

/* A list names files beside it: they come along. */
static bool stage_data_path(struct arena *arena, struct launcher *launcher,
                            const struct subsystem *subsystem, const char *host, const char *path,
                            struct error *e)
{
    struct stat st;
    bool is_list = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    const char *staged = is_list ? path_folder(arena, path) : path;
    if (!launcher_stage(launcher, host, staged, NULL, e))
        return false;
    if (!subsystem->job->data.warm_cache)
        launcher_cool(launcher, host, staged);
    return true;
}

static bool stage_data(struct arena *arena, struct launcher *launcher,
                       const struct subsystem *subsystem, int rank, struct error *e)
{
    const struct job_model *model = &subsystem->job->model;
    const char *host = subsystem->rank[rank].host;
    const struct subsystem_type *type = &subsystem->type[subsystem->rank[rank].type];
    if (type->data_dir && is_used(model, "data") &&
        !stage_data_path(arena, launcher, subsystem, host, type->data_dir, e))
        return false;
    return !type->device_data || !is_used(model, "device_data") ||
           stage_data_path(arena, launcher, subsystem, host,
                           type->device_data[subsystem->rank[rank].number], e);
}

static bool prepare_rank(struct arena *arena, struct launcher *launcher,
                         struct subsystem *subsystem, int number, const char *worker,
                         struct error *e)
{
    struct subsystem_rank *rank = &subsystem->rank[number];
    bool ok = launcher_stage(launcher, rank->host, worker, NULL, e) &&
              stage_code(arena, launcher, subsystem, rank->host, e) &&
              stage_data(arena, launcher, subsystem, number, e) &&
              launcher_interface(launcher, rank->host, rank->interface, e);
    if (!ok)
        error_in(e, "%s, rank %d on %s", subsystem_title(arena, subsystem), number, rank->host);
    return ok;
}

bool hosts_prepare(struct launcher *launcher, struct subsystem *subsystem, const char *worker,
                   struct error *e)
{
    subsystem->launcher = launcher;
    if (launcher_is_local(launcher))
        return true;
    struct arena arena = {0};
    bool ok = true;
    for (int i = 0; ok && i < subsystem->n_ranks; i++)
        ok = prepare_rank(&arena, launcher, subsystem, i, worker, e);
    arena_free(&arena);
    return ok;
}

static bool is_first_on_host(const struct subsystem *subsystem, int rank)
{
    return subsystem->rank[rank].local_rank == 0;
}

static bool write_spec_there(struct arena *arena, struct launcher *launcher,
                             const struct subsystem *subsystem, int rank, struct error *e)
{
    return subsystem_write_spec_of_rank(arena, subsystem, rank, e) &&
           launcher_stage(launcher, subsystem->rank[rank].host,
                          subsystem_spec(arena, subsystem, rank), NULL, e);
}

bool hosts_place_records(struct launcher *launcher, struct subsystem *subsystem, struct error *e)
{
    struct arena arena = {0};
    bool local = launcher_is_local(launcher);
    bool ok = !local || subsystem_write_specs(&arena, subsystem, e);
    for (int i = 0; ok && !local && i < subsystem->n_ranks; i++) {
        if (is_first_on_host(subsystem, i))
            ok = launcher_make_folder(launcher, subsystem->rank[i].host, subsystem->records, e);
    }
    for (int i = 0; ok && !local && i < subsystem->n_ranks; i++)
        ok = write_spec_there(&arena, launcher, subsystem, i, e);
    arena_free(&arena);
    return ok;
}

static bool writes(const struct subsystem *subsystem, int rank, int record)
{
    const struct job_model *model = &subsystem->job->model;
    bool spawns = model->kind == MODEL_SCRIPT && model->spawns_ranks;
    return spawns ? subsystem->rank[record].group_rank == subsystem->rank[rank].group_rank
                  : record == rank;
}

size_t hosts_record_files(struct arena *arena, const struct launcher *launcher,
                          const struct subsystem *subsystem, int rank,
                          const struct launch_file **file)
{
    struct launch_file *made = ARENA_ARRAY(arena, (size_t)subsystem->n_ranks, struct launch_file);
    size_t n = 0;
    for (int i = 0; i < subsystem->n_ranks; i++) {
        const char *here = subsystem_record(arena, subsystem, i);
        const char *there = launcher_path(launcher, arena, subsystem->rank[rank].host, here);
        if (writes(subsystem, rank, i) && strcmp(here, there) != 0)
            made[n++] = (struct launch_file){there, here, i > 0};
    }
    *file = made;
    return n;
}
