#include "measure/measure.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/inputs.h"
#include "measure/launcher.h"
#include "measure/python.h"
#include "measure/rank_command.h"
#include "measure/subsystem.h"
#include "measure/subsystem_data.h"
#include "measure/training.h"
#include "profile/profile.h"

struct measurement {
    struct arena arena;
    const struct job *job;
    const struct measure_options *options;
    const char *run, *worker, *keep; /* absolute */
    const struct progress *progress;
    struct launcher *launcher;
    struct subsystem_type *type; /* [n_types] */
    struct inputs *inputs;       /* [n_types], of those to be measured */
    bool *wanted;                /* [n_types]: the job gives no profile */
    bool *due;                   /* [n_types]: wanted and not kept */
    struct subsystem *subsystem; /* [n_types], of those wanted; in one ring all are the same */
    struct subsystem_data data;
    char started[CLOCK_DATE_SIZE];
};

char *measure_profile_name(struct arena *arena, const struct job_device_type *type, int64_t batch)
{
    return type->n_batches ? arena_format(arena, "%s-b%lld", type->name, (long long)batch)
                           : arena_copy(arena, type->name);
}

static const char *profile_name(struct measurement *m, int type)
{
    return measure_profile_name(&m->arena, &m->job->type[type], m->job->type[type].batch);
}

static const char *profile_path(struct measurement *m, int type)
{
    return arena_format(&m->arena, "%s/profiles/%s.json", m->run, profile_name(m, type));
}

/* What is measured, for people: "fast"; "full system, fast"; "fast, batch 32". */
static const char *subject(struct measurement *m, int number)
{
    const struct job_device_type *type = &m->job->type[number];
    const char *batch =
        type->n_batches ? arena_format(&m->arena, ", batch %lld", (long long)type->batch) : "";
    return arena_format(&m->arena, "%s%s%s", m->options->full ? "full system, " : "", type->name,
                        batch);
}

static bool is_one_ring(const struct job *job)
{
    return job->subsystems == SUBSYSTEMS_TOGETHER && job->one_ring;
}

static void plan_subsystems(struct measurement *m)
{
    struct subsystem ring = {0};
    if (m->options->full)
        subsystem_plan_full(&m->arena, m->job, &ring);
    else if (is_one_ring(m->job))
        subsystem_plan_ring(&m->arena, m->job, m->wanted, &ring);
    for (int i = 0; i < m->job->n_types; i++) {
        if (!m->wanted[i])
            continue;
        m->subsystem[i] = ring;
        if (!is_one_ring(m->job))
            subsystem_plan(&m->arena, m->job, i, &m->subsystem[i]);
        m->subsystem[i].type = m->type;
        m->subsystem[i].run = m->keep;
        m->subsystem[i].records =
            arena_format(&m->arena, "%s/records/%s", m->run,
                         is_one_ring(m->job) ? m->subsystem[i].name : profile_name(m, i));
    }
}

/* The hosts of a type's ranks. */
static const char **hosts_of_type(struct measurement *m, int type, size_t *n)
{
    const struct subsystem *subsystem = &m->subsystem[type];
    const char **host = ARENA_ARRAY(&m->arena, (size_t)subsystem->n_ranks, const char *);
    *n = 0;
    for (int rank = 0; rank < subsystem->n_ranks; rank++) {
        if (subsystem->rank[rank].type == type)
            host[(*n)++] = subsystem->rank[rank].host;
    }
    return host;
}

/* Its Python on its first host; the others must have the same. */
static bool find_python(struct measurement *m, struct python_search *search, int number,
                        struct error *e)
{
    const struct job_device_type *type = &m->job->type[number];
    const char *const *env = type_environment(&m->arena, type);
    const char *named = type->python && strchr(type->python, '/')
                            ? job_path(&m->arena, m->job, type->python)
                            : type->python;
    size_t n = 0;
    const char **host = hosts_of_type(m, number, &n);
    python_search_on(search, m->launcher, host[0]);
    bool ok = python_find(search, named, env, m->progress, &m->type[number].python, e);
    for (size_t i = 1; ok && i < n; i++) {
        python_search_on(search, m->launcher, host[i]);
        ok = python_check(search, m->type[number].python.path, env, e);
    }
    return ok;
}

/* All hosts at once, before one is asked after the other. */
static bool reach_hosts(struct measurement *m, struct error *e)
{
    size_t n_all = 0;
    if (launcher_is_local(m->launcher))
        return true;
    for (int i = 0; i < m->job->n_types; i++)
        n_all += (size_t)m->job->type[i].subsystem_devices;
    const char **all = ARENA_ARRAY(&m->arena, n_all, const char *);
    size_t n = 0;
    for (int i = 0; i < m->job->n_types; i++) {
        size_t n_hosts = 0;
        const char **host = m->wanted[i] ? hosts_of_type(m, i, &n_hosts) : NULL;
        for (size_t k = 0; k < n_hosts; k++)
            all[n++] = host[k];
    }
    progress_status(m->progress, "reaching %zu hosts", n);
    return launcher_reach_all(m->launcher, all, n, e);
}

static bool find_pythons(struct measurement *m, struct error *e)
{
    struct python_search search = python_search_start(&m->arena);
    if (!reach_hosts(m, e))
        return false;
    if (m->job->model.kind == MODEL_COMMAND)
        return true;
    for (int i = 0; i < m->job->n_types; i++) {
        if (m->wanted[i] && !find_python(m, &search, i, e)) {
            if (!progress_cancelled(m->progress, e))
                error_in(e, "device type '%s'", m->job->type[i].name);
            return false;
        }
    }
    return true;
}

static bool collect_inputs(struct measurement *m, struct error *e)
{
    for (int i = 0; i < m->job->n_types; i++) {
        if (!m->wanted[i])
            continue;
        if (!inputs_collect(&m->arena, &m->subsystem[i], i, m->worker, &m->inputs[i], e))
            return false;
        for (size_t k = 0; k < m->options->n_inputs; k++)
            inputs_add(&m->arena, &m->inputs[i], m->options->input[k].key,
                       m->options->input[k].value);
    }
    return true;
}

/* A profile that cannot be read is put aside, not lost: somebody may have edited it. */
static void put_aside(struct measurement *m, int type, struct error *why)
{
    const char *path = profile_path(m, type);
    const char *aside = arena_format(&m->arena, "%s.bak", path);
    bool moved = rename(path, aside) == 0;
    progress_warn(m->progress, "%s: its profile cannot be read and is measured again%s%s:\n%s",
                  subject(m, type), moved ? "; the old one is now " : "", moved ? aside : "",
                  why->text);
    error_clear(why);
}

/* Whether a profile is there that was measured under the same facts; says so, or why not. */
static bool is_kept(struct measurement *m, int type)
{
    const char *name = subject(m, type);
    struct error e = {0};
    struct profile profile = {0};
    if (!file_exists(profile_path(m, type)))
        return false;
    if (!profile_read(&m->arena, profile_path(m, type), &profile, &e)) {
        put_aside(m, type, &e);
        return false;
    }
    if (m->options->again) {
        progress_say(m->progress, "%s: measured again, as asked", name);
        return false;
    }
    const char *difference = inputs_difference(&m->arena, profile.input, profile.n_inputs,
                                               m->inputs[type].item, m->inputs[type].n);
    const char *date = profile.date ? profile.date : "";
    if (difference)
        progress_say(m->progress, "%s: %s; measured again", name, difference);
    else
        progress_say(m->progress, "%s: measured already, %.10s, kept", name, date);
    return !difference;
}

/* Types that are measured beside each other are only kept together. */
static void decide(struct measurement *m)
{
    bool any_due = false;
    for (int i = 0; i < m->job->n_types; i++) {
        m->due[i] = m->wanted[i] && !is_kept(m, i);
        any_due |= m->due[i];
    }
    if (m->job->subsystems == SUBSYSTEMS_EACH || !any_due)
        return;
    for (int i = 0; i < m->job->n_types; i++) {
        if (m->wanted[i] && !m->due[i])
            progress_say(m->progress, "%s: measured again, together with the others",
                         subject(m, i));
        m->due[i] = m->wanted[i];
    }
}

/* Records and hosts of the ranks of one type in its sub-system. */
static size_t ranks_of_type(struct measurement *m, int type, const char **record, const char **host)
{
    const struct subsystem *subsystem = &m->subsystem[type];
    size_t n = 0;
    for (int rank = 0; rank < subsystem->n_ranks; rank++) {
        if (subsystem->rank[rank].type != type)
            continue;
        record[n] = subsystem_record(&m->arena, subsystem, rank);
        host[n++] = subsystem->rank[rank].host;
    }
    return n;
}

static void tell_done(struct measurement *m, int type, const struct profile *profile)
{
    char step[UNITS_TEXT_SIZE];
    units_format(profile->stage[STAGE_STEP].stats.mean, DIMENSION_TIME, step);
    progress_say(m->progress, "%s: measured, %d devices, a step takes %s", subject(m, type),
                 profile->n_devices, step);
}

/* Whether ranks of other types sent over the interfaces of this one's hosts at the same time. */
static bool had_company(const struct measurement *m, int type)
{
    if (m->job->subsystems == SUBSYSTEMS_EACH)
        return false;
    for (int other = 0; other < m->job->n_types; other++) {
        const struct subsystem *a = &m->subsystem[type], *b = &m->subsystem[other];
        if (other != type && m->due[other] && subsystem_meets_on_host(a, type, b, other))
            return true;
    }
    return false;
}

static bool write_profile(struct measurement *m, int type_number, struct error *e)
{
    const struct job_device_type *type = &m->job->type[type_number];
    size_t most = (size_t)type->subsystem_devices;
    const char **record = ARENA_ARRAY(&m->arena, most, const char *);
    const char **host = ARENA_ARRAY(&m->arena, most, const char *);
    size_t n = ranks_of_type(m, type_number, record, host);
    struct profile profile = {.one_ring = is_one_ring(m->job), .n_devices = (int)n};
    if (!profile_from_records(&m->arena, record, n, &profile, e)) {
        error_in(e, "device type '%s'", type->name);
        return false;
    }
    char date[CLOCK_DATE_SIZE];
    profile.device_type = type->name;
    profile.started = m->started;
    profile.date = arena_copy(&m->arena, clock_date(date));
    profile.host = host;
    profile.shares_host = subsystem_shares_host(&m->subsystem[type_number]);
    if (had_company(m, type_number))
        profile.interface_bytes = 0; /* the counters are of both */
    profile.sample_bytes = m->type[type_number].sample_bytes;
    profile.input = m->inputs[type_number].item;
    profile.n_inputs = m->inputs[type_number].n;
    if (!profile_write(profile_path(m, type_number), &profile, e))
        return false;
    tell_done(m, type_number, &profile);
    return true;
}

static bool write_profiles(struct measurement *m, struct error *e)
{
    for (int i = 0; i < m->job->n_types; i++) {
        if (m->due[i] && !write_profile(m, i, e))
            return false;
    }
    return true;
}

static bool train_now(struct measurement *m, struct subsystem *subsystem, size_t n, struct error *e)
{
    clock_date(m->started);
    return training_run(m->launcher, subsystem, n, m->worker, m->progress, e);
}

/* Trains sub-systems side by side, the data of the types from `first` to `last` read cold. */
static bool train(struct measurement *m, struct subsystem *subsystem, size_t n, int first, int last,
                  struct error *e)
{
    for (int i = first; i <= last; i++) {
        if (m->due[i])
            subsystem_data_cool(m->job, &m->data, i, m->progress);
    }
    return train_now(m, subsystem, n, e);
}

static bool measure_each(struct measurement *m, struct error *e)
{
    for (int i = 0; i < m->job->n_types; i++) {
        if (m->due[i] && !(train(m, &m->subsystem[i], 1, i, i, e) && write_profile(m, i, e)))
            return false;
    }
    return true;
}

static bool share_a_host(const struct measurement *m, int a, int b)
{
    return subsystem_meets_on_host(&m->subsystem[a], a, &m->subsystem[b], b);
}

/* The types that are left and share no host with an earlier one of them; returns how many. */
static size_t choose_batch(const struct measurement *m, const bool *done, int *batch)
{
    size_t n = 0;
    for (int i = 0; i < m->job->n_types; i++) {
        bool fits = m->due[i] && !done[i];
        for (size_t k = 0; fits && k < n; k++)
            fits = !share_a_host(m, batch[k], i);
        if (fits)
            batch[n++] = i;
    }
    return n;
}

static bool measure_batch(struct measurement *m, const int *batch, size_t n, struct error *e)
{
    struct subsystem *subsystem = ARENA_ARRAY(&m->arena, n, struct subsystem);
    for (size_t i = 0; i < n; i++) {
        subsystem[i] = m->subsystem[batch[i]];
        subsystem_data_cool(m->job, &m->data, batch[i], m->progress);
    }
    bool ok = train_now(m, subsystem, n, e);
    for (size_t i = 0; ok && i < n; i++)
        ok = write_profile(m, batch[i], e);
    return ok;
}

static bool measure_in_parallel(struct measurement *m, struct error *e)
{
    bool *done = ARENA_ARRAY(&m->arena, (size_t)m->job->n_types, bool);
    int *batch = ARENA_ARRAY(&m->arena, (size_t)m->job->n_types, int);
    for (size_t n; (n = choose_batch(m, done, batch)) > 0;) {
        if (!measure_batch(m, batch, n, e))
            return false;
        for (size_t i = 0; i < n; i++)
            done[batch[i]] = true;
    }
    return true;
}

/* In one ring all types have the same sub-system. */
static bool measure_side_by_side(struct measurement *m, struct error *e)
{
    size_t n = 0;
    struct subsystem *due = ARENA_ARRAY(&m->arena, (size_t)m->job->n_types, struct subsystem);
    for (int i = 0; i < m->job->n_types; i++) {
        if (m->due[i] && !(n > 0 && is_one_ring(m->job)))
            due[n++] = m->subsystem[i];
    }
    return n == 0 || (train(m, due, n, 0, m->job->n_types - 1, e) && write_profiles(m, e));
}

static bool measure_due(struct measurement *m, struct error *e)
{
    if (m->job->subsystems == SUBSYSTEMS_TOGETHER)
        return measure_side_by_side(m, e);
    return m->options->parallel ? measure_in_parallel(m, e) : measure_each(m, e);
}

/* Paths that a training in another working directory can use. */
static bool find_folders(struct measurement *m, const char *run, const char *worker,
                         struct error *e)
{
    const char *keep = m->options->keep ? m->options->keep : run;
    char *absolute_run = NULL, *absolute_worker = NULL, *absolute_keep = NULL;
    if (!path_absolute(&m->arena, run, &absolute_run, e) ||
        !path_absolute(&m->arena, worker, &absolute_worker, e) ||
        !path_absolute(&m->arena, keep, &absolute_keep, e))
        return false;
    m->run = absolute_run;
    m->worker = absolute_worker;
    m->keep = absolute_keep;
    return file_make_folders(path_join(&m->arena, m->run, "profiles"), e) &&
           file_make_folders(path_join(&m->arena, m->run, "records"), e);
}

static void choose_wanted(struct measurement *m)
{
    size_t n = (size_t)m->job->n_types;
    m->type = ARENA_ARRAY(&m->arena, n, struct subsystem_type);
    m->inputs = ARENA_ARRAY(&m->arena, n, struct inputs);
    m->wanted = ARENA_ARRAY(&m->arena, n, bool);
    m->due = ARENA_ARRAY(&m->arena, n, bool);
    m->subsystem = ARENA_ARRAY(&m->arena, n, struct subsystem);
    for (size_t i = 0; i < n; i++)
        m->wanted[i] = !m->job->type[i].profile;
}

static bool measure(struct measurement *m, struct error *e)
{
    plan_subsystems(m);
    if (!find_pythons(m, e) || !collect_inputs(m, e))
        return false;
    decide(m);
    return subsystem_data_draw(&m->arena, m->job, m->wanted, m->due, m->run, m->progress, &m->data,
                               m->type, e) &&
           measure_due(m, e);
}

static size_t count_rounds(const struct job *job)
{
    size_t n = 1;
    for (int t = 0; t < job->n_types; t++)
        n = job->type[t].n_batches > n ? job->type[t].n_batches : n;
    return n;
}

/* The job with each type's batch of that round; types that have none any more are not measured. */
static struct job job_of_round(struct arena *arena, const struct job *job, size_t round)
{
    static const char *none[] = {""};
    struct job made = *job;
    made.type = ARENA_ARRAY(arena, (size_t)job->n_types, struct job_device_type);
    for (int t = 0; t < job->n_types; t++) {
        struct job_device_type *type = &made.type[t];
        *type = job->type[t];
        if (round < type->n_batches)
            type->batch = type->batches[round];
        else if (round > 0 && !type->profile)
            type->profile = none;
    }
    return made;
}

static bool measure_round(const struct job *job, size_t round, const char *run,
                          const struct measure_options *options, const struct progress *progress,
                          struct error *e)
{
    struct measurement m = {
        .options = options, .progress = progress, .data = {.pooled = options->full}};
    struct job made = job_of_round(&m.arena, job, round);
    m.job = &made;
    choose_wanted(&m);
    bool ok = find_folders(&m, run, options->worker, e) &&
              launcher_open(&made, m.worker, progress, &m.launcher, e) && measure(&m, e);
    launcher_close(m.launcher);
    arena_free(&m.arena);
    return ok;
}

bool measure_all(const struct job *job, const char *run, const struct measure_options *options,
                 const struct progress *progress, struct error *e)
{
    bool ok = true;
    for (size_t round = 0; ok && round < count_rounds(job); round++)
        ok = measure_round(job, round, run, options, progress, e);
    if (!ok && progress_cancelled(progress, e))
        error_set(e, ERROR_HOST, "interrupted; what was measured is kept in %s", run);
    return ok;
}
