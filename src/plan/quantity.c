/* One table of kinds; a path is a scope, names of types, and a kind's key. */
#include "plan/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

enum scope { SCOPE_TYPE, SCOPE_LINK, SCOPE_JOB };

struct quantity_kind {
    const char *key; /* behind the names, or the whole path */
    enum scope scope;
    bool plain; /* a whole number without a unit */
    enum dimension dimension;
    double least; /* smallest value; negative: anything above 0 */
    void (*set)(const struct quantity *q, double value, struct variant *v);
};

static struct job_device_type *type_of(const struct quantity *q, struct variant *v)
{
    return &v->job.type[q->type[0]];
}

static void set_count(const struct quantity *q, double value, struct variant *v)
{
    type_of(q, v)->count = (int64_t)value;
}

static void set_batch(const struct quantity *q, double value, struct variant *v)
{
    type_of(q, v)->batch = (int64_t)value;
}

static void set_data(const struct quantity *q, double value, struct variant *v)
{
    type_of(q, v)->data = (struct amount){value, AMOUNT_BYTES};
}

static void set_price(const struct quantity *q, double value, struct variant *v)
{
    type_of(q, v)->price = (struct price){true, value};
}

static struct link_change *change_of(const struct quantity *q, struct variant *v)
{
    for (size_t i = 0; i < v->n_changes; i++) {
        if (v->change[i].type[0] == q->type[0] && v->change[i].type[1] == q->type[1])
            return &v->change[i];
    }
    struct link_change *added = &v->change[v->n_changes++];
    *added = (struct link_change){{q->type[0], q->type[1]}, 0, -1};
    return added;
}

static void set_bandwidth(const struct quantity *q, double value, struct variant *v)
{
    change_of(q, v)->bandwidth_Bps = value;
}

static void set_latency(const struct quantity *q, double value, struct variant *v)
{
    change_of(q, v)->latency_s = value;
}

static void set_epochs(const struct quantity *q, double value, struct variant *v)
{
    (void)q;
    v->job.training.epochs = value;
}

/* Samples stay as large as they were. */
static void keep_sample_size(struct job_data *data)
{
    bool follows = data->sample_bytes == 0 && data->n_samples > 0 && data->size.value > 0;
    if (follows)
        data->sample_bytes = data->size.value / data->n_samples;
}

static void set_size(const struct quantity *q, double value, struct variant *v)
{
    (void)q;
    keep_sample_size(&v->job.data);
    v->job.data.n_samples = 0;
    v->job.data.size = (struct amount){value, AMOUNT_BYTES};
}

static void set_samples(const struct quantity *q, double value, struct variant *v)
{
    (void)q;
    keep_sample_size(&v->job.data);
    v->job.data.n_samples = value;
}

static void set_sample_size(const struct quantity *q, double value, struct variant *v)
{
    (void)q;
    v->job.data.sample_bytes = value;
}

static const struct quantity_kind kind[] = {
    {"count", SCOPE_TYPE, true, 0, 0, set_count},
    {"batch", SCOPE_TYPE, true, 0, 1, set_batch},
    {"data", SCOPE_TYPE, false, DIMENSION_BYTES, -1, set_data},
    {"price", SCOPE_TYPE, false, DIMENSION_PRICE, 0, set_price},
    {"bandwidth", SCOPE_LINK, false, DIMENSION_BANDWIDTH, -1, set_bandwidth},
    {"latency", SCOPE_LINK, false, DIMENSION_TIME, 0, set_latency},
    {"training.epochs", SCOPE_JOB, true, 0, 1, set_epochs},
    {"data.size", SCOPE_JOB, false, DIMENSION_BYTES, -1, set_size},
    {"data.samples", SCOPE_JOB, true, 0, 1, set_samples},
    {"data.sample_size", SCOPE_JOB, false, DIMENSION_BYTES, -1, set_sample_size},
};
enum { N_KINDS = sizeof kind / sizeof *kind, MOST_LINKED = 32 };

/* Adds a quantity to those that there are. */
struct candidates {
    struct quantity *item;
    size_t n;
};

static void add(struct candidates *c, const char *path, const struct quantity_kind *k, int a, int b)
{
    c->item[c->n++] = (struct quantity){path, k, {a, b}};
}

static void add_type_paths(struct arena *arena, const struct job *job,
                           const struct quantity_kind *k, struct candidates *c)
{
    for (int t = 0; t < job->n_types; t++)
        add(c, arena_format(arena, "%s.%s", job->type[t].name, k->key), k, t, JOB_NO_TYPE);
}

static void add_link_paths(struct arena *arena, const struct job *job,
                           const struct quantity_kind *k, struct candidates *c)
{
    int n = job->n_types < MOST_LINKED ? job->n_types : MOST_LINKED;
    for (int pair = 0; pair < n * n; pair++) {
        int a = pair / n, b = pair % n;
        const char *path =
            arena_format(arena, "network.%s-%s.%s", job->type[a].name, job->type[b].name, k->key);
        add(c, path, k, a < b ? a : b, a < b ? b : a);
    }
}

/* All paths of a job; those of links among its first types. */
static struct candidates all_quantities(struct arena *arena, const struct job *job)
{
    size_t most = N_KINDS * ((size_t)job->n_types + (size_t)MOST_LINKED * MOST_LINKED + 1);
    struct candidates c = {.item = ARENA_ARRAY(arena, most, struct quantity)};
    for (size_t k = 0; k < N_KINDS; k++) {
        if (kind[k].scope == SCOPE_TYPE)
            add_type_paths(arena, job, &kind[k], &c);
        else if (kind[k].scope == SCOPE_LINK)
            add_link_paths(arena, job, &kind[k], &c);
        else
            add(&c, kind[k].key, &kind[k], JOB_NO_TYPE, JOB_NO_TYPE);
    }
    return c;
}

static void refuse_path(struct arena *arena, const char *path, const struct candidates *c,
                        struct error *e)
{
    const char **word = ARENA_ARRAY(arena, c->n, const char *);
    for (size_t i = 0; i < c->n; i++)
        word[i] = c->item[i].path;
    error_set(e, ERROR_USAGE, "the job has no quantity '%s' to vary",
              text_printable(arena, path, 0));
    const char *nearest = text_nearest(path, word, c->n);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    else
        error_hint(e, "such as %s, or %s", word[0], word[c->n - 1]);
}

static bool is_same(const struct quantity *a, const struct quantity *b)
{
    return a->kind == b->kind && a->type[0] == b->type[0] && a->type[1] == b->type[1];
}

/* "network.a-b-c.latency" where there are types a, b-c, a-b and c. */
static void refuse_ambiguous(const struct job *job, const struct quantity *one,
                             const struct quantity *other, struct error *e)
{
    const struct job_device_type *type = job->type;
    error_set(e, ERROR_USAGE, "%s is of the types %s and %s, and of %s and %s", one->path,
              type[one->type[0]].name, type[one->type[1]].name, type[other->type[0]].name,
              type[other->type[1]].name);
    error_hint(e, "name the types the other way around, or call one something else");
}

bool quantity_find(struct arena *arena, const struct job *job, const char *path,
                   struct quantity *quantity, struct error *e)
{
    static const char lead[] = "devices.";
    const struct candidates c = all_quantities(arena, job);
    if (strncmp(path, lead, strlen(lead)) == 0)
        path += strlen(lead);
    const struct quantity *found = NULL;
    for (size_t i = 0; i < c.n; i++) {
        if (strcmp(c.item[i].path, path) != 0)
            continue;
        if (found && found->type[1] != JOB_NO_TYPE && !is_same(found, &c.item[i])) {
            refuse_ambiguous(job, found, &c.item[i], e);
            return false;
        }
        found = found ? found : &c.item[i];
    }
    if (found)
        *quantity = *found;
    else
        refuse_path(arena, path, &c, e);
    return found;
}

bool quantity_is_count(const struct quantity *q)
{
    return q->kind->set == set_count;
}

bool quantity_is_batch(const struct quantity *q)
{
    return q->kind->set == set_batch;
}

bool quantity_is_latency(const struct quantity *q)
{
    return q->kind->set == set_latency;
}

void quantity_set(const struct quantity *q, double value, struct variant *variant)
{
    q->kind->set(q, value, variant);
}

const char *quantity_unit(const struct quantity *q)
{
    static const char *const unit[] = {[DIMENSION_BYTES] = "bytes",
                                       [DIMENSION_BANDWIDTH] = "Bps",
                                       [DIMENSION_TIME] = "s",
                                       [DIMENSION_PRICE] = "per_s"};
    return q->kind->plain ? "" : unit[q->kind->dimension];
}

char *quantity_format(const struct quantity *q, double value, char *text)
{
    return q->kind->plain ? units_format_count(value, text)
                          : units_format(value, q->kind->dimension, text);
}

/* The unit behind a number, "" for none. */
static const char *unit_behind(const char *text)
{
    char *end = NULL;
    strtod(text, &end);
    while (isspace((unsigned char)*end))
        end++;
    return end;
}

static bool read_plain(const char *text, double *value)
{
    char *end = NULL;
    const double most = 9007199254740992;
    *value = strtod(text, &end);
    bool decimal = isdigit((unsigned char)*text) && !strpbrk(text, "xXpP");
    return decimal && *end == '\0' && *value == rint(*value) && *value <= most;
}

static const double MOST_COUNTED = 1e7;

static bool in_range(const struct quantity *q, double value)
{
    bool many = quantity_is_count(q) || quantity_is_batch(q);
    return (q->kind->least < 0 ? value > 0 : value >= q->kind->least) &&
           (!many || value <= MOST_COUNTED);
}

/* One number; `unit` stands for one that it lacks. */
static bool read_value(struct arena *arena, const struct quantity *q, const char *text,
                       const char *unit, double *value, struct error *e)
{
    bool bare = !*unit_behind(text) && *unit;
    const char *whole = bare ? arena_format(arena, "%s %s", text, unit) : text;
    struct error why = {0};
    bool read = q->kind->plain ? read_plain(text, value)
                               : units_parse(whole, q->kind->dimension, value, &why);
    if (read && in_range(q, *value))
        return true;
    const char *shown = text_printable(arena, whole, 0);
    if (why.text)
        error_set(e, ERROR_USAGE, "%s: %s", q->path, text_printable(arena, why.text, 1));
    else if (q->kind->plain)
        error_set(e, ERROR_USAGE, "%s must be a whole number, %g or more (got '%s')", q->path,
                  q->kind->least, shown);
    else
        error_set(e, ERROR_USAGE, "%s must be %s (got '%s')", q->path,
                  q->kind->least < 0 ? "above 0" : "0 or more", shown);
    error_clear(&why);
    return false;
}

struct values {
    double *item;
    size_t n, capacity;
};

enum { MOST_VALUES = 1000000 };

static bool too_many(const struct quantity *q, struct error *e)
{
    error_set(e, ERROR_USAGE, "%s has more than a million values", q->path);
    return false;
}

static bool add_value(const struct quantity *q, struct values *values, double value,
                      struct error *e)
{
    if (values->n == MOST_VALUES)
        return too_many(q, e);
    if (values->n == values->capacity) {
        values->capacity = values->capacity ? 2 * values->capacity : 64;
        values->item = memory_resize(values->item, values->capacity, sizeof *values->item);
    }
    values->item[values->n++] = value;
    return true;
}

static bool add_range(const struct quantity *q, const double *bound, struct values *values,
                      struct error *e)
{
    const double rounding = 1e-9;
    if (!(bound[2] > 0) || bound[1] < bound[0]) {
        error_set(e, ERROR_USAGE,
                  "%s: a range is first:last:step, the last not below the first and the step above "
                  "0",
                  q->path);
        return false;
    }
    double steps = floor((bound[1] - bound[0]) / bound[2] + rounding);
    if (steps >= MOST_VALUES)
        return too_many(q, e);
    for (size_t i = 0; i <= (size_t)steps; i++) {
        if (!add_value(q, values, bound[0] + (double)i * bound[2], e))
            return false;
    }
    return true;
}

/* "5" or "0:200:10". */
static bool add_item(struct arena *arena, const struct quantity *q, char *item, const char *unit,
                     struct values *values, struct error *e)
{
    double bound[3] = {0};
    int n = 0;
    for (char *part = item; part && n < 3; n++) {
        char *colon = strchr(part, ':');
        if (colon)
            *colon = '\0';
        if (!read_value(arena, q, part, unit, &bound[n], e))
            return false;
        part = colon ? colon + 1 : NULL;
        if (n == 2 && part) {
            error_set(e, ERROR_USAGE, "%s: a range is first:last:step", q->path);
            return false;
        }
    }
    if (n == 1)
        return add_value(q, values, bound[0], e);
    if (n == 2)
        bound[2] = q->kind->plain ? 1 : 0;
    return add_range(q, bound, values, e);
}

static const char *last_unit(const char *text)
{
    const char *last = text;
    for (const char *s = text; *s; s++)
        last = *s == ',' || *s == ':' ? s + 1 : last;
    return unit_behind(last);
}

static bool add_items(struct arena *arena, const struct quantity *q, const char *text,
                      struct values *values, struct error *e)
{
    const char *unit = arena_copy(arena, q->kind->plain ? "" : last_unit(text));
    for (char *item = arena_copy(arena, text); item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (!add_item(arena, q, item, unit, values, e))
            return false;
        item = comma ? comma + 1 : NULL;
    }
    return true;
}

bool quantity_values(struct arena *arena, const struct quantity *q, const char *text,
                     double **value, size_t *n, struct error *e)
{
    struct values values = {0};
    bool ok = add_items(arena, q, text, &values, e);
    if (ok && values.n > 0) {
        *value = ARENA_ARRAY(arena, values.n, double);
        memcpy(*value, values.item, values.n * sizeof **value);
        *n = values.n;
    }
    free(values.item);
    return ok;
}
