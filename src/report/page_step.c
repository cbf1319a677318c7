/* What a step is made of, device type by device type. */
#include <math.h>
#include <string.h>

#include "report/page.h"

/* So many types are drawn; the table has them all. */
enum { MOST_DRAWN = 16, MOST_PARTS = 6, ROW = 54 };

struct part {
    const char *class_name, *name;
    double seconds;
};

static size_t timeline_parts(const struct step_parts *p, struct part *part)
{
    const struct part all[] = {
        {"forward", "forward", p->forward_s},   {"backward", "backward", p->backward_s},
        {"sends", "all-reduce", p->sends_s},    {"waits", "waits for others", p->waits_s},
        {"rest", "optimizer, rest", p->rest_s}, {"loads", "loads, or waits for data", p->loads_s},
    };
    for (size_t k = 0; k < MOST_PARTS; k++)
        part[k] = all[k];
    return MOST_PARTS;
}

/* The closed form waits for no one but the loader. */
static size_t closed_form_parts(const struct type_forecast *type, double step_s, struct part *part)
{
    double computing_s = type->forward_s + type->unsynced_s;
    double own_s = computing_s + type->first_backward_s + type->ring_s;
    double loads_s = fmax(0, type->load_s - own_s);
    part[0] = (struct part){"forward", "forward", computing_s};
    part[1] = (struct part){"backward", "backward 1", type->first_backward_s};
    part[2] = (struct part){"sends", "all-reduce", type->ring_s};
    part[3] = (struct part){"loads", "waits for data", loads_s};
    part[4] = (struct part){"waits", "waits for others", fmax(0, step_s - own_s - loads_s)};
    return 5;
}

static size_t parts_of(const struct run_report *run, int t, struct part *part)
{
    return run->record ? timeline_parts(&run->parts[t], part)
                       : closed_form_parts(&run->forecast->type[t],
                                           run->forecast->closed_form.step_s, part);
}

static double sum_of(const struct part *part, size_t n)
{
    double sum_s = 0;
    for (size_t k = 0; k < n; k++)
        sum_s += part[k].seconds;
    return sum_s;
}

/* Nothing is written on hatching. */
static const char *label_class(const struct page *page, const char *part)
{
    return strcmp(part, "waits") == 0 ? NULL : arena_format(page->arena, "on %s", part);
}

static void draw_bar(const struct page *page, int t, double range_s, double y)
{
    enum { BAR = 24, LABEL = 14, WIDE_ENOUGH = 15 };
    struct part part[MOST_PARTS];
    size_t n = parts_of(page->run, t, part);
    double x = 0;
    svg_label(page->out, "name", 0, y + LABEL, "start", "%s",
              html_short(page->arena, page->run->forecast->type[t].name, 40));
    for (size_t k = 0; k < n; k++) {
        double width = 100 * part[k].seconds / range_s;
        const char *time = page_time(page, part[k].seconds);
        svg_box(page->out, part[k].class_name, (struct svg_box){x, y + LABEL + 6, width, BAR},
                arena_format(page->arena, "%s: %s", part[k].name, time));
        const char *label = label_class(page, part[k].class_name);
        if (label && width > WIDE_ENOUGH)
            svg_label(page->out, label, x + width / 2, y + LABEL + 22, "middle", "%s", time);
        x += width;
    }
}

static int n_drawn(const struct run_report *run)
{
    return run->forecast->n_types < MOST_DRAWN ? run->forecast->n_types : MOST_DRAWN;
}

static const char *const timeline_key[] = {"forward",  "forward",
                                           "backward", "backward",
                                           "sends",    "all-reduce, not hidden behind backward",
                                           "waits",    "waits for other devices",
                                           "rest",     "optimizer and rest",
                                           "loads",    "loading, or waiting for it",
                                           NULL};

static const char *const closed_form_key[] = {
    "forward", "forward",        "backward", "first backward operator", "sends", "all-reduce",
    "loads",   "waits for data", "waits",    "waits for other devices", NULL};

static void draw(const struct page *page)
{
    double range_s = 0;
    int n = n_drawn(page->run);
    for (int t = 0; t < n; t++) {
        struct part part[MOST_PARTS];
        size_t n_parts = parts_of(page->run, t, part);
        range_s = fmax(range_s, sum_of(part, n_parts));
    }
    text_add(page->out, "<figure>\n");
    svg_open(page->out, n * ROW + 24, "A step of each device type as a stacked bar");
    page_time_axis(page, range_s, 0, n * ROW + 4);
    for (int t = 0; t < n && range_s > 0; t++)
        draw_bar(page, t, range_s, t * ROW);
    svg_close(page->out);
    page_legend(page, page->run->record ? timeline_key : closed_form_key);
    text_add(page->out, "</figure>\n");
}

static void list_timeline(const struct page *page)
{
    static const char *const head[] = {
        "Device type",      "#Forward", "#Backward", "#All-reduce", "#Waits for others",
        "#Optimizer, rest", "#Loads",   "#Step",     NULL};
    html_table_open(page->out, "The same in numbers: means over the devices of a type", head);
    for (int t = 0; t < page->run->forecast->n_types; t++) {
        struct part part[MOST_PARTS];
        size_t n = parts_of(page->run, t, part);
        html_row_open(page->out);
        html_cell(page->out, "%s", page->run->forecast->type[t].name);
        for (size_t k = 0; k < n; k++)
            html_number(page->out, "%s", page_time(page, part[k].seconds));
        html_number(page->out, "%s", page_time(page, sum_of(part, n)));
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

static void list_closed_form(const struct page *page)
{
    static const char *const head[] = {"Device type", "#Forward", "#Backward 1", "#All-reduce",
                                       "#Load",       "#Slowest", NULL};
    html_table_open(page->out, "The same in numbers: the slowest device of a type", head);
    for (int t = 0; t < page->run->forecast->n_types; t++) {
        const struct type_forecast *type = &page->run->forecast->type[t];
        html_row_open(page->out);
        html_cell(page->out, "%s", type->name);
        html_number(page->out, "%s", page_time(page, type->forward_s + type->unsynced_s));
        html_number(page->out, "%s", page_time(page, type->first_backward_s));
        html_number(page->out, "%s", page_time(page, type->ring_s));
        html_number(page->out, "%s", page_time(page, type->load_s));
        html_number(page->out, "%s", page_time(page, type->step_s));
        html_row_close(page->out);
    }
    html_table_close(page->out);
}

void page_step(const struct page *page)
{
    const struct run_report *run = page->run;
    page_section(page, "step", "What a step is made of");
    if (run->record)
        page_say(
            page,
            "Steps of mean times, which take %s; that real steps vary, and that each waits for "
            "the slowest device, makes the forecast's mean %s.",
            page_time(page, run->record->step_s), page_time(page, run->forecast->step_s));
    else
        page_say(page, "By the closed form: forward, the first backward operator, then the "
                       "all-reduce, with loading beside it.");
    draw(page);
    if (run->forecast->n_types > MOST_DRAWN)
        page_say(page, "%d more types are in the table.", run->forecast->n_types - MOST_DRAWN);
    if (run->record)
        list_timeline(page);
    else
        list_closed_form(page);
    page_section_end(page);
}
