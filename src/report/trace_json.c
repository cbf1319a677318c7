/* The forecast's steps and the sub-systems' measured ones as tracks, one below the other. */
#include "report/report.h"
#include "report/trace_events.h"

/* Threads of a device, in this order. */
enum { COMPUTES = 1, LOADS = 2, SENDS = 3, THREADS = 3 };
enum { FORECAST = 1, MEASURED = 2 }; /* processes; one for each type */

struct tracing {
    const struct run_report *run;
    const struct trace_choice *choice;
    struct trace_events events;
};

static struct trace_track track_of(size_t position, size_t thread)
{
    return (struct trace_track){FORECAST, position * THREADS + thread};
}

static bool is_shown(const struct tracing *t, size_t position)
{
    return !t->choice->shown || t->choice->shown[position];
}

static const char *name_of(const struct tracing *t, struct arena *arena, size_t position)
{
    const struct job *job = t->run->job;
    return job_device_name(arena, job, job_ring_device(job, position % job->n_devices));
}

/* In a ring a device has one link. */
static const char *name_sending(const struct tracing *t, struct arena *arena, size_t i)
{
    const char *name = name_of(t, arena, i);
    if (t->run->forecast->collective)
        return arena_format(arena, "rank %d: %s all-reduces", t->choice->rank[i], name);
    return arena_format(arena, "rank %d: link %s to %s", t->choice->rank[i], name,
                        name_of(t, arena, i + 1));
}

static void name_device(struct tracing *t, size_t i)
{
    struct arena scratch = {0};
    const char *name = name_of(t, &scratch, i);
    struct trace_events *events = &t->events;
    trace_events_name_track(events, track_of(i, COMPUTES),
                            arena_format(&scratch, "rank %d: %s", t->choice->rank[i], name));
    trace_events_name_track(events, track_of(i, LOADS),
                            arena_format(&scratch, "rank %d: %s loads", t->choice->rank[i], name));
    if (t->run->record->n_buckets)
        trace_events_name_track(events, track_of(i, SENDS), name_sending(t, &scratch, i));
    arena_free(&scratch);
}

static void add_device(struct tracing *t, const struct step_device *d, size_t i)
{
    struct trace_track computes = track_of(i, COMPUTES);
    struct trace_events *events = &t->events;
    bool inside = d->load_begin_s >= d->rest_end_s;
    trace_events_slice(events, computes, "forward", d->begin_s, d->forward_end_s);
    trace_events_slice(events, computes, "backward", d->forward_end_s, d->backward_end_s);
    trace_events_slice(events, computes, "waits for the all-reduce", d->backward_end_s,
                       d->optimizer_s);
    trace_events_slice(events, computes, "optimizer", d->optimizer_s, d->optimizer_end_s);
    trace_events_slice(events, computes, "rest", d->optimizer_end_s, d->rest_end_s);
    trace_events_slice(events, track_of(i, LOADS), "loads the next mini-batch", d->load_begin_s,
                       d->load_end_s);
    trace_events_slice(events, computes, "waits for the loader",
                       inside ? d->load_begin_s : d->rest_end_s, d->end_s);
}

static void add_buckets(struct tracing *t, const struct step_device *d,
                        const struct step_bucket *bucket, size_t i)
{
    struct trace_track computes = track_of(i, COMPUTES), sends = track_of(i, SENDS);
    size_t n = t->run->record->n_buckets;
    for (size_t b = 0; b < n; b++) {
        const struct step_bucket *k = &bucket[b];
        char name[48];
        snprintf(name, sizeof name, "bucket %zu", b);
        trace_events_slice(&t->events, sends, name, k->enter_s, k->done_s);
        trace_events_slice(&t->events, sends, "waits for the last device", k->enter_s, k->all_s);
        trace_events_flow(&t->events, name, computes, k->ready_s, sends, k->enter_s);
        if (b + 1 == n)
            trace_events_flow(&t->events, name, sends, k->done_s, computes, d->optimizer_s);
    }
}

static void add_forecast(struct tracing *t)
{
    const struct step_record *r = t->run->record;
    trace_events_name_process(&t->events, FORECAST, "forecast");
    for (size_t i = 0; i < r->n_devices; i++) {
        if (!is_shown(t, i))
            continue;
        name_device(t, i);
        for (size_t k = 0; k < r->n_steps; k++) {
            const struct step_device *d = step_record_device(r, k, i);
            add_device(t, d, i);
            add_buckets(t, d, step_record_buckets(r, k, i), i);
        }
    }
}

/* A sample of a stage; the mean where there are none. */
static double value_of(const struct samples *samples, size_t k)
{
    if (!samples->known)
        return 0;
    return samples->value && k < samples->stats.n ? samples->value[k] : samples->stats.mean;
}

struct measured {
    const struct profile *p;
    size_t process;
    size_t n; /* iterations; samples stand device by device */
};

static struct trace_track measured_track(const struct measured *m, size_t device, size_t thread)
{
    return (struct trace_track){m->process, device * (1 + m->p->n_buckets) + thread + 1};
}

/* One iteration of one device from `at_s`; when it ends. */
static double add_iteration(struct tracing *t, const struct measured *m, size_t device, size_t k,
                            double at_s)
{
    static const struct {
        enum stage stage;
        const char *name;
    } part[] = {{STAGE_WAIT, "waits for data"}, {STAGE_COPY, "copy"},
                {STAGE_FORWARD, "forward"},     {STAGE_BACKWARD, "backward, all-reduce"},
                {STAGE_OPTIMIZER, "optimizer"}, {STAGE_REST, "rest"}};
    size_t sample = device * m->n + k;
    for (size_t s = 0; s < sizeof part / sizeof *part; s++) {
        double taken_s = value_of(&m->p->stage[part[s].stage], sample);
        double unsynced_s = value_of(&m->p->stage[STAGE_BACKWARD_UNSYNCED], sample);
        trace_events_slice(&t->events, measured_track(m, device, 0), part[s].name, at_s,
                           at_s + taken_s);
        for (size_t b = 0; part[s].stage == STAGE_BACKWARD && b < m->p->n_buckets; b++) {
            const struct bucket *bucket = &m->p->bucket[b];
            char name[48];
            snprintf(name, sizeof name, "bucket %zu", b);
            trace_events_slice(&t->events, measured_track(m, device, 1 + b), name,
                               at_s + unsynced_s + value_of(&bucket->ready, sample),
                               at_s + unsynced_s + value_of(&bucket->done, sample));
        }
        at_s += taken_s;
    }
    return at_s;
}

static void name_measured(struct tracing *t, const struct measured *m, size_t device)
{
    struct arena scratch = {0};
    const char *host = m->p->host && m->p->host[device] ? m->p->host[device] : "";
    const char *name = arena_format(&scratch, "rank %zu%s%s", device, *host ? ": " : "", host);
    trace_events_name_track(&t->events, measured_track(m, device, 0), name);
    for (size_t b = 0; b < m->p->n_buckets; b++)
        trace_events_name_track(&t->events, measured_track(m, device, 1 + b),
                                arena_format(&scratch, "%s: bucket %zu", name, b));
    arena_free(&scratch);
}

static void add_measured(struct tracing *t, int type)
{
    const struct profile *p = &t->run->profile[type];
    size_t n_devices = (size_t)profile_sampled(p);
    const struct samples *forward = &p->stage[STAGE_FORWARD];
    struct measured m = {p, MEASURED + (size_t)type,
                         forward->value ? forward->stats.n / n_devices : 1};
    struct arena scratch = {0};
    trace_events_name_process(&t->events, m.process,
                              arena_format(&scratch, "%s %s", p->assumed ? "assumed" : "measured",
                                           t->run->job->type[type].name));
    arena_free(&scratch);
    for (size_t d = 0; d < n_devices; d++) {
        double at_s = 0;
        name_measured(t, &m, d);
        for (size_t k = 0; k < m.n; k++)
            at_s = add_iteration(t, &m, d, k, at_s);
    }
}

void report_trace(const struct run_report *run, const struct trace_choice *choice, FILE *out)
{
    struct tracing t = {.run = run, .choice = choice, .events = {.out = out}};
    trace_events_begin(&t.events);
    if (run->record)
        add_forecast(&t);
    for (int type = 0; choice->measured && type < run->job->n_types; type++)
        add_measured(&t, type);
    trace_events_end(&t.events);
}
