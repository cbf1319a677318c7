#include <math.h>

#include "report/explanation.h"
#include "report/json_values.h"

static json_t *device_json(const struct job *job, size_t position)
{
    struct arena arena = {0};
    json_t *name = json_text_or_null(job_device_name(&arena, job, job_ring_device(job, position)));
    arena_free(&arena);
    return name;
}

static json_t *part_json(const struct job *job, const struct forecast *f,
                         const struct path_part *part)
{
    json_t *object = json_object();
    bool sends = part->stage == PATH_ALL_REDUCE && !f->collective;
    json_put(object, "stage", json_string(path_stage_name(part->stage)));
    json_put(object, "type", json_text_or_null(f->type[part->type].name));
    json_put_count(object, "position", (double)part->position);
    json_put(object, "device", device_json(job, part->position));
    json_put(object, "next",
             sends ? device_json(job, (part->position + 1) % f->n_devices) : json_null());
    json_put_real(object, "each_s", part->each_s);
    return object;
}

static json_t *spent_json(const struct type_forecast *type, const struct step_parts *p)
{
    json_t *object = json_object();
    json_put(object, "type", json_text_or_null(type->name));
    json_put_real(object, "forward_s", p->forward_s);
    json_put_real(object, "backward_s", p->backward_s);
    json_put_real(object, "sends_s", p->sends_s);
    json_put_real(object, "waits_s", p->waits_s);
    json_put_real(object, "rest_s", p->rest_s);
    json_put_real(object, "loads_s", p->loads_s);
    return object;
}

static json_t *type_or_null(const struct forecast *f, int type)
{
    return type < 0 ? json_null() : json_text_or_null(f->type[type].name);
}

static json_t *remedy_json(const struct forecast *f, const struct remedy *r)
{
    static const char *const kind[] = {"all-reduce", "computing", "loading", "links"};
    json_t *object = json_object();
    json_put(object, "without", json_string(kind[r->kind]));
    json_put(object, "type", type_or_null(f, r->type));
    json_put(object, "to_type", type_or_null(f, r->kind == REMEDY_LINKS ? r->to_type : -1));
    json_put(object, "step_s", isfinite(r->step_s) ? json_real(r->step_s) : json_null());
    return object;
}

void report_explanation_json(const struct job *job, const struct forecast *f,
                             const struct explanation *x, struct text *out)
{
    json_t *root = json_object(), *path = json_array(), *types = json_array(),
           *remedies = json_array();
    json_put(root, "format", json_string("foretrain.explanation/1"));
    json_put(root, "name", json_text_or_null(f->name));
    json_put_real(root, "step_s", f->step_s);
    json_put_real(root, "mean_step_s", x->step_s);
    json_put_real(root, "spread_s", x->spread_s);
    json_put_count(root, "path_steps", (double)x->n_steps);
    for (size_t k = 0; k < x->n_parts; k++)
        json_array_append_new(path, part_json(job, f, &x->part[k]));
    for (int t = 0; t < f->n_types; t++)
        json_array_append_new(types, spent_json(&f->type[t], &x->spent[t]));
    for (size_t k = 0; k < x->n_remedies; k++)
        json_array_append_new(remedies, remedy_json(f, &x->remedy[k]));
    json_put(root, "path", path);
    json_put(root, "types", types);
    json_put(root, "remedies", remedies);
    json_print(root, out);
}
