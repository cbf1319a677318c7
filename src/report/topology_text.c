/* A host's topology for people: how many pairs are of each class, and which. */
#include <string.h>

#include "report/grid.h"
#include "report/report.h"

static bool is_new(const struct topology *t, size_t pair)
{
    const char *own = t->class[pair];
    for (size_t k = 0; k < pair; k++) {
        if (t->class[k] && strcmp(t->class[k], own) == 0)
            return false;
    }
    return true;
}

/* "0-1 0-2 1-3", each pair once. */
static size_t list_pairs(const struct topology *t, const char *wanted, struct text *list)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = i + 1; j < t->n; j++) {
            const char *own = t->class[i * t->n + j];
            if (own && strcmp(own, wanted) == 0)
                text_format(list, "%s%zu-%zu", n++ ? " " : "", i, j);
        }
    }
    return n;
}

void report_topology_text(const struct topology *t, struct text *out)
{
    text_format(out, "%zu devices of a host, %zu pairs\n\n", t->n, t->n * (t->n - 1) / 2);
    for (size_t pair = 0; pair < t->n * t->n; pair++) {
        if (!t->class[pair] || !is_new(t, pair))
            continue;
        struct arena scratch = {0};
        struct text list = {0};
        size_t n = list_pairs(t, t->class[pair], &list);
        text_wrap(out, arena_format(&scratch, "%-5s %3zu  ", t->class[pair], n), list.data);
        text_free(&list);
        arena_free(&scratch);
    }
}
