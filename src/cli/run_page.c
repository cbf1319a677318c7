#include "cli/run_page.h"

#include "base/file.h"
#include "predict/validation.h"

bool run_page_steps(struct workspace *w, const struct forecast *forecast, size_t n_steps,
                    struct run_report *run, struct error *e)
{
    const struct ft_timeline *ring = forecast->timeline.ring;
    struct step_record *record = ARENA_NEW(&w->arena, struct step_record);
    char message[FT_MESSAGE_SIZE];
    *run = (struct run_report){.job = &w->job,
                               .job_path = w->job.file,
                               .run_path = w->run,
                               .profile = w->profile,
                               .forecast = forecast};
    if (!ring)
        return true;
    if (!step_record_make(&w->arena, ring, n_steps, record, message)) {
        error_set(e, ERROR_INPUT, "%s: %s", w->job.file, message);
        return false;
    }
    run->record = record;
    return true;
}

static void add_types(struct workspace *w, struct run_report *run)
{
    size_t n = (size_t)w->job.n_types;
    struct steadiness *steadiness = ARENA_ARRAY(&w->arena, n, struct steadiness);
    struct step_parts *parts = ARENA_ARRAY(&w->arena, n, struct step_parts);
    for (size_t t = 0; t < n; t++) {
        steadiness[t] = steadiness_of(&w->arena, &w->profile[t]);
        if (run->record)
            parts[t] =
                step_record_parts(run->record, run->forecast->timeline.ring->type_of, (int)t);
    }
    run->steadiness = steadiness;
    run->parts = parts;
}

static bool add_validation(struct workspace *w, struct run_report *run, struct error *e)
{
    const char *path = workspace_path(w, "validate/validation.json");
    struct validation *validation = ARENA_NEW(&w->arena, struct validation);
    if (!file_exists(path))
        return true;
    run->validation = validation;
    return validation_read(&w->arena, path, validation, e);
}

/* One device sends to nobody. */
static void add_map(struct workspace *w, const struct forecast *f, struct bandwidth_map *map)
{
    size_t n = f->n_devices > 1 ? f->n_hops : 0;
    struct bandwidth_hop *hop = ARENA_ARRAY(&w->arena, n, struct bandwidth_hop);
    for (size_t h = 0; h < n; h++)
        hop[h] = (struct bandwidth_hop){f->hop[h].from, f->hop[h].to, &f->link[h]};
    bandwidth_map_make(&w->arena, &w->job, w->network, hop, n, map);
}

/* Three steps: the one that is drawn, and what reaches into it from before and after. */
bool run_page_make(struct workspace *w, const struct forecast *forecast, struct text *page,
                   struct error *e)
{
    enum { STEPS = 3 };
    struct run_report run;
    struct bandwidth_map map;
    struct scaling scaling;
    if (!run_page_steps(w, forecast, STEPS, &run, e) || !add_validation(w, &run, e))
        return false;
    add_types(w, &run);
    add_map(w, forecast, &map);
    scaling_make(&w->arena, &w->job, w->profile, forecast, &scaling);
    run.map = &map;
    run.scaling = &scaling;
    report_run_html(&run, page);
    return true;
}

void run_page_keep(struct workspace *w, const struct forecast *forecast)
{
    struct text page = {0};
    struct error e = {0};
    const char *path = workspace_path(w, "report.html");
    if (run_page_make(w, forecast, &page, &e) && file_write(path, page.data, page.length, &e))
        progress_say(&w->progress, "Report: %s", path);
    else
        progress_warn(&w->progress, "no report: %s", e.text);
    error_clear(&e);
    text_free(&page);
}
