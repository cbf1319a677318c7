#include "measure/doctor_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "measure/doctor_hosts.h"

static const double LEAST_FREE_BYTES = 100e6;
static const double CLOCK_LIMIT_S = 1;
static const double FEW_BUSY_CPUS = 0.5, FEW_BUSY_SHARE = 0.1;
static const double ONE_THREAD_Bps =
    30e9 / 8; /* what one iperf3 process before 3.16 gets through */

struct judging {
    struct arena *arena;
    const struct job *job;
    const struct doctor_host *all; /* [n] */
    size_t n, self;
    const struct doctor_host *host;
    struct doctor_checks *checks;
};

bool doctor_needs(const struct doctor_host *host)
{
    bool trains = false;
    for (size_t i = 0; i < host->n_roles; i++)
        trains = trains || host->role[i].n_ranks > 0;
    return trains || host->networked || host->is_here;
}

static enum doctor_verdict fail_if(bool needed)
{
    return needed ? DOCTOR_FAIL : DOCTOR_WARN;
}

static void add(const struct judging *j, const char *type, const char *what,
                enum doctor_verdict verdict, const char *found)
{
    const char *host = j->host->is_here ? NULL : j->host->name;
    doctor_add(j->arena, j->checks, (struct doctor_check){host, type, what, found, verdict});
}

/* What to do where no Python has torch. */
static const char *torch_hint(const struct judging *j)
{
    return j->host->report.debian ? "apt install python3-torch, or name another Python: `python: "
                                    "/path/to/bin/python` under the device type"
                                  : "pip install torch, or name another Python: `python: "
                                    "/path/to/bin/python` under the device type";
}

static const char *list_passed_over(struct arena *arena, const struct type_report *report)
{
    struct text list = {0};
    for (size_t i = 0; i < report->n_passed_over; i++)
        text_format(&list, "%s%s: %s", i ? "; " : "", report->passed_over[i].path,
                    report->passed_over[i].complaint);
    const char *copy = arena_copy(arena, list.data ? list.data : report->problem);
    text_free(&list);
    return copy;
}

static void judge_missing_torch(const struct judging *j, const struct doctor_role *role,
                                const struct type_report *report)
{
    const char *type = j->job->type[role->type].name;
    enum doctor_verdict verdict = fail_if(role->n_ranks > 0);
    const char *found =
        role->named_by
            ? arena_format(j->arena, "%s, named by %s, has no torch that can be used: %s",
                           report->path ? report->path : role->python[0], role->named_by,
                           report->problem)
            : arena_format(j->arena, "no Python with torch (%s)\n  hint: %s",
                           list_passed_over(j->arena, report), torch_hint(j));
    add(j, type, "python", verdict, found);
}

static void judge_devices(const struct judging *j, const struct doctor_role *role,
                          const struct type_report *report)
{
    const struct job_device_type *type = &j->job->type[role->type];
    enum doctor_verdict verdict = fail_if(role->n_ranks > 0);
    int wanted = role->n_ranks > role->n_devices ? role->n_ranks : role->n_devices;
    if (report->n_devices == 0)
        add(j, type->name, "devices", verdict,
            arena_format(j->arena, "%s is there, but no %s device", type->backend, type->device));
    else if (strcmp(type->device, "cpu") == 0)
        return;
    else if (report->n_devices < wanted)
        add(j, type->name, "devices", fail_if(report->n_devices < role->n_ranks),
            arena_format(j->arena, "%.0f %s devices, the job uses %d there", report->n_devices,
                         type->device, wanted));
    else
        add(j, type->name, "devices", DOCTOR_OK,
            arena_format(j->arena, "%.0f %s%s%s", report->n_devices, type->device,
                         report->device_name ? ", " : "",
                         report->device_name ? report->device_name : ""));
}

static void judge_backend(const struct judging *j, const struct doctor_role *role,
                          const struct type_report *report)
{
    const struct job_device_type *type = &j->job->type[role->type];
    enum doctor_verdict verdict = fail_if(role->n_ranks > 0);
    if (report->device_problem) {
        add(j, type->name, "backend", verdict,
            arena_format(j->arena, "torch has no '%s' device here: %s", type->device,
                         report->device_problem));
    } else if (!report->has_backend) {
        add(j, type->name, "backend", verdict,
            arena_format(j->arena, "this torch is built without '%s'", type->backend));
    } else {
        add(j, type->name, "backend", DOCTOR_OK,
            arena_format(j->arena, "%s on %s", type->backend, type->device));
        judge_devices(j, role, report);
    }
}

static void judge_cpus(const struct judging *j, const struct doctor_role *role,
                       const struct type_report *report)
{
    const struct job_device_type *type = &j->job->type[role->type];
    struct text listed = {0};
    for (size_t i = 0; i < report->n_missing_cpus; i++)
        text_format(&listed, "%s%s", i ? " | " : "", report->missing_cpus[i]);
    if (listed.length)
        add(j, type->name, "cpus", fail_if(role->n_ranks > 0),
            arena_format(j->arena, "none of these CPUs may be used: %s", listed.data));
    for (size_t i = 0; i < type->n_cpus && report->n_missing_cpus == 0; i++)
        text_format(&listed, "%s%s", i ? " | " : "", type->cpus[i]);
    if (listed.length && report->n_missing_cpus == 0)
        add(j, type->name, "cpus", DOCTOR_OK, listed.data);
    text_free(&listed);
}

/* Of a program nothing is known but whether it is there. */
static void judge_program(const struct judging *j, const struct doctor_role *role,
                          const struct type_report *report)
{
    const char *type = j->job->type[role->type].name, *program = j->job->model.args[0];
    if (!report->program)
        add(j, type, "program", fail_if(role->n_ranks > 0),
            arena_format(j->arena, "there is no program '%s'", program));
    else if (*report->program)
        add(j, type, "program", DOCTOR_OK, report->program);
}

static void judge_types(const struct judging *j)
{
    for (size_t i = 0; i < j->host->n_roles; i++) {
        const struct doctor_role *role = &j->host->role[i];
        const struct type_report *report = &j->host->report.type[i];
        if (report->is_command) {
            judge_program(j, role, report);
            judge_cpus(j, role, report);
            continue;
        }
        if (report->problem) {
            judge_missing_torch(j, role, report);
            continue;
        }
        add(j, j->job->type[role->type].name, "python", DOCTOR_OK,
            arena_format(j->arena, "%s, python %s, torch %s", report->path, report->python,
                         report->torch));
        judge_backend(j, role, report);
        judge_cpus(j, role, report);
    }
}

/* Before 3.16. */
static bool is_single_threaded(const char *version)
{
    char *end = NULL;
    long major = strtol(version, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major < 3 || (major == 3 && minor < 16);
}

static void judge_iperf3(const struct judging *j)
{
    const struct host_report *report = &j->host->report;
    const char *version = report->iperf3_version;
    char speed[UNITS_TEXT_SIZE];
    if (!j->host->networked)
        return;
    if (!version)
        add(j, NULL, "iperf3", DOCTOR_FAIL,
            arena_format(j->arena, "iperf3: %s\n  hint: %s, or give network.links in the job",
                         report->iperf3_problem ? report->iperf3_problem : "it gives no version",
                         report->debian ? "apt install iperf3" : "install iperf3"));
    else if (is_single_threaded(version) && report->speed_Bps > ONE_THREAD_Bps)
        add(j, NULL, "iperf3", DOCTOR_WARN,
            arena_format(j->arena,
                         "iperf3 %s uses one CPU, which may be slower than the link of %s; 3.16 "
                         "and later use more",
                         version, units_format(report->speed_Bps, DIMENSION_BANDWIDTH, speed)));
    else
        add(j, NULL, "iperf3", DOCTOR_OK, arena_format(j->arena, "iperf3 %s", version));
}

/* Names of hosts, the first few in words. */
struct names {
    struct text text;
    size_t n;
};

static void names_add(struct names *names, const char *name)
{
    enum { MOST_NAMED = 4 };
    if (names->n < MOST_NAMED)
        text_format(&names->text, "%s%s", names->n ? ", " : "", name);
    names->n++;
    if (names->n == MOST_NAMED + 1)
        text_add(&names->text, ", ...");
}

static void judge_routes(const struct judging *j)
{
    const struct host_report *report = &j->host->report;
    size_t n_peers = 0;
    const size_t *peer = doctor_hosts_peers(j->arena, j->all, j->n, j->self, &n_peers);
    struct names unreached = {0}, elsewhere = {0};
    const char *other = NULL;
    for (size_t i = 0; i < n_peers && i < report->n_sources; i++) {
        const char *source = report->source[i];
        if (!source)
            names_add(&unreached, j->all[peer[i]].name);
        else if (*j->host->address && strcmp(source, j->host->address) != 0)
            names_add(&elsewhere, j->all[peer[i]].name);
        if (source && *j->host->address && strcmp(source, j->host->address) != 0)
            other = source;
    }
    if (unreached.n)
        add(j, NULL, "route", fail_if(doctor_needs(j->host)),
            arena_format(j->arena, "no route to %zu of %zu hosts: %s", unreached.n, n_peers,
                         unreached.text.data));
    if (elsewhere.n)
        add(j, NULL, "route", DOCTOR_WARN,
            arena_format(j->arena,
                         "reaches %s from %s, not from %s (%s), by which others reach it: the "
                         "measured link may not be the one that is trained over",
                         elsewhere.text.data, other, j->host->address, j->host->interface));
    if (n_peers && !unreached.n && !elsewhere.n)
        add(j, NULL, "route", DOCTOR_OK,
            arena_format(j->arena, "to %zu hosts, from %s", n_peers,
                         *j->host->address ? j->host->address : "any address"));
    text_free(&unreached.text);
    text_free(&elsewhere.text);
}

static void judge_clock(const struct judging *j)
{
    double ahead_s = j->host->clock_ahead_s, error_s = j->host->clock_error_s;
    char difference[UNITS_TEXT_SIZE], error[UNITS_TEXT_SIZE];
    if (!j->host->has_clock || j->host->is_here)
        return;
    units_format(fabs(ahead_s), DIMENSION_TIME, difference);
    units_format(error_s, DIMENSION_TIME, error);
    if (fabs(ahead_s) - error_s > CLOCK_LIMIT_S)
        add(j, NULL, "clock", DOCTOR_WARN,
            arena_format(j->arena,
                         "%s %s of here (within %s); times are measured by each host's own clock, "
                         "but its files and logs will say otherwise\n  hint: is a time service "
                         "running there?",
                         difference, ahead_s > 0 ? "ahead" : "behind", error));
    else
        add(j, NULL, "clock", DOCTOR_OK,
            arena_format(j->arena, "%s %s of here, within %s", difference,
                         ahead_s > 0 ? "ahead" : "behind", error));
}

/* Bytes of training data that are copied to the host; 0 where they are not known. */
static double data_bytes(const struct judging *j)
{
    double sum = 0;
    for (size_t i = 0; i < j->host->n_roles; i++) {
        const struct amount *data = &j->job->type[j->host->role[i].type].data;
        double size = data->unit == AMOUNT_BYTES     ? data->value
                      : data->unit == AMOUNT_SAMPLES ? data->value * j->job->data.sample_bytes
                                                     : 0;
        sum += size * j->host->role[i].n_ranks;
    }
    return j->job->launcher.files == FILES_SHARED ? 0 : sum;
}

static void judge_space(const struct judging *j)
{
    char size[UNITS_TEXT_SIZE], needed[UNITS_TEXT_SIZE];
    double free_bytes = j->host->report.free_bytes, data = data_bytes(j);
    bool copies = j->job->launcher.files == FILES_COPIED;
    if (j->host->is_here)
        return;
    if (free_bytes < 0) {
        add(j, NULL, "space", DOCTOR_WARN, "free space is not known");
        return;
    }
    units_format(free_bytes, DIMENSION_BYTES, size);
    units_format(data + LEAST_FREE_BYTES, DIMENSION_BYTES, needed);
    if (free_bytes < LEAST_FREE_BYTES)
        add(j, NULL, "space", fail_if(doctor_needs(j->host)),
            arena_format(j->arena,
                         "%s free where files are copied to\n  hint: `folder:` under "
                         "launcher names another place",
                         size));
    else if (free_bytes < data + LEAST_FREE_BYTES)
        add(j, NULL, "space", fail_if(copies),
            arena_format(j->arena,
                         "%s free where files are copied to, %s needed%s\n  hint: "
                         "`folder:` under launcher names another place",
                         size, needed, copies ? "" : " unless it sees the files of here"));
    else
        add(j, NULL, "space", DOCTOR_OK, arena_format(j->arena, "%s free", size));
}

/* On many hosts without the numbers, which the table has, so that they are told together. */
static const char *tell_busy(const struct judging *j, const char *busy)
{
    const char *busiest = j->host->report.busiest;
    return arena_format(j->arena, "%s%s%s%s: it would be measured too",
                        j->host->is_here ? busy : "busy with other work",
                        busiest ? ", most of it '" : "", busiest ? busiest : "",
                        busiest ? "'" : "");
}

static void judge_load(const struct judging *j)
{
    const struct host_report *report = &j->host->report;
    double few = FEW_BUSY_SHARE * report->n_cpus;
    if (report->busy_cpus < 0 || report->n_cpus <= 0)
        return;
    const char *busy =
        arena_format(j->arena, "%.1f of %.0f CPUs busy", report->busy_cpus, report->n_cpus);
    if (report->busy_cpus <= (few > FEW_BUSY_CPUS ? few : FEW_BUSY_CPUS))
        add(j, NULL, "load", DOCTOR_OK, busy);
    else
        add(j, NULL, "load", DOCTOR_WARN, tell_busy(j, busy));
}

void doctor_judge_host(struct arena *arena, const struct job *job, const struct doctor_host *host,
                       size_t n, size_t self, struct doctor_checks *checks)
{
    static void (*const judge[])(const struct judging *) = {judge_types, judge_iperf3, judge_routes,
                                                            judge_clock, judge_space,  judge_load};
    const struct judging j = {arena, job, host, n, self, &host[self], checks};
    for (size_t i = 0; i < sizeof judge / sizeof *judge; i++)
        judge[i](&j);
}

/* What a host says for a type, or NULL where it does not. */
static const struct type_report *report_of(const struct doctor_host *host, int type,
                                           const struct doctor_role **role)
{
    for (size_t i = 0; host->answered && i < host->n_roles; i++) {
        *role = &host->role[i];
        if (host->role[i].type == type && !host->report.type[i].problem)
            return &host->report.type[i];
    }
    return NULL;
}

/* A value, and the hosts that have it. */
struct variant {
    const char *value;
    struct names hosts;
    bool trains; /* one of them is in the sub-system */
};

enum { MOST_VARIANTS = 8 };

static struct variant *find_variant(struct variant *variant, const char *value)
{
    size_t i = 0;
    while (i < MOST_VARIANTS - 1 && variant[i].value && strcmp(variant[i].value, value) != 0)
        i++;
    if (!variant[i].value)
        variant[i].value = value;
    return &variant[i];
}

static const char *torch_of(const struct type_report *report)
{
    return report->torch;
}

static const char *path_of(const struct type_report *report)
{
    return report->path;
}

/* Sorts the hosts of a type by what they say; returns how many different answers there are. */
static size_t collect(const struct doctor_host *host, size_t n, int type, bool only_trained,
                      const char *(*value)(const struct type_report *), struct variant *variant)
{
    for (size_t i = 0; i < n; i++) {
        const struct doctor_role *role = NULL;
        const struct type_report *report = report_of(&host[i], type, &role);
        if (!report || !value(report) || (only_trained && role->n_ranks == 0))
            continue;
        struct variant *found = find_variant(variant, value(report));
        names_add(&found->hosts, host[i].name);
        found->trains = found->trains || role->n_ranks > 0;
    }
    size_t n_variants = 0;
    while (n_variants < MOST_VARIANTS && variant[n_variants].value)
        n_variants++;
    return n_variants;
}

/* "1.13.0 on ka0, ka1; 2.6.0 on kb0" */
static const char *list_variants(struct arena *arena, const struct variant *variant, size_t n)
{
    struct text list = {0};
    for (size_t i = 0; i < n; i++)
        text_format(&list, "%s%s on %s", i ? "; " : "", variant[i].value,
                    variant[i].hosts.text.data);
    const char *copy = arena_copy(arena, list.data ? list.data : "");
    text_free(&list);
    return copy;
}

static void free_variants(struct variant *variant)
{
    for (size_t i = 0; i < MOST_VARIANTS; i++)
        text_free(&variant[i].hosts.text);
}

static void judge_versions(struct arena *arena, const struct job_device_type *type, int number,
                           const struct doctor_host *host, size_t n, struct doctor_checks *checks)
{
    struct variant variant[MOST_VARIANTS] = {{0}};
    size_t n_variants = collect(host, n, number, false, torch_of, variant), n_trained = 0;
    for (size_t i = 0; i < n_variants; i++)
        n_trained += variant[i].trains;
    if (n_variants > 1)
        doctor_add(
            arena, checks,
            (struct doctor_check){NULL, type->name, "versions",
                                  arena_format(arena, "hosts of %s have different torch: %s",
                                               n_trained > 1 ? "its sub-system" : "this type",
                                               list_variants(arena, variant, n_variants)),
                                  DOCTOR_WARN});
    free_variants(variant);
}

/* All ranks of a sub-system are started with the Python of its first host. */
static void judge_paths(struct arena *arena, const struct job_device_type *type, int number,
                        const struct doctor_host *host, size_t n, struct doctor_checks *checks)
{
    struct variant variant[MOST_VARIANTS] = {{0}};
    size_t n_variants = collect(host, n, number, true, path_of, variant);
    if (n_variants > 1)
        doctor_add(arena, checks,
                   (struct doctor_check){
                       NULL, type->name, "python",
                       arena_format(arena,
                                    "torch belongs to different Pythons: %s; a sub-system is "
                                    "started with one\n  hint: name it: `python: "
                                    "/path/to/bin/python` under the device type",
                                    list_variants(arena, variant, n_variants)),
                       DOCTOR_FAIL});
    free_variants(variant);
}

void doctor_judge_together(struct arena *arena, const struct job *job,
                           const struct doctor_host *host, size_t n, struct doctor_checks *checks)
{
    for (int t = 0; t < job->n_types; t++) {
        judge_versions(arena, &job->type[t], t, host, n, checks);
        judge_paths(arena, &job->type[t], t, host, n, checks);
    }
}
