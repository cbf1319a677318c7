/* `foretrain order`: the ring order with the smallest step. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/workspace.h"
#include "job/ring_text.h"
#include "measure/ring_ranks.h"
#include "plan/order.h"
#include "report/order_report.h"

static bool same_host(const struct job *job, size_t a, size_t b)
{
    const char *host_a = job_device_host(job, a, NULL), *host_b = job_device_host(job, b, NULL);
    return host_a && host_b && strcmp(host_a, host_b) == 0;
}

/* As the full system is started: docs/model.md, "Positions and ranks". */
static size_t *devices_by_rank(struct workspace *w, const struct order *order)
{
    size_t n = order->n_devices, n_first = 1;
    const char *backend = order->backend ? order->backend : "";
    size_t *by_rank = ARENA_ARRAY(&w->arena, n, size_t);
    while (n_first < n && same_host(&w->job, order->best.ring[0], order->best.ring[n_first]))
        n_first++;
    for (size_t i = 0; i < n; i++) {
        int rank = ring_rank(backend, (int)n, n_first < n ? (int)n_first : 1, (int)i);
        by_rank[rank] = order->best.ring[i];
    }
    return by_rank;
}

static bool write_file(const char *path, const struct options *options, const struct text *text,
                       struct error *e)
{
    if (file_exists(path) && !options->force) {
        error_set(e, ERROR_FILE, "%s: is there already", path);
        error_hint(e, "overwrite it with --force");
        return false;
    }
    return file_write(path, text->data, text->length, e);
}

static bool write_job(struct workspace *w, const struct options *options, const struct order *order,
                      struct error *e)
{
    struct text text = {0};
    if (!options->output)
        return true;
    bool ok = ring_text_replace(&w->job, order->best.ring, &text, e) &&
              write_file(options->output, options, &text, e);
    text_free(&text);
    return ok;
}

/* A host a line, by rank: what SLURM_HOSTFILE and mpirun's `--map-by seq` take. */
static bool write_ranks(struct workspace *w, const struct options *options,
                        const struct order *order, struct error *e)
{
    struct text text = {0};
    if (!options->rank_file)
        return true;
    for (size_t r = 0; r < order->n_devices; r++) {
        const char *host = job_device_host(&w->job, order->by_rank[r], NULL);
        if (!host) {
            error_set(e, ERROR_INPUT, "%s: a rank file needs hosts, and not all types have them",
                      w->job.file);
            text_free(&text);
            return false;
        }
        text_format(&text, "%s\n", host);
    }
    bool ok = write_file(options->rank_file, options, &text, e);
    text_free(&text);
    return ok;
}

static bool show(struct workspace *w, const struct options *options, const struct order *order,
                 struct error *e)
{
    struct text text = {0};
    if (options->json)
        report_order_json(order, &w->job, &text);
    else
        report_order_text(order, &w->job, &text);
    fwrite(text.data, 1, text.length, stdout);
    text_free(&text);
    return write_job(w, options, order, e) && write_ranks(w, options, order, e);
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct order order;
    bool ok = workspace_open(&w, options, e) && workspace_load(&w, e) &&
              order_find(&w.arena, &w.job, w.profile, w.network, w.model, &order, e);
    if (ok) {
        order.by_rank = devices_by_rank(&w, &order);
        ok = show(&w, options, &order, e);
    }
    workspace_close(&w);
    return ok;
}

const struct command command_order = {
    .name = "order",
    .args = "JOB",
    .summary = "The ring order with the smallest step",
    .help = "Orders are compared by what a step takes at mean times; the bound is what no order "
            "can be better than. Up to nine devices all orders count. -o writes your file with "
            "the order found and all else as it was: put it beside the job, since its paths stay "
            "as they are.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_QUIET | OPTION_MODEL | OPTION_FORCE |
               OPTION_NEW_JOB | OPTION_RANK_FILE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
