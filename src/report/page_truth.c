/* The full system as it ran, beside its forecast. */
#include <math.h>

#include "report/page.h"

static const char *const stage_name[] = {
    [VALIDATION_LOAD] = "load",
    [VALIDATION_FORWARD] = "forward",
    [VALIDATION_UNSYNCED] = "unsynced",
    [VALIDATION_FIRST_BACKWARD] = "backward 1",
    [VALIDATION_ALL_REDUCE] = "all-reduce",
    [VALIDATION_BACKWARD] = "backward",
    [VALIDATION_OPTIMIZER] = "optimizer",
    [VALIDATION_WAIT] = "wait for data",
    [VALIDATION_REST] = "rest",
    [VALIDATION_STEP] = "step",
};

static void add_value(const struct page *page, const char *type, const char *what,
                      const struct validation_value *value, enum dimension dimension)
{
    html_row_open(page->out);
    html_cell(page->out, "%s", type);
    html_cell(page->out, "%s", what);
    html_number(page->out, "%s",
                value->forecast_known ? page_unit(page, value->forecast, dimension) : "-");
    html_number(page->out, "%s",
                value->measured_known ? page_unit(page, value->measured, dimension) : "-");
    html_number(page->out, "%s", value->error_known ? page_error(page, value->error) : "-");
    html_row_close(page->out);
}

static void add_type(const struct page *page, const struct validation_type *type)
{
    for (int s = 0; s < N_VALIDATION_STAGES; s++) {
        if (type->stage[s].forecast_known || type->stage[s].measured_known)
            add_value(page, type->name, stage_name[s], &type->stage[s], DIMENSION_TIME);
    }
    add_value(page, type->name, "bytes sent", &type->sent_bytes, DIMENSION_BYTES);
}

static void add_stages(const struct page *page)
{
    static const char *const head[] = {"Device type", "Stage",  "#Forecast",
                                       "#Measured",   "#Error", NULL};
    const struct validation *v = page->run->validation;
    text_add(page->out, "<details>\n<summary>Stage by stage</summary>\n");
    html_table_open(page->out,
                    "All-reduce as measured holds the wait for slower devices; of backward, "
                    "optimizer, wait and rest there is no forecast by themselves",
                    head);
    for (int t = 0; t < v->n_types; t++)
        add_type(page, &v->type[t]);
    html_table_close(page->out);
    text_add(page->out, "</details>\n");
}

static void say_runs(const struct page *page)
{
    const double same = 1e-3;
    const struct validation *v = page->run->validation;
    page_say(page, "The forecast was written %s %s the full system ran (SHA-256 %.16s\u2026).",
             v->written, v->forecast_first ? "before" : "after", v->sha256);
    if (fabs(v->step.forecast / page->run->forecast->step_s - 1) > same)
        page_say(page, "The forecast above was made anew, and is another: %s.",
                 page_time(page, page->run->forecast->step_s));
    for (size_t r = 0; r < v->n_runs; r++)
        page_say(page, "Run %zu, started %s: a step took %s.", r + 1,
                 v->run[r].started ? v->run[r].started : "at a time that is not known",
                 page_time(page, v->run[r].step_s));
    if (v->n_runs > 1)
        page_say(page, "The runs are %.1f %% apart: a smaller error than that says little.",
                 100 * v->distance);
}

void page_truth(const struct page *page)
{
    const struct validation *v = page->run->validation;
    if (!v)
        return;
    page_section(page, "truth", "Forecast and truth");
    text_add(page->out, "<p class=\"verdict\">");
    html_format(page->out, "Forecast %s, measured %s: %s.", page_time(page, v->step.forecast),
                page_time(page, v->step.measured), page_error(page, v->step.error));
    if (v->closed_form_s != v->step.forecast && v->step.measured > 0)
        html_format(page->out, " The closed form gives %s, %s.", page_time(page, v->closed_form_s),
                    page_error(page, v->closed_form_s / v->step.measured - 1));
    text_add(page->out, "</p>\n");
    say_runs(page);
    if (v->smaller)
        page_say(page, "The system that ran was smaller than the job's, for lack of hosts: %s.",
                 v->smaller);
    if (v->shares_host)
        page_say(page, "Devices shared a host there; what they take from each other is in no "
                       "forecast.");
    add_stages(page);
    page_section_end(page);
}
