/* The page of a run: whole, the same each time, and safe whatever its files say. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../predict/timeline_lab.h"
#include "report/report.h"

struct paged {
    struct lab lab;
    struct step_record record;
    struct step_parts parts[2];
    struct steadiness steadiness[2];
    struct bandwidth_hop hop[6];
    struct bandwidth_map map;
    struct scaling scaling;
    struct run_report run;
};

static void gather(struct paged *p)
{
    struct cluster *c = &p->lab.cluster;
    cluster_forecast(c);
    for (size_t i = 0; i < 6; i++)
        p->hop[i] = (struct bandwidth_hop){i, (i + 1) % 6, &c->forecast.link[i]};
    bandwidth_map_make(&c->arena, &c->job, NULL, p->hop, 6, &p->map);
    scaling_make(&c->arena, &c->job, c->profile, &c->forecast, &p->scaling);
    for (int t = 0; t < 2; t++)
        p->steadiness[t] = steadiness_of(&c->arena, &c->profile[t]);
    p->run = (struct run_report){.job = &c->job,
                                 .job_path = "job.yaml",
                                 .run_path = "runs/lab",
                                 .profile = c->profile,
                                 .forecast = &c->forecast,
                                 .steadiness = p->steadiness,
                                 .map = &p->map,
                                 .scaling = &p->scaling};
}

static void add_record(struct paged *p)
{
    struct cluster *c = &p->lab.cluster;
    const struct ft_timeline *ring = c->forecast.timeline.ring;
    assert_true(step_record_make(&c->arena, ring, 3, &p->record, NULL));
    for (int t = 0; t < 2; t++)
        p->parts[t] = step_record_parts(&p->record, ring->type_of, t);
    p->run.record = &p->record;
    p->run.parts = p->parts;
}

static void start(struct paged *p)
{
    *p = (struct paged){0};
    lab_start(&p->lab);
    gather(p);
    add_record(p);
}

static void assert_text(const struct text *page, const char *part)
{
    if (!strstr(page->data, part))
        fail_msg("expected '%s'", part);
}

static bool is_void(const char *name, size_t length)
{
    static const char *const element[] = {"meta", "link", "br", "!doctype"};
    for (size_t i = 0; i < sizeof element / sizeof *element; i++) {
        if (strlen(element[i]) == length && strncmp(element[i], name, length) == 0)
            return true;
    }
    return false;
}

/* Every element is closed by its own name; only the page's own elements are there. */
static void assert_well_formed(const char *page)
{
    enum { DEEPEST = 64 };
    struct {
        const char *name;
        size_t length;
    } open[DEEPEST];
    size_t n = 0;
    for (const char *at = strchr(page, '<'); at; at = strchr(at, '<')) {
        bool closes = at[1] == '/';
        const char *name = at + 1 + closes, *end = strchr(at, '>');
        size_t length = strcspn(name, " />\n");
        assert_non_null(end);
        assert_null(memmem(at, (size_t)(end - at), " src=", 5));
        assert_null(memmem(at, (size_t)(end - at), " on", 3));
        if (closes) {
            assert_true(n > 0);
            n--;
            if (open[n].length != length || strncmp(open[n].name, name, length) != 0)
                fail_msg("</%.*s> closes <%.*s>", (int)length, name, (int)open[n].length,
                         open[n].name);
        } else if (end[-1] != '/' && !is_void(name, length)) {
            assert_true(n < DEEPEST);
            open[n].name = name;
            open[n++].length = length;
        }
        at = end;
    }
    assert_int_equal(n, 0);
}

static void assert_inert(const char *page)
{
    static const char *const never[] = {"<script", "javascript:", "http://", "https://",
                                        "@import", "<img",        "<iframe", "nan%",
                                        "inf%",    "\"nan",       "-nan"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        if (strstr(page, never[i]))
            fail_msg("the page holds %s", never[i]);
    }
    for (const char *c = page; *c; c++) {
        if (iscntrl((unsigned char)*c) && *c != '\n' && *c != '\t')
            fail_msg("the page holds \\x%02x", (unsigned char)*c);
    }
}

static void all_sections_are_there(void **state)
{
    (void)state;
    static const char *const section[] = {"step",    "timeline", "network",     "scaling",
                                          "samples", "model",    "assumptions", "again"};
    struct paged p;
    struct text page = {0}, again = {0};
    start(&p);
    report_run_html(&p.run, &page);
    for (size_t i = 0; i < sizeof section / sizeof *section; i++) {
        char id[64];
        snprintf(id, sizeof id, "<section id=\"%s\">", section[i]);
        assert_text(&page, id);
    }
    assert_text(&page, "<dd>628 ms<small>");
    assert_text(&page, "slow-0 decides, by its computing. Without it a step would take 328 ms.");
    assert_null(strstr(page.data, "Forecast and truth"));
    assert_well_formed(page.data);
    assert_inert(page.data);
    report_run_html(&p.run, &again);
    assert_string_equal(page.data, again.data);
    text_free(&page);
    text_free(&again);
    cluster_free(&p.lab.cluster);
}

static void the_closed_form_alone_makes_a_page(void **state)
{
    (void)state;
    struct paged p = {0};
    struct text page = {0};
    lab_start(&p.lab);
    p.lab.cluster.model = MODEL_CLOSED_FORM;
    gather(&p);
    report_run_html(&p.run, &page);
    assert_text(&page, "By the closed form: forward");
    assert_null(strstr(page.data, "id=\"timeline\""));
    assert_well_formed(page.data);
    assert_inert(page.data);
    text_free(&page);
    cluster_free(&p.lab.cluster);
}

static void the_truth_is_shown_where_it_is_known(void **state)
{
    (void)state;
    struct paged p;
    struct text page = {0};
    struct validation_run run[] = {{.step_s = 0.7, .started = "2026-11-30T00:00:00Z"}};
    struct validation v = {.written = "2026-11-29T23:00:00Z",
                           .sha256 = "0123456789abcdef0123456789abcdef",
                           .forecast_first = true,
                           .closed_form_s = 0.3,
                           .run = run,
                           .n_runs = 1,
                           .step = {true, true, true, 0.63, 0.7, -0.1}};
    start(&p);
    p.run.validation = &v;
    report_run_html(&p.run, &page);
    assert_text(&page, "Forecast 630 ms, measured 700 ms: -10.0 %.");
    assert_text(&page, "written 2026-11-29T23:00:00Z before");
    assert_well_formed(page.data);
    text_free(&page);
    cluster_free(&p.lab.cluster);
}

static void what_was_given_is_listed(void **state)
{
    (void)state;
    struct paged p;
    struct text page = {0};
    start(&p);
    struct job *job = &p.lab.cluster.job;
    job->storage.bandwidth_Bps = 5e6;
    job->type[0].micro_batches = 4;
    job->link[0].nccl_tests = "table<1>.txt";
    job->link[0].bandwidth_Bps = 0;
    job->link[1].spread = 0.4;
    job->link[1].both_ways_Bps = 3.25e9;
    report_run_html(&p.run, &page);
    assert_text(&page, ": by the table table&lt;1&gt;.txt.</li>");
    assert_text(&page, ", both ways together 26 Gbit/s, spread 40 %.</li>");
    assert_text(&page, "The storage&#39;s bandwidth: 40 Mbit/s.");
    assert_text(&page, "Micro-batches in a step of each fast: 4.");
    assert_null(strstr(page.data, "0.00 bit/s"));
    text_free(&page);
    cluster_free(&p.lab.cluster);
}

static const char hostile[] = "<script>alert(1)</script>\"'><img src=x onload=y>]]>&#0;\x1b[2J\xff"
                              "\xe2\x80\xae" /* turns the direction of writing */;

static const char *very_long(void)
{
    static char text[20001];
    memset(text, 'x', sizeof text - 1);
    return text;
}

static void be_hostile(struct paged *p, const char *name)
{
    struct cluster *c = &p->lab.cluster;
    struct profile_layer *layer = ARENA_NEW(&c->arena, struct profile_layer);
    *layer = (struct profile_layer){name, name, name, name, name, 1};
    for (int t = 0; t < 2; t++) {
        c->job.type[t].name = c->forecast.type[t].name = name;
        c->profile[t].layer = layer;
        c->profile[t].n_layers = 1;
        c->profile[t].device_type = c->profile[t].device_name = c->profile[t].date = name;
        c->profile[t].framework = c->profile[t].backend = c->profile[t].note = name;
        c->profile[t].loss = c->profile[t].optimizer = name;
        c->profile[t].assumed = t == 1;
    }
    for (size_t i = 0; i < p->map.n; i++)
        p->map.name[i] = name;
    c->job.name = c->forecast.name = c->forecast.deciding_device = c->forecast.deciding_next = name;
    c->forecast.warning = ARENA_ARRAY(&c->arena, 1, const char *);
    c->forecast.warning[0] = name;
    c->forecast.n_warnings = 1;
    c->forecast.type[0].self_known = false;
    c->forecast.type[0].self_why_not = name;
    p->run.job_path = p->run.run_path = name;
}

static void names_cannot_leave_their_place(void **state)
{
    (void)state;
    const char *const names[] = {hostile, very_long()};
    for (size_t i = 0; i < 2; i++) {
        struct paged p;
        struct text page = {0};
        struct validation_run run = {.step_s = 1, .started = names[i]};
        struct validation_type type = {.name = names[i]};
        struct validation v = {.written = names[i],
                               .sha256 = names[i],
                               .smaller = names[i],
                               .run = &run,
                               .n_runs = 1,
                               .type = &type,
                               .n_types = 1};
        start(&p);
        be_hostile(&p, names[i]);
        p.run.validation = &v;
        report_run_html(&p.run, &page);
        assert_well_formed(page.data);
        assert_inert(page.data);
        text_free(&page);
        cluster_free(&p.lab.cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sections_are_there),
        cmocka_unit_test(the_closed_form_alone_makes_a_page),
        cmocka_unit_test(the_truth_is_shown_where_it_is_known),
        cmocka_unit_test(what_was_given_is_listed),
        cmocka_unit_test(names_cannot_leave_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
