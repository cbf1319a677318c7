/* `foretrain sweep`: what if some quantities of a job were others. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/workspace.h"
#include "plan/sweep.h"
#include "plan/sweep_parts.h"
#include "report/plan_report.h"

struct sweeping {
    struct workspace w;
    const struct options *options;
    struct what_if what_if;
    struct sweep sweep;
    const char *key;
};

static bool read_number(const char *text, char **end, size_t *number)
{
    bool digit = *text >= '0' && *text <= '9';
    *number = digit ? strtoul(text, end, 10) : 0;
    return digit && *number >= 1 && *number <= SWEEP_MOST_PARTS;
}

static bool read_part(const char *text, struct sweep_part *part, struct error *e)
{
    char *end = NULL;
    if (read_number(text, &end, &part->number) && *end == '/' &&
        read_number(end + 1, &end, &part->n) && !*end && part->number <= part->n)
        return true;
    error_set(e, ERROR_USAGE, "--part is K/N, part K of N, up to %d (got '%s')", SWEEP_MOST_PARTS,
              text);
    return false;
}

static bool read_join(const char *text, size_t *n, struct error *e)
{
    char *end = NULL;
    if (read_number(text, &end, n) && !*end)
        return true;
    error_set(e, ERROR_USAGE, "--join is a number of parts, up to %d (got '%s')", SWEEP_MOST_PARTS,
              text);
    return false;
}

/* A task of srun or mpirun takes the part of its rank; sbatch's own environment knows no step. */
static struct sweep_part part_of_task(void)
{
    static const struct {
        const char *rank, *size;
    } known[] = {
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
        {"PMI_RANK", "PMI_SIZE"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *rank = getenv(known[i].rank), *size = getenv(known[i].size);
        size_t number = rank ? strtoul(rank, NULL, 10) + 1 : 0,
               n = size ? strtoul(size, NULL, 10) : 0;
        if (number >= 1 && number <= n && n <= SWEEP_MOST_PARTS)
            return (struct sweep_part){number, n};
    }
    return (struct sweep_part){1, 1};
}

static bool read_axes(struct sweeping *s, struct error *e)
{
    const struct option_words *vary = &s->options->vary;
    if (vary->n == 0) {
        error_set(e, ERROR_USAGE,
                  "nothing varies: give --vary PATH=VALUES, such as %s.count=0:%lld:1",
                  s->w.job.type[0].name, (long long)s->w.job.type[0].count);
        return false;
    }
    for (size_t i = 0; i < vary->n; i++) {
        if (!sweep_add_axis(&s->w.arena, &s->w.job, vary->word[i], &s->sweep, e))
            return false;
    }
    return true;
}

/* Of types whose batch varies, all that was measured. */
static bool read_batches(struct sweeping *s, struct error *e)
{
    for (size_t a = 0; a < s->sweep.n_axes; a++) {
        const struct quantity *q = &s->sweep.axis[a].quantity;
        struct profile *profile = NULL;
        size_t n = 0;
        if (!quantity_is_batch(q))
            continue;
        if (!workspace_batches(&s->w, q->type[0], &profile, &n, e))
            return false;
        s->what_if.batches[q->type[0]] = (struct measured_batches){profile, n};
    }
    return true;
}

static bool start(struct sweeping *s, struct error *e)
{
    char key[SWEEP_KEY_SIZE];
    if (!workspace_load(&s->w, e) ||
        !what_if_start(&s->w.arena, &s->w.job, s->w.profile, s->w.network, s->w.model,
                       sweep_varies_counts(&s->sweep), &s->what_if, e) ||
        !read_batches(s, e))
        return false;
    sweep_key(&s->what_if, &s->sweep, key);
    s->key = arena_copy(&s->w.arena, key);
    s->sweep.what_if = &s->what_if;
    s->sweep.cancel = console_interrupt_flag();
    return true;
}

static bool write_page(const struct sweeping *s, const struct sweep_best *best, struct error *e)
{
    struct text page = {0};
    if (!s->options->html)
        return true;
    report_sweep_html(&s->sweep, best, &page);
    bool ok = file_write(s->options->html, page.data, page.length, e);
    text_free(&page);
    return ok;
}

static bool is_beyond(const struct sweep_axis *axis, double from, double to)
{
    for (size_t i = 0; i < axis->n; i++) {
        if (axis->value[i] < from || axis->value[i] > to)
            return true;
    }
    return false;
}

static void warn_of_batches(const struct sweeping *s, const struct sweep_axis *axis)
{
    int t = axis->quantity.type[0];
    const struct measured_batches *known = &s->what_if.batches[t];
    const struct job_device_type *type = &s->w.job.type[t];
    double from = (double)type->batch, to = (double)type->batch;
    for (size_t i = 0; known->n > 1 && i < known->n; i++) {
        from = i ? fmin(from, known->profile[i].batch) : known->profile[i].batch;
        to = i ? fmax(to, known->profile[i].batch) : known->profile[i].batch;
    }
    if (!is_beyond(axis, from, to))
        return;
    if (known->n > 1)
        progress_warn(&s->w.progress,
                      "%s: times with a batch beyond those measured from %.0f to %.0f are "
                      "extrapolated; measure them before you believe them.",
                      type->name, from, to);
    else
        progress_warn(&s->w.progress,
                      "%s: times with another batch than the measured %lld are extrapolated, in "
                      "proportion to it; measure them before you believe them.",
                      type->name, (long long)type->batch);
}

/* What a sweep's own choices add to what must be known about the job's forecast. */
static void warn(const struct sweeping *s)
{
    const struct progress *progress = &s->w.progress;
    workspace_warn(&s->what_if.base);
    for (size_t a = 0; a < s->sweep.n_axes; a++) {
        const struct quantity *q = &s->sweep.axis[a].quantity;
        if (quantity_is_batch(q))
            warn_of_batches(s, &s->sweep.axis[a]);
        if (quantity_is_latency(q) && s->what_if.model == MODEL_CLOSED_FORM)
            progress_warn(progress, "%s changes nothing: the closed form knows no latency.",
                          q->path);
    }
}

static bool show(const struct sweeping *s, struct error *e)
{
    struct text out = {0};
    struct sweep_best best = sweep_best(&s->sweep);
    if (s->options->csv)
        report_sweep_csv(&s->sweep, &best, &out);
    else if (s->options->json)
        report_sweep_json(&s->sweep, &best, &out);
    else
        report_sweep_text(&s->sweep, &best, &out);
    bool ok = write_page(s, &best, e) && workspace_print(s->options, &out, e);
    if (ok)
        warn(s);
    free(best.front);
    text_free(&out);
    return ok;
}

/* The folder in which the parts of this sweep meet, whatever machine they are from. */
static const char *parts_folder(struct sweeping *s, size_t n)
{
    return workspace_path(&s->w, arena_format(&s->w.arena, "sweep-%s-of-%zu", s->key, n));
}

/* Shows what `n` parts come to, and removes them. */
static bool join(struct sweeping *s, size_t n, struct error *e)
{
    struct error unremoved = {0};
    const char *folder = parts_folder(s, n);
    if (!sweep_take_part(&s->sweep, (struct sweep_part){1, 1}, e) ||
        !sweep_parts_join(&s->w.arena, folder, s->key, n, &s->sweep, e) || !show(s, e))
        return false;
    file_remove_tree(folder, &unremoved);
    error_clear(&unremoved);
    return true;
}

/* Of those that find all parts there, the first to make this folder joins them. */
static bool join_if_first(struct sweeping *s, size_t n, struct error *e)
{
    struct error unremoved = {0};
    const char *mark = path_join(&s->w.arena, parts_folder(s, n), "joining");
    if (mkdir(mark, 0700) != 0) {
        progress_say(&s->w.progress, "the parts are joined by another task");
        return true;
    }
    bool ok = join(s, n, e);
    if (!ok)
        file_remove_tree(mark, &unremoved);
    error_clear(&unremoved);
    return ok;
}

/* Where the own part is gone again, another task has joined all of them. */
static bool hand_in(struct sweeping *s, struct error *e)
{
    struct sweep_part part = s->sweep.part;
    const char *folder = parts_folder(s, part.n);
    if (!sweep_part_write(folder, s->key, &s->sweep, e))
        return false;
    const char *missing = sweep_parts_missing(&s->w.arena, folder, part.n);
    if (!missing)
        return join_if_first(s, part.n, e);
    if (file_exists(sweep_part_path(&s->w.arena, folder, part)))
        progress_say(&s->w.progress, "part %zu of %zu is done, in %s; missing: %s", part.number,
                     part.n, folder, missing);
    return true;
}

static bool sweep(struct sweeping *s, struct error *e)
{
    size_t n_joined = 0;
    struct sweep_part part = part_of_task();
    if ((s->options->part && !read_part(s->options->part, &part, e)) ||
        (s->options->join && !read_join(s->options->join, &n_joined, e)) || !read_axes(s, e) ||
        !sweep_take_part(&s->sweep, part, e) || !start(s, e))
        return false;
    if (n_joined)
        return join(s, n_joined, e);
    return sweep_run(&s->w.arena, &s->what_if, &s->sweep, e) &&
           (part.n > 1 ? hand_in(s, e) : show(s, e));
}

static bool run(const struct options *options, struct error *e)
{
    struct sweeping s = {.options = options};
    bool ok = workspace_open(&s.w, options, e) && sweep(&s, e);
    workspace_close(&s.w);
    return ok;
}

const struct command command_sweep = {
    .name = "sweep",
    .args = "JOB",
    .summary = "What if: forecast many systems that differ from the job's",
    .help = "--vary gives a quantity of the job several values; with several of them every "
            "combination is forecast. Quantities: TYPE.count (0: without it), TYPE.batch, "
            "TYPE.data, TYPE.price, network.TYPE-TYPE.bandwidth and .latency (across hosts), "
            "training.epochs, data.size, data.samples, data.sample_size.\n\n"
            "Where a count varies, rings are type by type, over the job's classes of links or the "
            "worst that was measured between two types. With prices (devices.TYPE.price) there is "
            "a cost.\n\n"
            "Under `srun -n N` or mpirun each task forecasts the part of its rank; the last one "
            "prints the result. Parts are kept in the run's folder until then: --part K/N does a "
            "lost one again, --join N joins what is there.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_CSV | OPTION_QUIET | OPTION_OUTPUT | OPTION_MODEL |
               OPTION_VARY | OPTION_HTML | OPTION_PART | OPTION_JOIN,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
