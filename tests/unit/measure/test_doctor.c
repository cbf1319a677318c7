/* Which hosts are examined, what they say, and what is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "measure/doctor_hosts.h"
#include "measure/doctor_judge.h"

struct fixture {
    struct arena arena;
    struct error e;
    struct job job;
    struct doctor_host *host;
    size_t n, n_left_out;
    struct doctor_checks checks;
};

DEFINE_FIXTURE

static void list_at_most(struct fixture *f, const char *job, size_t most)
{
    struct python_search search = {.arena = &f->arena, .path = "/nowhere"};
    if (!job_parse(&f->arena, job, strlen(job), "job.yaml", ".", &f->job, &f->e))
        fail_msg("%s", f->e.text);
    doctor_hosts_list(&f->arena, &f->job, &search, most, &f->host, &f->n, &f->n_left_out);
}

static void list(struct fixture *f, const char *job)
{
    list_at_most(f, job, 100);
}

/* What a host says that is well, with `more` after it: the last of two equal keys counts. */
static void answer(struct fixture *f, size_t self, const char *type, const char *more)
{
    struct doctor_host *host = &f->host[self];
    size_t n_peers = 0;
    doctor_hosts_peers(&f->arena, f->host, f->n, self, &n_peers);
    const char *text = arena_format(
        &f->arena,
        "{\"debian\": true, \"free_bytes\": 1e12, \"iperf3\": {\"version\": \"3.12\"},"
        " \"load\": {\"busy_cpus\": 0.1, \"cpus\": 64}, \"sources\": [%s], \"types\": [%s]%s%s}",
        n_peers == 0 ? "" : "\"10.0.0.1\"", type, *more ? ", " : "", more);
    if (!host_report_read(&f->arena, text, host->n_roles, n_peers, &host->report, &f->e))
        fail_msg("%s: %s", f->e.text, text);
    host->reached = host->answered = true;
}

static const char well[] = "{\"path\": \"python3\", \"version\": \"3.11.2\", \"torch\": \"2.6.0\","
                           " \"device\": {\"backend\": true, \"count\": 8}}";

/* The only check of a kind on a host, or NULL. */
static const struct doctor_check *find(const struct fixture *f, const char *what)
{
    const struct doctor_check *found = NULL;
    for (size_t i = 0; i < f->checks.n; i++) {
        if (strcmp(f->checks.item[i].what, what) != 0)
            continue;
        assert_null(found);
        found = &f->checks.item[i];
    }
    return found;
}

static void assert_check(const struct fixture *f, const char *what, enum doctor_verdict verdict,
                         const char *words)
{
    const struct doctor_check *check = find(f, what);
    if (!check)
        fail_msg("there is no check '%s'", what);
    else if (check->verdict != verdict || !strstr(check->found, words))
        fail_msg("%s: %s %s", what, doctor_verdict_name(check->verdict), check->found);
}

static void judge(struct fixture *f, size_t self)
{
    f->checks = (struct doctor_checks){0};
    doctor_judge_host(&f->arena, &f->job, f->host, f->n, self, &f->checks);
}

static const char two_types[] = "devices:\n"
                                "  a: {count: 6, batch: 1, device: cuda, hosts: \"a[1-3]:2\"}\n"
                                "  b: {count: 2, batch: 1, profile: b.json, hosts: \"a1, b1\"}\n"
                                "launcher: ssh\n";

static void every_host_is_listed_once_with_what_it_does(void **state)
{
    struct fixture *f = *state;
    list(f, two_types);
    assert_int_equal(f->n, 4);
    assert_string_equal(f->host[0].name, "a1");
    assert_string_equal(f->host[3].name, "b1");
    assert_int_equal(f->host[0].n_roles, 2);
    assert_int_equal(f->host[0].role[0].n_devices, 2);
    assert_true(f->host[0].role[0].n_ranks > 0);
    assert_int_equal(f->host[0].role[1].n_ranks, 0);
    assert_int_equal(f->host[2].role[0].n_ranks, 0);
    assert_true(f->host[3].networked);
    assert_true(doctor_needs(&f->host[3]));
}

static void where_hosts_are_too_many_those_of_sub_systems_come_first(void **state)
{
    struct fixture *f = *state;
    list_at_most(
        f,
        "devices: {a: {count: 9, batch: 1, hosts: \"a[1-9]\", subsystem: {hosts: \"z[1-2]\"}}}\n"
        "launcher: ssh\n",
        4);
    assert_int_equal(f->n, 4);
    assert_string_equal(f->host[0].name, "z1");
    assert_string_equal(f->host[2].name, "a1");
    assert_int_equal(f->n_left_out, 7);
}

static void the_local_launcher_has_one_host(void **state)
{
    struct fixture *f = *state;
    list(f, "devices:\n  a: {count: 8, batch: 1, hosts: \"localhost:8\"}\n"
            "  b: {count: 3, batch: 1, profile: b.json}\n"
            "network: {links: [{between: [a, b], bandwidth: 1 Gbit/s}]}\n");
    assert_int_equal(f->n, 1);
    assert_string_equal(f->host[0].name, "here");
    assert_int_equal(f->host[0].n_roles, 1);
    assert_false(f->host[0].networked);
}

static void the_question_holds_any_text(void **state)
{
    struct fixture *f = *state;
    list(f, "devices: {a: {count: 3, batch: 1, hosts: \"a[1-3]\", python: \"/x y/$(z)'\\\"\", "
            "env: {K: \"\\u00e9\\n\"}}}\nlauncher: ssh\n");
    strcpy(f->host[1].address, "10.0.0.2");
    const char *question = doctor_hosts_question(&f->arena, &f->job, f->host, f->n, 0);
    assert_non_null(strstr(question, "\"/x y/$(z)'\\\"\""));
    assert_non_null(strstr(question, "[[\"K\",\"\xc3\x83\xc2\xa9\\n\"]]"));
    assert_non_null(strstr(question, "\"peers\":[\"10.0.0.2\"]"));
}

static void a_host_that_is_well_has_no_complaint(void **state)
{
    struct fixture *f = *state;
    list(f, two_types);
    answer(f, 1, well, "");
    judge(f, 1);
    for (size_t i = 0; i < f->checks.n; i++)
        assert_int_equal(f->checks.item[i].verdict, DOCTOR_OK);
    assert_check(f, "python", DOCTOR_OK, "python3, python 3.11.2, torch 2.6.0");
    assert_check(f, "devices", DOCTOR_OK, "8 cuda");
    assert_check(f, "iperf3", DOCTOR_OK, "3.12");
    assert_check(f, "load", DOCTOR_OK, "0.1 of 64");
}

static void missing_torch_fails_where_it_is_measured_and_warns_elsewhere(void **state)
{
    static const char none[] = "{\"path\": \"python3\", \"error\": \"No module named 'torch'\", "
                               "\"passed_over\": [[\"python3\", \"No module\\u001b[2J\"]]}";
    struct fixture *f = *state;
    list(f, "devices: {a: {count: 3, batch: 1, hosts: \"a[1-3]\"}}\nlauncher: ssh\n");
    answer(f, 0, none, "");
    judge(f, 0);
    assert_check(f, "python", DOCTOR_FAIL, "(python3: No module\\x1b[2J)");
    assert_check(f, "python", DOCTOR_FAIL, "apt install python3-torch");
    answer(f, 2, none, "");
    judge(f, 2);
    assert_check(f, "python", DOCTOR_WARN, "No module");
}

static void backends_and_devices_are_counted(void **state)
{
    static const struct {
        const char *device, *what, *words;
    } cases[] = {
        {"{\"backend\": false, \"count\": 8}", "backend", "built without 'nccl'"},
        {"{\"error\": \"ImportError: torch_mlu\"}", "backend", "ImportError"},
        {"{\"backend\": true, \"count\": 0}", "devices", "no cuda device"},
        {"{\"backend\": true, \"count\": 1}", "devices", "1 cuda devices, the job uses 2"},
        {"null", "backend", "built without"},
    };
    struct fixture *f = *state;
    list(f, "devices: {a: {count: 6, batch: 1, device: cuda, hosts: \"a[1-3]:2\", "
            "subsystem: {devices: 2, hosts: \"a1:2\"}}}\nlauncher: ssh\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer(
            f, 0,
            arena_format(&f->arena,
                         "{\"path\": \"p\", \"version\": \"3\", \"torch\": \"2\", \"device\": %s}",
                         cases[i].device),
            "");
        judge(f, 0);
        assert_check(f, cases[i].what, DOCTOR_FAIL, cases[i].words);
    }
}

static void iperf3_must_be_there_and_fast_enough_for_the_link(void **state)
{
    static const struct {
        const char *said;
        enum doctor_verdict verdict;
        const char *words;
    } cases[] = {
        {"\"iperf3\": {\"error\": \"it is not there\"}", DOCTOR_FAIL, "apt install iperf3"},
        {"\"iperf3\": null", DOCTOR_FAIL, "gives no version"},
        {"\"speed_bps\": 100e9", DOCTOR_WARN, "uses one CPU"},
        {"\"speed_bps\": 100e9, \"iperf3\": {\"version\": \"3.17.1+\"}", DOCTOR_OK, "3.17.1+"},
        {"\"speed_bps\": 10e9", DOCTOR_OK, "3.12"},
    };
    struct fixture *f = *state;
    list(f, two_types);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer(f, 1, well, cases[i].said);
        judge(f, 1);
        assert_check(f, "iperf3", cases[i].verdict, cases[i].words);
    }
}

static void routes_must_exist_and_leave_by_the_measured_address(void **state)
{
    struct fixture *f = *state;
    list(f, two_types);
    strcpy(f->host[0].address, "10.0.0.9");
    strcpy(f->host[1].address, "10.0.0.1");
    answer(f, 1, well, "");
    judge(f, 1);
    assert_check(f, "route", DOCTOR_OK, "to 1 hosts, from 10.0.0.1");
    answer(f, 1, well, "\"sources\": [\"192.168.0.1\"]");
    judge(f, 1);
    assert_check(f, "route", DOCTOR_WARN, "reaches a1 from 192.168.0.1, not from 10.0.0.1");
    answer(f, 1, well, "\"sources\": [null]");
    judge(f, 1);
    assert_check(f, "route", DOCTOR_FAIL, "no route to 1 of 1 hosts: a1");
}

static void only_a_clock_that_is_surely_wrong_is_warned_of(void **state)
{
    struct fixture *f = *state;
    list(f, two_types);
    answer(f, 1, well, "");
    f->host[1].has_clock = true;
    f->host[1].clock_ahead_s = -3;
    f->host[1].clock_error_s = 2.5;
    judge(f, 1);
    assert_check(f, "clock", DOCTOR_OK, "behind");
    f->host[1].clock_error_s = 0.1;
    judge(f, 1);
    assert_check(f, "clock", DOCTOR_WARN, "3 s behind");
}

static void space_must_hold_the_data_that_is_copied(void **state)
{
    struct fixture *f = *state;
    list(f, "devices: {a: {count: 3, batch: 1, data: 1 GB, hosts: \"a[1-3]\"}}\n"
            "launcher: {kind: ssh, shared: false}\n");
    answer(f, 0, well, "\"free_bytes\": 5e7");
    judge(f, 0);
    assert_check(f, "space", DOCTOR_FAIL, "50 MB free");
    answer(f, 0, well, "\"free_bytes\": 1e9");
    judge(f, 0);
    assert_check(f, "space", DOCTOR_FAIL, "1.10 GB needed");
    answer(f, 0, well, "\"free_bytes\": 2e9");
    judge(f, 0);
    assert_check(f, "space", DOCTOR_OK, "2 GB free");
    answer(f, 0, well, "\"free_bytes\": null");
    judge(f, 0);
    assert_check(f, "space", DOCTOR_WARN, "not known");
}

static void other_work_is_warned_of(void **state)
{
    struct fixture *f = *state;
    list(f, two_types);
    answer(f, 1, well, "\"load\": {\"busy_cpus\": 7, \"cpus\": 64, \"busiest\": \"hpl\\u0007\"}");
    judge(f, 1);
    assert_check(f, "load", DOCTOR_WARN, "most of it 'hpl\\x07'");
}

static void different_torch_and_different_pythons_in_a_type_are_named(void **state)
{
    struct fixture *f = *state;
    list(f, "devices: {a: {count: 3, batch: 1, hosts: \"a[1-3]\"}}\nlauncher: ssh\n");
    for (size_t i = 0; i < 3; i++)
        answer(f, i, well, "");
    doctor_judge_together(&f->arena, &f->job, f->host, f->n, &f->checks);
    assert_int_equal(f->checks.n, 0);
    answer(f, 1, "{\"path\": \"/opt/python3\", \"version\": \"3.9\", \"torch\": \"1.13.0\"}", "");
    doctor_judge_together(&f->arena, &f->job, f->host, f->n, &f->checks);
    assert_check(f, "versions", DOCTOR_WARN,
                 "its sub-system have different torch: 2.6.0 on a1, a3; 1.13.0 on a2");
    assert_check(f, "python", DOCTOR_FAIL, "python3 on a1; /opt/python3 on a2");
}

static void of_a_command_it_says_whether_the_program_is_there(void **state)
{
    struct fixture *f = *state;
    list(f, "model: {command: [trainer, x]}\n"
            "devices: {a: {count: 3, batch: 1, hosts: \"a[1-3]\"}}\nlauncher: ssh\n");
    assert_null(f->host[0].role[0].python[0]);
    assert_non_null(strstr(doctor_hosts_question(&f->arena, &f->job, f->host, f->n, 0),
                           "\"program\":\"trainer\""));
    answer(f, 0, "{\"program\": \"/opt/trainer\", \"missing_cpus\": []}", "");
    judge(f, 0);
    assert_check(f, "program", DOCTOR_OK, "/opt/trainer");
    answer(f, 0, "{\"program\": null, \"missing_cpus\": []}", "");
    judge(f, 0);
    assert_check(f, "program", DOCTOR_FAIL, "there is no program 'trainer'");
    doctor_judge_together(&f->arena, &f->job, f->host, f->n, &f->checks);
}

static void an_answer_may_be_anything(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"types\": {}, \"sources\": []}",
        "{\"types\": [], \"sources\": []}",
        "{\"types\": [1, 2], \"sources\": []}",
        "{\"types\": [1], \"sources\": [1]}",
    };
    struct fixture *f = *state;
    struct host_report report;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(host_report_read(&f->arena, texts[i], 1, 0, &report, &f->e));
        assert_string_equal(f->e.text, "its answer cannot be read");
    }
    assert_true(host_report_read(&f->arena,
                                 "{\"types\": [7], \"sources\": [], \"load\": [], \"free_bytes\": "
                                 "-1e400, \"iperf3\": 3}",
                                 1, 0, &report, &f->e) ||
                f->e.text);
    assert_true(host_report_read(&f->arena, "{\"types\": [7], \"sources\": [], \"load\": []}", 1, 0,
                                 &report, &f->e));
    assert_non_null(report.type[0].problem);
    assert_true(report.busy_cpus < 0 && report.free_bytes < 0);
}

int main(void)
{
#define DOCTOR_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(every_host_is_listed_once_with_what_it_does),
        DOCTOR_TEST(where_hosts_are_too_many_those_of_sub_systems_come_first),
        DOCTOR_TEST(the_local_launcher_has_one_host),
        DOCTOR_TEST(the_question_holds_any_text),
        DOCTOR_TEST(a_host_that_is_well_has_no_complaint),
        DOCTOR_TEST(missing_torch_fails_where_it_is_measured_and_warns_elsewhere),
        DOCTOR_TEST(backends_and_devices_are_counted),
        DOCTOR_TEST(iperf3_must_be_there_and_fast_enough_for_the_link),
        DOCTOR_TEST(routes_must_exist_and_leave_by_the_measured_address),
        DOCTOR_TEST(only_a_clock_that_is_surely_wrong_is_warned_of),
        DOCTOR_TEST(space_must_hold_the_data_that_is_copied),
        DOCTOR_TEST(other_work_is_warned_of),
        DOCTOR_TEST(different_torch_and_different_pythons_in_a_type_are_named),
        DOCTOR_TEST(of_a_command_it_says_whether_the_program_is_there),
        DOCTOR_TEST(an_answer_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
