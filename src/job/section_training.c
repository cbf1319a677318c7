/* The sections with a few settings each: data, training, storage, launcher. */
#include <math.h>
#include <stddef.h>

#include "base/units.h"
#include "job/sections.h"

static void read_path(struct reading *r, const struct node *node, void *out)
{
    struct job_data *data = out;
    field_text(r, node, &data->path);
    data->place = reading_place(r, node->line, node->column);
}

static void read_list(struct reading *r, const struct node *node, void *out)
{
    struct job_data *data = out;
    field_text(r, node, &data->list);
    data->place = reading_place(r, node->line, node->column);
}

static void read_cache(struct reading *r, const struct node *node, void *out)
{
    static const struct choice cache[] = {{"cold", 0, false}, {"warm", 1, false}};
    int warm = 0;
    if (field_choose(r, node, cache, 2, &warm))
        *(bool *)out = warm == 1;
}

static const struct field data_field[] = {
    {"path", read_path, 0, false},
    {"list", read_list, 0, false},
    {"size", field_size, offsetof(struct job_data, size), false},
    {"samples", field_samples, offsetof(struct job_data, n_samples), false},
    {"sample_size", field_bytes, offsetof(struct job_data, sample_bytes), false},
    {"seed", field_seed, offsetof(struct job_data, seed), false},
    {"workers", field_natural, offsetof(struct job_data, workers), false},
    {"cache", read_cache, offsetof(struct job_data, warm_cache), false},
};

/* Any two of size, samples and sample_size give the third. */
static void check_sizes(struct reading *r, const struct node *node, const struct job_data *data)
{
    if (data->size.unit == AMOUNT_NONE || data->n_samples == 0 || data->sample_bytes == 0)
        return;
    double product = data->n_samples * data->sample_bytes;
    if (fabs(product - data->size.value) <= 0.01 * data->size.value)
        return;
    char text[2][UNITS_TEXT_SIZE];
    reading_refuse(r, node_find(node, "samples"), "leave one of the three out",
                   "samples times sample_size is %s, but size is %s",
                   units_format(product, DIMENSION_BYTES, text[0]),
                   units_format(data->size.value, DIMENSION_BYTES, text[1]));
}

void section_data(struct reading *r, const struct node *node, void *out)
{
    struct job_data *data = out;
    if (!fields_read(r, node, data_field, sizeof data_field / sizeof *data_field, data))
        return;
    if (data->path && data->list)
        reading_refuse(r, node_find(node, "list"), NULL,
                       "data has both 'path' and 'list'; expected one of them");
    check_sizes(r, node, data);
}

static void read_collective(struct reading *r, const struct node *node, void *out)
{
    static const struct choice collective[] = {
        {"ring", FT_RING, false},
        {"tree", FT_TREE, false},
        {"hierarchical", FT_HIERARCHICAL, false},
        {"halving-doubling", FT_HALVING_DOUBLING, false},
        {"parameter-server", FT_PARAMETER_SERVER, false},
        {"bridge", FT_BRIDGE, false},
    };
    int value = 0;
    if (field_choose(r, node, collective, sizeof collective / sizeof *collective, &value))
        *(enum ft_collective_kind *)out = (enum ft_collective_kind)value;
}

static void read_window(struct reading *r, const struct node *node, void *out)
{
    struct job_training *training = out;
    if (node->kind != NODE_LIST || node->n != 2) {
        reading_refuse(r, node, NULL,
                       "%s must be the first and the last counted iteration, such as [20, 100] "
                       "(got %s)",
                       node->name, node_found(r, node));
        return;
    }
    int first = 0, last = 0;
    field_small_count(r, node->first, &first);
    field_small_count(r, node->last, &last);
    if (first == 0 || last == 0)
        return;
    if (first > last) {
        reading_refuse(r, node, NULL, "%s: the first counted iteration (%d) is after the last (%d)",
                       node->name, first, last);
        return;
    }
    training->first = first;
    training->last = last;
}

static void read_last_batch(struct reading *r, const struct node *node, void *out)
{
    static const struct choice last[] = {{"keep", 0, false}, {"drop", 1, false}};
    int drop = 0;
    if (field_choose(r, node, last, sizeof last / sizeof *last, &drop))
        *(bool *)out = drop == 1;
}

static const struct field training_field[] = {
    {"epochs", field_epochs, offsetof(struct job_training, epochs), false},
    {"collective", read_collective, offsetof(struct job_training, collective), false},
    {"iterations", read_window, 0, false},
    {"profiled", field_natural, offsetof(struct job_training, n_profiled), false},
    {"evaluation", field_duration, offsetof(struct job_training, evaluation_s), false},
    {"checkpoint", field_duration, offsetof(struct job_training, checkpoint_s), false},
    {"last_batch", read_last_batch, offsetof(struct job_training, drops_last), false},
};

void section_training(struct reading *r, const struct node *node, void *out)
{
    fields_read(r, node, training_field, sizeof training_field / sizeof *training_field, out);
}

static const struct field storage_field[] = {
    {"bandwidth", field_bandwidth, offsetof(struct job_storage, bandwidth_Bps), true},
};

void section_storage(struct reading *r, const struct node *node, void *out)
{
    fields_read(r, node, storage_field, sizeof storage_field / sizeof *storage_field, out);
}

static void read_launcher_kind(struct reading *r, const struct node *node, void *out)
{
    static const struct choice kind[] = {{"local", LAUNCHER_LOCAL, false},
                                         {"ssh", LAUNCHER_SSH, false},
                                         {"slurm", LAUNCHER_SLURM, false}};
    int value = 0;
    if (field_choose(r, node, kind, sizeof kind / sizeof *kind, &value))
        *(enum launcher_kind *)out = (enum launcher_kind)value;
}

static void read_shared(struct reading *r, const struct node *node, void *out)
{
    static const struct choice shared[] = {{"auto", FILES_AS_FOUND, false},
                                           {"true", FILES_SHARED, false},
                                           {"false", FILES_COPIED, false}};
    int value = 0;
    if (field_choose(r, node, shared, sizeof shared / sizeof *shared, &value))
        *(enum launcher_files *)out = (enum launcher_files)value;
}

static const struct field launcher_field[] = {
    {"kind", read_launcher_kind, offsetof(struct job_launcher, kind), false},
    {"stall_timeout", field_duration, offsetof(struct job_launcher, stall_timeout_s), false},
    {"timeout", field_duration, offsetof(struct job_launcher, timeout_s), false},
    {"user", field_option, offsetof(struct job_launcher, user), false},
    {"config", field_text, offsetof(struct job_launcher, config), false},
    {"folder", field_text, offsetof(struct job_launcher, folder), false},
    {"shared", read_shared, offsetof(struct job_launcher, files), false},
    {"partition", field_option, offsetof(struct job_launcher, slurm.partition), false},
    {"account", field_option, offsetof(struct job_launcher, slurm.account), false},
    {"qos", field_option, offsetof(struct job_launcher, slurm.qos), false},
    {"constraint", field_option, offsetof(struct job_launcher, slurm.constraint), false},
    {"reservation", field_option, offsetof(struct job_launcher, slurm.reservation), false},
    {"gres", field_option, offsetof(struct job_launcher, slurm.gres), false},
    {"time_limit", field_duration, offsetof(struct job_launcher, time_limit_s), false},
    {"queue_timeout", field_duration, offsetof(struct job_launcher, queue_timeout_s), false},
};

enum { SSH = 1 << LAUNCHER_SSH, SLURM = 1 << LAUNCHER_SLURM, REMOTE = SSH | SLURM };

/* Keys that not every launcher knows: elsewhere they would silently mean nothing. */
static const struct {
    const char *key;
    int kinds;
    const char *whose;
} special[] = {
    {"user", SSH, "launcher ssh"},
    {"config", SSH, "launcher ssh"},
    {"folder", REMOTE, "launchers that reach other hosts"},
    {"shared", REMOTE, "launchers that reach other hosts"},
    {"partition", SLURM, "launcher slurm"},
    {"account", SLURM, "launcher slurm"},
    {"qos", SLURM, "launcher slurm"},
    {"constraint", SLURM, "launcher slurm"},
    {"reservation", SLURM, "launcher slurm"},
    {"gres", SLURM, "launcher slurm"},
    {"time_limit", SLURM, "launcher slurm"},
    {"queue_timeout", SLURM, "launcher slurm"},
};

static void refuse_others_keys(struct reading *r, const struct node *node, enum launcher_kind kind)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const struct node *value = node_find(node, special[i].key);
        if (!value || special[i].kinds & 1 << kind)
            continue;
        const char *wanted = special[i].kinds & SSH ? "ssh" : "slurm";
        reading_refuse(r, value, arena_format(r->arena, "write kind: %s, or leave it out", wanted),
                       "'%s' is for %s", special[i].key, special[i].whose);
    }
}

void section_launcher(struct reading *r, const struct node *node, void *out)
{
    struct job_launcher *launcher = out;
    if (node->kind == NODE_SCALAR)
        read_launcher_kind(r, node, &launcher->kind);
    else if (fields_read(r, node, launcher_field, sizeof launcher_field / sizeof *launcher_field,
                         launcher))
        refuse_others_keys(r, node, launcher->kind);
}
