/* The whole job file: its sections by table, then what holds between them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job.h"
#include "job/sections.h"

enum { LARGEST_FILE_BYTES = 16 << 20, LONGEST_NAME = 200 };

static bool is_name(const char *name)
{
    static const char refused[] = "/\\:,;\"'`$&|<>*?!{}[]()#~^= \t";
    bool safe_start = name[0] != '.' && name[0] != '-' && name[0] != '\0';
    if (!safe_start || strlen(name) > LONGEST_NAME || strpbrk(name, refused))
        return false;
    for (const char *s = name; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f || strncmp(s, "\xc2\x85", 2) == 0)
            return false;
    }
    return true;
}

bool section_check_name(struct reading *r, const struct node *node, const char *name,
                        const char *what)
{
    if (is_name(name))
        return true;
    reading_refuse(r, node, NULL,
                   "%s must be usable as a folder's: letters, digits, '-', '_', '.', '+', not "
                   "starting with '.' or '-' (got %s)",
                   what, reading_shown(r, name));
    return false;
}

static void read_name(struct reading *r, const struct node *node, void *out)
{
    const char *name = field_word(r, node);
    if (name && section_check_name(r, node, name, "name"))
        *(const char **)out = name;
}

static void read_subsystems(struct reading *r, const struct node *node, void *out)
{
    static const struct choice choice[] = {{"each", SUBSYSTEMS_EACH, false},
                                           {"together", SUBSYSTEMS_TOGETHER, false}};
    int value = 0;
    if (field_choose(r, node, choice, sizeof choice / sizeof *choice, &value))
        *(enum subsystems *)out = (enum subsystems)value;
}

static void read_ring(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    if (job->n_devices > 0 || node->kind != NODE_LIST)
        ring_order_read(r, node, job);
}

static void read_devices(struct reading *r, const struct node *node, void *out)
{
    struct job *job = out;
    section_devices(r, node, job);
    if (job->n_types > 0)
        device_numbers_assign(r, job);
}

/* In the order in which they need each other. */
static const struct field job_field[] = {
    {"name", read_name, offsetof(struct job, name), false},
    {"model", section_model, offsetof(struct job, model), false},
    {"data", section_data, offsetof(struct job, data), false},
    {"training", section_training, offsetof(struct job, training), false},
    {"storage", section_storage, offsetof(struct job, storage), false},
    {"devices", read_devices, 0, true},
    {"network", section_network, 0, false},
    {"ring", read_ring, 0, false},
    {"subsystems", read_subsystems, offsetof(struct job, subsystems), false},
    {"one_ring", field_bool, offsetof(struct job, one_ring), false},
    {"launcher", section_launcher, offsetof(struct job, launcher), false},
};

/* The training set in the unit of `amount`, or 0 where that is not known. */
static double training_set(const struct job_data *data, enum amount_unit unit)
{
    if (unit == AMOUNT_SAMPLES)
        return data->n_samples > 0      ? data->n_samples
               : data->sample_bytes > 0 ? data->size.value / data->sample_bytes
                                        : 0;
    return data->size.value > 0 ? data->size.value : data->n_samples * data->sample_bytes;
}

static const char *amount_text(struct reading *r, double value, enum amount_unit unit)
{
    char text[UNITS_TEXT_SIZE];
    if (unit == AMOUNT_BYTES)
        return arena_copy(r->arena, units_format(value, DIMENSION_BYTES, text));
    return arena_format(r->arena, "%s samples", units_format_count(value, text));
}

static void check_share(struct reading *r, const struct job *job,
                        const struct job_device_type *type)
{
    double total = training_set(&job->data, type->data.unit);
    if (total > 0 && type->data.value > total)
        reading_refuse_at(r, &type->data_place, NULL,
                          "the data of one device (%s) is larger than the training set (%s)",
                          amount_text(r, type->data.value, type->data.unit),
                          amount_text(r, total, type->data.unit));
}

static void check_shares(struct reading *r, const struct job *job)
{
    const struct job_device_type *with = NULL, *without = NULL;
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        r->context = arena_format(r->arena, "device type '%s'", reading_shown(r, type->name));
        if (type->data_place.line > 0)
            with = with ? with : type;
        else
            without = without ? without : type;
        if (type->data.unit != AMOUNT_NONE)
            check_share(r, job, type);
    }
    r->context = NULL;
    if (with && without)
        reading_refuse_at(r, &without->place, "give 'data' for all device types, or for none",
                          "device type '%s' has no 'data', but '%s' has",
                          reading_shown(r, without->name), reading_shown(r, with->name));
}

static void check_one_ring(struct reading *r, const struct node *root, const struct job *job)
{
    const struct node *node = node_find(root, "one_ring");
    if (node && job->one_ring && job->subsystems != SUBSYSTEMS_TOGETHER)
        reading_refuse(r, node, "add 'subsystems: together'",
                       "one_ring joins sub-systems that train together");
    for (int t = 0; node && job->one_ring && t < job->n_types; t++) {
        if (job->type[t].n_batches)
            reading_refuse(r, node, NULL, "one_ring has no room for the batches of '%s'",
                           job->type[t].name);
    }
}

/* Sub-systems tell each other that they are ready through the worker. */
static void check_together(struct reading *r, const struct node *root, const struct job *job)
{
    bool meet = job->subsystems == SUBSYSTEMS_TOGETHER && !job->one_ring;
    if (meet && job->model.kind == MODEL_COMMAND)
        reading_refuse(r, node_find(root, "subsystems"),
                       "write subsystems: each, or one_ring: true",
                       "the sub-systems of a 'command' cannot wait for each other");
}

/* The file's name without folder and ending. */
static const char *default_name(struct reading *r)
{
    if (strcmp(r->file, "-") == 0)
        return "job";
    const char *slash = strrchr(r->file, '/');
    const char *base = slash ? slash + 1 : r->file;
    const char *dot = strrchr(base, '.');
    bool ending = dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    return arena_copy_n(r->arena, base, ending ? (size_t)(dot - base) : strlen(base));
}

static void settle_name(struct reading *r, const struct node *root, struct job *job)
{
    if (job->name || node_find(root, "name"))
        return;
    const char *name = default_name(r);
    if (is_name(name))
        job->name = name;
    else
        reading_refuse(r, root, "add 'name: NAME'",
                       "the job has no name, and the file's ('%s') cannot name a folder",
                       reading_shown(r, name));
}

/* Slurm alone knows them: with another launcher they would silently mean nothing. */
static void check_slurm(struct reading *r, const struct job *job)
{
    for (int i = 0; i < job->n_types && job->launcher.kind != LAUNCHER_SLURM; i++) {
        if (job->type[i].slurm_place.line == 0)
            continue;
        r->context = arena_format(r->arena, "device type '%s'", job->type[i].name);
        reading_refuse_at(r, &job->type[i].slurm_place,
                          "write launcher: {kind: slurm}, or leave it out",
                          "'slurm' is for launcher slurm");
        r->context = NULL;
    }
}

static void read_job(struct reading *r, const struct node *root, struct job *job)
{
    if (!fields_read(r, root, job_field, sizeof job_field / sizeof *job_field, job))
        return;
    settle_name(r, root, job);
    if (job->model.kind == MODEL_COMMAND)
        job->training.n_profiled = 0; /* the profiler is PyTorch's */
    check_shares(r, job);
    check_one_ring(r, root, job);
    check_together(r, root, job);
    check_slurm(r, job);
}

bool job_parse(struct arena *arena, const char *text, size_t length, const char *file,
               const char *folder, struct job *job, struct error *e)
{
    struct job draft = {
        .file = arena_copy(arena, file),
        .folder = arena_copy(arena, folder),
        .text = arena_copy_n(arena, text, length),
        .data = {.seed = 1, .workers = 2},
        .training = {.epochs = 1, .first = 20, .last = 100, .n_profiled = 20},
        .launcher = {.stall_timeout_s = 600, .queue_timeout_s = 600},
    };
    const char *yaml = text_after_mark(draft.text);
    length -= (size_t)(yaml - draft.text);
    struct reading r;
    reading_start(&r, arena, text_printable(arena, file, 0), yaml, length);
    const struct node *root = yaml_tree_read(&r, yaml, length);
    if (root)
        read_job(&r, root, &draft);
    if (!reading_end(&r, e))
        return false;
    *job = draft;
    return true;
}

bool job_load(struct arena *arena, const char *path, struct job *job, struct error *e)
{
    char *text = NULL;
    size_t length = 0;
    if (!file_read(arena, path, LARGEST_FILE_BYTES, &text, &length, e))
        return false;
    return job_parse(arena, text, length, path, path_folder(arena, path), job, e);
}

char *job_path(struct arena *arena, const struct job *job, const char *path)
{
    return path_join(arena, job->folder, path);
}
