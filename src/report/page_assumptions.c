/* What the numbers rest on: warnings, what was given and not measured, and what no forecast knows.
 */
#include "report/page.h"

static void item(const struct page *page, const char *text)
{
    html_element(page->out, "li", NULL, "%s", text);
}

static void list_warnings(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    html_element(page->out, "h3", NULL, "Must be known");
    if (!f->n_warnings)
        page_say(page, "Nothing.");
    text_add(page->out, "<ul>\n");
    for (size_t i = 0; i < f->n_warnings; i++)
        item(page, f->warning[i]);
    text_add(page->out, "</ul>\n");
}

static const char *class_values(const struct page *page, const struct job_link *link)
{
    const char *both = "", *spread = "";
    if (link->nccl_tests)
        return arena_format(page->arena, "by the table %s", link->nccl_tests);
    if (link->both_ways_Bps > 0)
        both = arena_format(page->arena, ", both ways together %s",
                            page_unit(page, link->both_ways_Bps, DIMENSION_BANDWIDTH));
    if (link->spread > 0)
        spread = arena_format(page->arena, ", spread %g %%", 100 * link->spread);
    return arena_format(page->arena, "%s, latency %s%s%s",
                        page_unit(page, link->bandwidth_Bps, DIMENSION_BANDWIDTH),
                        link->latency_s > 0 ? page_time(page, link->latency_s) : "not given", both,
                        spread);
}

static void list_classes(const struct page *page)
{
    static const char *const where[] = {[LINK_ANYWHERE] = "",
                                        [LINK_WITHIN_HOST] = " within a host",
                                        [LINK_ACROSS_HOSTS] = " across hosts"};
    const struct job *job = page->run->job;
    for (size_t i = 0; i < job->n_links; i++) {
        const struct job_link *link = &job->link[i];
        item(page,
             arena_format(page->arena, "Links %s %s %s%s: %s.", job->type[link->from_type].name,
                          link->directed ? "to" : "and", job->type[link->to_type].name,
                          where[link->where], class_values(page, link)));
    }
}

static void list_data(const struct page *page)
{
    const struct job_data *data = &page->run->job->data;
    if (data->n_samples > 0)
        item(page, arena_format(page->arena, "The training set has %s samples.",
                                page_count(page, data->n_samples)));
    if (data->size.unit == AMOUNT_BYTES)
        item(page, arena_format(page->arena, "The training set has %s.",
                                page_unit(page, data->size.value, DIMENSION_BYTES)));
    if (page->run->forecast->sample_basis)
        item(page, arena_format(page->arena, "A sample has %s (%s).",
                                page_unit(page, page->run->forecast->sample_bytes, DIMENSION_BYTES),
                                page->run->forecast->sample_basis));
}

static void list_types(const struct page *page)
{
    const struct job *job = page->run->job;
    for (int t = 0; t < job->n_types; t++) {
        const struct profile *p = &page->run->profile[t];
        char data[UNITS_TEXT_SIZE];
        if (p->assumed)
            item(page,
                 arena_format(page->arena, "The profile of %s: assumed, nobody measured it. %s",
                              job->type[t].name, p->note ? p->note : ""));
        for (size_t k = 0; !p->assumed && k < job->type[t].n_profiles; k++)
            item(page, arena_format(page->arena, "The profile of %s: given as %s.",
                                    job->type[t].name, job->type[t].profile[k]));
        if (job->type[t].micro_batches > 0)
            item(page, arena_format(page->arena, "Micro-batches in a step of each %s: %s.",
                                    job->type[t].name,
                                    page_count(page, (double)job->type[t].micro_batches)));
        if (job->type[t].data.unit != AMOUNT_NONE)
            item(page,
                 arena_format(page->arena, "Data of each %s: %s.", job->type[t].name,
                              job->type[t].data.unit == AMOUNT_BYTES
                                  ? units_format(job->type[t].data.value, DIMENSION_BYTES, data)
                                  : arena_format(page->arena, "%s samples",
                                                 page_count(page, job->type[t].data.value))));
    }
}

static void list_between_epochs(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    if (f->evaluation_s > 0)
        item(page, arena_format(page->arena, "Evaluation after each epoch: %s.",
                                page_duration(page, f->evaluation_s)));
    if (f->checkpoint_s > 0)
        item(page, arena_format(page->arena, "Checkpoints in each epoch: %s.",
                                page_duration(page, f->checkpoint_s)));
    double storage_Bps = page->run->job->storage.bandwidth_Bps;
    if (storage_Bps > 0)
        item(page, arena_format(page->arena, "The storage's bandwidth: %s.",
                                page_unit(page, storage_Bps, DIMENSION_BANDWIDTH)));
    if (f->storage_s > 0)
        item(page, arena_format(page->arena, "It delivers a step's samples for all devices in %s.",
                                page_time(page, f->storage_s)));
}

static void list_given(const struct page *page)
{
    const struct forecast *f = page->run->forecast;
    html_element(page->out, "h3", NULL, "Given, not measured");
    text_add(page->out, "<ul>\n");
    if (f->n_links[LINK_GIVEN])
        item(page, arena_format(page->arena, "%s of the %s links that are sent over.",
                                page_count(page, (double)f->n_links[LINK_GIVEN]),
                                page_count(page, (double)f->n_hops)));
    if (f->n_links[LINK_FILLED])
        item(page, arena_format(page->arena, "%s links have the value of their other direction.",
                                page_count(page, (double)f->n_links[LINK_FILLED])));
    list_classes(page);
    list_data(page);
    list_types(page);
    list_between_epochs(page);
    item(page, arena_format(page->arena, "%s epoch%s, and the counts and batches of the job.",
                            page_count(page, page->run->job->training.epochs),
                            page->run->job->training.epochs > 1 ? "s" : ""));
    text_add(page->out, "</ul>\n");
}

static void list_unknowns(const struct page *page)
{
    static const char *const unknown[] = {
        "Throttling and drift: devices that get slower when they are hot or shared later on.",
        "Failures and restarts, and what is lost since the last checkpoint.",
        "Epochs: a larger global batch may need more of them for the same accuracy.",
        "Other traffic on the same wires and other work on the same hosts.",
    };
    html_element(page->out, "h3", NULL, "What no forecast knows");
    text_add(page->out, "<ul>\n");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        item(page, unknown[i]);
    text_add(page->out, "</ul>\n");
}

void page_assumptions(const struct page *page)
{
    page_section(page, "assumptions", "What it rests on");
    list_warnings(page);
    list_given(page);
    list_unknowns(page);
    page_section_end(page);
}
