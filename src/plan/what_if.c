/* Types come once for each batch, links by type; what is left for each system is its ring, its
 * step and the arithmetic of an epoch. */
#include "plan/what_if.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "network/slowest_link.h"
#include "plan/batch_profile.h"
#include "plan/ring_only.h"
#include "predict/batch_fit.h"
#include "predict/other_collectives.h"
#include "predict/parts.h"

struct type_at_batch {
    int64_t batch;
    struct type_forecast stages;
    struct ft_timeline_type step;
    struct type_at_batch *next;
};

static const struct type_at_batch *find_batch(const struct what_if *w, int t, int64_t batch)
{
    const struct type_at_batch *at = w->type[t];
    while (at && at->batch != batch)
        at = at->next;
    return at;
}

static bool make_step(struct what_if *w, int t, const struct profile *profile,
                      struct ft_timeline_type *step, struct error *e)
{
    struct type_steps steps;
    const char *why_not = type_steps_make(w->arena, profile, &w->buckets, &steps);
    if (why_not) {
        error_set(e, ERROR_INPUT, "%s", why_not);
        return false;
    }
    *step = steps.mean;
    forecast_set_whole(&w->base.type[t], step);
    return true;
}

static bool profile_at(const struct what_if *w, int t, double batch, struct profile *profile,
                       struct error *e)
{
    struct batch_fit fit;
    const struct measured_batches *known = &w->batches[t];
    if (known->n > 1)
        return batch_profile(w->arena, known->profile, known->n, batch, profile, &fit, e);
    *profile = batch_profile_scaled(w->arena, &w->profile[t], batch);
    return true;
}

bool what_if_allow_batch(struct what_if *w, int t, int64_t batch, struct error *e)
{
    struct type_at_batch *at = ARENA_NEW(w->arena, struct type_at_batch);
    struct job_device_type *type = &w->job.type[t];
    int64_t own = type->batch;
    if (find_batch(w, t, batch))
        return true;
    struct profile profile;
    if (!profile_at(w, t, (double)batch, &profile, e))
        return false;
    *at = (struct type_at_batch){.batch = batch, .stages = w->base.type[t], .next = w->type[t]};
    type->batch = batch;
    bool ok = forecast_stages(&w->job, t, &profile, &at->stages, e);
    type->batch = own;
    if (!ok || (w->model == MODEL_TIMELINE && !make_step(w, t, &profile, &at->step, e)))
        return false;
    w->type[t] = at;
    return true;
}

static bool share_host(const struct job *job, struct ft_pair hop)
{
    const char *from = job_device_host(job, job_ring_device(job, hop.from), NULL);
    const char *to = job_device_host(job, job_ring_device(job, hop.to), NULL);
    return from && to && strcmp(from, to) == 0;
}

/* The timeline as far as the job's own forecast goes by it, and every type can be in a ring. */
static void choose_model(struct what_if *w, enum forecast_model model)
{
    w->model = MODEL_CLOSED_FORM;
    if (model == MODEL_CLOSED_FORM)
        return;
    w->why_not = w->base.timeline.why_not;
    if (!w->why_not)
        w->why_not = ring_buckets_find(w->arena, w->profile, w->job.n_types, &w->buckets);
    if (!w->why_not)
        w->model = MODEL_TIMELINE;
}

static void take_job(struct what_if *w, const struct job *job)
{
    size_t n = (size_t)job->n_types;
    w->job = *job;
    w->job.type = ARENA_ARRAY(w->arena, n, struct job_device_type);
    memcpy(w->job.type, job->type, n * sizeof *w->job.type);
    if (w->base.sample_bytes > 0 && job->data.n_samples == 0)
        w->job.data.sample_bytes = w->base.sample_bytes;
}

/* How much is left of them depends on the whole ring. */
static bool has_both_ways(const struct forecast *f)
{
    for (size_t h = 0; h < f->n_hops; h++) {
        if (f->link[h].both_ways_Bps > 0)
            return true;
    }
    return false;
}

bool what_if_start(struct arena *arena, const struct job *job, const struct profile *profile,
                   const struct network *network, enum forecast_model model, bool counts_vary,
                   struct what_if *what_if, struct error *e)
{
    struct what_if w = {.arena = arena, .profile = profile, .counts_vary = counts_vary};
    if ((counts_vary && !ring_only(job, e)) ||
        !forecast_make(arena, job, profile, network, model, &w.base, e))
        return false;
    take_job(&w, job);
    choose_model(&w, model);
    w.classes = class_links_find(arena, network, job);
    if (has_both_ways(&w.base)) {
        error_set(e, ERROR_INPUT, "%s: links with both_ways are forecast by predict only",
                  job->file ? job->file : "job");
        error_hint(e, "leave both_ways out to see what other systems come to without it");
        return false;
    }
    w.within = ARENA_ARRAY(arena, w.base.n_hops, bool);
    for (size_t h = 0; h < w.base.n_hops; h++)
        w.within[h] = share_host(job, w.base.hop[h]);
    w.batches = ARENA_ARRAY(arena, (size_t)job->n_types, struct measured_batches);
    w.type = ARENA_ARRAY(arena, (size_t)job->n_types, struct type_at_batch *);
    for (int t = 0; t < job->n_types; t++) {
        if (!what_if_allow_batch(&w, t, job->type[t].batch, e))
            return false;
    }
    *what_if = w;
    return true;
}

/* A system while it is forecast: types that take part are numbered anew. */
struct system {
    const struct what_if *w;
    const struct variant *variant;
    struct arena arena;
    struct warnings warnings; /* nobody reads them */
    int *type;                /* [f.n_types], their numbers in the job */
    const struct type_at_batch **at;
    struct job job;
    struct forecast f;
};

static void take_types(struct system *s)
{
    const struct job *job = &s->variant->job;
    size_t n = (size_t)job->n_types;
    s->type = ARENA_ARRAY(&s->arena, n, int);
    s->at = ARENA_ARRAY(&s->arena, n, const struct type_at_batch *);
    s->f.type = ARENA_ARRAY(&s->arena, n, struct type_forecast);
    s->job = *job;
    s->job.type = ARENA_ARRAY(&s->arena, n, struct job_device_type);
    s->job.n_devices = 0;
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].count == 0)
            continue;
        const struct type_at_batch *at = find_batch(s->w, t, job->type[t].batch);
        assert(at);
        s->f.type[s->f.n_types] = at->stages;
        s->f.type[s->f.n_types].count = job->type[t].count;
        s->at[s->f.n_types] = at;
        s->job.type[s->f.n_types] = job->type[t];
        s->type[s->f.n_types++] = t;
        s->job.n_devices += (size_t)job->type[t].count;
    }
    s->job.n_types = s->f.n_types;
    s->f.n_devices = s->job.n_devices;
}

static void change_link(const struct variant *v, int from, int to, struct link *link)
{
    for (size_t c = 0; c < v->n_changes; c++) {
        const struct link_change *change = &v->change[c];
        bool forth = change->type[0] == from && change->type[1] == to;
        bool back = change->type[0] == to && change->type[1] == from;
        if (!forth && !back)
            continue;
        link->curve = NULL;
        if (change->bandwidth_Bps > 0) {
            link->bandwidth_Bps = change->bandwidth_Bps;
            link->at_least = false;
        }
        if (change->latency_s >= 0)
            link->latency_s = change->latency_s;
    }
}

static bool find_class_link(const struct system *s, int from, int to, bool within,
                            struct link *link, struct error *e)
{
    *link = *class_link(&s->w->classes, from, to, within);
    if (!within)
        change_link(s->variant, from, to, link);
    if (link->bandwidth_Bps > 0)
        return true;
    const struct job_device_type *type = s->variant->job.type;
    error_set(e, ERROR_INPUT, "%s: no link from %s to %s%s has a value",
              s->job.file ? s->job.file : "job", type[from].name, type[to].name,
              within ? " within a host" : "");
    error_hint(e, "give a class in network.links");
    return false;
}

static size_t slots_of(const struct job_device_type *type)
{
    return type->n_hosts > 0 ? (size_t)type->host[0].n_devices : 1;
}

/* All devices of both types are on the one host that both list first. */
static bool on_one_host(const struct job_device_type *a, const struct job_device_type *b)
{
    return a->n_hosts > 0 && b->n_hosts > 0 && strcmp(a->host[0].name, b->host[0].name) == 0 &&
           (size_t)a->count <= slots_of(a) && (size_t)b->count <= slots_of(b);
}

/* Devices of one type, as many to a host as its first host has; then on to the next type. */
static bool add_run(struct system *s, int run, size_t first, struct error *e)
{
    int next_run = (run + 1) % s->f.n_types, type = s->type[run], next = s->type[next_run];
    const struct job_device_type *t = &s->job.type[run];
    size_t n = (size_t)t->count, slots = slots_of(t);
    bool leaves_within = on_one_host(t, &s->job.type[next_run]);
    struct link across, within, leaving;
    if ((n > slots && !find_class_link(s, type, type, false, &across, e)) ||
        (n > 1 && slots > 1 && !find_class_link(s, type, type, true, &within, e)) ||
        !find_class_link(s, type, next, leaves_within, &leaving, e))
        return false;
    for (size_t k = 0, slot = 1; k < n; k++, slot = slot < slots ? slot + 1 : 1)
        s->f.link[first + k] = k + 1 == n ? leaving : slot < slots ? within : across;
    return true;
}

static void use_ring(struct system *s)
{
    size_t n = s->f.n_devices;
    s->f.n_hops = n;
    s->f.link = ARENA_ARRAY(&s->arena, n, struct link);
    s->f.slowest_hop = ARENA_ARRAY(&s->arena, n, size_t);
    for (size_t i = 0; i < n; i++)
        s->f.slowest_hop[i] = i;
}

static bool ring_by_class(struct system *s, struct error *e)
{
    size_t first = 0;
    s->job.ring = NULL;
    use_ring(s);
    for (int run = 0; run < s->f.n_types; run++) {
        if (s->f.n_devices > 1 && !add_run(s, run, first, e))
            return false;
        first += (size_t)s->job.type[run].count;
    }
    if (s->f.n_devices > 1)
        slowest_link_expect(s->f.link, s->f.n_devices);
    return true;
}

static int type_at(const struct system *s, size_t position)
{
    return job_device_type(&s->job, job_ring_device(&s->job, position));
}

/* A link that varies, or shares its host's uplink, is as much slower in the ring as it was. */
static void change_settled_link(const struct system *s, int from, int to, struct link *link)
{
    const struct link *class = class_link(&s->w->classes, from, to, false);
    double left = link->uplink_hops > 0 ? 1 / (double)link->uplink_hops : 1;
    double before_Bps = link->bandwidth_Bps;
    if (link->spread > 0 && class->bandwidth_Bps > 0)
        left = link->bandwidth_Bps / class->bandwidth_Bps;
    change_link(s->variant, from, to, link);
    if (link->bandwidth_Bps != before_Bps)
        link->bandwidth_Bps *= left;
}

/* The job's own collective, over links that may be others. */
static void links_of_job(struct system *s)
{
    const struct forecast *base = &s->w->base;
    s->f.collective = base->collective;
    s->f.hop = base->hop;
    s->f.n_hops = base->n_hops;
    s->f.slowest_hop = base->slowest_hop;
    s->f.link = ARENA_ARRAY(&s->arena, base->n_hops, struct link);
    for (size_t h = 0; h < base->n_hops; h++) {
        s->f.link[h] = base->link[h];
        if (!s->w->within[h])
            change_settled_link(s, type_at(s, base->hop[h].from), type_at(s, base->hop[h].to),
                                &s->f.link[h]);
    }
}

static bool find_links(struct system *s, struct error *e)
{
    if (s->w->counts_vary)
        return ring_by_class(s, e);
    links_of_job(s);
    return true;
}

static struct ft_timeline_type *timeline_types(struct system *s)
{
    struct ft_timeline_type *type =
        ARENA_ARRAY(&s->arena, (size_t)s->f.n_types, struct ft_timeline_type);
    for (int t = 0; t < s->f.n_types; t++) {
        type[t] = s->at[t]->step;
        type[t].load_s = fmax(type[t].load_s, s->f.storage_s);
    }
    return type;
}

/* The types' steps hold what those take in the job's own system. */
static void take_other_collectives(const struct system *s, const struct ft_timeline *timeline,
                                   struct ft_timeline_type *type)
{
    for (int t = 0; t < s->f.n_types; t++) {
        const struct profile *p = &s->w->profile[s->type[t]];
        const struct type_forecast *base = &s->w->base.type[s->type[t]];
        type[t].forward_s +=
            other_collectives_longer_s(p, timeline, s->f.n_hops, true) - base->others_forward_s;
        type[t].rest_s +=
            other_collectives_longer_s(p, timeline, s->f.n_hops, false) - base->others_rest_s;
    }
}

static bool step_by_timeline(struct system *s, struct error *e)
{
    size_t n = s->f.n_devices;
    int *type_of = ARENA_ARRAY(&s->arena, n, int);
    struct ft_link *link = ARENA_ARRAY(&s->arena, s->f.n_hops, struct ft_link);
    for (size_t i = 0; i < n; i++)
        type_of[i] = type_at(s, i);
    struct ft_timeline_type *type = timeline_types(s);
    for (size_t h = 0; h < s->f.n_hops; h++) {
        size_t from = s->f.hop ? s->f.hop[h].from : h;
        link[h] = forecast_as_link(&s->f.link[h], type[type_of[from]].idle_Bps);
    }
    struct ft_timeline timeline = {.type = type,
                                   .n_types = (size_t)s->f.n_types,
                                   .type_of = type_of,
                                   .link = n > 1 ? link : NULL,
                                   .n_devices = n,
                                   .bucket_bytes = s->w->buckets.bytes,
                                   .n_buckets = s->w->buckets.n,
                                   .collective = s->f.collective};
    struct ft_timeline_step step;
    char message[FT_MESSAGE_SIZE];
    take_other_collectives(s, &timeline, type);
    if (!ft_timeline_step(&timeline, &step, message)) {
        error_set(e, ERROR_INPUT, "%s: %s", s->job.file ? s->job.file : "job", message);
        return false;
    }
    s->f.step_s = step.step_s;
    return true;
}

static bool find_step(struct system *s, struct error *e)
{
    s->f.model = MODEL_CLOSED_FORM; /* no interval */
    s->f.payload_bytes = s->w->base.payload_bytes;
    if (s->w->model == MODEL_TIMELINE)
        return step_by_timeline(s, e);
    if (!forecast_closed_form(&s->arena, &s->job, &s->f, e))
        return false;
    s->f.step_s = s->f.closed_form.step_s;
    return true;
}

static void find_cost(const struct system *s, struct outcome *o)
{
    double per_s = 0;
    o->cost_known = o->epoch_known;
    for (int t = 0; t < s->job.n_types; t++) {
        o->cost_known = o->cost_known && s->job.type[t].price.given;
        per_s += (double)s->job.type[t].count * s->job.type[t].price.per_s;
    }
    o->cost = o->cost_known ? per_s * o->total_s : 0;
}

static bool forecast_system(struct system *s, struct outcome *outcome, struct error *e)
{
    take_types(s);
    if (s->f.n_devices == 0) {
        *outcome = (struct outcome){0};
        return true;
    }
    struct profile *profile = ARENA_ARRAY(&s->arena, (size_t)s->f.n_types, struct profile);
    for (int t = 0; t < s->f.n_types; t++)
        profile[t] = s->w->profile[s->type[t]];
    forecast_sample_size(&s->job, profile, &s->f);
    if (!forecast_storage(&s->job, profile, &s->f, &s->warnings, e) || !find_links(s, e) ||
        !find_step(s, e) || !forecast_epoch(&s->arena, &s->job, &s->f, &s->warnings, e))
        return false;
    struct outcome o = {.any = true,
                        .n_devices = s->f.n_devices,
                        .step_s = s->f.step_s,
                        .samples_per_s = s->f.samples_per_s,
                        .epoch_known = s->f.epoch_known,
                        .iterations = s->f.epoch.iterations,
                        .epoch_s = s->f.epoch_s,
                        .total_s = s->f.total_s};
    find_cost(s, &o);
    *outcome = o;
    return true;
}

/* A table says what messages of each size take, latency and bandwidth in one. */
static bool check_changes(const struct system *s, struct error *e)
{
    const struct job *job = &s->variant->job;
    for (size_t c = 0; c < s->variant->n_changes; c++) {
        const struct link_change *change = &s->variant->change[c];
        int a = change->type[0], b = change->type[1];
        bool table = class_link(&s->w->classes, a, b, false)->curve ||
                     class_link(&s->w->classes, b, a, false)->curve;
        if (!table || change->bandwidth_Bps > 0 || change->latency_s < 0)
            continue;
        error_set(e, ERROR_INPUT,
                  "%s: the latency between %s and %s cannot vary: it is in the "
                  "link's table",
                  job->file ? job->file : "job", job->type[a].name, job->type[b].name);
        error_hint(e, "vary its bandwidth too: both then stand for the table");
        return false;
    }
    return true;
}

bool what_if_forecast(const struct what_if *w, const struct variant *variant,
                      struct outcome *outcome, struct error *e)
{
    struct system s = {.w = w, .variant = variant};
    s.warnings.arena = &s.arena;
    bool ok = check_changes(&s, e) && forecast_system(&s, outcome, e);
    arena_free(&s.arena);
    return ok;
}

double what_if_waiting(const struct what_if *w)
{
    struct ft_timeline_step by_means;
    bool known = w->model == MODEL_TIMELINE && w->base.timeline.spread_known &&
                 ft_timeline_step(w->base.timeline.ring, &by_means, NULL);
    return known ? fmax(0, w->base.step_s / by_means.step_s - 1) : 0;
}
