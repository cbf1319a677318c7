#include "measure/doctor.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/child.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/python.h"

static const double CHECK_TIMEOUT_S = 60;
static const double LEAST_FREE_BYTES = 100e6;

struct examination {
    struct arena *arena;
    const struct job *job;
    const struct progress *progress;
    struct python_search search;
    struct doctor_check *check;
    size_t n, capacity;
};

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
    static const char *const name[] = {"ok", "warn", "FAIL"};
    return name[verdict];
}

static void add(struct examination *x, const char *subject, const char *what,
                enum doctor_verdict verdict, const char *found)
{
    if (x->n == x->capacity) {
        struct doctor_check *grown =
            ARENA_ARRAY(x->arena, 2 * x->capacity + 16, struct doctor_check);
        if (x->n)
            memcpy(grown, x->check, x->n * sizeof *grown);
        x->check = grown;
        x->capacity = 2 * x->capacity + 16;
    }
    x->check[x->n++] = (struct doctor_check){subject, what, arena_copy(x->arena, found), verdict};
}

static void add_error(struct examination *x, const char *subject, const char *what, struct error *e)
{
    add(x, subject, what, DOCTOR_FAIL, e->text);
    error_clear(e);
}

/* What a child prints when it exits with 0, without its last newline; false where it does not. */
static bool ask(struct examination *x, const char *const *argv, const char *const *env,
                char **answer)
{
    struct child_options options = {.argv = argv, .env = env};
    struct child_limits limits = {.timeout_s = CHECK_TIMEOUT_S, .cancel = x->progress->cancel};
    struct child_end end;
    struct error e = {0};
    char *errors = NULL;
    bool ok = child_capture(x->arena, &options, &limits, &end, answer, &errors, &e) &&
              end.how == CHILD_EXITED && end.number == 0;
    error_clear(&e);
    if (ok)
        (*answer)[strcspn(*answer, "\r\n")] = '\0';
    return ok;
}

static const char *const *type_env(struct examination *x, const struct job_device_type *type)
{
    const char **env = ARENA_ARRAY(x->arena, type->n_env + 1, const char *);
    for (size_t i = 0; i < type->n_env; i++)
        env[i] = arena_format(x->arena, "%s=%s", type->env[i].name, type->env[i].value);
    return env;
}

/* Prints "ok", "no-backend" or "no-device". */
static const char backend_program[] =
    "import sys, importlib, torch, torch.distributed as d\n"
    "device, backend = sys.argv[1:]\n"
    "extension = {'npu': 'torch_npu', 'mlu': 'torch_mlu'}.get(device)\n"
    "if extension: importlib.import_module(extension)\n"
    "known = getattr(d, f'is_{backend}_available', None)\n"
    "backends = getattr(d.Backend, 'backend_list', ())\n"
    "if not (known() if known else backend == 'gloo' or backend in backends):\n"
    "    print('no-backend'); sys.exit()\n"
    "module = None if device == 'cpu' else getattr(torch, device, None)\n"
    "n = 1 if device == 'cpu' else module.device_count() if module and module.is_available() else "
    "0\n"
    "print('ok' if n else 'no-device')\n";

static void examine_backend(struct examination *x, const struct job_device_type *type,
                            const char *python)
{
    const char *argv[] = {python, "-c", backend_program, type->device, type->backend, NULL};
    char *answer = NULL;
    if (!ask(x, argv, type_env(x, type), &answer))
        add(x, type->name, "backend", DOCTOR_FAIL,
            arena_format(x->arena, "torch has no '%s' device here", type->device));
    else if (strcmp(answer, "no-backend") == 0)
        add(x, type->name, "backend", DOCTOR_FAIL,
            arena_format(x->arena, "this torch is built without '%s'", type->backend));
    else if (strcmp(answer, "no-device") == 0)
        add(x, type->name, "backend", DOCTOR_FAIL,
            arena_format(x->arena, "%s is there, but no %s device", type->backend, type->device));
    else
        add(x, type->name, "backend", DOCTOR_OK,
            arena_format(x->arena, "%s on %s", type->backend, type->device));
}

static void examine_cpus(struct examination *x, const struct job_device_type *type)
{
    struct text listed = {0};
    for (size_t i = 0; i < type->n_cpus; i++) {
        struct error e = {0};
        if (!child_check_cpus(type->cpus[i], &e))
            add_error(x, type->name, "cpus", &e);
        else
            text_format(&listed, "%s%s", listed.length ? " | " : "", type->cpus[i]);
    }
    if (listed.length)
        add(x, type->name, "cpus", DOCTOR_OK, listed.data);
    text_free(&listed);
}

static void examine_type(struct examination *x, const struct job_device_type *type)
{
    struct error e = {0};
    if (type->profile) {
        add(x, type->name, "profile", DOCTOR_OK,
            arena_format(x->arena, "given: %s; not measured", type->profile));
        return;
    }
    struct python python;
    if (!python_find(&x->search, type->python, type_env(x, type), x->progress, &python, &e)) {
        add_error(x, type->name, "python", &e);
        return;
    }
    add(x, type->name, "python", DOCTOR_OK,
        arena_format(x->arena, "%s, python %s, torch %s", python.path, python.version,
                     python.torch));
    examine_backend(x, type, python.path);
    examine_cpus(x, type);
}

static void examine_iperf3(struct examination *x)
{
    static const char *const argv[] = {"iperf3", "--version", NULL};
    char *answer = NULL;
    if (x->job->network_file || x->job->n_links)
        add(x, "here", "network", DOCTOR_OK, "given in the job");
    else if (ask(x, argv, NULL, &answer))
        add(x, "here", "iperf3", DOCTOR_OK, answer);
    else
        add(x, "here", "iperf3", DOCTOR_FAIL,
            "not found; install iperf3, or give network.links in the job");
}

static void examine_space(struct examination *x, const char *run_folder)
{
    struct statvfs fs;
    char size[UNITS_TEXT_SIZE];
    const char *folder = run_folder;
    while (!file_exists(folder) && strcmp(folder, ".") != 0 && strcmp(folder, "/") != 0)
        folder = path_folder(x->arena, folder);
    if (statvfs(folder, &fs) != 0) {
        add(x, "here", "space", DOCTOR_WARN, "not known");
        return;
    }
    double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    add(x, "here", "space", free_bytes < LEAST_FREE_BYTES ? DOCTOR_FAIL : DOCTOR_OK,
        arena_format(x->arena, "%s free for %s", units_format(free_bytes, DIMENSION_BYTES, size),
                     run_folder));
}

void doctor_examine(struct arena *arena, const struct job *job, const char *worker_folder,
                    const char *run_folder, const struct progress *progress,
                    struct doctor_check **check, size_t *n_checks)
{
    struct examination x = {
        .arena = arena, .job = job, .progress = progress, .search = python_search_start(arena)};
    struct error e = {0};
    if (job_check_measurable(arena, job, &e))
        add(&x, "here", "job", DOCTOR_OK, "all that it names is there");
    else
        add_error(&x, "here", "job", &e);
    if (file_exists(path_join(arena, worker_folder, "hook/sitecustomize.py")))
        add(&x, "here", "worker", DOCTOR_OK, worker_folder);
    else
        add(&x, "here", "worker", DOCTOR_FAIL,
            arena_format(arena, "not in %s; set FORETRAIN_WORKER to its folder", worker_folder));
    examine_iperf3(&x);
    examine_space(&x, run_folder);
    for (int t = 0; t < job->n_types; t++)
        examine_type(&x, &job->type[t]);
    *check = x.check;
    *n_checks = x.n;
}
