#include "cli/doctor_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/units.h"
#include "report/grid.h"

size_t doctor_output_count(const struct doctor_result *result, enum doctor_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < result->checks.n; i++)
        n += result->checks.item[i].verdict == verdict;
    return n;
}

static void print_line(struct text *out, enum doctor_verdict verdict, const char *subject,
                       const char *what, const char *found)
{
    struct arena arena = {0};
    text_format(out, "%-5s %-12s %-8s %s\n", doctor_verdict_name(verdict),
                text_printable(&arena, subject, 0), what, text_printable(&arena, found, 1));
    arena_free(&arena);
}

/* What is not well stands below the table of hosts, where there is one. */
static void print_checks_of_here(const struct doctor_result *result, struct text *out)
{
    for (size_t i = 0; i < result->checks.n; i++) {
        const struct doctor_check *check = &result->checks.item[i];
        if (!check->host && (check->verdict == DOCTOR_OK || result->is_local))
            print_line(out, check->verdict, check->type ? check->type : "here", check->what,
                       check->found);
    }
}

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

/* The first type's Python on the host that has torch, or NULL. */
static const struct type_report *first_torch(const struct doctor_host *host)
{
    for (size_t i = 0; host->answered && i < host->n_roles; i++) {
        if (!host->report.type[i].problem)
            return &host->report.type[i];
    }
    return NULL;
}

/* "8 cuda, 4 npu", each kind once. */
static void add_devices(const struct job *job, const struct doctor_host *host, struct grid *grid)
{
    struct text listed = {0};
    for (size_t i = 0; host->answered && i < host->n_roles; i++) {
        const struct type_report *type = &host->report.type[i];
        const char *kind = job->type[host->role[i].type].device;
        if (type->problem || type->n_devices < 1 || (listed.data && strstr(listed.data, kind)))
            continue;
        text_add(&listed, listed.length ? ", " : "");
        if (strcmp(kind, "cpu") != 0)
            text_format(&listed, "%.0f ", type->n_devices);
        text_add(&listed, kind);
    }
    grid_add(grid, "%s", or_dash(listed.data));
    text_free(&listed);
}

static void add_numbers(const struct doctor_host *host, struct grid *grid)
{
    const struct host_report *report = &host->report;
    char size[UNITS_TEXT_SIZE];
    if (host->has_clock && fabs(host->clock_ahead_s) <= host->clock_error_s)
        grid_add(grid, "~0 s");
    else if (host->has_clock)
        grid_add(grid, "%+.2f s", host->clock_ahead_s);
    else
        grid_add(grid, "-");
    if (host->answered && report->free_bytes >= 0)
        grid_add(grid, "%s", units_format(report->free_bytes, DIMENSION_BYTES, size));
    else
        grid_add(grid, "-");
    if (host->answered && report->busy_cpus >= 0)
        grid_add(grid, "%.1f/%.0f", report->busy_cpus, report->n_cpus);
    else
        grid_add(grid, "-");
}

static void add_row(const struct job *job, const struct doctor_host *host, struct grid *grid)
{
    const struct type_report *type = first_torch(host);
    grid_add(grid, "%s", doctor_verdict_name(host->verdict));
    grid_add(grid, "%s", host->name);
    grid_add(grid, "%s", or_dash(type ? type->python : NULL));
    grid_add(grid, "%s", or_dash(type ? type->torch : NULL));
    add_devices(job, host, grid);
    grid_add(grid, "%s", host->answered ? or_dash(host->report.iperf3_version) : "-");
    grid_add(grid, "%s", *host->address ? host->address : "-");
    grid_add(grid, "%s", *host->interface ? host->interface : "-");
    add_numbers(host, grid);
}

/* The verdict stands first: grid cuts the first column where a row is too wide, and this is none
 * to cut. */
static void print_hosts(const struct job *job, const struct doctor_result *result, struct text *out)
{
    static const char *const head[] = {"",        "host", "python", "torch", "devices", "iperf3",
                                       "address", "on",   "clock",  "free",  "busy"};
    enum { N_COLUMNS = sizeof head / sizeof *head, N_LEFT = 8 };
    struct grid grid = {.n_columns = N_COLUMNS};
    for (size_t i = 0; i < N_LEFT; i++)
        grid.to_the_left[i] = true;
    for (size_t i = 0; i < N_COLUMNS; i++)
        grid_add(&grid, "%s", head[i]);
    for (size_t i = 0; i < result->n_hosts; i++)
        add_row(job, &result->host[i], &grid);
    text_add(out, "\n");
    grid_print(&grid, out);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_finding(const struct doctor_check *a, const struct doctor_check *b)
{
    return a->host && b->host && a->verdict == b->verdict && strcmp(a->what, b->what) == 0 &&
           strcmp(a->found, b->found) == 0 && is_same_text(a->type, b->type);
}

/* "ka0, ka1, ka2 and 197 more": all hosts with this finding, of which `first` is the first. */
static void name_hosts(const struct doctor_result *result, size_t first, struct text *out)
{
    enum { MOST_NAMED = 3 };
    const struct doctor_check *check = &result->checks.item[first];
    size_t n = 0;
    for (size_t i = first; i < result->checks.n; i++) {
        if (i != first && !is_same_finding(check, &result->checks.item[i]))
            continue;
        if (n++ < MOST_NAMED)
            text_format(out, "%s%s", n > 1 ? ", " : "", result->checks.item[i].host);
    }
    if (n > MOST_NAMED)
        text_format(out, " and %zu more", n - MOST_NAMED);
}

static bool is_told_before(const struct doctor_result *result, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (is_same_finding(&result->checks.item[i], &result->checks.item[number]))
            return true;
    }
    return false;
}

static void print_problem(const struct job *job, const struct doctor_result *result, size_t number,
                          struct text *out)
{
    const struct doctor_check *check = &result->checks.item[number];
    struct text subject = {0}, found = {0};
    if (check->host)
        name_hosts(result, number, &subject);
    else
        text_add(&subject, check->type ? check->type : "here");
    if (check->host && check->type && job->n_types > 1)
        text_format(&found, "%s: ", check->type);
    text_add(&found, check->found);
    print_line(out, check->verdict, subject.data, check->what, found.data);
    text_free(&subject);
    text_free(&found);
}

static void print_problems(const struct job *job, const struct doctor_result *result,
                           enum doctor_verdict verdict, struct text *out)
{
    for (size_t i = 0; i < result->checks.n; i++) {
        const struct doctor_check *check = &result->checks.item[i];
        if (check->verdict == verdict && !is_told_before(result, i))
            print_problem(job, result, i, out);
    }
}

void doctor_output_text(const struct job *job, const struct doctor_result *result, struct text *out)
{
    size_t n_failed = doctor_output_count(result, DOCTOR_FAIL);
    size_t n_warnings = doctor_output_count(result, DOCTOR_WARN);
    print_checks_of_here(result, out);
    if (!result->is_local) {
        if (result->n_hosts > 0)
            print_hosts(job, result, out);
        if (n_failed + n_warnings > 0)
            text_add(out, "\n");
        print_problems(job, result, DOCTOR_WARN, out);
        print_problems(job, result, DOCTOR_FAIL, out);
    }
    if (n_failed == 0 && n_warnings > 0)
        text_format(out, "\nReady to run, with %zu warning%s.\n", n_warnings,
                    n_warnings > 1 ? "s" : "");
    else if (n_failed == 0)
        text_add(out, "\nReady to run.\n");
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text)
        json_object_set_new(object, key, json_string(text));
}

static void set_number(json_t *object, const char *key, double number)
{
    if (isfinite(number) && number >= 0)
        json_object_set_new(object, key, json_real(number));
}

static json_t *check_json(const struct doctor_check *check)
{
    struct arena arena = {0};
    const char *subject = check->host ? check->host : check->type ? check->type : "here";
    json_t *json = json_pack("{ss ss ss ss}", "subject", subject, "what", check->what, "verdict",
                             doctor_verdict_name(check->verdict), "found",
                             text_printable(&arena, check->found, 1));
    set_text(json, "host", check->host);
    set_text(json, "type", check->type);
    arena_free(&arena);
    return json;
}

static json_t *type_json(const struct job *job, const struct doctor_role *role,
                         const struct type_report *report)
{
    const struct job_device_type *type = &job->type[role->type];
    json_t *json = json_pack("{ss sb ss ss}", "type", type->name, "in_subsystem", role->n_ranks > 0,
                             "device", type->device, "backend", type->backend);
    if (!report)
        return json;
    set_text(json, "python_path", report->path);
    set_text(json, "python", report->python);
    set_text(json, "torch", report->torch);
    set_text(json, "program", report->program);
    set_text(json, "problem", report->problem);
    set_text(json, "device_name", report->device_name);
    if (!report->problem && !report->is_command) {
        json_object_set_new(json, "has_backend", json_boolean(report->has_backend));
        set_number(json, "n_devices", report->n_devices);
    }
    return json;
}

static void set_measures(json_t *json, const struct doctor_host *host)
{
    if (host->has_clock) {
        json_object_set_new(json, "clock_ahead_s", json_real(host->clock_ahead_s));
        json_object_set_new(json, "clock_error_s", json_real(host->clock_error_s));
    }
    if (!host->answered)
        return;
    set_text(json, "hostname", host->report.hostname);
    set_text(json, "iperf3", host->report.iperf3_version);
    set_number(json, "free_bytes", host->report.free_bytes);
    set_number(json, "busy_cpus", host->report.busy_cpus);
    set_number(json, "n_cpus", host->report.n_cpus);
}

static json_t *host_json(const struct job *job, const struct doctor_host *host)
{
    json_t *types = json_array();
    for (size_t i = 0; i < host->n_roles; i++)
        json_array_append_new(
            types, type_json(job, &host->role[i], host->answered ? &host->report.type[i] : NULL));
    json_t *json = json_pack("{ss ss sb sb}", "host", host->name, "verdict",
                             doctor_verdict_name(host->verdict), "reached", host->reached,
                             "answered", host->answered);
    set_text(json, "address", host->address);
    set_text(json, "interface", host->interface);
    set_measures(json, host);
    json_object_set_new(json, "types", types);
    return json;
}

void doctor_output_json(const struct job *job, const struct doctor_result *result, struct text *out)
{
    json_t *checks = json_array(), *hosts = json_array();
    for (size_t i = 0; i < result->checks.n; i++)
        json_array_append_new(checks, check_json(&result->checks.item[i]));
    for (size_t i = 0; i < result->n_hosts; i++)
        json_array_append_new(hosts, host_json(job, &result->host[i]));
    json_t *document =
        json_pack("{ss sb so so}", "format", "foretrain.doctor/1", "ready",
                  doctor_output_count(result, DOCTOR_FAIL) == 0, "checks", checks, "hosts", hosts);
    char *text = json_dumps(document, JSON_INDENT(2));
    text_format(out, "%s\n", text ? text : "{}");
    free(text);
    json_decref(document);
}
