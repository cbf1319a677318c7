/* A run as one page. */
#include "report/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void page_section(const struct page *page, const char *id, const char *title)
{
    text_format(page->out, "<section id=\"%s\">\n", id);
    html_element(page->out, "h2", NULL, "%s", title);
}

void page_section_end(const struct page *page)
{
    text_add(page->out, "</section>\n");
}

void page_say(const struct page *page, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_add(page->out, "<p>");
    html_format_list(page->out, format, args);
    text_add(page->out, "</p>\n");
    va_end(args);
}

const char *page_unit(const struct page *page, double value, enum dimension dimension)
{
    char text[UNITS_TEXT_SIZE];
    return arena_copy(page->arena, units_format(value, dimension, text));
}

const char *page_time(const struct page *page, double seconds)
{
    return page_unit(page, seconds, DIMENSION_TIME);
}

const char *page_duration(const struct page *page, double seconds)
{
    char text[UNITS_TEXT_SIZE];
    return arena_copy(page->arena, units_format_duration(seconds, text));
}

const char *page_count(const struct page *page, double count)
{
    char text[UNITS_TEXT_SIZE];
    return arena_copy(page->arena, units_format_count(rint(count), text));
}

const char *page_error(const struct page *page, double relative)
{
    return arena_format(page->arena, "%+.1f %%", 100 * relative);
}

void page_legend(const struct page *page, const char *const *entry)
{
    text_add(page->out, "<p class=\"legend\">");
    for (; *entry; entry += 2) {
        text_format(page->out,
                    "<span><svg width=\"14\" height=\"12\" aria-hidden=\"true\"><rect "
                    "class=\"%s\" width=\"14\" height=\"12\"/></svg> ",
                    entry[0]);
        html_add(page->out, entry[1]);
        text_add(page->out, "</span> ");
    }
    text_add(page->out, "</p>\n");
}

const char *page_device(const struct page *page, size_t position)
{
    const struct job *job = page->run->job;
    return job_device_name(page->arena, job, job_ring_device(job, position));
}

void page_time_axis(const struct page *page, double range_s, double top, double bottom)
{
    enum { MOST_TICKS = 6, BELOW = 14 };
    double tick_s = svg_tick(range_s, MOST_TICKS);
    for (int k = 0; tick_s > 0 && k * tick_s <= range_s * (1 + 1e-9); k++) {
        double at_s = k * tick_s;
        double x = 100 * at_s / range_s;
        svg_line(page->out, "grid", x, top, x, bottom);
        svg_label(page->out, "tick", x, bottom + BELOW,
                  k == 0   ? "start"
                  : x > 96 ? "end"
                           : "middle",
                  "%s", page_time(page, at_s));
    }
}

/* What is hatched: waiting, and what is not known. */
static void add_patterns(struct text *out)
{
    static const char *const name[] = {"hatch", "blank"};
    text_add(out, "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"defs\"><defs>");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        text_format(out,
                    "<pattern id=\"%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                    "patternTransform=\"rotate(45)\"><rect class=\"%s0\" width=\"6\" height=\"6\"/>"
                    "<rect class=\"%s1\" width=\"%d\" height=\"6\"/></pattern>",
                    name[i], name[i], name[i], i == 0 ? 2 : 1);
    text_add(out, "</defs></svg>\n");
}

void report_run_html(const struct run_report *run, struct text *out)
{
    struct arena arena = {0};
    struct page page = {run, &arena, out};
    page_open(out, arena_format(&arena, "%s: forecast", run->job->name));
    add_patterns(out);
    page_forecast(&page);
    page_truth(&page);
    page_step(&page);
    page_timeline(&page);
    page_network(&page);
    page_scaling(&page);
    page_samples(&page);
    page_model(&page);
    page_assumptions(&page);
    page_again(&page);
    page_close(out);
    arena_free(&arena);
}
