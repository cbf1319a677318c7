#include "measure/training.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/hosts.h"
#include "measure/launcher.h"
#include "measure/rank_command.h"
#include "measure/watch.h"

/* Reading the record costs the training a little: ten times a second is enough for people. */
static const double LOOK_S = 0.1;

/* One sub-system while it runs. */
struct running {
    struct subsystem *subsystem;
    struct watch watch;
    struct launched *process; /* [n_ranks]; a script that spawns its ranks: only one a host */
    struct spec_meeting meeting;
};

struct training {
    struct arena arena;
    struct launcher *launcher;
    const char *worker;
    const struct progress *progress;
    struct running *running; /* [n] */
    size_t n;
    struct launched *process; /* [n_processes], of all of them */
    size_t n_processes;
    double start_s;
};

static const struct job *job_of(const struct training *t)
{
    return t->running[0].subsystem->job;
}

static void plan_processes(struct training *t, struct subsystem *subsystem)
{
    t->running = ARENA_ARRAY(&t->arena, t->n, struct running);
    for (size_t i = 0; i < t->n; i++)
        t->n_processes += (size_t)subsystem[i].n_ranks;
    t->process = ARENA_ARRAY(&t->arena, t->n_processes, struct launched);
    struct launched *next = t->process;
    for (size_t i = 0; i < t->n; i++) {
        t->running[i] = (struct running){.subsystem = &subsystem[i], .process = next};
        next += subsystem[i].n_ranks;
    }
}

/* The ranks meet at the first one's host. */
static bool find_place(struct training *t, struct subsystem *subsystem, struct error *e)
{
    for (int i = subsystem->n_ranks; i-- > 0;) {
        if (!subsystem->rank[i].host) {
            error_set(e, ERROR_INPUT, "%s has no host for rank %d",
                      subsystem_title(&t->arena, subsystem), i);
            return false;
        }
        if (!launcher_address(t->launcher, subsystem->rank[i].host, subsystem->address, e)) {
            error_in(e, "%s, rank %d", subsystem_title(&t->arena, subsystem), i);
            return false;
        }
    }
    return launcher_free_port(t->launcher, subsystem->rank[0].host, &subsystem->port, e);
}

static bool make_folder(const struct subsystem *subsystem, struct error *e)
{
    return file_remove_tree(subsystem->records, e) && file_make_folders(subsystem->records, e);
}

/* Where several sub-systems meet: a port of its own at the first one's address. Commands have no
 * worker that would go there. */
static bool find_meeting(struct training *t, struct error *e)
{
    struct subsystem *first = t->running[0].subsystem;
    int port = 0, n_ranks = 0;
    if (t->n < 2 || job_of(t)->model.kind == MODEL_COMMAND)
        return true;
    if (!launcher_free_port(t->launcher, first->rank[0].host, &port, e))
        return false;
    for (size_t i = 0; i < t->n; i++)
        n_ranks += t->running[i].subsystem->n_ranks;
    for (size_t i = 0; i < t->n; i++) {
        struct running *r = &t->running[i];
        r->meeting = (struct spec_meeting){
            .host = first->address,
            .port = port,
            .server = i == 0,
            .n_ranks = n_ranks,
            .timeout_s = job_of(t)->launcher.stall_timeout_s,
        };
        r->subsystem->meeting = &r->meeting;
    }
    return true;
}

static bool start_rank(struct training *t, struct running *r, int rank, struct error *e)
{
    const struct subsystem *subsystem = r->subsystem;
    const char *const *argv = NULL;
    if (!rank_arguments(&t->arena, subsystem, rank, t->worker, &argv, e))
        return false;
    char *folder = NULL;
    if (!path_absolute(&t->arena, subsystem->job->folder, &folder, e))
        return false;
    const struct launch_file *file = NULL;
    size_t n_files = hosts_record_files(&t->arena, t->launcher, subsystem, rank, &file);
    struct launch launch = {
        .host = subsystem->rank[rank].host,
        .argv = argv,
        .env = rank_environment(&t->arena, subsystem, rank, t->worker),
        .folder = subsystem_there(&t->arena, subsystem, rank, folder),
        .output = subsystem_output(&t->arena, subsystem, rank),
        .cpus = subsystem->rank[rank].cpus,
        .file = file,
        .n_files = n_files,
    };
    return launcher_start(t->launcher, &launch, &r->process[rank], e);
}

static bool start_all(struct training *t, struct error *e)
{
    bool spawns = job_of(t)->model.kind == MODEL_SCRIPT && job_of(t)->model.spawns_ranks;
    for (size_t i = 0; i < t->n; i++) {
        struct running *r = &t->running[i];
        for (int rank = 0; rank < r->subsystem->n_ranks; rank++) {
            if (spawns && r->subsystem->rank[rank].local_rank > 0)
                continue;
            if (progress_cancelled(t->progress, e))
                return false;
            if (!start_rank(t, r, rank, e)) {
                error_in(e, "%s, rank %d on %s", subsystem_title(&t->arena, r->subsystem), rank,
                         r->subsystem->rank[rank].host);
                return false;
            }
        }
        r->watch.alive_s = clock_now_s();
    }
    return true;
}

static bool prepare(struct training *t, struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        struct subsystem *subsystem = t->running[i].subsystem;
        if (!find_place(t, subsystem, e) || !make_folder(subsystem, e) ||
            !hosts_prepare(t->launcher, subsystem, t->worker, e))
            return false;
    }
    if (!find_meeting(t, e))
        return false;
    for (size_t i = 0; i < t->n; i++) {
        if (!hosts_place_records(t->launcher, t->running[i].subsystem, e))
            return false;
    }
    return true;
}

static bool has_failed(struct launched *process)
{
    return process->started && launcher_ended(process) &&
           (process->end.how != CHILD_EXITED || process->end.number != 0);
}

static double last_printed_s(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    struct stat st;
    if (stat(subsystem_output(arena, subsystem, rank), &st) != 0)
        return 0;
    return (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec;
}

/*
 * The rank to blame, or -1. One that fails takes the others with it within milliseconds: a killed
 * one comes first, then the one that fell silent first.
 */
static int find_failed(struct training *t, struct running *r)
{
    int blamed = -1;
    double earliest_s = 0;
    for (int rank = 0; rank < r->subsystem->n_ranks; rank++) {
        if (!has_failed(&r->process[rank]))
            continue;
        if (r->process[rank].end.how == CHILD_SIGNALLED || r->process[rank].lost)
            return rank;
        double printed_s = last_printed_s(&t->arena, r->subsystem, rank);
        if (blamed < 0 || printed_s < earliest_s) {
            blamed = rank;
            earliest_s = printed_s;
        }
    }
    return blamed;
}

static char *when_text(struct arena *arena, const struct watch *watch)
{
    return watch->iteration == 0 ? arena_copy(arena, "before its first iteration ended")
                                 : arena_format(arena, "after iteration %d", watch->iteration);
}

/* Its last lines, and where all of them are. */
static void add_words(struct arena *arena, const struct subsystem *subsystem, int rank,
                      struct text *text)
{
    enum { N_LINES = 15 };
    const char *output = subsystem_output(arena, subsystem, rank);
    char *tail = child_tail(arena, output, N_LINES);
    if (!*tail)
        return;
    text_add(text, "\n  its last lines:");
    for (char *line; (line = strsep(&tail, "\n")) != NULL;)
        text_format(text, "\n    %s", line);
    text_format(text, "\n  all of them: %s", output);
}

/* A rank's refusal; where its process spawned the ranks, the first that said something. */
static char *find_refusal(struct arena *arena, const struct subsystem *subsystem, int rank)
{
    char *refusal = watch_refusal(arena, subsystem, rank);
    for (int other = 0; !refusal && other < subsystem->n_ranks; other++)
        refusal = watch_refusal(arena, subsystem, other);
    return refusal;
}

static void describe_failure(struct training *t, struct running *r, int rank, const char *what,
                             struct error *e)
{
    const struct subsystem *subsystem = r->subsystem;
    struct text text = {0};
    watch_look(&r->watch, subsystem);
    const char *refusal = find_refusal(&t->arena, subsystem, rank);
    struct text words = {0};
    add_words(&t->arena, subsystem, rank, &words);
    text_format(&text, "%s: rank %d on %s %s %s", subsystem_title(&t->arena, subsystem), rank,
                subsystem->rank[rank].host, what, when_text(&t->arena, &r->watch));
    if (refusal && !(words.data && strstr(words.data, refusal)))
        text_format(&text, "\n  %s", refusal);
    if (r->process[rank].lost)
        text_format(&text, "\n  %s", r->process[rank].lost);
    text_add(&text, words.data ? words.data : "");
    error_set(e, ERROR_HOST, "%s", text.data);
    text_free(&words);
    text_free(&text);
}

/* The last line of whichever rank printed last. */
static const char *last_words(struct training *t, const struct subsystem *subsystem)
{
    const char *words = "";
    double latest_s = -1;
    for (int rank = 0; rank < subsystem->n_ranks; rank++) {
        double printed_s = last_printed_s(&t->arena, subsystem, rank);
        char *tail = child_tail(&t->arena, subsystem_output(&t->arena, subsystem, rank), 1);
        if (*tail && printed_s > latest_s) {
            words = tail;
            latest_s = printed_s;
        }
    }
    return words;
}

static void describe_timeout(struct training *t, struct running *r, const char *why,
                             struct error *e)
{
    const char *words = last_words(t, r->subsystem);
    error_set(e, ERROR_HOST, "%s did not finish: %s, %s (%s%s)",
              subsystem_title(&t->arena, r->subsystem), why, when_text(&t->arena, &r->watch),
              *words ? "last line: " : "it printed nothing", words);
    error_hint(e, "all it printed: %s/rank*.out", r->subsystem->records);
}

static bool has_window(const struct training *t, const struct running *r)
{
    return r->watch.iteration >= job_of(t)->training.last;
}

/* One that has its window trains on without a line, or has ended: it is the others that must move,
 * and when all have theirs, any of them. */
static double last_alive_s(const struct training *t, const struct running *r)
{
    double latest_s = r->watch.alive_s;
    for (size_t i = 0; has_window(t, r) && i < t->n; i++) {
        const struct running *other = &t->running[i];
        latest_s = fmax(latest_s, has_window(t, other) ? other->watch.alive_s : INFINITY);
    }
    return latest_s;
}

static bool in_time(struct training *t, struct running *r, struct error *e)
{
    const struct job_launcher *limit = &job_of(t)->launcher;
    char text[UNITS_TEXT_SIZE];
    double now_s = clock_now_s();
    if (limit->timeout_s > 0 && now_s - t->start_s > limit->timeout_s) {
        units_format_duration(limit->timeout_s, text);
        describe_timeout(t, r, arena_format(&t->arena, "it takes more than %s", text), e);
        return false;
    }
    if (limit->stall_timeout_s > 0 && now_s - last_alive_s(t, r) > limit->stall_timeout_s) {
        units_format_duration(limit->stall_timeout_s, text);
        describe_timeout(t, r, arena_format(&t->arena, "no progress for %s", text), e);
        return false;
    }
    return true;
}

static size_t count_running(struct training *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_processes; i++)
        n += !launcher_ended(&t->process[i]);
    return n;
}

static void add_status(const struct training *t, const struct running *r, struct text *text)
{
    const struct job_training *training = &job_of(t)->training;
    int last = training->last + training->n_profiled;
    double left_s = watch_left_s(&r->watch, last);
    text_format(text, "%s%s: ", text->length ? "; " : "", r->subsystem->name);
    if (t->n > 1 && r->watch.iteration >= last) {
        text_add(text, launcher_ended(&r->process[0]) ? "done" : "done, trains on for the others");
        return;
    }
    if (r->watch.iteration == 0)
        text_add(text, "starting");
    else
        text_format(text, "iteration %d of %d", r->watch.iteration, last);
    if (left_s >= 0) {
        char left[UNITS_TEXT_SIZE];
        text_format(text, ", %s left", units_format_duration(left_s < 1 ? 1 : left_s, left));
    }
}

static void show_status(struct training *t)
{
    struct text text = {0};
    for (size_t i = 0; i < t->n; i++)
        add_status(t, &t->running[i], &text);
    progress_status(t->progress, "%s", text.data);
    text_free(&text);
}

static bool look(struct training *t, struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        struct running *r = &t->running[i];
        int failed = find_failed(t, r);
        if (failed >= 0) {
            const char *how = r->process[failed].lost
                                  ? "is gone"
                                  : child_end_text(&t->arena, r->process[failed].end);
            describe_failure(t, r, failed, how, e);
            return false;
        }
        watch_look(&r->watch, r->subsystem);
        if (!in_time(t, r, e))
            return false;
    }
    return !progress_cancelled(t->progress, e);
}

static bool wait_for_end(struct training *t, struct error *e)
{
    t->start_s = clock_now_s();
    for (;;) {
        bool over = count_running(t) == 0;
        if (!look(t, e))
            return false;
        if (over)
            return true;
        show_status(t);
        clock_sleep(LOOK_S);
    }
}

static bool check_records(struct training *t, struct error *e)
{
    for (size_t i = 0; i < t->n; i++) {
        struct running *r = &t->running[i];
        for (int rank = 0; rank < r->subsystem->n_ranks; rank++) {
            if (!file_exists(subsystem_record(&t->arena, r->subsystem, rank))) {
                describe_failure(t, r, rank, "ended without completing its record,", e);
                return false;
            }
        }
    }
    return true;
}

/* After an interrupt nobody wants to look at what is half there. */
static void remove_interrupted(struct training *t)
{
    struct error ignored = {0};
    if (!progress_cancelled(t->progress, &ignored))
        return;
    for (size_t i = 0; i < t->n; i++)
        file_remove_tree(t->running[i].subsystem->records, &ignored);
    error_clear(&ignored);
}

bool training_run(struct launcher *launcher, struct subsystem *subsystem, size_t n,
                  const char *worker, const struct progress *progress, struct error *e)
{
    struct training t = {.launcher = launcher, .worker = worker, .progress = progress, .n = n};
    plan_processes(&t, subsystem);
    bool ok = prepare(&t, e) && start_all(&t, e) && wait_for_end(&t, e);
    launcher_stop(t.process, t.n_processes);
    ok = ok && check_records(&t, e);
    if (!ok)
        remove_interrupted(&t);
    for (size_t i = 0; i < n; i++) {
        subsystem[i].meeting = NULL;
        subsystem[i].launcher = NULL;
    }
    arena_free(&t.arena);
    return ok;
}
