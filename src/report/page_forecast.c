/* The forecast with its interval, the closed form beside it, and the truth where it is known. */
#include <math.h>
#include <string.h>

#include "report/page.h"

static void add_fact(const struct page *page, const char *name, const char *value, const char *more)
{
    text_add(page->out, "<div>");
    html_element(page->out, "dt", NULL, "%s", name);
    text_add(page->out, "<dd>");
    html_add(page->out, value);
    if (*more)
        html_element(page->out, "small", NULL, "%s", more);
    text_add(page->out, "</dd></div>\n");
}

static const char *step_more(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    const char *closed = page_time(page, f->closed_form.step_s);
    if (f->model != MODEL_TIMELINE)
        return "by the closed form";
    if (!f->timeline.spread_known)
        return arena_format(page->arena, "no interval known; closed form %s", closed);
    return arena_format(page->arena, "%s to %s in 80\u00a0%% of steps; closed form %s",
                        page_time(page, f->timeline.step_s.low),
                        page_time(page, f->timeline.step_s.high), closed);
}

static const char *span_more(const struct page *page, const struct span *span, const char *what)
{
    if (!(span->high > span->low))
        return what;
    return arena_format(page->arena, "%s; 80\u00a0%%: %s to %s", what,
                        page_duration(page, span->low), page_duration(page, span->high));
}

static void add_epoch(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    const char *iterations =
        arena_format(page->arena, "%s iterations of %s samples",
                     page_count(page, f->epoch.iterations), page_count(page, f->total_samples));
    const char *epochs = arena_format(page->arena, "%s epoch%s", page_count(page, f->epochs),
                                      f->epochs > 1 ? "s" : "");
    add_fact(page, "Epoch", page_duration(page, f->epoch_s),
             span_more(page, &f->epoch_span_s, iterations));
    add_fact(page, "Whole training", page_duration(page, f->total_s),
             span_more(page, &f->total_span_s, epochs));
}

static void add_facts(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    text_add(page->out, "<dl class=\"facts\">\n");
    add_fact(page, "Step", page_time(page, f->step_s), step_more(page));
    if (f->epoch_known)
        add_epoch(page);
    else
        add_fact(page, "Epoch", "not known", f->why_no_epoch);
    add_fact(page, "Samples per second", page_count(page, f->samples_per_s),
             arena_format(page->arena, "in all; %s of gradients all-reduced in each step",
                          page_unit(page, f->payload_bytes, DIMENSION_BYTES)));
    text_add(page->out, "</dl>\n");
}

static const char *without(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    if (!(f->step_without_s > 0))
        return "";
    return arena_format(page->arena, " Without it a step would take %s.",
                        page_time(page, f->step_without_s));
}

static void say_what_decides(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    text_add(page->out, "<p class=\"verdict\">");
    if (strcmp(f->deciding_stage, "all-reduce") == 0 && f->deciding_next)
        html_format(page->out, "%s decides, by its all-reduce to %s over %s (%s).%s",
                    f->deciding_device, f->deciding_next,
                    page_unit(page, f->deciding_link.bandwidth_Bps, DIMENSION_BANDWIDTH),
                    link_source_name(f->deciding_link.source), without(page));
    else
        html_format(page->out, "%s decides, by its %s.%s", f->deciding_device, f->deciding_stage,
                    without(page));
    text_add(page->out, "</p>\n");
}

static double longest_s(const struct run_report *run)
{
    const struct forecast *f = run->forecast;
    double most_s = fmax(f->step_s, f->closed_form.step_s);
    if (f->timeline.known)
        most_s = fmax(most_s, f->timeline.step_s.high);
    for (size_t r = 0; run->validation && r < run->validation->n_runs; r++)
        most_s = fmax(most_s, run->validation->run[r].step_s);
    return most_s;
}

static void draw_truth(const struct page *page, double range_s, double y)
{
    const struct validation *v = page->run->validation;
    for (size_t r = 0; v && r < v->n_runs; r++)
        svg_dot(page->out, "truth", 100 * v->run[r].step_s / range_s, y, 6,
                arena_format(page->arena, "measured, run %zu: %s", r + 1,
                             page_time(page, v->run[r].step_s)));
}

/* Only what is drawn. */
static void add_strip_legend(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    const char *key[9] = {"key-mean", "forecast"};
    size_t n = 2;
    if (f->model == MODEL_TIMELINE) {
        key[n++] = "key-closed";
        key[n++] = "closed form";
    }
    if (f->model == MODEL_TIMELINE && f->timeline.spread_known) {
        key[n++] = "span";
        key[n++] = "80 % of single steps";
    }
    if (page->run->validation) {
        key[n++] = "truth";
        key[n++] = "measured";
    }
    page_legend(page, key);
}

/* A strip from 0: the interval, the mean, the closed form, the measured. */
static void draw_strip(const struct page *page)
{
    enum { TOP = 6, HIGH = 26, BOTTOM = 38 };
    const struct forecast *f = page->run->forecast;
    const struct span *span = &f->timeline.step_s;
    double range_s = 1.08 * longest_s(page->run), mean = 100 * f->step_s / range_s;
    double closed = 100 * f->closed_form.step_s / range_s;
    text_add(page->out, "<figure>\n");
    svg_open(page->out, BOTTOM + 18, "The step: forecast %s, closed form %s",
             page_time(page, f->step_s), page_time(page, f->closed_form.step_s));
    page_time_axis(page, range_s, 0, BOTTOM);
    if (f->model == MODEL_TIMELINE && f->timeline.spread_known)
        svg_box(page->out, "span",
                (struct svg_box){100 * span->low / range_s, TOP,
                                 100 * (span->high - span->low) / range_s, HIGH},
                "80 % of single steps");
    svg_line(page->out, "closed", closed, 0, closed, BOTTOM);
    svg_line(page->out, "mean", mean, TOP - 2, mean, TOP + HIGH + 2);
    draw_truth(page, range_s, TOP + HIGH / 2.0);
    svg_close(page->out);
    add_strip_legend(page);
    text_add(page->out, "</figure>\n");
}

static void add_checks(const struct page *page)
{
    static const char *const head[] = {"Device type",   "#Devices",  "#Batch", "#Samples/s each",
                                       "#Own forecast", "#Measured", "#Error", NULL};
    const struct forecast *f = page->run->forecast;
    html_table_open(page->out, "Each type, and the same model on its own sub-system", head);
    for (int t = 0; t < f->n_types; t++) {
        const struct type_forecast *type = &f->type[t];
        html_row_open(page->out);
        html_cell(page->out, "%s", type->name);
        html_number(page->out, "%s", page_count(page, (double)type->count));
        html_number(page->out, "%s", page_count(page, type->batch));
        html_number(page->out, "%.3g", type->samples_per_s);
        html_number(page->out, "%s",
                    type->self_known ? page_time(page, type->self_forecast_s) : "-");
        html_number(page->out, "%s",
                    type->self_known ? page_time(page, type->self_measured_s) : "-");
        html_number(page->out, "%s",
                    type->self_known     ? page_error(page, type->self_error)
                    : type->self_why_not ? type->self_why_not
                                         : "-");
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

static const char *joined(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    if (f->n_devices < 2)
        return "";
    return f->collective ? arena_format(page->arena, " that all-reduce by %s", f->collective_name)
                         : " in a ring";
}

void page_forecast(const struct page *page)
{
    const struct run_report *run = page->run;
    text_add(page->out, "<section class=\"first\">\n");
    html_element(page->out, "h1", NULL, "%s", run->forecast->name ? run->forecast->name : "job");
    text_add(page->out, "<p class=\"sub\">");
    html_format(page->out, "A forecast of %s device%s of %d type%s%s, by the %s",
                page_count(page, (double)run->job->n_devices), run->job->n_devices > 1 ? "s" : "",
                run->job->n_types, run->job->n_types > 1 ? "s" : "", joined(page),
                run->forecast->model == MODEL_TIMELINE ? "timeline model" : "closed form");
    text_add(page->out, ".</p>\n");
    add_facts(page);
    say_what_decides(page);
    draw_strip(page);
    add_checks(page);
    page_section_end(page);
}
