/*
 * Hosts reached with Slurm's srun: inside a job of the user's, or in jobs of our own. One job for
 * all hosts that are asked for together and whose types want the same of Slurm, so that no part of
 * them waits for another; each gets its agent by a step of one process.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/remote.h"
#include "measure/slurm_job.h"

static const double POLL_S = 0.05;

struct slurm {
    struct slurm_job *job;
    bool inside; /* a job of the user's: there is no other */
};

static bool holds(const struct slurm_job *job, const char *host)
{
    for (size_t i = 0; i < job->n_hosts; i++) {
        if (strcmp(job->host[i], host) == 0)
            return true;
    }
    return false;
}

static struct slurm_job *job_of(const struct launcher *launcher, const char *host)
{
    struct slurm_job *job = launcher->slurm->job;
    while (job && !holds(job, host))
        job = job->next;
    return job;
}

static bool is_asked_for(const struct slurm_job *first, const char *host)
{
    for (; first; first = first->next) {
        if (holds(first, host))
            return true;
    }
    return false;
}

static struct slurm_job *find_alike(struct slurm_job *first, const struct job_slurm *settings)
{
    while (first && !slurm_same_settings(&first->settings, settings))
        first = first->next;
    return first;
}

/* One job for each set of settings, in the order of the hosts. */
static struct slurm_job *group(struct launcher *launcher, const char *const *host, size_t n)
{
    struct slurm_job *first = NULL, **end = &first;
    for (size_t i = 0; i < n; i++) {
        if (job_of(launcher, host[i]) || is_asked_for(first, host[i]))
            continue;
        struct job_slurm settings = slurm_settings(launcher->job, host[i]);
        struct slurm_job *job = find_alike(first, &settings);
        if (!job) {
            job = ARENA_NEW(&launcher->arena, struct slurm_job);
            job->settings = settings;
            job->host = ARENA_ARRAY(&launcher->arena, n, const char *);
            *end = job;
            end = &job->next;
        }
        job->host[job->n_hosts++] = arena_copy(&launcher->arena, host[i]);
    }
    return first;
}

/* Tells all hosts of a job why they are not had. */
static void tell(const struct slurm_job *job, const struct error *problem, const char *const *host,
                 size_t n, struct error *why)
{
    for (size_t i = 0; i < n; i++) {
        if (holds(job, host[i]))
            error_set(&why[i], problem->kind, "%s", problem->text);
    }
}

static void start_jobs(struct launcher *launcher, struct slurm_job *first, const char *const *host,
                       size_t n, struct error *why)
{
    for (struct slurm_job *job = first; job; job = job->next) {
        struct error e = {0};
        if (slurm_job_start(&launcher->arena, launcher->job, job, &e))
            continue;
        job->failed = true;
        tell(job, &e, host, n, why);
        error_clear(&e);
    }
}

static size_t count_waiting(struct launcher *launcher, struct slurm_job *first,
                            const char *const *host, size_t n, struct error *why)
{
    size_t n_waiting = 0;
    for (struct slurm_job *job = first; job; job = job->next) {
        struct error e = {0};
        n_waiting += slurm_job_waits(&launcher->arena, launcher->job, job, launcher->progress, &e);
        if (e.kind != ERROR_NONE)
            tell(job, &e, host, n, why);
        error_clear(&e);
    }
    return n_waiting;
}

static void refuse_outside(const struct slurm_job *job, const char *host, struct error *why)
{
    struct arena arena = {0};
    error_set(why, ERROR_INPUT, "host '%s' is not in Slurm job %ld, in which foretrain runs", host,
              job->number);
    const char *near = text_nearest(host, job->host, job->n_hosts);
    error_hint(why, "it has %s%s%s%s", text_printable(&arena, job->host[0], 0),
               job->n_hosts > 1 ? " and others" : "", near ? "; did you mean " : "",
               near ? text_printable(&arena, near, 0) : "");
    arena_free(&arena);
}

/* Gets hosts that are not had yet; says of each why not. */
static void get_hosts(struct launcher *launcher, const char *const *host, size_t n,
                      struct error *why)
{
    struct slurm *slurm = launcher->slurm;
    struct error interrupted = {0};
    for (size_t i = 0; slurm->inside && i < n; i++) {
        if (!job_of(launcher, host[i]))
            refuse_outside(slurm->job, host[i], &why[i]);
    }
    struct slurm_job *first = slurm->inside ? NULL : group(launcher, host, n), **end = &slurm->job;
    while (*end)
        end = &(*end)->next;
    *end = first;
    start_jobs(launcher, first, host, n, why);
    while (count_waiting(launcher, first, host, n, why) > 0 &&
           !progress_cancelled(launcher->progress, &interrupted))
        clock_sleep(POLL_S);
    error_clear(&interrupted);
}

/* Those that were got, and only those, are reached. */
static size_t reach_slurm(struct launcher *launcher, const char *const *host, size_t n,
                          struct error *why)
{
    struct arena arena = {0};
    size_t n_failed = 0, n_got = 0;
    const char **got = ARENA_ARRAY(&arena, n, const char *);
    size_t *place = ARENA_ARRAY(&arena, n, size_t);
    struct error *got_why = ARENA_ARRAY(&arena, n, struct error);
    get_hosts(launcher, host, n, why);
    for (size_t i = 0; i < n; i++) {
        const struct slurm_job *job = job_of(launcher, host[i]);
        if (why[i].kind == ERROR_NONE && job && job->has_hosts) {
            place[n_got] = i;
            got[n_got++] = host[i];
        } else {
            if (why[i].kind == ERROR_NONE && !progress_cancelled(launcher->progress, &why[i]))
                error_set(&why[i], ERROR_HOST, "Slurm did not give host '%s'", host[i]);
            n_failed++;
        }
    }
    n_failed += remote_reach(launcher, got, n_got, got_why);
    for (size_t i = 0; i < n_got; i++)
        why[place[i]] = got_why[i];
    arena_free(&arena);
    return n_failed;
}

/* Where nobody reached the host before, it is got first. */
static bool command_slurm(struct launcher *launcher, const char *host, const char *const *command,
                          const char *const **argv, struct error *e)
{
    struct error why = {0};
    if (!job_of(launcher, host))
        get_hosts(launcher, &host, 1, &why);
    const struct slurm_job *job = job_of(launcher, host);
    if (job && job->has_hosts)
        return slurm_step_command(&launcher->arena, job->number,
                                  slurm_settings(launcher->job, host).gres, host, command, argv, e);
    error_set(e, ERROR_HOST, "%s", why.text ? why.text : "Slurm did not give the host");
    error_clear(&why);
    return false;
}

static const char *explain_slurm(struct launcher *launcher, const char *host)
{
    struct slurm_job *job = job_of(launcher, host);
    return job && job->has_hosts ? slurm_job_over(&launcher->arena, job) : NULL;
}

static const char *reached_at_slurm(struct launcher *launcher, const char *host)
{
    return slurm_node_address(&launcher->arena, host, launcher->progress);
}

/* Without what would make a rank think that it is alone in a step of Slurm. */
static bool start_slurm(struct launcher *launcher, const struct launch *launch,
                        struct launched *process, struct error *e)
{
    struct arena arena = {0};
    const char *const *step = slurm_step_variables(), *const *own = launch->env;
    size_t n_step = 0, n_own = 0;
    while (step[n_step])
        n_step++;
    while (own && own[n_own])
        n_own++;
    const char **env = ARENA_ARRAY(&arena, n_step + n_own + 1, const char *);
    memcpy(env, step, n_step * sizeof *env);
    if (n_own > 0)
        memcpy(env + n_step, own, n_own * sizeof *env);
    struct launch without = *launch;
    without.env = env;
    bool ok = remote_start(launcher, &without, process, e);
    arena_free(&arena);
    return ok;
}

/* When a job ends, Slurm may end its ranks before the agent: they are not to blame. */
static bool ended_slurm(struct launched *process)
{
    if (!remote_ended(process))
        return false;
    bool well = process->end.how == CHILD_EXITED && process->end.number == 0;
    if (!well && !process->lost && process->on)
        process->lost = explain_slurm(process->launcher, process->on->name);
    return true;
}

static bool open_slurm(struct launcher *launcher, struct error *e)
{
    struct slurm_job *around = NULL;
    if (!slurm_job_around(&launcher->arena, launcher->progress, &around, e))
        return false;
    launcher->slurm = ARENA_NEW(&launcher->arena, struct slurm);
    launcher->slurm->job = around;
    launcher->slurm->inside = around;
    launcher->remote = ARENA_NEW(&launcher->arena, struct remote);
    launcher->remote->command = command_slurm;
    launcher->remote->hint = slurm_hint;
    launcher->remote->explain = explain_slurm;
    launcher->remote->reached_at = reached_at_slurm;
    return true;
}

static void close_slurm(struct launcher *launcher)
{
    remote_close(launcher);
    slurm_jobs_end(launcher->slurm->job, launcher->progress);
}

const struct launcher_kind_functions launcher_slurm = {
    .name = "srun",
    .open = open_slurm,
    .close = close_slurm,
    .reach = reach_slurm,
    .address = remote_address,
    .interface = remote_interface,
    .free_port = remote_free_port,
    .start = start_slurm,
    .ended = ended_slurm,
    .stop = remote_stop,
    .stage = remote_stage,
    .make_folder = remote_make_folder,
    .path = remote_path,
    .fetch = remote_fetch,
    .cool = remote_cool,
    .unstage = remote_unstage,
};
