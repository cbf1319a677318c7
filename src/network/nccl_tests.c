/*
 * The table does not name its collective; what names it are the columns redop and root and the
 * ratio of busbw to algbw, which is 2(n-1)/n for all_reduce, (n-1)/n for reduce_scatter. Of two
 * ranks sendrecv has the same as all_reduce, "sum" as well, but is never checked in place.
 */
#include "network/nccl_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MOST_CELLS = 24, ABSENT = -1 };

struct line {
    const char *cell[MOST_CELLS];
    size_t n;
};

/* Where the columns stand; the first of each name is out of place, the second in place. */
struct columns {
    size_t n;
    int size, redop, root, time, algbw, busbw, time_in_place, wrong_in_place;
};

struct row {
    double size_bytes, time_s;             /* in place */
    double out_time_s, algbw_GBps;         /* out of place */
    double least_ratio, ratio, most_ratio; /* of busbw to algbw, as both are rounded */
    const char *redop;
    long root;             /* -1: none */
    bool checked_in_place; /* the results were, and the tool says how many were wrong */
};

struct reading {
    struct arena *arena;
    struct columns columns;
    bool has_columns, has_second_table;
    struct row *row; /* [n_rows] */
    size_t n_rows, row_capacity;
    struct row largest; /* size_bytes 0: none yet */
    const char **host;  /* [n_hosts], in the list's order, and the ranks' numbers as written */
    const char **rank;
    size_t n_hosts, capacity;
    const char *collective; /* as the program is called, or NULL */
    bool in_switches;
};

/* What srun -l ("0: ") and mpirun ("[1,0]<stdout>:") put in front of each line. */
static char *skip_prefix(char *line)
{
    size_t digits = strspn(line, "0123456789");
    if (digits > 0 && line[digits] == ':')
        return line + digits + 1;
    char *end = *line == '[' ? strstr(line, ">:") : NULL;
    return end ? end + 2 : line;
}

static struct line split(char *text)
{
    struct line line = {0};
    char *rest = NULL;
    for (char *cell = strtok_r(text, " \t\r#", &rest); cell && line.n < MOST_CELLS;
         cell = strtok_r(NULL, " \t\r#", &rest))
        line.cell[line.n++] = cell;
    return line;
}

static int find_cell(const struct line *line, const char *word, int after)
{
    for (int i = after + 1; i < (int)line->n; i++) {
        if (strcmp(line->cell[i], word) == 0)
            return i;
    }
    return ABSENT;
}

static bool read_columns(const struct line *line, struct columns *columns)
{
    struct columns c = {
        .n = line->n,
        .size = find_cell(line, "size", ABSENT),
        .redop = find_cell(line, "redop", ABSENT),
        .root = find_cell(line, "root", ABSENT),
        .time = find_cell(line, "time", ABSENT),
        .algbw = find_cell(line, "algbw", ABSENT),
        .busbw = find_cell(line, "busbw", ABSENT),
        .wrong_in_place = ABSENT,
    };
    if (c.size == ABSENT || c.time == ABSENT || c.algbw == ABSENT || c.busbw == ABSENT)
        return false;
    c.time_in_place = find_cell(line, "time", c.time);
    if (c.time_in_place != ABSENT) {
        int wrong = find_cell(line, "wrong", c.time_in_place);
        c.wrong_in_place = wrong != ABSENT ? wrong : find_cell(line, "error", c.time_in_place);
    }
    *columns = c;
    return true;
}

static bool read_number(const struct line *line, int cell, double *value)
{
    char *end = NULL;
    *value = strtod(line->cell[cell], &end);
    return end != line->cell[cell] && *end == '\0' && isfinite(*value);
}

static double number_in(const struct line *line, int cell)
{
    double value = 0;
    return read_number(line, cell, &value) ? value : 0;
}

/* sendrecv's column is N/A; in its first versions it had none that is called redop. */
static bool is_checked_in_place(const struct line *line, const struct columns *c)
{
    double n_wrong = 0;
    return c->redop != ABSENT && c->wrong_in_place != ABSENT &&
           read_number(line, c->wrong_in_place, &n_wrong);
}

/* Both have two digits behind the point. */
static void set_ratio(struct row *row, double busbw)
{
    const double half_digit = 0.005;
    if (!(row->algbw_GBps > half_digit))
        return;
    row->least_ratio = (busbw - half_digit) / (row->algbw_GBps + half_digit);
    row->ratio = busbw / row->algbw_GBps;
    row->most_ratio = (busbw + half_digit) / (row->algbw_GBps - half_digit);
}

/* Rows of another width, with XXX for numbers, or of size 0 say nothing. */
static bool read_row(const struct line *line, const struct columns *c, struct row *row)
{
    const double us = 1e-6, shortest_s = 1e-12;
    if (line->n != c->n)
        return false;
    int time = c->time_in_place == ABSENT ? c->time : c->time_in_place;
    struct row r = {.size_bytes = number_in(line, c->size),
                    .time_s = number_in(line, time) * us,
                    .out_time_s = number_in(line, c->time) * us,
                    .algbw_GBps = number_in(line, c->algbw),
                    .redop = c->redop == ABSENT ? "" : line->cell[c->redop],
                    .root = c->root == ABSENT ? -1 : strtol(line->cell[c->root], NULL, 10),
                    .checked_in_place = is_checked_in_place(line, c)};
    if (r.size_bytes < 1 || r.time_s < shortest_s || !isfinite(2 * r.size_bytes / r.time_s))
        return false;
    set_ratio(&r, number_in(line, c->busbw));
    *row = r;
    return true;
}

static void add_row(struct reading *r, const struct row *row)
{
    if (r->n_rows == r->row_capacity) {
        r->row_capacity = r->row_capacity ? 2 * r->row_capacity : 64;
        struct row *grown = ARENA_ARRAY(r->arena, r->row_capacity, struct row);
        if (r->n_rows)
            memcpy(grown, r->row, r->n_rows * sizeof *grown);
        r->row = grown;
    }
    r->row[r->n_rows++] = *row;
    if (row->size_bytes >= r->largest.size_bytes)
        r->largest = *row;
}

static const char **grown(struct arena *arena, const char **list, size_t n, size_t capacity)
{
    const char **longer = ARENA_ARRAY(arena, capacity, const char *);
    if (n > 0)
        memcpy(longer, list, n * sizeof *longer);
    return longer;
}

static void add_rank(struct reading *r, const char *rank, const char *host)
{
    if (r->n_hosts == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->host = grown(r->arena, r->host, r->n_hosts, r->capacity);
        r->rank = grown(r->arena, r->rank, r->n_hosts, r->capacity);
    }
    r->rank[r->n_hosts] = arena_copy(r->arena, rank);
    r->host[r->n_hosts++] = arena_copy(r->arena, host);
}

/* "Rank  0 Pid   9192 on n1 device  0 [0x00] Tesla K80", also with a group before Pid. */
static bool read_rank(struct reading *r, const struct line *line)
{
    int on = find_cell(line, "on", ABSENT);
    bool is = line->n > 4 && strcmp(line->cell[0], "Rank") == 0 && on != ABSENT &&
              (size_t)on + 2 < line->n && strcmp(line->cell[on + 2], "device") == 0;
    if (is)
        add_rank(r, line->cell[1], line->cell[on + 1]);
    return is;
}

/* A program called NAME_perf, and algorithms that reduce inside switches. */
static void note_words(struct reading *r, const char *text)
{
    static const char tail[] = "_perf";
    const char *end = strstr(text, tail);
    if (end && !r->collective) {
        const char *start = end;
        while (start > text && (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z')))
            start--;
        if (start < end)
            r->collective = arena_copy_n(r->arena, start, (size_t)(end - start));
    }
    const char *algorithm = strstr(text, "NCCL_ALGO");
    if (algorithm && (strstr(algorithm, "NVLS") || strcasestr(algorithm, "collnet") ||
                      strcasestr(algorithm, "sharp")))
        r->in_switches = true;
}

static void read_line(struct reading *r, char *text)
{
    struct row row;
    text = skip_prefix(text);
    note_words(r, text);
    struct line line = split(text);
    if (read_rank(r, &line))
        return;
    if (read_columns(&line, &r->columns)) {
        r->has_second_table = r->has_second_table || r->n_rows > 0;
        r->has_columns = true;
    } else if (r->has_columns && read_row(&line, &r->columns, &row)) {
        add_row(r, &row);
    }
}

static bool refuse(struct error *e, const char *collective)
{
    error_set(e, ERROR_INPUT,
              "a table of %s: only all_reduce_perf gives the bandwidth of a ring's links",
              collective);
    return false;
}

/* 2(n-1)/n = ratio. */
static double ranks_by_ratio(double ratio)
{
    const double most = 1.9999;
    return 2 / (2 - fmin(ratio, most));
}

/* Every rank from 0 stands in the list once. */
static bool check_list(const struct reading *r, struct error *e)
{
    bool *listed = ARENA_ARRAY(r->arena, r->n_hosts, bool);
    for (size_t i = 0; i < r->n_hosts; i++) {
        char *end = NULL;
        unsigned long number = strtoul(r->rank[i], &end, 10);
        bool fits = *end == '\0' && number < r->n_hosts;
        if (fits && !listed[number]) {
            listed[number] = true;
            continue;
        }
        error_set(e, ERROR_INPUT, "lists rank %.20s %s", r->rank[i],
                  fits ? "twice" : "but not all ranks before it");
        error_hint(e, "give the output of one run, whole");
        return false;
    }
    return true;
}

/* The only whole number of ranks that the largest size's digits leave; 0: it is no all_reduce. */
static bool find_ranks(const struct row *row, size_t *n_ranks, struct error *e)
{
    *n_ranks = row->ratio > 0.99 ? (size_t)lround(ranks_by_ratio(row->ratio)) : 0;
    double low = ceil(ranks_by_ratio(row->least_ratio)),
           high = floor(ranks_by_ratio(row->most_ratio));
    if (low > high)
        *n_ranks = 0;
    if (*n_ranks == 0 || low == high)
        return true;
    error_set(e, ERROR_INPUT,
              "does not list its ranks, and busbw over algbw leaves %.0f to %.0f of them", low,
              high);
    error_hint(e, "keep the lines 'Rank 0 ... on HOST device 0' above the table");
    return false;
}

static bool is_all_reduce(const struct row *row, size_t n_ranks)
{
    const double rounding = 0.03;
    double n = (double)n_ranks, expected = 2 * (n - 1) / n;
    return row->ratio == 0 || fabs(row->ratio - expected) <= rounding * expected;
}

/* With two ranks a table of sendrecv looks the same, but for what was checked; rates of 0 look like
 * any. */
static bool can_be_told(const struct reading *r, size_t n_ranks, struct error *e)
{
    bool rounded_off = r->largest.ratio == 0;
    if (r->collective || !(rounded_off || (n_ranks == 2 && !r->largest.checked_in_place)))
        return true;
    error_set(e, ERROR_INPUT, "nothing tells that it is of all_reduce: %s",
              rounded_off ? "algbw is rounded to 0 in all rows"
                          : "busbw equals algbw, and no result was checked in place, as in tables "
                            "of sendrecv");
    error_hint(e, "keep the line that names the program, or put one above: # all_reduce_perf");
    return false;
}

static bool check_collective(const struct reading *r, size_t n_ranks, struct error *e)
{
    const struct row *row = &r->largest;
    if (r->collective && strcmp(r->collective, "all_reduce") != 0)
        return refuse(e, r->collective);
    if (strcmp(row->redop, "none") == 0)
        return refuse(e, row->root >= 0 ? "broadcast"
                                        : "all_gather, alltoall or another that does not reduce");
    if (row->root >= 0)
        return refuse(e, "reduce");
    if (n_ranks < 2 || !is_all_reduce(row, n_ranks))
        return refuse(e, "reduce_scatter, or of another number of ranks than it lists");
    return can_be_told(r, n_ranks, e);
}

/* algbw is size over time: where it is not, times or sizes are in other units than thought. */
static bool units_agree(const struct row *row)
{
    const double half_digit = 0.005, rounding = 0.02;
    double algbw_GBps = row->size_bytes / row->out_time_s * 1e-9;
    return row->algbw_GBps == 0 ||
           fabs(algbw_GBps - row->algbw_GBps) <= half_digit + rounding * row->algbw_GBps;
}

static bool check_table(const struct reading *r, struct error *e)
{
    const char *problem =
        !r->has_columns       ? "no table of nccl-tests"
        : r->n_rows == 0      ? "no row of the table has numbers"
        : r->has_second_table ? "holds more than one table: give each a file of its own"
        : r->in_switches      ? "reduced inside switches (NVLS, CollNet or SHARP): its busbw is "
                                "not the bandwidth of links"
        : !units_agree(&r->largest) ? "algbw is not size over time: expected bytes, microseconds "
                                      "and GB/s"
                                    : NULL;
    if (problem)
        error_set(e, ERROR_INPUT, "%s", problem);
    return !problem;
}

static bool is_perftest(const char *text)
{
    return strstr(text, "#bytes") && strstr(text, "#iterations");
}

static bool refuse_perftest(struct error *e)
{
    error_set(e, ERROR_INPUT,
              "a log of perftest (ib_write_bw and the like): it keeps many messages in flight, so "
              "that its rate by size says nothing of one round of a ring");
    error_hint(e, "measure the link with iperf3, or the ring with all_reduce_perf");
    return false;
}

bool nccl_tests_is_table(const char *text)
{
    const char *algbw = strstr(text, "algbw");
    return (algbw && strstr(algbw, "busbw")) || is_perftest(text);
}

static int by_size(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

/* From the largest down: what a larger message took, a smaller one takes at the most. */
static struct link_curve make_curve(struct reading *r, double n_ranks)
{
    struct ft_message *point = ARENA_ARRAY(r->arena, r->n_rows, struct ft_message);
    size_t first = r->n_rows;
    double least_s = INFINITY;
    qsort(r->row, r->n_rows, sizeof *r->row, by_size);
    for (size_t i = r->n_rows; i-- > 0;) {
        double bytes = r->row[i].size_bytes / n_ranks;
        least_s = fmin(least_s, r->row[i].time_s / (2 * (n_ranks - 1)));
        if (first == r->n_rows || point[first].bytes > bytes)
            first--;
        point[first] = (struct ft_message){bytes, least_s};
    }
    return (struct link_curve){point + first, r->n_rows - first};
}

static void fill_table(struct reading *r, size_t n_ranks, struct nccl_table *table)
{
    struct link_curve curve = make_curve(r, (double)n_ranks);
    const struct ft_message *last = &curve.point[curve.n - 1];
    *table = (struct nccl_table){.n_ranks = n_ranks,
                                 .host = r->n_hosts ? r->host : NULL,
                                 .largest_bytes = r->largest.size_bytes,
                                 .bandwidth_Bps = last->bytes / last->time_s,
                                 .curve = curve};
}

bool nccl_tests_read(struct arena *arena, const char *text, struct nccl_table *table,
                     struct error *e)
{
    struct reading r = {.arena = arena, .largest = {.redop = ""}};
    char *rest = NULL;
    for (char *line = strtok_r(arena_copy(arena, text), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        read_line(&r, line);
    size_t n_ranks = r.n_hosts;
    if (is_perftest(text))
        return refuse_perftest(e);
    if (!check_table(&r, e) || !check_list(&r, e) ||
        (!r.n_hosts && !find_ranks(&r.largest, &n_ranks, e)) || !check_collective(&r, n_ranks, e))
        return false;
    fill_table(&r, n_ranks, table);
    return true;
}

bool nccl_tests_read_file(struct arena *arena, const char *path, struct nccl_table *table,
                          struct error *e)
{
    const size_t limit_bytes = (size_t)1 << 28;
    char *text = NULL;
    struct error inner = {0};
    if (!file_read(arena, path, limit_bytes, &text, NULL, e))
        return false;
    if (nccl_tests_read(arena, text, table, &inner))
        return true;
    error_set(e, ERROR_INPUT, "%s: %s", path, inner.text);
    error_clear(&inner);
    return false;
}

struct link nccl_tests_link(struct arena *arena, const struct nccl_table *table)
{
    struct link_curve *curve = ARENA_NEW(arena, struct link_curve);
    *curve = table->curve;
    return (struct link){.bandwidth_Bps = table->bandwidth_Bps,
                         .latency_s = curve_message_s(curve->point, curve->n, 0),
                         .curve = curve,
                         .source = LINK_MEASURED};
}
