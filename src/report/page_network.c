/* The bandwidth between all devices as a map, the ring drawn over it. */
#include <math.h>

#include "report/page.h"

enum { N_SHADES = 7, FEW = 12, FEW_ON_A_PHONE = 7, MOST_LISTED = 200 };

/* Cells keep their height; the names of the rows take a share of the width. */
struct map_view {
    const struct page *page;
    const struct bandwidth_map *map;
    double left, cell_width, cell_height; /* percent, percent, pixels */
    double top;
    bool with_text;
};

/* Where the scale begins: links that are nearly alike look so. */
static double slowest_Bps(const struct bandwidth_map *map)
{
    const double least_range = 4;
    return fmin(map->least_Bps, map->most_Bps / least_range);
}

/* By the logarithm: links differ by factors. 0 is the slowest. */
static int shade_of(const struct bandwidth_map *map, double rate_Bps)
{
    double slowest = slowest_Bps(map);
    int shade = (int)(log(rate_Bps / slowest) / log(map->most_Bps / slowest) * N_SHADES);
    return shade < 0 ? 0 : shade >= N_SHADES ? N_SHADES - 1 : shade;
}

static const char *describe(const struct map_view *v, size_t i, size_t j)
{
    const struct bandwidth_map *map = v->map;
    const struct bandwidth_cell *cell = &map->cell[i * map->n + j];
    struct arena *arena = v->page->arena;
    if (cell->link.source == LINK_UNKNOWN)
        return arena_format(arena, "%s to %s: not known", map->name[i], map->name[j]);
    return arena_format(arena, "%s to %s: %s (%s)%s%s", map->name[i], map->name[j],
                        page_unit(v->page, cell->link.bandwidth_Bps, DIMENSION_BANDWIDTH),
                        link_source_word(&cell->link), cell->n_used ? ", sent over" : "",
                        cell->outlier ? ", unlike its kind" : "");
}

/* "25 Gbit/s" without what a narrow cell has no room for. */
static const char *short_rate(const struct map_view *v, double rate_Bps)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T"};
    double bits = 8 * rate_Bps;
    size_t p = 0;
    for (; bits >= 999.5 && p < 4; p++)
        bits /= 1000;
    return arena_format(v->page->arena, "%.3g%s", bits, prefix[p]);
}

/* Where the ring passes within a cell: clear of its text. */
static double hop_x(const struct map_view *v)
{
    return (v->with_text ? .88 : .485) * v->cell_width;
}

static double hop_y(const struct map_view *v)
{
    return v->with_text ? v->cell_height - 7 : v->cell_height / 2;
}

static void draw_cell(const struct map_view *v, size_t i, size_t j)
{
    const struct bandwidth_cell *cell = &v->map->cell[i * v->map->n + j];
    bool known = cell->link.source != LINK_UNKNOWN;
    int shade = known ? shade_of(v->map, cell->link.bandwidth_Bps) : 0;
    double x = v->left + (double)j * v->cell_width, y = v->top + (double)i * v->cell_height;
    struct svg_box box = {x, y + .5, v->cell_width * .97, v->cell_height - 1};
    svg_box(v->page->out, known ? arena_format(v->page->arena, "h%d", shade) : "none", box,
            describe(v, i, j));
    if (cell->outlier)
        svg_box(v->page->out, "outlier", box, describe(v, i, j));
    if (known && v->with_text)
        svg_label(v->page->out, shade < 3 ? "cell strong" : "cell weak", x + v->cell_width * .49,
                  y + v->cell_height / 2 + 4, "middle", "%s",
                  short_rate(v, cell->link.bandwidth_Bps));
}

/* From its device on the diagonal along the row to the hop, and down or up to the next device. */
static void draw_way(const struct map_view *v, size_t i, size_t j)
{
    double x = v->left + hop_x(v), y = v->top + hop_y(v);
    double from_x = x + (double)i * v->cell_width, to_x = x + (double)j * v->cell_width;
    double from_y = y + (double)i * v->cell_height, to_y = y + (double)j * v->cell_height;
    svg_line(v->page->out, "ring-line", from_x, from_y, to_x, from_y);
    svg_line(v->page->out, "ring-line", to_x, from_y, to_x, to_y);
}

static void draw_hop(const struct map_view *v, size_t i, size_t j)
{
    double x = v->left + (double)j * v->cell_width + hop_x(v);
    double y = v->top + (double)i * v->cell_height + hop_y(v), radius = v->with_text ? 4 : 3;
    svg_dot(v->page->out, "ring", x, y, radius, describe(v, i, j));
}

static void draw_names(const struct map_view *v)
{
    const struct bandwidth_map *map = v->map;
    size_t every = map->n <= FEW ? 1 : map->n <= 24 ? 2 : 5;
    for (size_t i = 0; i < map->n; i++) {
        double y = v->top + ((double)i + .5) * v->cell_height + 4;
        svg_label(v->page->out, "soft", v->left - 1, y, "end", "%s",
                  html_short(v->page->arena, map->name[i], 12));
        if (i % every == 0)
            svg_label(v->page->out, "tick", v->left + ((double)i + .485) * v->cell_width,
                      v->top - 5, "middle", "%zu", i);
    }
}

static struct map_view view_of(const struct page *page)
{
    enum { LEFT = 24, TOP = 18 };
    const struct bandwidth_map *map = page->run->map;
    bool few = map->n <= FEW;
    return (struct map_view){.page = page,
                             .map = map,
                             .left = LEFT,
                             .cell_width = (100.0 - LEFT) / (double)map->n,
                             .cell_height = few ? 36 : 16,
                             .top = TOP,
                             .with_text = few};
}

static void draw_scale(const struct page *page)
{
    const struct bandwidth_map *map = page->run->map;
    text_add(page->out, "<p class=\"legend\"><span>");
    html_format(page->out, "%s ", page_unit(page, slowest_Bps(map), DIMENSION_BANDWIDTH));
    text_add(page->out, "<svg width=\"140\" height=\"12\" aria-hidden=\"true\">");
    for (int s = 0; s < N_SHADES; s++)
        text_format(page->out, "<rect class=\"h%d\" x=\"%d\" width=\"20\" height=\"12\"/>", s,
                    20 * s);
    text_add(page->out, "</svg> ");
    html_format(page->out, "%s", page_unit(page, map->most_Bps, DIMENSION_BANDWIDTH));
    text_add(page->out, "</span></p>\n");
}

/* A ring of devices has one way around. */
static bool is_way(const struct page *page)
{
    return page->run->map->by == MAP_DEVICES && !page->run->forecast->collective;
}

static void draw_used(const struct map_view *v,
                      void (*draw)(const struct map_view *, size_t, size_t))
{
    for (size_t i = 0; i < v->map->n; i++) {
        for (size_t j = 0; j < v->map->n; j++) {
            if (v->map->cell[i * v->map->n + j].n_used)
                draw(v, i, j);
        }
    }
}

static void draw_map(const struct page *page)
{
    static const char *const key[] = {"none",      "not known",   "key-ring",
                                      "sent over", "key-outlier", "25 % or more off its kind",
                                      NULL};
    const struct bandwidth_map *map = page->run->map;
    struct map_view v = view_of(page);
    text_format(page->out, "<figure class=\"%s\">\n", map->n > FEW_ON_A_PHONE ? "many" : "few");
    svg_open(page->out, v.top + (double)map->n * v.cell_height + 4,
             "Bandwidth from each row to each column");
    for (size_t i = 0; i < map->n; i++) {
        for (size_t j = 0; j < map->n; j++)
            draw_cell(&v, i, j);
    }
    if (is_way(page))
        draw_used(&v, draw_way);
    draw_used(&v, draw_hop);
    draw_names(&v);
    svg_close(page->out);
    draw_scale(page);
    page_legend(page, key);
    text_add(page->out, "</figure>\n");
}

static void list_link(const struct page *page, size_t h)
{
    const struct forecast *f = page->run->forecast;
    const struct link *link = &f->link[h];
    html_row_open(page->out);
    html_number(page->out, "%zu", f->hop[h].from);
    html_cell(page->out, "%s", page_device(page, f->hop[h].from));
    html_cell(page->out, "%s", page_device(page, f->hop[h].to));
    html_number(page->out, "%s", page_unit(page, link->bandwidth_Bps, DIMENSION_BANDWIDTH));
    html_number(page->out, "%s", link->latency_s > 0 ? page_time(page, link->latency_s) : "-");
    html_cell(page->out, "%s%s%s", link_source_word(link), link->curve ? ", by size" : "",
              link->shared            ? ", what is left of a shared uplink"
              : link->uplink_hops > 0 ? ", its part of a shared uplink"
                                      : "");
    html_row_close(page->out);
}

static void list_ring(const struct page *page)
{
    static const char *const head[] = {"#Position", "From",     "To", "#Bandwidth",
                                       "#Latency",  "Known by", NULL};
    size_t n = page->run->forecast->n_hops;
    text_format(page->out, "<details%s>\n<summary>Links of the %s</summary>\n",
                n <= FEW ? " open" : "", page->run->forecast->collective_name);
    html_table_open(page->out,
                    n > MOST_LISTED ? "The first 200; the others are in --csv" : "In order", head);
    for (size_t i = 0; i < n && i < MOST_LISTED; i++)
        list_link(page, i);
    html_table_close(page->out);
    text_add(page->out, "</details>\n");
}

static void say_rows(const struct page *page)
{
    static const char *const rows[] = {
        [MAP_DEVICES] = "Each row and column is a device, in the ring's order",
        [MAP_HOSTS] = "Each row and column is a host, with the slowest of its links",
        [MAP_TYPES] = "Each row and column is a device type, with the slowest of its links",
    };
    const struct bandwidth_map *map = page->run->map;
    page_say(
        page, "%s: from the row to the column, in bit/s. Slow links are strong.%s", rows[map->by],
        map->n_outliers ? arena_format(page->arena, " %zu are unlike the others of their kind.",
                                       map->n_outliers)
                        : "");
}

void page_network(const struct page *page)
{
    const struct bandwidth_map *map = page->run->map;
    if (page->run->forecast->n_devices < 2)
        return;
    page_section(page, "network", "The links, and what is sent over them");
    if (map->n > 0 && map->most_Bps > 0) {
        say_rows(page);
        draw_map(page);
    } else {
        page_say(page, "There are too many device types for a picture.");
    }
    list_ring(page);
    page_section_end(page);
}
