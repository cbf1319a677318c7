#include "measure/slurm_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"

static const double ASK_LIMIT_S = 15; /* Slurm's own patience (MessageTimeout) is 10 s */
static const double SUBMIT_LIMIT_S = 60;
static const double LOOK_S = 2;
static const double ENDING_LIMIT_S = 10;
static const double FRESH_S = 1;
static const double POLL_S = 0.2;

/* What one of Slurm's programs prints; fails with what it said. */
static bool ask(struct arena *arena, const char *const *argv, const struct progress *progress,
                char **text, struct error *e)
{
    const struct child_options options = {.argv = argv};
    const struct child_limits limits = {.timeout_s = ASK_LIMIT_S,
                                        .cancel = progress ? progress->cancel : NULL};
    struct child_end end;
    char *printed = NULL, *errors = NULL;
    if (!child_capture(arena, &options, &limits, &end, &printed, &errors, e)) {
        error_hint(e, "Slurm's programs are looked for on the PATH, or in the folder that "
                      "FORETRAIN_SLURM names");
        return false;
    }
    if (end.how == CHILD_EXITED && end.number == 0) {
        *text = printed;
        return true;
    }
    const char *said = text_printable(arena, errors, 1), *hint = slurm_hint(said);
    error_set(e, ERROR_HOST, "%s %s%s%s", argv[0],
              end.how == CHILD_TIMED_OUT ? "did not answer within 15 s"
                                         : child_end_text(arena, end),
              *said ? ": " : "", said);
    if (hint)
        error_hint(e, "%s", hint);
    return false;
}

static size_t split_lines(struct arena *arena, char *text, const char ***line)
{
    size_t n = 1, n_lines = 0;
    for (const char *c = text; *c; c++)
        n += *c == '\n';
    *line = ARENA_ARRAY(arena, n, const char *);
    for (char *each; (each = strsep(&text, "\n")) != NULL;) {
        if (*each)
            (*line)[n_lines++] = each;
    }
    return n_lines;
}

bool slurm_job_around(struct arena *arena, const struct progress *progress,
                      struct slurm_job **found, struct error *e)
{
    const char *number = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_JOB_NODELIST");
    char *end = NULL, *text = NULL;
    *found = NULL;
    if (!number || !*number || !nodes)
        return true;
    struct slurm_job *job = ARENA_NEW(arena, struct slurm_job);
    job->number = strtol(number, &end, 10);
    if (*end != '\0' || job->number < 1 || *nodes == '-') {
        error_set(e, ERROR_INPUT, "SLURM_JOB_ID='%s' SLURM_JOB_NODELIST='%s' is no job of Slurm",
                  text_printable(arena, number, 0), text_printable(arena, nodes, 0));
        return false;
    }
    const char *const argv[] = {slurm_program(arena, "scontrol"), "show", "hostnames", nodes, NULL};
    if (!ask(arena, argv, progress, &text, e))
        return false;
    job->n_hosts = split_lines(arena, text, &job->host);
    job->has_hosts = true;
    *found = job;
    return true;
}

bool slurm_job_start(struct arena *arena, const struct job *plan, struct slurm_job *job,
                     struct error *e)
{
    const char *const *argv = NULL;
    if (!slurm_allocate_command(arena, plan, &job->settings, job->host, job->n_hosts, &argv, e) ||
        !child_memory_open(&job->said, argv[0], e))
        return false;
    const struct child_options options = {.argv = argv, .errors = job->said.path[0], .talks = true};
    if (!child_start(&options, &job->salloc, e)) {
        child_memory_close(&job->said);
        return false;
    }
    job->own = true;
    job->start_s = clock_now_s();
    return true;
}

/* It prints its number once it has its hosts. */
static void hear(struct slurm_job *job)
{
    char buffer[256];
    ssize_t n;
    while ((n = read(job->salloc.from, buffer, sizeof buffer)) > 0)
        text_add_n(&job->printed, buffer, (size_t)n);
    const char *line = job->printed.data ? job->printed.data : "";
    if (!strchr(line, '\n'))
        return;
    job->number = strtol(line, NULL, 10);
    job->has_hosts = job->number > 0;
}

static char *said_by(struct arena *arena, const struct slurm_job *job)
{
    enum { N_LINES = 4 };
    return child_tail(arena, job->said.path[0], N_LINES);
}

static const char *name_of(struct arena *arena, const struct slurm_job *job)
{
    return job->number ? arena_format(arena, "Slurm job %ld", job->number)
                       : arena_copy(arena, "the job asked of Slurm");
}

static const char *refusal(const char *said)
{
    static const struct {
        const char *said, *words;
    } table[] = {
        {"revoked", "was cancelled before it started"},
        {"failed to execute", "could not be made: salloc cannot be run"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strstr(said, table[i].said))
            return table[i].words;
    }
    return "was refused";
}

static bool fail_refused(struct arena *arena, struct slurm_job *job, struct error *why)
{
    const char *said = said_by(arena, job), *hint = slurm_hint(said);
    error_set(why, ERROR_HOST, "%s %s, for %s%s%s%s", name_of(arena, job), refusal(said),
              job->host[0], job->n_hosts > 1 ? " and others" : "", *said ? ": " : "", said);
    if (hint)
        error_hint(why, "%s", hint);
    job->failed = true;
    return false;
}

static bool fail_late(struct arena *arena, const struct job *plan, struct slurm_job *job,
                      struct error *why)
{
    char limit[UNITS_TEXT_SIZE];
    units_format_duration(plan->launcher.queue_timeout_s, limit);
    error_set(why, ERROR_HOST, "%s, for %s%s, did not start within %s%s%s%s: it is cancelled",
              name_of(arena, job), job->host[0], job->n_hosts > 1 ? " and others" : "", limit,
              job->state.reason ? " (" : "", job->state.reason ? job->state.reason : "",
              job->state.reason ? ")" : "");
    error_hint(why, "launcher: {queue_timeout: ...} waits longer; in an allocation of your own "
                    "(salloc, sbatch) foretrain waits for nothing");
    job->failed = true;
    return false;
}

static bool fail_silent(struct arena *arena, struct slurm_job *job, struct error *why)
{
    const char *said = said_by(arena, job), *hint = slurm_hint(said);
    error_set(why, ERROR_HOST, "Slurm took no job for %s within %.0f s%s%s", job->host[0],
              SUBMIT_LIMIT_S, *said ? ": " : "", said);
    error_hint(why, "%s", hint ? hint : "is slurmctld up? `scontrol ping` says so");
    job->failed = true;
    return false;
}

static void look_at(struct arena *arena, struct slurm_job *job, const struct progress *progress)
{
    struct error e = {0};
    char *text = NULL;
    if (ask(arena, slurm_state_command(arena, job->number), progress, &text, &e))
        job->state = slurm_read_state(arena, text);
    error_clear(&e);
    job->looked_s = clock_now_s();
}

static void tell_wait(struct arena *arena, const struct job *plan, struct slurm_job *job,
                      const struct progress *progress)
{
    const char *before = job->state.reason;
    double now_s = clock_now_s();
    char waited[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];
    if (now_s - (job->looked_s > 0 ? job->looked_s : job->start_s) > LOOK_S)
        look_at(arena, job, progress);
    const char *reason = job->state.reason;
    if (job->state.phase != SLURM_WAITS || !reason)
        return;
    if (!before || strcmp(before, reason) != 0)
        progress_say(progress, "waiting for Slurm job %ld (%s)", job->number, reason);
    progress_status(progress, "waiting for Slurm job %ld (%s), %s of %s", job->number, reason,
                    units_format_duration(now_s - job->start_s + 1, waited),
                    units_format_duration(plan->launcher.queue_timeout_s, limit));
}

bool slurm_job_waits(struct arena *arena, const struct job *plan, struct slurm_job *job,
                     const struct progress *progress, struct error *why)
{
    if (job->has_hosts || job->failed)
        return false;
    hear(job);
    if (job->has_hosts)
        return false;
    if (job->number == 0)
        job->number = slurm_job_number(said_by(arena, job));
    if (child_ended(&job->salloc))
        return fail_refused(arena, job, why);
    double waited_s = clock_now_s() - job->start_s;
    if (job->number == 0)
        return waited_s < SUBMIT_LIMIT_S || fail_silent(arena, job, why);
    if (waited_s > plan->launcher.queue_timeout_s)
        return fail_late(arena, plan, job, why);
    tell_wait(arena, plan, job, progress);
    return true;
}

/* ": node7", the first of its hosts that does not answer Slurm; empty where none is known. */
static const char *dead_host(struct arena *arena, const struct slurm_job *job)
{
    struct error e = {0};
    char *text = NULL;
    bool ok = ask(arena, slurm_dead_command(arena, job->host, job->n_hosts), NULL, &text, &e);
    error_clear(&e);
    size_t length = ok ? strcspn(text, " \n") : 0;
    const char *name = length > 0 ? arena_copy_n(arena, text, length) : NULL;
    return name ? arena_format(arena, ": %s", text_printable(arena, name, 0)) : "";
}

/* Many hosts are lost at once: one question serves them all, also where nobody answers it. */
static bool was_just_seen(const struct slurm_job *job)
{
    return job->state.phase != SLURM_ENDING && job->looked_s > 0 &&
           clock_now_s() - job->looked_s < FRESH_S;
}

const char *slurm_job_over(struct arena *arena, struct slurm_job *job)
{
    double end_s = clock_now_s() + ENDING_LIMIT_S;
    if (!job->over && was_just_seen(job))
        return NULL;
    while (!job->over && clock_now_s() < end_s) {
        look_at(arena, job, NULL);
        if (job->state.phase == SLURM_ENDED)
            job->over = arena_format(arena, "Slurm job %ld %s%s", job->number, job->state.words,
                                     job->state.lost_node ? dead_host(arena, job) : "");
        else if (job->state.phase != SLURM_ENDING)
            return NULL;
        else
            clock_sleep(POLL_S);
    }
    if (!job->over)
        job->over = arena_format(arena, "Slurm job %ld is being ended", job->number);
    return job->over;
}

const char *slurm_node_address(struct arena *arena, const char *host,
                               const struct progress *progress)
{
    static const char key[] = " NodeAddr=";
    const char *const argv[] = {
        slurm_program(arena, "scontrol"), "--oneliner", "show", "node", host, NULL};
    struct error e = {0};
    char *text = NULL;
    const char *at = ask(arena, argv, progress, &text, &e) ? strstr(text, key) : NULL;
    error_clear(&e);
    if (!at)
        return NULL;
    at += sizeof key - 1;
    return arena_copy_n(arena, at, strcspn(at, " \n"));
}

/* Whether Slurm knows that it is to end. */
static bool cancel(struct arena *arena, const struct slurm_job *job)
{
    const char *const argv[] = {slurm_program(arena, "scancel"), "--quiet",
                                arena_format(arena, "%ld", job->number), NULL};
    struct error e = {0};
    char *text = NULL;
    bool ok = ask(arena, argv, NULL, &text, &e);
    error_clear(&e);
    return ok;
}

static void end_job(struct arena *arena, struct slurm_job *job, const struct progress *progress)
{
    bool cancelled = job->number > 0 && cancel(arena, job);
    child_hang_up(&job->salloc);
    child_stop(&job->salloc, 1);
    if (job->number == 0)
        job->number = slurm_job_number(said_by(arena, job));
    if (!cancelled && job->number > 0 && !cancel(arena, job))
        progress_warn(progress,
                      "Slurm job %ld could not be cancelled, and may be left: scancel %ld",
                      job->number, job->number);
    child_memory_close(&job->said);
    text_free(&job->printed);
}

void slurm_jobs_end(struct slurm_job *first, const struct progress *progress)
{
    struct arena arena = {0};
    for (struct slurm_job *job = first; job; job = job->next) {
        if (job->own)
            end_job(&arena, job, progress);
    }
    arena_free(&arena);
}
