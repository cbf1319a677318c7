#include "measure/doctor.h"

#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/doctor_hosts.h"
#include "measure/doctor_judge.h"
#include "measure/probe.h"

static const double LEAST_FREE_BYTES = 100e6;
static const double NAMES_LIMIT_S = 30; /* for all addresses: resolvers can be slow */

enum { MOST_HOSTS = 4096 };

struct examination {
    struct arena *arena;
    const struct job *job;
    const char *worker;
    const struct progress *progress;
    struct launcher *launcher;
    struct doctor_result *result;
};

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
    static const char *const name[] = {"ok", "warn", "FAIL"};
    return name[verdict];
}

void doctor_add(struct arena *arena, struct doctor_checks *checks, struct doctor_check check)
{
    if (checks->n == checks->capacity) {
        size_t capacity = 2 * checks->capacity + 16;
        struct doctor_check *grown = ARENA_ARRAY(arena, capacity, struct doctor_check);
        if (checks->n)
            memcpy(grown, checks->item, checks->n * sizeof *grown);
        checks->item = grown;
        checks->capacity = capacity;
    }
    check.found = arena_copy(arena, check.found);
    checks->item[checks->n++] = check;
}

static void add(struct examination *x, const char *host, const char *what,
                enum doctor_verdict verdict, const char *found)
{
    doctor_add(x->arena, &x->result->checks,
               (struct doctor_check){host, NULL, what, found, verdict});
}

static void add_error(struct examination *x, const char *what, struct error *e)
{
    add(x, NULL, what, DOCTOR_FAIL, e->text);
    error_clear(e);
}

static void examine_space(struct examination *x, const char *run_folder)
{
    struct statvfs fs;
    char size[UNITS_TEXT_SIZE];
    const char *folder = run_folder;
    while (!file_exists(folder) && strcmp(folder, ".") != 0 && strcmp(folder, "/") != 0)
        folder = path_folder(x->arena, folder);
    if (statvfs(folder, &fs) != 0) {
        add(x, NULL, "space", DOCTOR_WARN, "not known");
        return;
    }
    double free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    add(x, NULL, "space", free_bytes < LEAST_FREE_BYTES ? DOCTOR_FAIL : DOCTOR_OK,
        arena_format(x->arena, "%s free for %s", units_format(free_bytes, DIMENSION_BYTES, size),
                     run_folder));
}

static void examine_given(struct examination *x)
{
    const struct job *job = x->job;
    if (job->network_file || job->n_links)
        add(x, NULL, "network", DOCTOR_OK, "given in the job");
    for (int t = 0; t < job->n_types; t++) {
        const struct job_device_type *type = &job->type[t];
        for (size_t i = 0; i < type->n_profiles; i++)
            doctor_add(x->arena, &x->result->checks,
                       (struct doctor_check){
                           NULL, type->name, "profile",
                           arena_format(x->arena, "given: %s; not measured", type->profile[i]),
                           DOCTOR_OK});
    }
}

static void examine_here(struct examination *x, const char *run_folder)
{
    struct error e = {0};
    if (job_check_measurable(x->arena, x->job, &e))
        add(x, NULL, "job", DOCTOR_OK, "all that it names is there");
    else
        add_error(x, "job", &e);
    if (x->job->model.kind == MODEL_COMMAND)
        add(x, NULL, "command", DOCTOR_OK,
            "whether it finds what it needs, and writes the records that docs/formats.md asks for, "
            "shows when it runs");
    else if (file_exists(path_join(x->arena, x->worker, "hook/sitecustomize.py")))
        add(x, NULL, "worker", DOCTOR_OK, x->worker);
    else
        add(x, NULL, "worker", DOCTOR_FAIL,
            arena_format(x->arena, "not in %s; set FORETRAIN_WORKER to its folder", x->worker));
    examine_space(x, run_folder);
    examine_given(x);
}

/* `text` with "the host" for the name: what many hosts say alike is told once for all. */
static const char *without_name(struct arena *arena, const char *text, const char *name)
{
    const char *named[] = {arena_format(arena, "host '%s'", name),
                           arena_format(arena, "'%s'", name)};
    struct text made = {0};
    while (*text) {
        size_t k = 0;
        while (k < 2 && strncmp(text, named[k], strlen(named[k])) != 0)
            k++;
        text_add_n(&made, k < 2 ? "the host" : text, k < 2 ? strlen("the host") : 1);
        text += k < 2 ? strlen(named[k]) : 1;
    }
    const char *copy = arena_copy(arena, made.data ? made.data : "");
    text_free(&made);
    return copy;
}

/* What a host lacks: a failure where it is needed. */
static void add_lack(struct examination *x, const struct doctor_host *host, const char *what,
                     const char *found)
{
    add(x, host->is_here ? NULL : host->name, what, doctor_needs(host) ? DOCTOR_FAIL : DOCTOR_WARN,
        without_name(x->arena, found, host->name));
}

/* All at once; those that cannot be reached get their check. */
static void reach(struct examination *x)
{
    struct doctor_result *result = x->result;
    const char **name = ARENA_ARRAY(x->arena, result->n_hosts, const char *);
    struct error *why = ARENA_ARRAY(x->arena, result->n_hosts, struct error);
    for (size_t i = 0; i < result->n_hosts; i++)
        name[i] = result->host[i].name;
    if (!result->is_local)
        launcher_reach(x->launcher, name, result->n_hosts, why);
    for (size_t i = 0; i < result->n_hosts; i++) {
        struct doctor_host *host = &result->host[i];
        host->reached = why[i].kind == ERROR_NONE;
        if (!host->reached)
            add_lack(x, host, "reach", why[i].text);
        error_clear(&why[i]);
    }
}

static void find_address(struct examination *x, struct doctor_host *host)
{
    struct error e = {0};
    if (launcher_address(x->launcher, host->name, host->address, &e) &&
        launcher_interface(x->launcher, host->name, host->interface, &e)) {
        add(x, host->name, "address", DOCTOR_OK,
            arena_format(x->arena, "%s on %s", host->address, host->interface));
        return;
    }
    add_lack(x, host, "address", e.text);
    error_clear(&e);
}

static bool is_unwanted(const struct examination *x)
{
    struct error e = {0};
    bool unwanted = progress_cancelled(x->progress, &e);
    error_clear(&e);
    return unwanted;
}

static void find_addresses(struct examination *x)
{
    struct doctor_result *result = x->result;
    double end_s = clock_now_s() + NAMES_LIMIT_S;
    for (size_t i = 0; i < result->n_hosts && !result->is_local && !is_unwanted(x); i++) {
        progress_status(x->progress, "asking for addresses: %zu of %zu", i + 1, result->n_hosts);
        if (result->host[i].reached && clock_now_s() < end_s)
            find_address(x, &result->host[i]);
        else if (result->host[i].reached)
            add(x, result->host[i].name, "address", DOCTOR_WARN,
                "not looked for: the hosts' resolvers are too slow");
    }
}

/* A Python that answers need not be the one that trains. */
static const char *const *interpreters(struct examination *x, const struct doctor_host *host)
{
    const char **word = ARENA_ARRAY(x->arena, host->n_roles + 3, const char *);
    size_t n = 0;
    word[n++] = "/usr/bin/python3";
    word[n++] = "python3";
    for (size_t i = 0; i < host->n_roles; i++) {
        if (host->role[i].python[0])
            word[n++] = host->role[i].python[0];
    }
    return word;
}

static struct probe *ask(struct examination *x, const char *source)
{
    struct doctor_result *result = x->result;
    struct probe *probe = ARENA_ARRAY(x->arena, result->n_hosts, struct probe);
    for (size_t i = 0; i < result->n_hosts; i++) {
        const struct doctor_host *host = &result->host[i];
        probe[i] = (struct probe){.host = host->name, .interpreter = interpreters(x, host)};
        if (host->reached)
            probe[i].question =
                doctor_hosts_question(x->arena, x->job, result->host, result->n_hosts, i);
    }
    probe_hosts(x->arena, x->launcher, source, probe, result->n_hosts, x->progress);
    return probe;
}

/* A word about each Python that nobody named and that has no torch, once. */
static void tell_passed_over(struct examination *x, const struct doctor_host *host)
{
    for (size_t i = 0; i < host->n_roles; i++) {
        const struct type_report *type = &host->report.type[i];
        for (size_t k = 0; k < type->n_passed_over && x->result->is_local && i == 0; k++)
            progress_say(x->progress, "passed over %s: %s", type->passed_over[k].path,
                         type->passed_over[k].complaint);
    }
}

static void hear(struct examination *x, const struct probe *probe, size_t self)
{
    struct doctor_result *result = x->result;
    struct doctor_host *host = &result->host[self];
    size_t n_peers = 0;
    struct error e = {0};
    doctor_hosts_peers(x->arena, result->host, result->n_hosts, self, &n_peers);
    host->has_clock = probe->has_clock;
    host->clock_ahead_s = probe->clock_ahead_s;
    host->clock_error_s = probe->clock_error_s;
    host->answered = probe->answer && host_report_read(x->arena, probe->answer, host->n_roles,
                                                       n_peers, &host->report, &e);
    if (host->answered) {
        tell_passed_over(x, host);
        doctor_judge_host(x->arena, x->job, result->host, result->n_hosts, self, &result->checks);
    } else {
        add_lack(x, host, "answer", e.text ? e.text : probe->failure);
    }
    error_clear(&e);
}

static void examine_hosts(struct examination *x)
{
    enum { LONGEST = 1 << 17 };
    struct doctor_result *result = x->result;
    struct error e = {0};
    char *source = NULL;
    reach(x);
    find_addresses(x);
    if (!file_read(x->arena, path_join(x->arena, x->worker, "doctor/probe.py"), LONGEST, &source,
                   NULL, &e)) {
        add_error(x, "worker", &e);
        return;
    }
    const struct probe *probe = ask(x, source);
    for (size_t i = 0; i < result->n_hosts && !is_unwanted(x); i++) {
        if (result->host[i].reached)
            hear(x, &probe[i], i);
    }
    doctor_judge_together(x->arena, x->job, result->host, result->n_hosts, &result->checks);
}

static void list_hosts(struct examination *x)
{
    size_t n_left_out = 0;
    struct python_search search = python_search_start(x->arena);
    python_search_on(&search, x->launcher, NULL);
    doctor_hosts_list(x->arena, x->job, &search, MOST_HOSTS, &x->result->host, &x->result->n_hosts,
                      &n_left_out);
    if (n_left_out)
        add(x, NULL, "hosts", DOCTOR_WARN,
            arena_format(x->arena, "only the first %d are examined, %zu are not", MOST_HOSTS,
                         n_left_out));
}

static void set_verdicts(struct doctor_result *result)
{
    for (size_t i = 0; i < result->n_hosts; i++) {
        struct doctor_host *host = &result->host[i];
        for (size_t k = 0; k < result->checks.n; k++) {
            const struct doctor_check *check = &result->checks.item[k];
            bool own = host->is_here || (check->host && strcmp(check->host, host->name) == 0);
            if (own && check->verdict > host->verdict)
                host->verdict = check->verdict;
        }
    }
}

void doctor_examine(struct arena *arena, const struct job *job, const char *worker_folder,
                    const char *run_folder, const struct progress *progress,
                    struct doctor_result *result)
{
    *result = (struct doctor_result){.is_local = job->launcher.kind == LAUNCHER_LOCAL};
    struct examination x = {arena, job, worker_folder, progress, NULL, result};
    struct error e = {0};
    examine_here(&x, run_folder);
    if (launcher_open(job, worker_folder, progress, &x.launcher, &e)) {
        list_hosts(&x);
        examine_hosts(&x);
    } else {
        add_error(&x, "launcher", &e);
    }
    launcher_close(x.launcher);
    set_verdicts(result);
}
