/* A profile as text that a person reads from top to bottom: what it is, then stages, then details.
 */
#include "profile/profile.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/json_text.h"
#include "profile/profile_format.h"

static void optional_text(struct json_text *out, const char *key, const char *value)
{
    if (value)
        json_text_string(out, key, value);
}

/* Numbers above 0; 0 stands for unknown. */
static void optional_number(struct json_text *out, const char *key, double value)
{
    if (value > 0)
        json_text_number(out, key, value);
}

static void add_notes(struct json_text *out, const struct profile *p)
{
    json_text_open(out, "notes", '[');
    for (size_t i = 0; i < p->n_notes; i++)
        json_text_string(out, NULL, p->note_line[i]);
    json_text_close(out, '[');
}

static void add_stats_members(struct json_text *out, const struct stats *stats)
{
    json_text_number(out, "mean", stats->mean);
    json_text_number(out, "sd", stats->sd);
    json_text_number(out, "n", (double)stats->n);
    json_text_number(out, "min", stats->min);
    json_text_number(out, "max", stats->max);
}

static void add_known(struct json_text *out, const char *key, const struct samples *samples)
{
    if (!samples->known)
        return;
    if (samples->value)
        json_text_open(out, key, '{');
    else
        json_text_open_row(out, key, '{');
    add_stats_members(out, &samples->stats);
    if (samples->value)
        json_text_numbers(out, "samples", samples->value, samples->stats.n);
    json_text_close(out, '{');
}

static void add_stages(struct json_text *out, const struct profile *p)
{
    json_text_open(out, "stages", '{');
    for (int i = 0; i < N_STAGES; i++)
        add_known(out, stage_key((enum stage)i), &p->stage[i]);
    json_text_close(out, '{');
}

static void add_identity(struct json_text *out, const struct profile *p)
{
    json_text_string(out, "format", PROFILE_FORMAT);
    json_text_string(out, "device_type", p->device_type);
    json_text_string(out, "basis", p->assumed ? "assumed" : "measured");
    optional_text(out, "note", p->note);
    optional_text(out, "started", p->started);
    optional_text(out, "date", p->date);
    optional_text(out, "framework", p->framework);
    optional_text(out, "device", p->device_name);
    optional_text(out, "backend", p->backend);
    if (p->n_notes > 0)
        add_notes(out, p);
}

static void add_hosts(struct json_text *out, const struct profile *p)
{
    json_text_open_row(out, "hosts", '[');
    for (int i = 0; i < p->n_devices; i++)
        json_text_string(out, NULL, p->host[i]);
    json_text_close(out, '[');
}

static void add_subsystem(struct json_text *out, const struct profile *p)
{
    json_text_open(out, "subsystem", '{');
    json_text_number(out, "n", p->n_devices);
    if (profile_sampled(p) < p->n_devices)
        json_text_number(out, "sampled", p->n_sampled);
    if (p->host)
        add_hosts(out, p);
    json_text_flag(out, "shares_host", p->shares_host);
    json_text_flag(out, "one_ring", p->one_ring);
    if (p->one_ring)
        json_text_number(out, "ring_devices", p->ring_devices);
    json_text_close(out, '{');
}

static void add_window(struct json_text *out, const struct profile *p)
{
    if (p->first <= 0)
        return;
    json_text_open_row(out, "window", '{');
    json_text_number(out, "first", p->first);
    json_text_number(out, "last", p->last);
    json_text_number(out, "left_out", (double)p->n_left_out);
    json_text_close(out, '{');
}

static void add_loading(struct json_text *out, const struct profile *p)
{
    optional_number(out, "batch", p->batch);
    json_text_number(out, "micro_batches", p->micro_batches);
    if (p->loader_workers >= 0)
        json_text_number(out, "loader_workers", p->loader_workers);
    optional_number(out, "sample_bytes", p->sample_bytes);
    if (p->bytes_read >= 0)
        json_text_number(out, "read_bytes", p->bytes_read);
}

static void add_all_reduce(struct json_text *out, const struct profile *p)
{
    if (p->bytes_sent <= 0 && profile_why_unknown(p, "all_reduce"))
        return;
    json_text_open(out, "all_reduce", '{');
    json_text_number(out, "sent_bytes", p->bytes_sent);
    json_text_string(out, "basis", p->bytes_measured ? "measured" : "computed");
    optional_number(out, "gradient_bytes", p->gradient_bytes);
    optional_number(out, "interface_sent_bytes", p->interface_bytes);
    json_text_close(out, '{');
}

static void add_buckets(struct json_text *out, const struct profile *p)
{
    if (p->n_buckets == 0)
        return;
    json_text_open(out, "buckets", '[');
    for (size_t i = 0; i < p->n_buckets; i++) {
        json_text_open(out, NULL, '{');
        if (p->bucket[i].bytes >= 0) {
            json_text_number(out, "bytes", p->bucket[i].bytes);
            json_text_number(out, "wire_bytes", p->bucket[i].wire_bytes);
        }
        add_known(out, "ready_s", &p->bucket[i].ready);
        add_known(out, "done_s", &p->bucket[i].done);
        add_known(out, "span_s", &p->bucket[i].span);
        add_known(out, "transfer_s", &p->bucket[i].transfer);
        json_text_close(out, '{');
    }
    json_text_close(out, '[');
}

static void add_operator(struct json_text *out, const struct profile_operator *op)
{
    json_text_open_row(out, NULL, '{');
    json_text_number(out, "index", op->index);
    json_text_string(out, "name", op->name);
    json_text_number(out, "count", (double)op->time_s.n);
    json_text_number(out, "mean_s", op->time_s.mean);
    json_text_number(out, "sd_s", op->time_s.sd);
    if (op->time_s.max > 0) {
        json_text_number(out, "min_s", op->time_s.min);
        json_text_number(out, "max_s", op->time_s.max);
    }
    json_text_close(out, '{');
}

static void add_operator_list(struct json_text *out, const char *key,
                              const struct profile_operator *op, size_t n)
{
    json_text_open(out, key, '[');
    for (size_t i = 0; i < n; i++)
        add_operator(out, &op[i]);
    json_text_close(out, '[');
}

static void add_operators(struct json_text *out, const struct profile *p)
{
    if (p->n_forward_ops + p->n_backward_ops == 0 && p->profiler_ratio <= 0)
        return;
    json_text_open(out, "operators", '{');
    optional_number(out, "profiler_ratio", p->profiler_ratio);
    add_operator_list(out, "forward", p->forward_op, p->n_forward_ops);
    add_operator_list(out, "backward", p->backward_op, p->n_backward_ops);
    json_text_close(out, '{');
}

static void add_collective(struct json_text *out, const struct profile_collective *collective)
{
    json_text_open_row(out, NULL, '{');
    json_text_string(out, "op", collective->op);
    json_text_string(out, "place", collective->place);
    if (collective->bytes >= 0)
        json_text_number(out, "bytes", collective->bytes);
    json_text_number(out, "count_per_step", collective->count_per_step);
    if (collective->span_s >= 0)
        json_text_number(out, "span_s", collective->span_s);
    if (collective->transfer_s >= 0)
        json_text_number(out, "transfer_s", collective->transfer_s);
    json_text_close(out, '{');
}

static void add_collectives(struct json_text *out, const struct profile *p)
{
    if (p->n_collectives == 0)
        return;
    json_text_open(out, "collectives", '[');
    for (size_t i = 0; i < p->n_collectives; i++)
        add_collective(out, &p->collective[i]);
    json_text_close(out, '[');
}

static void add_rounds(struct json_text *out, const struct profile_rounds *rounds)
{
    if (!(rounds->message_bytes > 0))
        return;
    json_text_open_row(out, "rounds", '{');
    json_text_number(out, "message_bytes", rounds->message_bytes);
    json_text_number(out, "idle_s", rounds->idle_s);
    json_text_number(out, "busy_s", rounds->busy_s);
    json_text_number(out, "lost_s", rounds->lost_s);
    if (rounds->large_message_bytes > 0) {
        json_text_number(out, "large_message_bytes", rounds->large_message_bytes);
        if (rounds->large_idle_s > 0) {
            json_text_number(out, "large_idle_s", rounds->large_idle_s);
            json_text_number(out, "large_busy_s", rounds->large_busy_s);
        }
        json_text_number(out, "large_lost_s", rounds->large_lost_s);
    }
    json_text_close(out, '{');
}

static void add_layer(struct json_text *out, const struct profile_layer *layer)
{
    json_text_open_row(out, NULL, '{');
    json_text_string(out, "name", layer->name);
    json_text_string(out, "kind", layer->kind);
    optional_text(out, "activation", layer->activation);
    optional_text(out, "input_shapes", layer->input_shapes);
    optional_text(out, "output_shapes", layer->output_shapes);
    json_text_number(out, "parameters", layer->n_parameters);
    json_text_close(out, '{');
}

static void add_layers(struct json_text *out, const struct profile *p)
{
    if (p->n_layers == 0)
        return;
    json_text_open(out, "layers", '[');
    for (size_t i = 0; i < p->n_layers; i++)
        add_layer(out, &p->layer[i]);
    json_text_close(out, '[');
}

static void add_dtype_sizes(struct json_text *out, const char *key, const struct dtype_sizes *sizes)
{
    if (sizes->n == 0)
        return;
    json_text_open_row(out, key, '{');
    for (size_t i = 0; i < sizes->n; i++)
        json_text_number(out, sizes->item[i].dtype, sizes->item[i].bytes);
    json_text_close(out, '{');
}

static void add_model(struct json_text *out, const struct profile *p)
{
    if (p->n_layers == 0 && !p->loss && !p->optimizer && p->n_parameters <= 0)
        return;
    json_text_open(out, "model", '{');
    optional_number(out, "parameters", p->n_parameters);
    add_dtype_sizes(out, "parameter_bytes", &p->parameter_bytes);
    add_dtype_sizes(out, "gradient_bytes", &p->model_gradient_bytes);
    optional_text(out, "loss", p->loss);
    optional_text(out, "optimizer", p->optimizer);
    add_layers(out, p);
    json_text_close(out, '{');
}

static void add_unknown(struct json_text *out, const struct profile *p)
{
    if (p->n_unknown == 0)
        return;
    json_text_open(out, "unknown", '{');
    for (size_t i = 0; i < p->n_unknown; i++)
        json_text_string(out, p->unknown[i].what, p->unknown[i].why);
    json_text_close(out, '{');
}

static void add_inputs(struct json_text *out, const struct profile *p)
{
    if (p->n_inputs == 0)
        return;
    json_text_open(out, "inputs", '{');
    for (size_t i = 0; i < p->n_inputs; i++)
        json_text_string(out, p->input[i].key, p->input[i].value);
    json_text_close(out, '{');
}

void profile_format(const struct profile *p, const char *samples_file, struct text *out)
{
    struct json_text json = {0};
    json_text_open(&json, NULL, '{');
    add_identity(&json, p);
    add_subsystem(&json, p);
    add_window(&json, p);
    add_loading(&json, p);
    add_all_reduce(&json, p);
    add_stages(&json, p);
    add_buckets(&json, p);
    add_operators(&json, p);
    add_collectives(&json, p);
    add_rounds(&json, &p->rounds);
    add_model(&json, p);
    add_unknown(&json, p);
    add_inputs(&json, p);
    optional_text(&json, "samples_file", samples_file);
    json_text_close(&json, '{');
    text_add_n(out, json.text.data, json.text.length);
    text_free(&json.text);
}

static bool ops_have_samples(const struct profile_operator *op, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (op[i].time_sample_s)
            return true;
    }
    return false;
}

static bool has_bulky_samples(const struct profile *p)
{
    return ops_have_samples(p->forward_op, p->n_forward_ops) ||
           ops_have_samples(p->backward_op, p->n_backward_ops);
}

static void add_operator_samples(struct json_text *out, const char *key,
                                 const struct profile_operator *op, size_t n)
{
    json_text_open(out, key, '[');
    for (size_t i = 0; i < n; i++) {
        if (!op[i].time_sample_s)
            continue;
        json_text_open(out, NULL, '{');
        json_text_number(out, "index", op[i].index);
        json_text_string(out, "name", op[i].name);
        json_text_numbers(out, "time_s", op[i].time_sample_s, op[i].n_time_samples);
        json_text_close(out, '{');
    }
    json_text_close(out, '[');
}

static bool write_samples(const char *path, const struct profile *p, struct error *e)
{
    struct json_text json = {0};
    json_text_open(&json, NULL, '{');
    json_text_string(&json, "format", SAMPLES_FORMAT);
    json_text_string(&json, "device_type", p->device_type);
    add_operator_samples(&json, "forward", p->forward_op, p->n_forward_ops);
    add_operator_samples(&json, "backward", p->backward_op, p->n_backward_ops);
    json_text_close(&json, '{');
    bool ok = file_write(path, json.text.data, json.text.length, e);
    text_free(&json.text);
    return ok;
}

static char *samples_path(struct arena *arena, const char *path)
{
    static const char ending[] = ".json";
    size_t length = strlen(path);
    size_t stem = length;
    if (length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0)
        stem -= strlen(ending);
    return arena_format(arena, "%.*s.samples.json", (int)stem, path);
}

bool profile_write(const char *path, const struct profile *profile, struct error *e)
{
    struct arena arena = {0};
    struct text text = {0};
    const char *samples_file = profile->samples_file;
    bool ok = true;
    if (has_bulky_samples(profile)) {
        const char *beside = samples_path(&arena, path);
        const char *slash = strrchr(beside, '/');
        samples_file = slash ? slash + 1 : beside;
        ok = write_samples(beside, profile, e);
    }
    if (ok) {
        profile_format(profile, samples_file, &text);
        ok = file_write(path, text.data, text.length, e);
    }
    text_free(&text);
    arena_free(&arena);
    return ok;
}
