/* The step of those devices that decide it, lane by lane. */
#include <math.h>

#include "report/page.h"

/* Middle of the recorded steps, so that what reaches over from its neighbours is drawn too. */
enum { MOST_DEVICES = 6, COMPUTE = 18, RING = 14, WIRE = 6, LOADER = 8, GAP = 3, LABEL = 20 };
enum { DEVICE = LABEL + COMPUTE + GAP + RING + GAP + WIRE + GAP + LOADER + 14 };

struct view {
    const struct page *page;
    double from_s, range_s;
};

static size_t middle(const struct step_record *r)
{
    return r->n_steps / 2;
}

static void choose(size_t *chosen, size_t *n, size_t position)
{
    size_t at = *n;
    for (size_t k = 0; k < *n; k++) {
        if (chosen[k] == position)
            return;
    }
    if (*n == MOST_DEVICES)
        return;
    for (; at > 0 && chosen[at - 1] > position; at--)
        chosen[at] = chosen[at - 1];
    chosen[at] = position;
    ++*n;
}

/* What decides and its neighbour, then the first device of each type. */
static size_t choose_devices(const struct run_report *run, size_t *chosen)
{
    const struct forecast *f = run->forecast;
    const int *type_of = f->timeline.ring->type_of;
    size_t n = 0;
    choose(chosen, &n, f->deciding);
    choose(chosen, &n, (f->deciding + 1) % f->n_devices);
    for (int t = 0; t < f->n_types && n < MOST_DEVICES; t++) {
        size_t i = 0;
        while (type_of[i] != t)
            i++;
        choose(chosen, &n, i);
    }
    for (size_t i = 0; i < f->n_devices && f->n_devices <= MOST_DEVICES; i++)
        choose(chosen, &n, i);
    return n;
}

/* A stretch of time, cut to what is in view. */
static void draw_span(const struct view *v, const char *class_name, double from_s, double to_s,
                      double y, double height, const char *what)
{
    double begin_s = fmax(0, from_s - v->from_s), end_s = fmin(v->range_s, to_s - v->from_s);
    if (end_s <= begin_s)
        return;
    struct svg_box box = {100 * begin_s / v->range_s, y, 100 * (end_s - begin_s) / v->range_s,
                          height};
    svg_box(v->page->out, class_name, box,
            arena_format(v->page->arena, "%s: %s, from %s to %s", what,
                         page_time(v->page, to_s - from_s), page_time(v->page, from_s - v->from_s),
                         page_time(v->page, to_s - v->from_s)));
}

static void draw_mark(const struct view *v, const char *class_name, double at_s, double y,
                      double height)
{
    double x = 100 * (at_s - v->from_s) / v->range_s;
    if (x >= 0 && x <= 100)
        svg_line(v->page->out, class_name, x, y, x, y + height);
}

static void draw_computing(const struct view *v, const struct step_device *d, double y)
{
    bool inside = d->load_begin_s >= d->rest_end_s;
    double free_s = inside ? d->load_end_s : d->rest_end_s;
    draw_span(v, "forward", d->begin_s, d->forward_end_s, y, COMPUTE, "forward");
    draw_span(v, "backward", d->forward_end_s, d->backward_end_s, y, COMPUTE, "backward");
    draw_span(v, "waits", d->backward_end_s, d->optimizer_s, y, COMPUTE,
              "waits for the all-reduce");
    draw_span(v, "rest", d->optimizer_s, d->rest_end_s, y, COMPUTE, "optimizer and rest");
    draw_span(v, "waits", free_s, d->end_s, y, COMPUTE, "waits for the loader");
    draw_mark(v, "begin", d->begin_s, y - 2, COMPUTE + 4);
}

static void draw_buckets(const struct view *v, const struct step_bucket *bucket, size_t n, double y)
{
    for (size_t b = 0; b < n; b++) {
        const struct step_bucket *k = &bucket[b];
        const char *name = arena_format(v->page->arena, "bucket %zu", b);
        double middle_s = (k->all_s + k->done_s) / 2 - v->from_s;
        double width = 100 * (k->done_s - k->all_s) / v->range_s;
        draw_span(v, "waits", k->enter_s, k->all_s, y, RING,
                  arena_format(v->page->arena, "%s waits for the last device", name));
        draw_span(v, "sends", k->all_s, k->done_s, y, RING, name);
        draw_mark(v, "ready", k->done_s, y, RING);
        if (width > 3 && middle_s > 0 && middle_s < v->range_s)
            svg_label(v->page->out, "on", 100 * middle_s / v->range_s, y + 11, "middle", "%zu", b);
    }
}

/* How much of the link's time its own bytes take, as the height of its bar. */
static void draw_wire(const struct view *v, const struct step_bucket *bucket, size_t position,
                      double y)
{
    const struct ft_timeline *ring = v->page->run->forecast->timeline.ring;
    double n = (double)ring->n_devices;
    for (size_t b = 0; b < ring->n_buckets && ring->n_devices > 1 && !ring->collective; b++) {
        double chunk_bytes = ring->bucket_bytes[b] / n;
        double rate_Bps = link_message_Bps(&v->page->run->forecast->link[position], chunk_bytes);
        double wire_s = 2 * (n - 1) * chunk_bytes / rate_Bps;
        double taken_s = bucket[b].done_s - bucket[b].all_s;
        double share = taken_s > 0 ? fmin(1, wire_s / taken_s) : 0;
        draw_span(
            v, "wire", bucket[b].all_s, bucket[b].done_s, y + WIRE * (1 - share), WIRE * share,
            arena_format(v->page->arena, "the link is busy for %.0f %% of the time", 100 * share));
    }
}

/* Its name, and the one that it sends to. */
static const char *ends(const struct page *page, size_t i)
{
    enum { MOST = 18 };
    size_t n = page->run->forecast->n_devices;
    const char *from = html_short(page->arena, page_device(page, i), MOST);
    const char *to = html_short(page->arena, page_device(page, (i + 1) % n), MOST);
    return n > 1 && !page->run->forecast->collective
               ? arena_format(page->arena, "%s \u2192 %s", from, to)
               : from;
}

static void draw_device(const struct view *v, size_t i, double y)
{
    const struct run_report *run = v->page->run;
    const struct step_record *r = run->record;
    const struct forecast *f = run->forecast;
    double ring_y = y + LABEL + COMPUTE + GAP, wire_y = ring_y + RING + GAP;
    const char *type = f->type[f->timeline.ring->type_of[i]].name;
    svg_label(v->page->out, "name", 0, y + 13, "start", "%s", ends(v->page, i));
    svg_label(v->page->out, "tick", 100, y + 13, "end", "%s", html_short(v->page->arena, type, 16));
    for (size_t k = 0; k < r->n_steps; k++) {
        const struct step_device *d = step_record_device(r, k, i);
        const struct step_bucket *bucket = step_record_buckets(r, k, i);
        draw_computing(v, d, y + LABEL);
        draw_buckets(v, bucket, r->n_buckets, ring_y);
        draw_wire(v, bucket, i, wire_y);
        draw_span(v, "loads", d->load_begin_s, d->load_end_s, wire_y + WIRE + GAP, LOADER,
                  "loads the next mini-batch");
    }
}

static void draw(const struct page *page, const size_t *chosen, size_t n)
{
    static const char *const key[] = {"forward",  "forward",
                                      "backward", "backward",
                                      "rest",     "optimizer, rest",
                                      "waits",    "waits",
                                      "sends",    "a bucket on its way",
                                      "loads",    "loads the next mini-batch",
                                      NULL};
    static const char *const wire_key[] = {"wire", "how busy its link is with it", NULL};
    const struct step_record *r = page->run->record;
    struct view v = {page, INFINITY, 0};
    double last_s = 0;
    for (size_t k = 0; k < n; k++) {
        const struct step_device *d = step_record_device(r, middle(r), chosen[k]);
        v.from_s = fmin(v.from_s, d->begin_s);
        last_s = fmax(last_s, d->end_s);
    }
    v.range_s = 1.12 * (last_s - v.from_s);
    text_add(page->out, "<figure>\n");
    svg_open(page->out, (double)n * DEVICE + 20, "A step of %zu devices over time", n);
    page_time_axis(page, v.range_s, 0, (double)n * DEVICE);
    for (size_t k = 0; k < n; k++)
        draw_device(&v, chosen[k], (double)k * DEVICE);
    svg_close(page->out);
    page_legend(page, key);
    if (!page->run->forecast->collective)
        page_legend(page, wire_key);
    text_add(page->out, "</figure>\n");
}

static void list(const struct page *page, const size_t *chosen, size_t n)
{
    static const char *const head[] = {
        "Device",       "#Begins",    "#Forward ends",     "#Backward ends",
        "#Last bucket", "#Loads for", "#Next step begins", NULL};
    const struct step_record *r = page->run->record;
    double from_s = INFINITY;
    for (size_t k = 0; k < n; k++)
        from_s = fmin(from_s, step_record_device(r, middle(r), chosen[k])->begin_s);
    html_table_open(page->out, "The same in numbers, since the first of them began", head);
    for (size_t k = 0; k < n; k++) {
        const struct step_device *d = step_record_device(r, middle(r), chosen[k]);
        const struct step_bucket *bucket = step_record_buckets(r, middle(r), chosen[k]);
        html_row_open(page->out);
        html_cell(page->out, "%s", page_device(page, chosen[k]));
        html_number(page->out, "%s", page_time(page, d->begin_s - from_s));
        html_number(page->out, "%s", page_time(page, d->forward_end_s - from_s));
        html_number(page->out, "%s", page_time(page, d->backward_end_s - from_s));
        html_number(page->out, "%s",
                    r->n_buckets ? page_time(page, bucket[r->n_buckets - 1].done_s - from_s) : "-");
        html_number(page->out, "%s", page_time(page, d->load_end_s - d->load_begin_s));
        html_number(page->out, "%s", page_time(page, d->end_s - from_s));
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

static const char *which(const struct page *page, size_t n)
{
    const struct forecast *f = page->run->forecast;
    if (n == f->n_devices)
        return n > 1 ? "All devices." : "The device.";
    return arena_format(page->arena,
                        "%zu of %s devices: %s, which decides, the next, and the first of each "
                        "type.",
                        n, page_count(page, (double)f->n_devices), f->deciding_device);
}

void page_timeline(const struct page *page)
{
    size_t chosen[MOST_DEVICES], n;
    if (!page->run->record)
        return;
    n = choose_devices(page->run, chosen);
    page_section(page, "timeline", "A step over time");
    page_say(page,
             "%s Each has a lane for what it computes, one for its buckets%s, and one for loading.",
             which(page, n),
             page->run->forecast->collective ? ""
                                             : ", a thin one for how busy its link is with them");
    draw(page, chosen, n);
    list(page, chosen, n);
    page_section_end(page);
}
