/*
 * The table does not name its collective; what names it are the columns redop and root and the
 * ratio of busbw to algbw, which is 2(n-1)/n for all_reduce, (n-1)/n for reduce_scatter.
 */
#include "measure/nccl_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_CELLS = 24, ABSENT = -1 };

struct line {
    const char *cell[MOST_CELLS];
    size_t n;
};

/* Where the columns stand; the first of each name is out of place, the second in place. */
struct columns {
    size_t n;
    int size, redop, root, time, algbw, busbw, time_in_place;
};

struct row {
    double size_bytes, time_s, ratio; /* of busbw to algbw */
    const char *redop;
    long root; /* -1: none */
};

struct reading {
    struct arena *arena;
    struct columns columns;
    bool has_columns;
    struct row largest; /* size_bytes 0: none yet */
    const char **host;
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
    };
    if (c.size == ABSENT || c.time == ABSENT || c.algbw == ABSENT || c.busbw == ABSENT)
        return false;
    c.time_in_place = find_cell(line, "time", c.time);
    *columns = c;
    return true;
}

static double number_in(const struct line *line, int cell)
{
    char *end = NULL;
    double value = strtod(line->cell[cell], &end);
    return end != line->cell[cell] && *end == '\0' && isfinite(value) ? value : 0;
}

/* Rows of another width, with XXX for numbers, or of size 0 say nothing. */
static bool read_row(const struct line *line, const struct columns *c, struct row *row)
{
    const double us = 1e-6;
    if (line->n != c->n)
        return false;
    int time = c->time_in_place == ABSENT ? c->time : c->time_in_place;
    double algbw = number_in(line, c->algbw), busbw = number_in(line, c->busbw);
    struct row r = {.size_bytes = number_in(line, c->size),
                    .time_s = number_in(line, time) * us,
                    .ratio = algbw > 0 ? busbw / algbw : 0,
                    .redop = c->redop == ABSENT ? "" : line->cell[c->redop],
                    .root = c->root == ABSENT ? -1 : strtol(line->cell[c->root], NULL, 10)};
    if (!(r.size_bytes > 0) || !(r.time_s > 0))
        return false;
    *row = r;
    return true;
}

static void add_host(struct reading *r, const char *host)
{
    if (r->n_hosts == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 16;
        const char **grown = ARENA_ARRAY(r->arena, capacity, const char *);
        if (r->n_hosts)
            memcpy(grown, r->host, r->n_hosts * sizeof *grown);
        r->host = grown;
        r->capacity = capacity;
    }
    r->host[r->n_hosts++] = arena_copy(r->arena, host);
}

/* "Rank  0 Pid   9192 on n1 device  0 [0x00] Tesla K80", also with a group before Pid. */
static bool read_rank(struct reading *r, const struct line *line)
{
    int on = find_cell(line, "on", ABSENT);
    bool is = line->n > 4 && strcmp(line->cell[0], "Rank") == 0 && on != ABSENT &&
              (size_t)on + 2 < line->n && strcmp(line->cell[on + 2], "device") == 0;
    if (is)
        add_host(r, line->cell[on + 1]);
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
    if (read_columns(&line, &r->columns))
        r->has_columns = true;
    else if (r->has_columns && read_row(&line, &r->columns, &row) &&
             row.size_bytes >= r->largest.size_bytes)
        r->largest = row;
}

static bool refuse(struct error *e, const char *collective)
{
    error_set(e, ERROR_INPUT,
              "a table of %s: only all_reduce_perf gives the bandwidth of a ring's links",
              collective);
    return false;
}

/* 2(n-1)/n = ratio, to the digits of the table; 0 where it cannot be an all_reduce. */
static size_t ranks_by_ratio(double ratio)
{
    const double most = 1.999;
    if (!(ratio > 0.99))
        return 0;
    return (size_t)lround(2 / (2 - fmin(ratio, most)));
}

static bool is_all_reduce(const struct row *row, size_t n_ranks)
{
    const double rounding = 0.03;
    double n = (double)n_ranks, expected = 2 * (n - 1) / n;
    return row->ratio == 0 || fabs(row->ratio - expected) <= rounding * expected;
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
    return true;
}

static bool check_table(const struct reading *r, struct error *e)
{
    const char *problem = !r->has_columns              ? "no table of nccl-tests"
                          : r->largest.size_bytes == 0 ? "no row of the table has numbers"
                          : r->in_switches ? "reduced inside switches (NVLS, CollNet or SHARP): "
                                             "its busbw is not the bandwidth of links"
                                           : NULL;
    if (problem)
        error_set(e, ERROR_INPUT, "%s", problem);
    return !problem;
}

bool nccl_tests_is_table(const char *text)
{
    const char *algbw = strstr(text, "algbw");
    return algbw && strstr(algbw, "busbw");
}

bool nccl_tests_read(struct arena *arena, const char *text, struct nccl_table *table,
                     struct error *e)
{
    struct reading r = {.arena = arena, .largest = {.redop = ""}};
    char *rest = NULL;
    for (char *line = strtok_r(arena_copy(arena, text), "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        read_line(&r, line);
    if (!check_table(&r, e))
        return false;
    size_t n_ranks = r.n_hosts ? r.n_hosts : ranks_by_ratio(r.largest.ratio);
    if (!check_collective(&r, n_ranks, e))
        return false;
    double n = (double)n_ranks;
    *table = (struct nccl_table){.n_ranks = n_ranks,
                                 .host = r.n_hosts ? r.host : NULL,
                                 .size_bytes = r.largest.size_bytes,
                                 .bandwidth_Bps =
                                     2 * (n - 1) / n * r.largest.size_bytes / r.largest.time_s};
    return true;
}
