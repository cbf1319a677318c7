/* The steps that were counted, one by one: were they steady? */
#include <math.h>

#include "report/page.h"

enum { TOP = 8, BOTTOM = 110, BELOW = 18 };

static double x_of(size_t k, size_t n)
{
    return 1 + 98 * ((double)k + .5) / (double)n;
}

static double y_of(double value_s, double most_s)
{
    return BOTTOM - (BOTTOM - TOP) * value_s / most_s;
}

static void draw_samples(const struct page *page, const struct profile *p,
                         const struct steadiness *s, double most_s)
{
    const double *value = p->stage[STAGE_STEP].value;
    for (int d = 0; d < profile_sampled(p); d++) {
        for (size_t k = 0; k < s->n; k++)
            svg_dot(page->out, "sample", x_of(k, s->n), y_of(value[(size_t)d * s->n + k], most_s),
                    2.5, NULL);
    }
}

static void draw_halves(const struct page *page, const struct steadiness *s, double most_s)
{
    size_t half = s->n / 2;
    double y1 = y_of(s->first_s, most_s), y2 = y_of(s->second_s, most_s);
    svg_line(page->out, "half", 1, y1, x_of(half, s->n), y1);
    svg_line(page->out, "half", x_of(half, s->n), y2, 99, y2);
}

static void draw_grid(const struct page *page, double most_s)
{
    double tick_s = svg_tick(most_s, 4);
    for (int k = 1; tick_s > 0 && k * tick_s <= most_s; k++) {
        double y = y_of(k * tick_s, most_s);
        svg_line(page->out, "grid", 0, y, 100, y);
    }
}

static void write_marks(const struct page *page, double most_s)
{
    double tick_s = svg_tick(most_s, 4);
    for (int k = 1; tick_s > 0 && k * tick_s <= most_s; k++)
        svg_label(page->out, "tick halo", 0.5, y_of(k * tick_s, most_s) - 3, "start", "%s",
                  page_time(page, k * tick_s));
}

static void draw(const struct page *page, const struct profile *p, const struct steadiness *s)
{
    double most_s = 1.05 * p->stage[STAGE_STEP].stats.max;
    double *xy = ARENA_ARRAY(page->arena, 2 * s->n, double);
    for (size_t k = 0; k < s->n; k++) {
        xy[2 * k] = x_of(k, s->n);
        xy[2 * k + 1] = y_of(s->step_s[k], most_s);
    }
    text_add(page->out, "<figure>\n");
    svg_open(page->out, BOTTOM + BELOW, "Measured steps, iterations %d to %d", p->first, p->last);
    svg_box(page->out, "window", (struct svg_box){0, 0, 100, BOTTOM}, NULL);
    svg_line(page->out, "axis", 0, BOTTOM, 100, BOTTOM);
    draw_grid(page, most_s);
    draw_samples(page, p, s, most_s);
    svg_curve(page->out, "curve", xy, s->n, BOTTOM + BELOW);
    draw_halves(page, s, most_s);
    write_marks(page, most_s);
    svg_label(page->out, "tick", 0, BOTTOM + 14, "start", "iteration %d", p->first);
    svg_label(page->out, "tick", 100, BOTTOM + 14, "end", "%d", p->last);
    svg_close(page->out);
    text_add(page->out, "</figure>\n");
}

static void say(const struct page *page, const struct profile *p, const struct steadiness *s)
{
    text_add(page->out, "<p>");
    html_element(page->out, "span", s->steady ? "verdict" : "verdict warn", "%s",
                 s->steady ? "Steady." : "Not steady.");
    html_format(page->out,
                " %zu iterations of the window %d to %d on %d device%s, %s a step; the second half "
                "took %+.1f %% against the first (twice the standard error: %.1f %%)",
                s->n, p->first, p->last, profile_sampled(p), profile_sampled(p) > 1 ? "s" : "",
                page_time(page, s->mean_s), 100 * s->change, 100 * s->noise);
    if (p->n_left_out)
        html_format(page->out, "; %zu at the edges of passes were left out", p->n_left_out);
    text_add(page->out, ".</p>\n");
}

static bool any_known(const struct run_report *run)
{
    bool known = false;
    for (int t = 0; t < run->job->n_types; t++)
        known = known || run->steadiness[t].known;
    return known;
}

static void add_profile(const struct page *page, int t)
{
    const struct profile *p = &page->run->profile[t];
    const struct steadiness *s = &page->run->steadiness[t];
    html_element(page->out, "h3", NULL, "%s", page->run->job->type[t].name);
    if (!s->known) {
        page_say(page, "%s",
                 p->assumed ? "Assumed numbers: nothing was measured."
                            : "The profile holds means without samples.");
        return;
    }
    say(page, p, s);
    draw(page, p, s);
}

void page_samples(const struct page *page)
{
    enum { MOST = 12 };
    static const char *const key[] = {"key-mean", "mean over devices", "sample", "each device",
                                      "sends",    "mean of each half", NULL};
    page_section(page, "samples", "What was measured: is it steady?");
    for (int t = 0; t < page->run->job->n_types && t < MOST; t++)
        add_profile(page, t);
    if (page->run->job->n_types > MOST)
        page_say(page, "The first %d of %d types.", MOST, page->run->job->n_types);
    if (any_known(page->run))
        page_legend(page, key);
    page_section_end(page);
}
