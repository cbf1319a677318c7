/* A network for people: how much is known and from where, and the values themselves while they are
 * few. */
#include "base/units.h"
#include "report/grid.h"
#include "report/report.h"

/* So many links are listed; of larger networks only the sums are shown. */
enum { MOST_LISTED = 200 };

struct summary {
    size_t n[LINK_FILLED + 1];
    size_t n_at_least, n_failed, n_together;
    const struct link *slowest, *fastest; /* NULL: no value at all */
};

static struct summary sum_up(const struct network *network)
{
    struct summary s = {0};
    for (size_t i = 0; i < network->n * network->n; i++) {
        const struct link *link = &network->link[i];
        s.n[link->source]++;
        s.n_at_least += link->at_least;
        s.n_failed += link->failed;
        s.n_together += link->together_Bps > 0;
        if (link->source == LINK_UNKNOWN)
            continue;
        s.slowest = !s.slowest || link->bandwidth_Bps < s.slowest->bandwidth_Bps ? link : s.slowest;
        s.fastest = !s.fastest || link->bandwidth_Bps > s.fastest->bandwidth_Bps ? link : s.fastest;
    }
    return s;
}

static const char *lower_bounds(struct arena *arena, const struct summary *s)
{
    return s->n_at_least ? arena_format(arena, " (%zu of them lower bounds)", s->n_at_least) : "";
}

static const char *failures(struct arena *arena, const struct summary *s)
{
    return s->n_failed ? arena_format(arena, "; %zu failed", s->n_failed) : "";
}

static void print_summary(const struct network *network, const struct summary *s, struct text *out)
{
    char slow[UNITS_TEXT_SIZE], fast[UNITS_TEXT_SIZE];
    struct arena scratch = {0};
    text_wrap(out, "",
              arena_format(&scratch,
                           "Network of %zu names: values of links: %zu measured%s, %zu given, %zu "
                           "filled in%s",
                           network->n, s->n[LINK_MEASURED], lower_bounds(&scratch, s),
                           s->n[LINK_GIVEN], s->n[LINK_FILLED], failures(&scratch, s)));
    arena_free(&scratch);
    if (s->slowest)
        text_format(out, "Bandwidth: %s to %s\n",
                    units_format(s->slowest->bandwidth_Bps, DIMENSION_BANDWIDTH, slow),
                    units_format(s->fastest->bandwidth_Bps, DIMENSION_BANDWIDTH, fast));
}

static void add_link(struct grid *grid, const struct network *network, size_t from, size_t to,
                     bool with_together)
{
    char text[UNITS_TEXT_SIZE];
    const struct link *link = &network->link[from * network->n + to];
    if (link->source == LINK_UNKNOWN && !link->failed)
        return;
    grid_add(grid, "%s", network->name[from]);
    grid_add(grid, "%s", network->name[to]);
    grid_add(grid, "%s",
             link->failed ? "-" : units_format(link->bandwidth_Bps, DIMENSION_BANDWIDTH, text));
    grid_add(grid, "%s",
             link->latency_s > 0 ? units_format(link->latency_s, DIMENSION_TIME, text) : "-");
    if (with_together)
        grid_add(grid, "%s",
                 link->together_Bps > 0
                     ? units_format(link->together_Bps, DIMENSION_BANDWIDTH, text)
                     : "-");
    grid_add(grid, "%s", link_source_word(link));
}

static void print_head(struct grid *grid, const char *const *head, size_t n)
{
    for (size_t i = 0; i < n; i++)
        grid_add(grid, "%s", head[i]);
}

static void print_links(const struct network *network, bool with_together, struct text *out)
{
    static const char *const without[] = {"from", "to", "bandwidth", "latency", "source"};
    static const char *const with[] = {"from", "to", "bandwidth", "latency", "together", "source"};
    struct grid grid = {.n_columns = with_together ? 6 : 5, .to_the_left = {true, true}};
    grid.to_the_left[grid.n_columns - 1] = true;
    print_head(&grid, with_together ? with : without, grid.n_columns);
    for (size_t from = 0; from < network->n; from++) {
        for (size_t to = 0; to < network->n; to++)
            add_link(&grid, network, from, to, with_together);
    }
    text_add(out, "\n");
    grid_print(&grid, out);
}

void report_network_text(const struct network *network, struct text *out)
{
    struct summary s = sum_up(network);
    size_t n_known = network->n * network->n - s.n[LINK_UNKNOWN] + s.n_failed;
    print_summary(network, &s, out);
    if (n_known && n_known <= MOST_LISTED)
        print_links(network, s.n_together > 0, out);
    else if (n_known)
        text_format(out, "(more than %d links: see the file)\n", MOST_LISTED);
}
