#include "measure/inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sha2.h>

#include "base/file.h"
#include "base/text.h"

void inputs_add(struct arena *arena, struct inputs *inputs, const char *key, const char *value)
{
    if (inputs->n == inputs->capacity) {
        size_t capacity = inputs->capacity ? 2 * inputs->capacity : 32;
        struct profile_input *grown = ARENA_ARRAY(arena, capacity, struct profile_input);
        if (inputs->n > 0)
            memcpy(grown, inputs->item, inputs->n * sizeof *grown);
        inputs->item = grown;
        inputs->capacity = capacity;
    }
    inputs->item[inputs->n++] = (struct profile_input){key, value ? value : ""};
}

static void add_number(struct arena *arena, struct inputs *inputs, const char *key, double value)
{
    inputs_add(arena, inputs, key, arena_format(arena, "%.15g", value));
}

static void add_amount(struct arena *arena, struct inputs *inputs, const char *key,
                       const struct amount *amount)
{
    static const char *const unit[] = {
        [AMOUNT_BYTES] = " B", [AMOUNT_SAMPLES] = " samples", [AMOUNT_NONE] = ""};
    inputs_add(arena, inputs, key,
               amount->unit == AMOUNT_NONE
                   ? "not given"
                   : arena_format(arena, "%.15g%s", amount->value, unit[amount->unit]));
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_python(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

/* Sorted names of the Python files in a folder, at most `MOST`; `n` of them. */
static const char **list_python_files(struct arena *arena, const char *folder, size_t *n)
{
    enum { MOST = 4096 };
    const char **name = ARENA_ARRAY(arena, MOST, const char *);
    *n = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory)) && *n < MOST;) {
        if (is_python(entry->d_name))
            name[(*n)++] = arena_copy(arena, entry->d_name);
    }
    if (directory)
        closedir(directory);
    qsort(name, *n, sizeof *name, compare_texts);
    return name;
}

/* SHA-256 of a file as an input "file NAME". */
static bool add_file(struct arena *arena, struct inputs *inputs, const char *path, const char *name,
                     struct error *e)
{
    char hash[FILE_HASH_SIZE];
    if (!file_hash(path, hash, e))
        return false;
    inputs_add(arena, inputs, arena_format(arena, "file %s", name), arena_copy(arena, hash));
    return true;
}

/* The user's code: the file itself and the other Python files of its folder. One of those that
 * cannot be read is none that the training reads. */
static bool add_code(struct arena *arena, struct inputs *inputs, const struct job *job,
                     const char *file, struct error *e)
{
    const char *path = job_path(arena, job, file);
    const char *folder = path_folder(arena, path);
    const char *slash = strrchr(path, '/');
    const char *own_name = slash ? slash + 1 : path;
    if (!add_file(arena, inputs, path, own_name, e))
        return false;
    size_t n = 0;
    const char **name = list_python_files(arena, folder, &n);
    for (size_t i = 0; i < n; i++) {
        struct error unreadable = {0};
        if (strcmp(name[i], own_name) != 0)
            add_file(arena, inputs, path_join(arena, folder, name[i]), name[i], &unreadable);
        error_clear(&unreadable);
    }
    return true;
}

static const char *join_args(struct arena *arena, const struct job_model *model)
{
    struct text args = {0};
    for (size_t i = 0; i < model->n_args; i++)
        text_format(&args, "%s%s", i ? " " : "", model->args[i]);
    const char *joined = arena_copy(arena, args.data ? args.data : "");
    text_free(&args);
    return joined;
}

static bool add_script(struct arena *arena, struct inputs *inputs, const struct job *job,
                       struct error *e)
{
    inputs_add(arena, inputs, "script", job->model.script);
    inputs_add(arena, inputs, "args", join_args(arena, &job->model));
    inputs_add(arena, inputs, "spawns_ranks", job->model.spawns_ranks ? "yes" : "no");
    return add_code(arena, inputs, job, job->model.script, e);
}

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Of a command its program and all files that it is given, as far as they are the job's. */
static bool add_command(struct arena *arena, struct inputs *inputs, const struct job *job,
                        struct error *e)
{
    inputs_add(arena, inputs, "command", join_args(arena, &job->model));
    for (size_t i = 0; i < job->model.n_args; i++) {
        const char *word = job->model.args[i];
        const char *path = job_path(arena, job, word);
        if (!is_regular(path))
            continue;
        if (is_python(word) ? !add_code(arena, inputs, job, word, e)
                            : !add_file(arena, inputs, path, word, e))
            return false;
    }
    return true;
}

static bool add_entry(struct arena *arena, struct inputs *inputs, const struct job *job,
                      struct error *e)
{
    inputs_add(arena, inputs, "entry",
               arena_format(arena, "%s:%s", job->model.entry_file, job->model.entry_function));
    inputs_add(arena, inputs, "entry args", job->model.json);
    add_number(arena, inputs, "loader workers", job->data.workers);
    return add_code(arena, inputs, job, job->model.entry_file, e);
}

static bool add_layers(struct arena *arena, struct inputs *inputs, const struct job *job,
                       struct error *e)
{
    (void)e;
    inputs_add(arena, inputs, "layers", job->model.json);
    add_number(arena, inputs, "loader workers", job->data.workers);
    return true;
}

static bool add_nothing(struct arena *arena, struct inputs *inputs, const struct job *job,
                        struct error *e)
{
    (void)arena, (void)inputs;
    error_set(e, ERROR_INPUT, "%s: there is no model to measure", job->file);
    return false;
}

static bool add_model(struct arena *arena, struct inputs *inputs, const struct job *job,
                      struct error *e)
{
    static const struct {
        const char *name;
        bool (*add)(struct arena *, struct inputs *, const struct job *, struct error *);
    } kind[] = {
        [MODEL_NONE] = {"none", add_nothing},       [MODEL_SCRIPT] = {"script", add_script},
        [MODEL_COMMAND] = {"command", add_command}, [MODEL_ENTRY] = {"entry", add_entry},
        [MODEL_LAYERS] = {"layers", add_layers},
    };
    inputs_add(arena, inputs, "model", kind[job->model.kind].name);
    return kind[job->model.kind].add(arena, inputs, job, e);
}

static void add_data(struct arena *arena, struct inputs *inputs, const struct job *job,
                     const struct job_device_type *type)
{
    inputs_add(arena, inputs, "training set", job->data.path ? job->data.path : job->data.list);
    add_amount(arena, inputs, "data", &type->data);
    add_number(arena, inputs, "seed", (double)job->data.seed);
    add_number(arena, inputs, "sample size", job->data.sample_bytes);
    inputs_add(arena, inputs, "cache", job->data.warm_cache ? "warm" : "cold");
}

static void add_ranks(struct arena *arena, struct inputs *inputs, const struct subsystem *subsystem,
                      int type)
{
    struct text hosts = {0}, cpus = {0};
    int n_devices = 0;
    for (int i = 0; i < subsystem->n_ranks; i++) {
        const struct subsystem_rank *rank = &subsystem->rank[i];
        if (rank->type != type)
            continue;
        text_format(&hosts, "%s%s", n_devices ? " " : "", rank->host ? rank->host : "none");
        text_format(&cpus, "%s%s", n_devices ? " " : "", rank->cpus ? rank->cpus : "any");
        n_devices++;
    }
    add_number(arena, inputs, "devices", n_devices);
    inputs_add(arena, inputs, "hosts", arena_copy(arena, hosts.data ? hosts.data : ""));
    inputs_add(arena, inputs, "cpus", arena_copy(arena, cpus.data ? cpus.data : ""));
    text_free(&hosts);
    text_free(&cpus);
}

/* Those it was measured beside disturb it, and in one ring its steps are theirs. */
static void add_company(struct arena *arena, struct inputs *inputs,
                        const struct subsystem *subsystem)
{
    const struct job *job = subsystem->job;
    const char *how = job->subsystems == SUBSYSTEMS_EACH ? "each"
                      : job->one_ring                    ? "one ring"
                                                         : "together";
    struct text company = {0};
    const char *separator = ": ";
    text_add(&company, how);
    for (int i = 0; job->subsystems != SUBSYSTEMS_EACH && i < job->n_types; i++) {
        const struct job_device_type *type = &job->type[i];
        if (type->profile)
            continue;
        text_format(&company, "%s%s x%d batch %lld", separator, type->name, type->subsystem_devices,
                    (long long)type->batch);
        separator = "; ";
    }
    inputs_add(arena, inputs, "subsystems", arena_copy(arena, company.data));
    text_free(&company);
}

/* "NAME#HASH": values can be secrets, and a profile is given away. So short a hash shows a change
 * and tells no value. */
static void add_variable(struct text *env, const struct job_variable *variable)
{
    enum { SHOWN = 8 };
    char hash[FILE_HASH_SIZE] = "";
    struct text whole = {0};
    text_format(&whole, "%s=%s", variable->name, variable->value);
    SHA256Data((const uint8_t *)whole.data, whole.length, hash);
    text_format(env, "%s%s#%.*s", env->length ? " " : "", variable->name, SHOWN, hash);
    text_free(&whole);
}

/* The order of the ring decides which links it takes. */
static void add_ring(struct arena *arena, struct inputs *inputs, const struct job *job)
{
    struct text ring = {0};
    for (size_t i = 0; i < job->n_devices; i++)
        text_format(&ring, "%s%s", i ? " " : "",
                    job_device_name(arena, job, job_ring_device(job, i)));
    inputs_add(arena, inputs, "ring", arena_copy(arena, ring.data ? ring.data : ""));
    text_free(&ring);
}

static void add_environment(struct arena *arena, struct inputs *inputs,
                            const struct job_device_type *type)
{
    struct text env = {0};
    for (size_t i = 0; i < type->n_env; i++)
        add_variable(&env, &type->env[i]);
    inputs_add(arena, inputs, "env", arena_copy(arena, env.data ? env.data : ""));
    text_free(&env);
}

/* One hash over the worker's files: another worker may measure otherwise. */
static bool add_worker(struct arena *arena, struct inputs *inputs, const char *worker,
                       struct error *e)
{
    static const char *const folders[] = {".", "hook", "foretrain_worker"};
    struct text hashes = {0};
    bool ok = true;
    for (size_t f = 0; f < sizeof folders / sizeof *folders && ok; f++) {
        size_t n = 0;
        const char *folder = path_join(arena, worker, folders[f]);
        const char **name = list_python_files(arena, folder, &n);
        for (size_t i = 0; i < n && ok; i++) {
            char hash[FILE_HASH_SIZE];
            ok = file_hash(path_join(arena, folder, name[i]), hash, e);
            if (ok)
                text_format(&hashes, "%s %s\n", name[i], hash);
        }
    }
    char whole[FILE_HASH_SIZE] = "";
    SHA256Data((const uint8_t *)(hashes.data ? hashes.data : ""), hashes.length, whole);
    text_free(&hashes);
    if (ok)
        inputs_add(arena, inputs, "worker", arena_copy(arena, whole));
    return ok;
}

/* What a command does without. */
static bool add_watcher(struct arena *arena, struct inputs *inputs, const struct python *python,
                        const char *worker, struct error *e)
{
    inputs_add(arena, inputs, "python", python->path);
    inputs_add(arena, inputs, "python version", python->version);
    inputs_add(arena, inputs, "torch", python->torch);
    return add_worker(arena, inputs, worker, e);
}

bool inputs_collect(struct arena *arena, const struct subsystem *subsystem, int type_number,
                    const char *worker, struct inputs *inputs, struct error *e)
{
    const struct job *job = subsystem->job;
    const struct job_device_type *type = &job->type[type_number];
    const struct python *python = &subsystem->type[type_number].python;
    struct inputs made = {0};
    if (!add_model(arena, &made, job, e))
        return false;
    add_number(arena, &made, "batch", (double)type->batch);
    add_data(arena, &made, job, type);
    inputs_add(arena, &made, "iterations",
               arena_format(arena, "%d to %d", job->training.first, job->training.last));
    add_number(arena, &made, "profiled", job->training.n_profiled);
    add_ranks(arena, &made, subsystem, type_number);
    add_company(arena, &made, subsystem);
    if (subsystem->full)
        add_ring(arena, &made, job);
    add_environment(arena, &made, type);
    if (job->launcher.kind != LAUNCHER_LOCAL)
        inputs_add(arena, &made, "launcher", "remote");
    inputs_add(arena, &made, "device", type->device);
    inputs_add(arena, &made, "backend", type->backend);
    if (job->model.kind != MODEL_COMMAND && !add_watcher(arena, &made, python, worker, e))
        return false;
    *inputs = made;
    return true;
}

static const char *find_value(const struct profile_input *input, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(input[i].key, key) == 0)
            return input[i].value;
    }
    return NULL;
}

/* "file train.py" is for people just "train.py". */
static const char *shown_key(const char *key)
{
    static const char lead[] = "file ";
    return strncmp(key, lead, sizeof lead - 1) == 0 ? key + sizeof lead - 1 : key;
}

static void tell_change(struct text *text, const char *key, const char *then, const char *now)
{
    enum { LONGEST_SHOWN = 48 };
    text_format(text, "%s%s ", text->length ? ", " : "", shown_key(key));
    if (!then)
        text_add(text, "is new");
    else if (!now)
        text_add(text, "is gone");
    else if (strlen(then) > LONGEST_SHOWN || strlen(now) > LONGEST_SHOWN)
        text_add(text, "changed");
    else
        text_format(text, "%s -> %s", *then ? then : "none", *now ? now : "none");
}

char *inputs_difference(struct arena *arena, const struct profile_input *then, size_t n_then,
                        const struct profile_input *now, size_t n_now)
{
    struct text text = {0};
    for (size_t i = 0; i < n_now; i++) {
        const char *before = find_value(then, n_then, now[i].key);
        if (!before || strcmp(before, now[i].value) != 0)
            tell_change(&text, now[i].key, before, now[i].value);
    }
    for (size_t i = 0; i < n_then; i++) {
        if (!find_value(now, n_now, then[i].key))
            tell_change(&text, then[i].key, then[i].value, NULL);
    }
    char *difference = text.length ? text_printable(arena, text.data, 0) : NULL;
    text_free(&text);
    return difference;
}
